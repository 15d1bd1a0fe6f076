// SPDX-License-Identifier: Apache-2.0

package control

import (
	"errors"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// captured is what one START observes, once: the physical anchor, and the domain time that a plain START continues from (C-019, C-021).
type captured struct {
	utc      vtime.UTC
	readable *vtime.Logical
}

// capture observes for a START in d as it is now. A stopped domain mostly has no readable time; then the anchor is the origin. The rate of the
// reading is not taken over: a plain START runs at rate 1 (Q49).
func (c *Control) capture(d *registry.Domain, s *ast.Start) captured {
	seen := captured{utc: c.cfg.UTC()}
	if d.Pace != registry.Paced || s.AtNow || s.At != nil || c.cfg.Clocks == nil {
		return seen
	}
	if now, _, ok := c.cfg.Clocks.Read(d.Name, d.Generation); ok {
		seen.readable = &now
	}
	return seen
}

// decide turns a START into the transition to commit (C-020..C-023). d may still run: in a transaction a STOP stands before the START.
func (c *Control) decide(d *registry.Domain, s *ast.Start, seen captured) (registry.Opening, fault.Diagnostics) {
	next, err := clock.Start(clock.Stop(d.Clock()), requested(s), clock.StartInputs{UTC: seen.utc, Readable: seen.readable, Candidates: c.cfg.Voters()})
	if err != nil {
		return registry.Opening{}, fault.Diagnostics{startRefusal(s, err)}
	}
	return registry.Opening{RestartPositions: s.AtNow, Mapping: next.Mapping, Authority: next.Fence.Authority}, nil
}

func requested(s *ast.Start) clock.StartRequest {
	r := clock.StartRequest{Form: clock.StartResume}
	switch {
	case s.AtNow:
		r.Form = clock.StartAtNow
	case s.At != nil:
		r.Form, r.Origin = clock.StartAt, vtime.LogicalFromNS(s.AtNS)
	}
	if s.Rate != nil {
		r.Rate, r.RateStated = s.Rate.Value, true
	}
	return r
}

// misfit finds what no time of day mends in a START: an origin or a rate in an unpaced domain, or a bad rate.
func misfit(d *registry.Domain, s *ast.Start) (fault.Diagnostic, bool) {
	somebody := []clock.Authority{{Node: 1, Incarnation: 1}}
	_, err := clock.Start(clock.Stop(d.Clock()), requested(s), clock.StartInputs{Candidates: somebody})
	if err == nil {
		return fault.Diagnostic{}, false
	}
	return startRefusal(s, err), true
}

// startRefusal tells why a START is refused, at the clause that is the cause.
func startRefusal(s *ast.Start, err error) fault.Diagnostic {
	span := s.Where()
	switch {
	case errors.Is(err, clock.ErrAuthority):
	case errors.Is(err, clock.ErrUnpaced) && s.At != nil:
		span = s.At.Span
	case s.Rate != nil:
		span = s.Rate.Span
	case s.At != nil:
		span = s.At.Span
	}
	d := fromError(fault.StagePlan, fault.ClockRange, err)[0]
	d.Located, d.Span = true, span
	return d
}

// frozenStart finds the decision that a COMMIT was admitted with (C-027).
func frozenStart(t *registry.Transaction, operation int) (registry.Opening, bool) {
	for _, f := range t.Frozen {
		if int(f.Operation) == operation && f.Start != nil {
			return *f.Start, true
		}
	}
	return registry.Opening{}, false
}
