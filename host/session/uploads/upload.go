// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
)

// upload is one stream being served.
type upload struct {
	uploads *Uploads
	in      *frames
	to      io.Writer
	request Request
	stored  Stored
}

// run serves the upload to its end. The version is zero when none was assigned.
func (u *upload) run(ctx context.Context) (version uint64, err error) {
	if err := u.open(); err != nil {
		return 0, err
	}
	over, err := u.uploads.turn(ctx, u.request)
	if err != nil {
		return 0, err
	}
	defer over()
	c := &u.uploads.config
	admitted, err := c.Control.Admit(ctx, u.request)
	if err != nil {
		return 0, err
	}
	err = u.receive(ctx, admitted)
	if err == nil {
		return admitted.Version, nil
	}
	if fault.Has(err, fault.ControlUncertain) {
		return admitted.Version, err // the version may be complete yet: it keeps number and files
	}
	if !admitted.Completed {
		u.fail(ctx, admitted.Version)
	}
	c.Failed()
	return admitted.Version, err
}

// open reads the first frame.
func (u *upload) open() error {
	frame, err := u.in.take()
	if err != nil {
		return err
	}
	open, ok := frame.(wire.UploadOpen)
	if !ok {
		return violated("the first frame does not open an upload", nil)
	}
	u.request.Domain, u.request.Resource = ident.Name(strings.ToLower(open.Domain)), ident.Name(strings.ToLower(open.Resource))
	if u.request.Reference, err = ident.ParseReference(open.Reference); err != nil {
		return fault.New(fault.ControlReference, "uploads.Upload", ident.Ref{}, "the reference of the upload is no UUIDv7 in its 36 character form", nil)
	}
	return nil
}

// receive takes the archive of an admitted upload and completes its version. When it fails, nothing of the archive is visible.
func (u *upload) receive(ctx context.Context, admitted Admitted) error {
	c := &u.uploads.config
	if err := u.send(wire.UploadAccepted{Version: admitted.Version}); err != nil {
		return interrupted("the client cannot be told that its upload may begin", err)
	}
	from := &body{in: u.in}
	received, err := c.Store.Receive(ctx, from)
	if err != nil {
		if fault.CodeOf(err) == "" { // the cause of the context
			err = interrupted("the upload was given up", err)
		}
		return err
	}
	defer received.Release()
	u.stored = received.Stored()
	u.stored.Version = admitted.Version
	switch {
	case from.end == nil:
		return violated("the archive ends before the upload does", nil)
	case from.end.ArchiveBytes != u.stored.ArchiveBytes:
		return fault.New(fault.ResourceTransfer, "uploads.Upload", ident.Ref{}, fmt.Sprintf("%d bytes arrived, the client sent %d", u.stored.ArchiveBytes, from.end.ArchiveBytes), nil)
	case from.end.Digest != u.stored.Digest:
		return fault.New(fault.ResourceTransfer, "uploads.Upload", ident.Ref{}, "the digest of what arrived is another than that of what the client sent", nil)
	case admitted.Completed && admitted.Digest != u.stored.Digest:
		return fault.New(fault.ResourceConflict, "uploads.Upload", u.ref(), fmt.Sprintf("this upload identity brought other bytes before, as version %d", admitted.Version), nil)
	}
	if err := received.Publish(); err != nil || admitted.Completed {
		return err // a completed version only has its files again
	}
	// The archive is whole and durable: the rest goes on without the connection.
	detached, cancel := osclock.WithTimeout(context.WithoutCancel(ctx), c.Settle)
	defer cancel()
	return c.Control.Complete(detached, u.request, u.stored)
}

// fail gives the version up.
func (u *upload) fail(ctx context.Context, version uint64) {
	detached, cancel := osclock.WithTimeout(context.WithoutCancel(ctx), u.uploads.config.Settle)
	defer cancel()
	err := u.uploads.config.Control.Fail(detached, u.request, version)
	if err != nil && !fault.Has(err, fault.ResourceConflict) {
		u.uploads.config.Log.Warn("a version whose upload failed stays uploading until the node starts again", "domain", u.request.Domain, "resource", u.request.Resource, "version", version, "error", err)
	}
}

func (u *upload) send(f wire.UploadServerBody) error {
	frame, err := wire.EncodeUploadServer(f)
	if err != nil {
		return err
	}
	_, err = u.to.Write(wire.AppendFrame(make([]byte, 0, 4+len(frame)), frame))
	return err
}

func (u *upload) ref() ident.Ref {
	return ident.Ref{Domain: u.request.Domain, Kind: ident.KindResource, Name: u.request.Resource}
}

// log tells one line about an upload that is over.
func (u *upload) log(opened transport.Opened, version uint64, err error) {
	level, text := slog.LevelInfo, "upload completed"
	attributes := []any{"remote", opened.Remote, "user", opened.User, "domain", u.request.Domain, "resource", u.request.Resource, "version", version}
	if err != nil {
		code := fault.CodeOf(err)
		attributes = append(attributes, "code", code, "error", err)
		text = "upload failed"
		var f *fault.Error
		if errors.As(err, &f) && (f.Class() == fault.ClassInternal || code == fault.ResourceDiskFull || code == fault.ResourceStorage) {
			level = slog.LevelError
		}
	} else {
		attributes = append(attributes, "archive_bytes", u.stored.ArchiveBytes, "files", u.stored.Files)
	}
	u.uploads.config.Log.Log(context.Background(), level, text, attributes...)
}
