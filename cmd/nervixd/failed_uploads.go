// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/session/uploads"
)

// maxFailedUploads is how many reasons of failed uploads are remembered; the committed state keeps 16 failed versions of each resource.
const maxFailedUploads = 1024

// failedUploads remembers why versions failed, for DESCRIBE RESOURCE. It is memory of this process: the committed state has only that they did.
// The zero value is ready.
type failedUploads struct {
	mu struct {
		sync.Mutex
		why   map[failedVersion]string
		order []failedVersion // oldest first
	}
}

type failedVersion struct {
	domain   ident.Domain
	resource ident.Name
	version  uint64
}

func (f *failedUploads) note(v failedVersion, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.why == nil {
		f.mu.why = make(map[failedVersion]string)
	}
	if _, known := f.mu.why[v]; !known {
		f.mu.order = append(f.mu.order, v)
	}
	f.mu.why[v] = why
	for len(f.mu.order) > maxFailedUploads {
		delete(f.mu.why, f.mu.order[0])
		f.mu.order = f.mu.order[1:]
	}
}

// why is what DESCRIBE RESOURCE tells of a version that failed.
func (f *failedUploads) why(v failedVersion) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if why, known := f.mu.why[v]; known {
		return why
	}
	return "not known any more, because the node was started since; its log of that time has the reason"
}

// attempt is one upload on its way through the ports of host/session/uploads, which carry its context to each of them and do not tell the one
// that fails the version what went wrong. One goroutine serves an upload.
type attempt struct {
	err      error
	received bool
}

type attemptKey struct{}

func withAttempt(ctx context.Context) context.Context {
	return context.WithValue(ctx, attemptKey{}, &attempt{})
}

// attemptOf is never nil.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return &attempt{}
}

// saw keeps the error of a step and gives it on.
func (a *attempt) saw(err error) error {
	if err != nil {
		a.err = err
	}
	return err
}

func (a *attempt) why() string {
	switch {
	case errors.Is(a.err, context.Canceled), errors.Is(a.err, context.DeadlineExceeded):
		return "the client was gone before its archive ended"
	case a.err != nil:
		return a.err.Error()
	case a.received:
		return "what arrived is not what the client announced; upload it again"
	default:
		return "the client was gone before its archive began"
	}
}

// streamedUploads are the uploads of sessions.
type streamedUploads struct{ *uploads.Uploads }

// Upload implements transport.Uploads.
func (u streamedUploads) Upload(ctx context.Context, opened transport.Opened, stream io.ReadWriter) {
	u.Uploads.Upload(withAttempt(ctx), opened, stream)
}
