// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
)

// Config of Uploads. Zero values mean the defaults named at the fields.
type Config struct {
	Control Control
	Store   Store
	// Log takes one line an upload; nil discards.
	Log *slog.Logger
	// Failed is called after an upload whose archive may stay without a version, for example to remove it; nil does nothing.
	Failed func()

	// Active is how many uploads are received at once, 4.
	Active int
	// Turn is how long an upload waits for its turn, 30 s; Silence how long a client may send nothing, 60 s; Settle how long control may
	// take for a step when the client is gone, 10 s.
	Turn, Silence, Settle time.Duration
}

// Uploads serves the upload streams of all sessions of a node. It implements transport.Uploads.
type Uploads struct {
	config Config
	places chan struct{}
	mu     struct {
		sync.Mutex
		// active has the uploads under way; the channel is closed when one is over.
		active map[Request]chan struct{}
	}
	readers sync.WaitGroup
}

var _ transport.Uploads = (*Uploads)(nil)

// New makes the handler; nothing runs until the first stream.
func New(c Config) *Uploads {
	c.Active = cmp.Or(c.Active, 4)
	c.Turn = cmp.Or(c.Turn, 30*time.Second)
	c.Silence = cmp.Or(c.Silence, 60*time.Second)
	c.Settle = cmp.Or(c.Settle, 10*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Failed == nil {
		c.Failed = func() {}
	}
	u := &Uploads{config: c, places: make(chan struct{}, c.Active)}
	u.mu.active = make(map[Request]chan struct{})
	return u
}

// Wait returns when the readers of all streams have ended, which they do when the transport closed the streams; or with the cause of ctx.
func (u *Uploads) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.readers.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Upload implements transport.Uploads.
func (u *Uploads) Upload(ctx context.Context, opened transport.Opened, stream io.ReadWriter) {
	in, stop := u.read(ctx, stream)
	defer stop()
	one := &upload{uploads: u, in: in, to: stream}
	one.request.User = ident.Name(strings.ToLower(opened.User))
	version, err := one.run(ctx)
	one.log(opened, version, err)
	_ = one.send(resultOf(version, err)) // a client that is gone asks again
}

// turn waits until no other upload of the identity is under way, and for a place. The func gives both back.
func (u *Uploads) turn(ctx context.Context, r Request) (over func(), err error) {
	ctx, cancel := osclock.WithTimeout(ctx, u.config.Turn)
	defer cancel()
	busy := func(why string) error {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) { // the turn's own: the stream's context has no deadline
			return fault.New(fault.ResourceBusy, "uploads.Upload", ident.Ref{}, why, nil)
		}
		return interrupted("the connection ended before the upload began", context.Cause(ctx))
	}
	mine := make(chan struct{})
	for {
		other := u.enter(r, mine)
		if other == nil {
			break
		}
		select {
		case <-other:
		case <-ctx.Done():
			return nil, busy("this upload is under way on another connection")
		}
	}
	select {
	case u.places <- struct{}{}:
		return func() {
			<-u.places
			u.leave(r, mine)
		}, nil
	case <-ctx.Done():
		u.leave(r, mine)
		return nil, busy("the node receives as many uploads as it may")
	}
}

// enter lists an upload, or gives the one of the same identity that is under way.
func (u *Uploads) enter(r Request, mine chan struct{}) (other chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if other = u.mu.active[r]; other == nil {
		u.mu.active[r] = mine
	}
	return other
}

func (u *Uploads) leave(r Request, mine chan struct{}) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.mu.active, r)
	close(mine)
}

// resultOf is the terminal frame of an upload.
func resultOf(version uint64, err error) wire.UploadResult {
	if err == nil {
		return wire.UploadResult{Disposition: wire.DispositionCompleted, Version: version}
	}
	code := fault.CodeOf(err)
	r := wire.UploadResult{Disposition: wire.DispositionFailed, Version: version, Code: string(code), Hint: fault.Lookup(code).Hint,
		Text: strings.TrimSuffix(err.Error(), " ["+string(code)+"]")}
	if code == fault.ControlUncertain {
		r.Disposition = wire.DispositionUnknown
	}
	return r
}

func interrupted(why string, cause error) error {
	return fault.New(fault.ResourceInterrupted, "uploads.Upload", ident.Ref{}, why, cause)
}

func violated(why string, cause error) error {
	return fault.New(fault.ResourceStream, "uploads.Upload", ident.Ref{}, why, cause)
}
