// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// latch remembers the first failure for ever.
type latch struct {
	closed chan struct{}
	mu     struct {
		sync.Mutex
		err *fault.Error
	}
}

func newLatch() *latch { return &latch{closed: make(chan struct{})} }

// set notes a failure; first says whether it was the first one.
func (l *latch) set(err *fault.Error) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.err != nil {
		return false
	}
	l.mu.err = err
	close(l.closed)
	return true
}

// err is the failure, or nil.
func (l *latch) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.err == nil {
		return nil
	}
	return l.mu.err
}

// hooks is what Pebble calls: its logger and its event listener. Pebble expects Fatalf not to return; ours returns, and the store
// never enters Pebble again, which comes to the same. req G-007.
type hooks struct {
	dir   string
	log   *slog.Logger
	latch *latch
}

// Infof implements pebble.Logger: Pebble's event log.
func (h *hooks) Infof(format string, args ...any) { h.debug("event", format, args) }

// Errorf implements pebble.Logger. Errors that matter arrive as failures; these are remarks.
func (h *hooks) Errorf(format string, args ...any) { h.debug("error", format, args) }

func (h *hooks) debug(key, format string, args []any) {
	if h.log.Enabled(context.Background(), slog.LevelDebug) {
		h.log.Debug("pebble", "dir", h.dir, key, fmt.Sprintf(format, args...))
	}
}

// Fatalf implements pebble.Logger.
func (h *hooks) Fatalf(format string, args ...any) {
	var cause error
	for _, a := range args {
		if err, ok := a.(error); ok {
			cause = err
		}
	}
	if cause == nil {
		cause = fmt.Errorf(format, args...)
	}
	h.failure("commit", cause)
}

// failure latches the store and logs the one reason.
func (h *hooks) failure(during string, cause error) {
	detail := "store " + h.dir + " failed during " + during
	if errors.Is(cause, syscall.ENOSPC) || errors.Is(cause, syscall.EDQUOT) {
		detail += ": the disk is full, free space and restart"
	}
	err := fault.New(fault.StateFailed, "state", ident.Ref{}, detail, cause)
	if h.latch.set(err) {
		h.log.Error("durable store failed; nothing is acknowledged until restart", "dir", h.dir, "error", err)
	}
}
