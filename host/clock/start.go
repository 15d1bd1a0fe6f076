// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// StartForm is which START was written.
type StartForm uint8

// The forms: START, START AT NOW and START AT '<timestamp>'.
const (
	StartResume StartForm = iota
	StartAtNow
	StartAt
)

// StartRequest is a START as it was written. Origin counts in form StartAt only; Rate is the stated TIME RATE, or zero if none was.
type StartRequest struct {
	Form   StartForm
	Origin vtime.Logical
	Rate   float64
	// RateStated tells TIME RATE 0, which is refused, from none.
	RateStated bool
}

// StartInputs is what the proposer captured once for one START (C-019).
type StartInputs struct {
	// UTC becomes the physical anchor.
	UTC vtime.UTC
	// Readable is the domain time that a plain START continues from, if there is one (C-021).
	Readable *vtime.Logical
	// Candidates are the live voters (C-036).
	Candidates []Authority
}

// Start decides a START (C-020..C-023): the one transition that marks the domain running, counts the generation, stores the mapping and moves the
// fence. The result is committed and, in a transaction, frozen as it is (C-027). l is the stopped lifecycle; a running one is fault domain.running.
//
// A plain START continues at the readable domain time if there is one, else at the observation, with rate 1 in both cases (Q49). AT NOW makes the
// observation the origin. An unpaced domain takes neither an origin nor a rate: ErrUnpaced (Q19). ErrRate, and ErrAuthority if nobody can
// produce the ticks (C-022).
func Start(l Lifecycle, r StartRequest, in StartInputs) (Lifecycle, error) {
	const op = "clock.Start"
	refuse := func(code fault.Code, detail string) (Lifecycle, error) {
		return l, fault.New(code, op, subject(l.Domain), detail, nil)
	}
	switch {
	case l.Running:
		return refuse(fault.DomainRunning, "the domain runs already")
	case !l.Paced && r.Form == StartAt:
		return refuse(fault.ClockUnpaced, "START AT a timestamp needs a paced domain; time of an unpaced one is UTC")
	case !l.Paced && r.RateStated:
		return refuse(fault.ClockUnpaced, "TIME RATE needs a paced domain; time of an unpaced one is UTC")
	}
	next := l
	next.Running = true
	next.Generation++
	if !l.Paced {
		return next, nil
	}
	mapping, err := r.mapping(in)
	if err != nil {
		return l, err
	}
	a, ok := Select(l.Domain, in.Candidates)
	if !ok {
		return refuse(fault.ClockAuthority, "no live voter can produce the ticks of the domain")
	}
	next.Mapping, next.Fence = mapping, l.Fence.next(a)
	return next, nil
}

func (r StartRequest) mapping(in StartInputs) (Mapping, error) {
	rate := 1.0
	if r.RateStated {
		rate = r.Rate
	}
	origin := vtime.UnpacedNow(in.UTC)
	switch r.Form {
	case StartAt:
		origin = r.Origin
	case StartResume:
		if in.Readable != nil {
			origin = *in.Readable
		}
		if r.RateStated && rate != 1 { // the language has no such form
			return Mapping{}, failure(fault.ClockRate, "clock.Start", nil, "TIME RATE belongs to START AT; a plain START runs at rate 1")
		}
	}
	return NewMapping(in.UTC, origin, rate)
}

// Stop is the inverse transition (C-028): stopped, no mapping, nobody the authority. The pace, the generation and the count of fences stay.
// Stopping a stopped domain changes nothing.
func Stop(l Lifecycle) Lifecycle {
	if !l.Running {
		return l
	}
	l.Running, l.Mapping = false, Mapping{}
	if l.Paced {
		l.Fence = l.Fence.next(Authority{})
	}
	return l
}

// Reassign applies a proposal of Reconcile as a compare-and-set (C-040): generation and expected are what the proposer saw. It is false, and the
// lifecycle unchanged, if the domain is no longer that generation of a running paced domain under that fence, or if next is not the fence
// that follows it. Mapping and generation never change here (C-008).
func Reassign(l Lifecycle, generation ident.Generation, expected, next Fence) (Lifecycle, bool) {
	if !l.Running || !l.Paced || l.Generation != generation || l.Fence != expected || next.Revision != expected.Revision+1 {
		return l, false
	}
	l.Fence = next
	return l, true
}
