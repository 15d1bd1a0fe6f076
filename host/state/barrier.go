// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Ticket stands for an accepted or refused write. Its zero value is not valid.
type Ticket struct {
	round   *round
	latch   *latch
	refused error
}

// round is a set of writes that become durable together.
type round struct {
	ops []op
	// puts finds the latest write of a key in ops since the last deletion, so that a round holds each key once.
	puts map[string]int
	done chan struct{} // closed when settled
	mu   struct {
		sync.Mutex
		settled bool
		err     error
		notify  []func(error)
	}
}

// op is one write: a value, or the deletion of the range [key, end).
type op struct {
	key, value, end []byte
}

func newRound() *round { return &round{puts: make(map[string]int), done: make(chan struct{})} }

func (r *round) put(key, value []byte) {
	if i, again := r.puts[string(key)]; again {
		r.ops[i].value = value
		return
	}
	r.puts[string(key)] = len(r.ops)
	r.ops = append(r.ops, op{key: key, value: value})
}

func (r *round) deleteRange(from, end []byte) {
	clear(r.puts) // a later write of a key must stay behind the deletion
	r.ops = append(r.ops, op{key: from, end: end})
}

// settle ends the round. It is called once, by the store's goroutine.
func (r *round) settle(err error) {
	r.mu.Lock()
	r.mu.settled, r.mu.err = true, err
	notify := r.mu.notify
	r.mu.notify = nil
	r.mu.Unlock()
	close(r.done)
	for _, f := range notify {
		f(err)
	}
}

// Wait returns nil once the write and every write accepted before it is durable. The context bounds the waiting only, it does not take
// the write back. After a failure of the store it is unknown whether the write is durable, and the error is state.failed.
func (t Ticket) Wait(ctx context.Context) error {
	if t.refused != nil {
		return t.refused
	}
	select {
	case <-t.round.done:
		return t.round.outcome()
	default:
	}
	select {
	case <-t.round.done:
		return t.round.outcome()
	case <-t.latch.closed:
		return t.latch.err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *round) outcome() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.err
}

// Notify calls f exactly once with what Wait would return: at once if that is known, else from the store's goroutine. f must not block;
// a receiver on a lane posts a message. Callbacks of one round run in the order of their registration, rounds run in order.
func (t Ticket) Notify(f func(error)) {
	if t.refused != nil {
		f(t.refused)
		return
	}
	r := t.round
	r.mu.Lock()
	if !r.mu.settled {
		r.mu.notify = append(r.mu.notify, f)
		r.mu.Unlock()
		return
	}
	err := r.mu.err
	r.mu.Unlock()
	f(err)
}

// accept adds writes to the open round; add runs under the lock.
func (s *Store) accept(add func(*round) error) Ticket {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusalLocked(); err != nil {
		return Ticket{refused: err}
	}
	r := s.mu.open
	if r == nil {
		r = newRound()
	}
	if err := add(r); err != nil {
		return Ticket{refused: err}
	}
	if s.mu.open == nil {
		s.mu.open = r
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
	return Ticket{round: r, latch: s.latch}
}

// refusalLocked says why nothing is accepted, nil if something is.
func (s *Store) refusalLocked() error {
	if err := s.latch.err(); err != nil {
		return err
	}
	if s.mu.closed {
		return fault.New(fault.StateClosed, "state", ident.Ref{}, "", nil)
	}
	return nil
}

// Barrier is a ticket for everything accepted so far.
func (s *Store) Barrier() Ticket { return s.accept(func(*round) error { return nil }) }

// run is the store's goroutine: it takes the round that has gathered and makes it durable, until the store is closed and nothing is left.
func (s *Store) run() {
	defer close(s.ended)
	for range s.wake {
		for {
			s.mu.Lock()
			r, closed := s.mu.open, s.mu.closed
			s.mu.open = nil
			s.mu.Unlock()
			if r == nil {
				if closed {
					return
				}
				break
			}
			r.settle(s.commit(r))
		}
	}
}

// commit writes and synchronizes one round.
func (s *Store) commit(r *round) (err error) {
	if err := s.latch.err(); err != nil {
		return err
	}
	if len(r.ops) == 0 {
		return nil // every earlier round has been synchronized
	}
	// The freezer keeps Pebble from the errors it panics on; should it panic all the same, its locks stay taken.
	defer func() {
		if p := recover(); p != nil {
			s.stuck = true
			cause, ok := p.(error)
			if !ok {
				cause = fmt.Errorf("%v", p)
			}
			s.hooks.failure("commit", cause)
			err = s.latch.err()
		}
	}()
	b := s.db.NewBatch()
	for _, o := range r.ops {
		if o.end != nil {
			err = b.DeleteRange(o.key, o.end, nil)
		} else {
			err = b.Set(o.key, o.value, nil)
		}
		if err != nil {
			s.hooks.failure("commit", err)
			return s.latch.err()
		}
	}
	if err := b.Commit(pebble.Sync); err != nil {
		s.hooks.failure("commit", err)
	}
	// The fatal hook returns, so a failed commit may look like a good one: the latch decides.
	if err := s.latch.err(); err != nil {
		return err
	}
	return b.Close()
}
