// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// signal is a value that changes, with waiters. set never blocks.
type signal[T any] struct {
	mu struct {
		sync.Mutex
		value   T
		changed chan struct{} // closed by the next set
	}
}

func newSignal[T any](v T) *signal[T] {
	s := &signal[T]{}
	s.mu.value, s.mu.changed = v, make(chan struct{})
	return s
}

func (s *signal[T]) set(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.value = v
	close(s.mu.changed)
	s.mu.changed = make(chan struct{})
}

func (s *signal[T]) get() T {
	v, _ := s.next()
	return v
}

// next is the value and a channel that is closed when it is no longer the newest.
func (s *signal[T]) next() (T, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.value, s.mu.changed
}

// wait returns nil when a value satisfies ok, else the cause of ctx.
func (s *signal[T]) wait(ctx context.Context, ok func(T) bool) error {
	for {
		v, changed := s.next()
		if ok(v) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

func reached(r ident.Revision) func(*registry.State) bool {
	return func(s *registry.State) bool { return s.Revision >= r }
}
