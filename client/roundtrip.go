// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/wire"
)

// cancelWait is how long a call that was given up waits for the node to say what became of its request.
const cancelWait = time.Second

// result is what one request brought: a reply, or why there is none.
type result struct {
	reply  wire.ServerBody
	failed *Error
	// doubt says that the node may have admitted the request.
	doubt bool
}

// roundTrip sends one request and waits for its reply within bound. A request that outlives its bound shows that the session is dead, so
// the session ends with it. A reply that is there is never given up for a deadline that passed.
func (s *session) roundTrip(ctx context.Context, bound time.Duration, lane int, body wire.ClientBody) result {
	id, waiter := s.register()
	defer s.forget(id)
	frame, err := wire.EncodeClient(wire.ClientFrame{RequestID: id, Body: body}, min(s.frameLimit, int(s.node.FrameLimit)))
	if err != nil {
		return result{failed: failure(ErrRejected, "the request does not fit a frame", err)}
	}
	if ctx.Err() != nil {
		return result{failed: failure(ErrCancelled, "", context.Cause(ctx))}
	}
	limit, stop := context.WithTimeout(context.Background(), bound)
	defer stop()
	late := func() { s.fail(failure(ErrConnect, "the node does not answer", nil)) }
	select { // while the node does not read, nothing is taken from us
	case s.out[lane] <- frame:
	case <-ctx.Done():
		return result{failed: failure(ErrCancelled, "not sent", context.Cause(ctx))}
	case <-s.over:
		return result{failed: s.reason()}
	case <-limit.Done():
		late()
		return result{failed: s.reason()}
	}
	select {
	case reply := <-waiter:
		return result{reply: reply}
	case <-s.over:
		return s.lastWord(waiter)
	case <-limit.Done():
		late()
		return s.lastWord(waiter)
	case <-ctx.Done():
		return s.giveUp(ctx, lane, id, waiter)
	}
}

// lastWord prefers a reply that came before the session was lost.
func (s *session) lastWord(waiter chan wire.ServerBody) result {
	why := s.reason()
	select {
	case reply := <-waiter:
		return result{reply: reply}
	default:
		return result{failed: why, doubt: true}
	}
}

// giveUp asks the node to cancel, on the lane of the request so that the cancellation cannot overtake it, and waits a moment for the
// request's own reply.
func (s *session) giveUp(ctx context.Context, lane int, id uint64, waiter chan wire.ServerBody) result {
	select {
	case reply := <-waiter:
		return result{reply: reply}
	default:
	}
	failed := failure(ErrUncertain, "the call was given up", context.Cause(ctx))
	own, _ := s.register() // nobody waits for the answer to the cancellation itself
	defer s.forget(own)
	frame, err := wire.EncodeClient(wire.ClientFrame{RequestID: own, Body: wire.CancelRequest{Target: id}}, s.frameLimit)
	if err != nil {
		return result{failed: failed, doubt: true}
	}
	wait, stop := context.WithTimeout(context.Background(), cancelWait)
	defer stop()
	select {
	case s.out[lane] <- frame:
	case <-s.over:
	case <-wait.Done():
	}
	select {
	case reply := <-waiter:
		return result{reply: reply}
	case <-s.over:
		return s.lastWord(waiter)
	case <-wait.Done():
		return result{failed: failed, doubt: true}
	}
}

// forget drops the place of a reply; one that still comes is then ignored.
func (s *session) forget(id uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.waiters, id)
}
