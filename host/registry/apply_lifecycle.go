// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"maps"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// start is the whole transition in one entry: running, the next generation, and in a paced domain mapping and authority (C-023).
func (s *State) start(c *Command, b *Start) (*State, Result) {
	d, res, ok := s.mutable(c, b.Domain)
	if !ok {
		return s, res
	}
	if d.Model != b.Base {
		return s, Result{Verdict: Stale}
	}
	if d.Status == Running {
		return s, refused(fault.DomainRunning, "domain "+string(b.Domain)+" runs already")
	}
	next := *d
	next.Status = Running
	next.Generation++
	if b.RestartPositions {
		next.PositionEpoch = uint64(s.Revision)
	}
	if res, ok := next.open(b); !ok {
		return s, res
	}
	next.Schedule = maps.Clone(d.Schedule)
	if res, ok := s.assign(&next, b.Assign); !ok {
		return s, res
	}
	return s.withDomain(&next), applied()
}

// open establishes the clock of the new generation in d, which is private to the caller.
func (d *Domain) open(o *Start) (Result, bool) {
	switch {
	case d.Pace != Paced && o.Mapping != clock.Mapping{}:
		return refused(fault.ClockUnpaced, "domain "+string(d.Name)+" is unpaced; it has no origin and no rate"), false
	case d.Pace != Paced:
		return Result{}, true
	case o.Mapping.Rate == 0:
		return refused(fault.ClockRate, "the start of the paced domain "+string(d.Name)+" brings no mapping"), false
	case o.Authority.IsZero():
		return refused(fault.ClockAuthority, "no live voter can produce the ticks of domain "+string(d.Name)), false
	}
	d.Mapping = o.Mapping
	d.Fence = clock.Fence{Revision: d.Fence.Revision + 1, Authority: o.Authority}
	return Result{}, true
}

func (s *State) stop(c *Command, b *Stop) (*State, Result) {
	if b.Generation != 0 {
		// The end of a failed start is no client's command: it passes the fence of the transaction the start belongs to.
		d, exists := s.Domains[b.Domain]
		if !exists || d.Status != Running || d.Generation != b.Generation {
			return s, unchanged()
		}
		return s.stopped(d), applied()
	}
	d, res, ok := s.mutable(c, b.Domain)
	if !ok {
		return s, res
	}
	if d.Status != Running {
		return s, refused(fault.DomainStopped, "domain "+string(b.Domain)+" is stopped already")
	}
	return s.stopped(d), applied()
}

// stopped removes the mapping and revokes the authority in the same transition (C-028).
func (s *State) stopped(d *Domain) *State {
	next := *d
	next.Status = Stopped
	if d.Pace == Paced {
		next.Mapping = clock.Mapping{}
		next.Fence = clock.Fence{Revision: d.Fence.Revision + 1}
	}
	return s.withDomain(&next)
}

// reconcileAuthority is a compare-and-set (C-040): it passes the fence of a committing transaction, because it changes neither model nor
// lifecycle. Work computed for an earlier generation or fence is stale.
func (s *State) reconcileAuthority(b *ReconcileAuthority) (*State, Result) {
	d := s.Domains[b.Domain]
	if d == nil || d.Pace != Paced || d.Status != Running || d.Generation != b.Generation || d.Fence != b.Expected {
		return s, Result{Verdict: Stale}
	}
	if b.Authority == d.Fence.Authority {
		return s, unchanged()
	}
	next := *d
	next.Fence = clock.Fence{Revision: d.Fence.Revision + 1, Authority: b.Authority}
	return s.withDomain(&next), applied()
}
