// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// State is how an installed clock appears to a reader (gaps 2.2).
type State uint8

// The states.
const (
	Missing State = iota
	Stopped
	Uninstalled
	Unpaced
	Paced
)

// String is the state as clients see it.
func (s State) String() string {
	return [...]string{"missing", "stopped", "uninstalled", "unpaced", "paced"}[s]
}

// Readable is nil if a clock in this state can be read, else ErrMissing, ErrStopped or ErrUninstalled. Wall time never takes the place of a
// clock that is not there (C-075).
func (s State) Readable(op string, domain ident.Domain) error {
	switch s {
	case Unpaced, Paced:
		return nil
	case Stopped:
		return fault.New(fault.DomainStopped, op, subject(domain), "the domain is stopped; it has no time until it is started", nil)
	case Uninstalled:
		return fault.New(fault.ClockUninstalled, op, subject(domain), "the paced domain runs, but no node is its clock's authority at present", nil)
	default:
		return fault.New(fault.ClockMissing, op, subject(domain), "the domain does not exist on this node", nil)
	}
}

// Observed is the clock as a client is told about it: neither authority nor fence. Pace and Mapping are set only in state Paced.
type Observed struct {
	Generation ident.Generation
	State      State
	Pace       Pace
	Mapping    Mapping
}

// At is domain time at an observation of UTC: its projection, or UTC itself in an unpaced domain. Typed errors as in State.Readable and Mapping.At
// (C-111).
func (o Observed) At(utc vtime.UTC) (vtime.Logical, error) {
	if err := o.State.Readable("clock.Observed.At", ""); err != nil {
		return vtime.Logical{}, err
	}
	if o.State == Unpaced {
		return vtime.UnpacedNow(utc), nil
	}
	return o.Mapping.At(utc)
}

// Wait is the physical time from the observation utc until domain time reaches target, rounded up; zero if it is due (C-111). ErrUnschedulable if it
// does not fit.
func (o Observed) Wait(utc vtime.UTC, target vtime.Logical) (time.Duration, error) {
	now, err := o.At(utc)
	if err != nil {
		return 0, err
	}
	m := o.Mapping
	if o.State == Unpaced {
		m = Mapping{Rate: 1}
	}
	return m.Wait(now, target)
}

// Window is the admission window at an observation of UTC (C-111). ErrUnpaced in an unpaced domain, which admits every timestamp (C-133).
func (o Observed) Window(utc vtime.UTC) (Window, error) {
	now, err := o.At(utc)
	if err != nil {
		return Window{}, err
	}
	if o.State == Unpaced {
		return Window{}, failure(fault.ClockUnpaced, "clock.Observed.Window", nil, "an unpaced domain has no admission window; it admits every timestamp")
	}
	return WindowAt(o.Mapping, o.Pace, now)
}
