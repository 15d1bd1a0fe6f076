// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"hash"
	"time"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

const (
	// uploadChunk is how many bytes of an archive are sent in one frame (X, limits table).
	uploadChunk = 64 << 10
	// uploadSettle bounds the wait for the result after the whole archive was sent: the node makes it durable first.
	uploadSettle = 10 * time.Minute
	// uploadLastWord bounds the wait for a result that says why the node stopped to read.
	uploadLastWord = 5 * time.Second
)

// uploadStream is one attempt: one stream of one session.
type uploadStream struct {
	session *session
	options UploadOptions
	folder  *Folder
	wait    time.Duration

	stream  *quic.Stream
	replies chan uploadReply
	// accepted: the node let the upload begin. ended: the node may have the whole archive.
	accepted, ended bool
	chunk           []byte
	digest          hash.Hash
	sent            uint64
}

// uploadReply is a frame of the node, or why there is none.
type uploadReply struct {
	body wire.UploadServerBody
	err  error
}

// run makes the attempt. Its reader has ended when it returns.
func (u *uploadStream) run(ctx context.Context) (wire.UploadResult, *Error) {
	var err error
	if u.stream, err = u.session.conn.OpenStreamSync(ctx); err != nil {
		return wire.UploadResult{}, u.lost(ctx, err)
	}
	u.replies = make(chan uploadReply, 2) // all there may be, so the reader never waits
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.read()
	}()
	defer func() {
		u.stream.CancelRead(0)
		u.stream.CancelWrite(0) // after Close it does nothing
		<-done
	}()
	defer context.AfterFunc(ctx, func() {
		u.stream.CancelRead(0)
		u.stream.CancelWrite(0)
	})()
	return u.exchange(ctx)
}

func (u *uploadStream) exchange(ctx context.Context) (wire.UploadResult, *Error) {
	if err := u.write(wire.UploadOpen{Reference: u.options.Reference, Domain: u.options.Domain, Resource: u.options.Resource}); err != nil {
		return u.why(ctx, err)
	}
	first, failed := u.reply(ctx, u.wait)
	if failed != nil {
		return wire.UploadResult{}, failed
	}
	if result, over := first.(wire.UploadResult); over {
		return result, nil
	}
	u.accepted = true
	u.chunk, u.digest = make([]byte, 0, uploadChunk), archive.NewDigest()
	err := u.folder.Send(ctx, u)
	if err == nil {
		err = u.flush()
	}
	if err == nil {
		end := wire.UploadEnd{ArchiveBytes: u.sent}
		u.digest.Sum(end.Digest[:0])
		u.ended = true
		if err = u.write(end); err == nil {
			err = u.stream.Close()
		}
	}
	if err != nil {
		return u.why(ctx, err)
	}
	last, failed := u.reply(ctx, uploadSettle)
	if failed != nil {
		return wire.UploadResult{}, failed
	}
	if result, over := last.(wire.UploadResult); over {
		return result, nil
	}
	return wire.UploadResult{}, failure(ErrProtocol, "the node accepted an upload twice", nil)
}

// Write implements io.Writer for the archive: it gathers chunks, and sends full ones.
func (u *uploadStream) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		n := copy(u.chunk[len(u.chunk):cap(u.chunk)], p)
		u.chunk, p = u.chunk[:len(u.chunk)+n], p[n:]
		if len(u.chunk) == cap(u.chunk) {
			if err := u.flush(); err != nil {
				return 0, err
			}
		}
	}
	return written, nil
}

func (u *uploadStream) flush() error {
	if len(u.chunk) == 0 {
		return nil
	}
	u.digest.Write(u.chunk)
	if err := u.write(wire.UploadChunk{Bytes: u.chunk}); err != nil {
		return err
	}
	u.sent += uint64(len(u.chunk))
	u.chunk = u.chunk[:0]
	if u.options.Progress != nil {
		u.options.Progress(int64(u.sent), int64(max(u.sent, u.folder.space)))
	}
	return nil
}

// write sends one frame. It blocks while the node does not read.
func (u *uploadStream) write(body wire.UploadClientBody) error {
	frame, err := wire.EncodeUploadClient(body)
	if err != nil {
		return failure(ErrRejected, "the upload cannot be sent", err)
	}
	_, err = u.stream.Write(wire.AppendFrame(make([]byte, 0, 4+len(frame)), frame))
	return err
}

// read brings the frames of the node.
func (u *uploadStream) read() {
	for range cap(u.replies) {
		frame, err := wire.ReadFrame(u.stream, wire.UploadFrameLimit)
		var body wire.UploadServerBody
		if err == nil {
			body, err = wire.DecodeUploadServer(frame)
		}
		u.replies <- uploadReply{body, err}
		if _, over := body.(wire.UploadResult); over || err != nil {
			return
		}
	}
}

// reply waits for the next frame of the node.
func (u *uploadStream) reply(ctx context.Context, bound time.Duration) (wire.UploadServerBody, *Error) {
	limit, stop := context.WithTimeout(ctx, bound)
	defer stop()
	select {
	case r := <-u.replies:
		if r.err != nil {
			return nil, u.lost(ctx, r.err)
		}
		return r.body, nil
	case <-limit.Done():
		if ctx.Err() != nil {
			return nil, u.lost(ctx, ctx.Err())
		}
		return nil, failure(ErrConnect, "the node does not answer the upload", nil)
	}
}

// why explains an attempt that ended before the whole archive was sent: the node has the last word, if it says one.
func (u *uploadStream) why(ctx context.Context, err error) (wire.UploadResult, *Error) {
	var mine *Error
	if errors.As(err, &mine) {
		return wire.UploadResult{}, mine
	}
	var stopped *quic.StreamError
	if !errors.As(err, &stopped) || !stopped.Remote {
		return wire.UploadResult{}, u.lost(ctx, err)
	}
	for { // the acceptance may not have been taken yet
		body, failed := u.reply(ctx, uploadLastWord)
		if failed != nil {
			return wire.UploadResult{}, u.lost(ctx, err)
		}
		if result, over := body.(wire.UploadResult); over {
			return result, nil
		}
	}
}

// lost is the error of an attempt that broke off: on this side, in the stream, or with the session.
func (u *uploadStream) lost(ctx context.Context, err error) *Error {
	var packing *archive.Reason
	switch code := fault.CodeOf(err); {
	case ctx.Err() != nil:
		return failure(ErrCancelled, "", context.Cause(ctx))
	case code == fault.ResourceFolder, errors.As(err, &packing):
		return failure(ErrUpload, "", err)
	case code != "":
		return failure(ErrProtocol, "the node sent a bad frame on the stream of an upload", err)
	case u.session.lostAlready():
		return u.session.reason()
	}
	return failure(ErrConnect, "the upload broke off", err)
}
