// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"fmt"
	"io"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
)

// Take uploads an archive that comes from the node's own process, as a stream would. The version is zero when none was assigned.
func (u *Uploads) Take(ctx context.Context, r Request, archive io.Reader) (Stored, error) {
	over, err := u.turn(ctx, r)
	if err != nil {
		return Stored{}, err
	}
	defer over()
	return u.take(ctx, r, archive, func(uint64) error { return nil }, func(Stored) error { return nil })
}

// take admits an upload, receives its archive and completes its version, or fails it. accepted is called with the version before the first
// read, judge after the last.
func (u *Uploads) take(ctx context.Context, r Request, from io.Reader, accepted func(uint64) error, judge func(Stored) error) (Stored, error) {
	admitted, err := u.config.Control.Admit(ctx, r)
	if err != nil {
		return Stored{}, err
	}
	s := Stored{Version: admitted.Version}
	if err = accepted(admitted.Version); err == nil {
		s, err = u.receive(ctx, r, admitted, from, judge)
	}
	switch {
	case err == nil, fault.Has(err, fault.ControlUncertain): // the version may be complete yet: it keeps number and files
		return s, err
	case !admitted.Completed:
		u.fail(ctx, r, admitted.Version)
	}
	u.config.Failed()
	return s, err
}

// receive takes the archive of an admitted upload and completes its version. When it fails, nothing of the archive is visible.
func (u *Uploads) receive(ctx context.Context, r Request, admitted Admitted, from io.Reader, judge func(Stored) error) (Stored, error) {
	none := Stored{Version: admitted.Version}
	received, err := u.config.Store.Receive(ctx, from)
	if err != nil {
		if fault.CodeOf(err) == "" { // the cause of the context
			err = interrupted("the upload was given up", err)
		}
		return none, err
	}
	defer received.Release()
	s := received.Stored()
	s.Version = admitted.Version
	if err := judge(s); err != nil {
		return none, err
	}
	if admitted.Completed && admitted.Digest != s.Digest {
		ref := ident.Ref{Domain: r.Domain, Kind: ident.KindResource, Name: r.Resource}
		return none, fault.New(fault.ResourceConflict, "uploads.Upload", ref, fmt.Sprintf("this upload identity brought other bytes before, as version %d", admitted.Version), nil)
	}
	if err := received.Publish(); err != nil {
		return none, err
	}
	if admitted.Completed {
		return s, nil // it only has its files again
	}
	// The archive is whole and durable: the rest goes on without the connection.
	detached, cancel := osclock.WithTimeout(context.WithoutCancel(ctx), u.config.Settle)
	defer cancel()
	return s, u.config.Control.Complete(detached, r, s)
}

// fail gives the version up.
func (u *Uploads) fail(ctx context.Context, r Request, version uint64) {
	detached, cancel := osclock.WithTimeout(context.WithoutCancel(ctx), u.config.Settle)
	defer cancel()
	err := u.config.Control.Fail(detached, r, version)
	if err != nil && !fault.Has(err, fault.ResourceConflict) {
		u.config.Log.Warn("a version whose upload failed stays uploading until the node starts again", "domain", r.Domain, "resource", r.Resource, "version", version, "error", err)
	}
}
