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
	from := &body{in: u.in}
	u.stored, err = u.uploads.take(ctx, u.request, from, u.accept, func(s Stored) error { return announced(from.end, s) })
	return u.stored.Version, err
}

// accept lets the client begin.
func (u *upload) accept(version uint64) error {
	if err := u.send(wire.UploadAccepted{Version: version}); err != nil {
		return interrupted("the client cannot be told that its upload may begin", err)
	}
	return nil
}

// announced compares what arrived with what the client says it sent.
func announced(end *wire.UploadEnd, s Stored) error {
	switch {
	case end == nil:
		return violated("the archive ends before the upload does", nil)
	case end.ArchiveBytes != s.ArchiveBytes:
		return fault.New(fault.ResourceTransfer, "uploads.Upload", ident.Ref{}, fmt.Sprintf("%d bytes arrived, the client sent %d", s.ArchiveBytes, end.ArchiveBytes), nil)
	case end.Digest != s.Digest:
		return fault.New(fault.ResourceTransfer, "uploads.Upload", ident.Ref{}, "the digest of what arrived is another than that of what the client sent", nil)
	}
	return nil
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

func (u *upload) send(f wire.UploadServerBody) error {
	frame, err := wire.EncodeUploadServer(f)
	if err != nil {
		return err
	}
	_, err = u.to.Write(wire.AppendFrame(make([]byte, 0, 4+len(frame)), frame))
	return err
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
