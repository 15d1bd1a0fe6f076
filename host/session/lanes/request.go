// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"

	"github.com/nervix-go/nervix/host/wire"
)

// request is one request in flight. started, admitted and cancelled are guarded by the session's lock.
type request struct {
	id   uint64
	lane Lane
	body wire.ClientBody // of a request of the ordered lane
	ctx  context.Context
	stop context.CancelCauseFunc

	started   bool
	admitted  bool
	cancelled bool
}

func (s *Session) newRequest(id uint64, lane Lane) *request {
	r := &request{id: id, lane: lane}
	r.ctx, r.stop = context.WithCancelCause(s.ctx)
	return r
}

// release frees the context of a request that is over.
func (r *request) release() { r.stop(nil) }

// admit decides that the request takes effect, unless it has been cancelled before. It may be called again and says the same.
func (s *Session) admit(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.cancelled {
		return false
	}
	r.admitted = true
	return true
}

// giveUpLocked cancels a request that is not admitted. A request that still waits leaves the waiting list and is returned: its reply is
// due at once.
func (s *Session) giveUpLocked(r *request, cause error) (due bool) {
	if r.admitted || r.cancelled {
		return false
	}
	r.cancelled = true
	r.stop(cause)
	if r.lane != Ordered || r.started {
		return false
	}
	for i, one := range s.mu.waiting {
		if one == r {
			s.mu.waiting = append(s.mu.waiting[:i], s.mu.waiting[i+1:]...)
			break
		}
	}
	return true
}

// cancel answers a cancellation on arrival. A target in flight keeps its own terminal reply: RequestCancelled if it was not
// admitted, else the ordinary one.
func (s *Session) cancel(lane Lane, id, target uint64) {
	s.mu.Lock()
	if s.mu.flight[id] != nil {
		s.mu.Unlock()
		s.send.Send(lane, wire.ServerFrame{RequestID: id, Body: wire.RequestRejected{Kind: wire.RejectDuplicateID, Field: "request_id",
			Text: "this identity is in flight"}})
		return
	}
	result, due := wire.CancelNotInFlight, false
	r := s.mu.flight[target]
	if r != nil {
		result = wire.CancelRequested
		due = s.giveUpLocked(r, ErrCancelled)
	}
	s.mu.Unlock()
	s.send.Send(lane, wire.ServerFrame{RequestID: id, Body: wire.CancelOutcome{Result: result}})
	if due {
		s.answer(r, wire.RequestCancelled{})
	}
}
