// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/wire"
)

// frames brings the frames of one stream, one at a time: the next is read when the last was taken.
type frames struct {
	ctx     context.Context
	next    chan arrival
	silence time.Duration
	alarm   *osclock.Alarm
}

// arrival is a frame, or why there is none.
type arrival struct {
	body wire.UploadClientBody
	err  error
}

// read starts the reader of a stream. stop lets it end: at once, or when the stream is closed for reading, which follows the return of
// Upload.
func (u *Uploads) read(ctx context.Context, stream io.Reader) (in *frames, stop func()) {
	in = &frames{ctx: ctx, next: make(chan arrival), silence: u.config.Silence, alarm: osclock.NewAlarm(u.config.Silence)}
	done := make(chan struct{})
	u.readers.Go(func() {
		for {
			a := readOne(stream)
			select {
			case in.next <- a:
			case <-done:
				return
			}
			if a.err != nil {
				return
			}
		}
	})
	return in, sync.OnceFunc(func() {
		close(done)
		in.alarm.Stop()
	})
}

func readOne(stream io.Reader) arrival {
	frame, err := wire.ReadFrame(stream, wire.UploadFrameLimit)
	if err != nil {
		return arrival{err: err}
	}
	body, err := wire.DecodeUploadClient(frame)
	return arrival{body, err}
}

// take gives the next frame. Faults: resource.interrupted when the client left, stopped, or sends nothing; resource.stream when what it sent is
// no frame.
func (f *frames) take() (wire.UploadClientBody, error) {
	f.alarm.Reset(f.silence)
	select {
	case a := <-f.next:
		switch {
		case a.err == nil:
			return a.body, nil
		case fault.Has(a.err, fault.WireInvalid), fault.Has(a.err, fault.WireTooLarge):
			return nil, violated("a frame of the upload cannot be read", a.err)
		case errors.Is(a.err, io.EOF):
			return nil, interrupted("the client ended the upload before its end", nil)
		}
		return nil, interrupted("the upload broke off", a.err)
	case <-f.ctx.Done():
		return nil, interrupted("the connection ended during the upload", context.Cause(f.ctx))
	case <-f.alarm.C():
		return nil, interrupted("the client sent nothing for "+f.silence.String(), nil)
	}
}

// body is the archive as a stream of bytes. After its io.EOF end says what the client announces.
type body struct {
	in   *frames
	left []byte
	end  *wire.UploadEnd
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	for len(b.left) == 0 {
		if b.end != nil {
			return 0, io.EOF
		}
		frame, err := b.in.take()
		if err != nil {
			return 0, err
		}
		switch f := frame.(type) {
		case wire.UploadChunk:
			b.left = f.Bytes
		case wire.UploadEnd:
			b.end = &f
		default:
			return 0, violated("an upload was opened a second time on its stream", nil)
		}
	}
	n := copy(p, b.left)
	b.left = b.left[n:]
	return n, nil
}
