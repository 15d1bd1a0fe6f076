// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// ErrUpload: the folder cannot be uploaded, or the node refused the upload. fault.CodeOf tells why. Nothing was changed, but a number may
// have been used up.
var ErrUpload = errors.New("upload failed")

// UploadOptions say what is uploaded, and as what.
type UploadOptions struct {
	// Domain is that of the resource; empty means that of the Config. Both names are those of statements, without quotes.
	Domain, Resource string
	// Directory is the folder whose directories and regular files become a version. Links and special files are skipped.
	Directory string
	// Reference is the identity of the upload, a UUIDv7 in its 36 character form; empty makes a new one. The same files under the same
	// reference give the same version, however often.
	Reference string
	// Progress, if there is one, is called after each part, with bytes of the archive; it must return soon. A repetition begins at zero.
	Progress func(sent, total int64)
}

// UploadOutcome is a completed upload.
type UploadOutcome struct {
	Reference string
	Version   uint64
	// Files are the regular files, Bytes their length together, ArchiveBytes that of what was sent.
	Files, Bytes, ArchiveBytes uint64
	// Skipped are links and special files that are not part of the version, at most MaxSkipped of them; SkippedMore counts the others.
	Skipped     []Skipped
	SkippedMore int
}

// Skipped is an entry of the folder that an upload leaves out.
type Skipped struct {
	Path string
	// Why is what it is: a symbolic link, a named pipe.
	Why string
}

// uploadAttempts is how often an upload begins before it is given up.
const uploadAttempts = 8

// Upload sends a folder as a new version of a resource and waits until the version is complete. A lost connection, and a node that is busy,
// lead to a repetition under the same reference. ctx bounds the whole call; the time-outs of the Config bound each wait for a connection or a
// node, not the transfer.
//
// Errors: ErrUpload with a cause that has a code; ErrUncertain when the version may be complete, or become so: the same call under the
// reference of the error tells; ErrConnect and the other errors of connecting, after which there is no version; ErrCancelled.
func (c *Client) Upload(ctx context.Context, o UploadOptions) (UploadOutcome, error) {
	if o.Reference == "" {
		o.Reference = NewReference()
	}
	if o.Domain == "" {
		o.Domain = c.config.Domain
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(c.life, stop)()
	x := uploading{client: c, options: o}
	out, failed := x.run(ctx)
	if failed != nil {
		told := *failed // that of a session belongs to all its calls
		told.Reference = o.Reference
		return UploadOutcome{}, &told
	}
	return out, nil
}

// uploading is one call of Upload.
type uploading struct {
	client  *Client
	options UploadOptions
	folder  *Folder
	// doubt says that some attempt sent the whole archive.
	doubt bool
}

func (x *uploading) run(ctx context.Context) (UploadOutcome, *Error) {
	var err error
	if x.folder, err = OpenFolder(ctx, x.options.Directory); err != nil {
		return UploadOutcome{}, x.local(ctx, err)
	}
	defer x.folder.Close()
	delay := backoff{}
	patience, stop := context.WithTimeout(ctx, x.client.config.CallTimeout)
	for attempt := 1; ; attempt++ {
		version, accepted, failed := x.attempt(ctx, patience)
		if failed == nil {
			stop()
			return x.outcome(version), nil
		}
		if accepted { // what follows is a new wait
			stop()
			patience, stop = context.WithTimeout(ctx, x.client.config.CallTimeout)
		}
		if !x.again(failed) || attempt == uploadAttempts || !delay.wait(patience) {
			stop()
			return UploadOutcome{}, x.last(ctx, failed)
		}
	}
}

// attempt uploads once. accepted says that the node let it begin.
func (x *uploading) attempt(ctx, patience context.Context) (version uint64, accepted bool, failed *Error) {
	s, failed := x.client.session(patience)
	if failed != nil {
		return 0, false, failed
	}
	if !slices.Contains(s.node.Features, "uploads") {
		return 0, false, failure(ErrRejected, "this node takes no uploads", nil)
	}
	u := &uploadStream{session: s, options: x.options, folder: x.folder, wait: x.client.config.RequestTimeout}
	result, failed := u.run(ctx)
	x.doubt = x.doubt || u.ended
	if failed != nil {
		return 0, u.accepted, failed
	}
	if result.Disposition == wire.DispositionCompleted {
		return result.Version, true, nil
	}
	cause := fault.New(fault.Code(result.Code), "client.Upload", ident.Ref{}, result.Text, nil)
	cause.Remote = true
	if result.Disposition == wire.DispositionUnknown {
		x.doubt = true
		return 0, u.accepted, failure(ErrUncertain, "", cause)
	}
	failed = failure(ErrUpload, "", cause)
	if !x.again(failed) {
		x.doubt = false // the identity was judged: there is no version of these bytes
	}
	return 0, u.accepted, failed
}

// again says whether a repetition may bring the version: after a lost session, and after refusals that are over soon. A full disk, for
// example, is not: the archive would be sent in vain.
func (x *uploading) again(failed *Error) bool {
	switch fault.CodeOf(failed) {
	case fault.ResourceInterrupted, fault.ResourceBusy, fault.ResourceTransfer, fault.ControlUncertain, fault.ControlUnavailable, fault.ControlClosed:
		return true
	case "":
		return errors.Is(failed, ErrConnect) || errors.Is(failed, ErrUncertain)
	}
	return false
}

// last is the error of a call that ends without a version.
func (x *uploading) last(ctx context.Context, failed *Error) *Error {
	switch {
	case x.doubt && !errors.Is(failed, ErrUncertain):
		return failure(ErrUncertain, "the version may be complete", failed)
	case ctx.Err() != nil && !x.doubt:
		return x.local(ctx, ctx.Err())
	}
	return failed
}

// local is the error of a call that ended on this side.
func (x *uploading) local(ctx context.Context, err error) *Error {
	switch {
	case x.client.life.Err() != nil:
		return failure(ErrClosed, "", nil)
	case ctx.Err() != nil:
		return failure(ErrCancelled, "", context.Cause(ctx))
	}
	return failure(ErrUpload, "", err)
}

func (x *uploading) outcome(version uint64) UploadOutcome {
	f := x.folder
	return UploadOutcome{Reference: x.options.Reference, Version: version, Files: f.files, Bytes: f.bytes, ArchiveBytes: f.space,
		Skipped: f.skipped, SkippedMore: f.skippedMore}
}
