// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// The sentinels, for errors.Is. What is returned carries the same code, the operation, the numbers concerned and, below it, the cause.
var (
	// ErrRate: a time rate is not a positive finite number (C-012).
	ErrRate error = &fault.Error{Code: fault.ClockRate}
	// ErrPace: a period is zero.
	ErrPace error = &fault.Error{Code: fault.ClockPace}
	// ErrRange: an instant or a tick number left its range (C-017).
	ErrRange error = &fault.Error{Code: fault.ClockRange}
	// ErrReading: a reading lies before the origin of its generation.
	ErrReading error = &fault.Error{Code: fault.ClockReading}
	// ErrTick: a tick has the number zero.
	ErrTick error = &fault.Error{Code: fault.ClockTick}
	// ErrUnschedulable: a wait does not fit a duration (C-136).
	ErrUnschedulable error = &fault.Error{Code: fault.ClockUnschedulable}
	// ErrUnpaced: what was asked exists only in paced domains.
	ErrUnpaced error = &fault.Error{Code: fault.ClockUnpaced}
	// ErrAuthority: no node is eligible to produce ticks (C-022).
	ErrAuthority error = &fault.Error{Code: fault.ClockAuthority}
	// ErrProgress: a report is not of the present authority (C-066).
	ErrProgress error = &fault.Error{Code: fault.ClockProgress}
	// ErrMissing, ErrStopped, ErrUninstalled: the clock cannot be read in its state (C-075, C-111).
	ErrMissing     error = &fault.Error{Code: fault.ClockMissing}
	ErrStopped     error = &fault.Error{Code: fault.DomainStopped}
	ErrUninstalled error = &fault.Error{Code: fault.ClockUninstalled}
	// ErrStale: the reader belongs to an earlier generation (C-075).
	ErrStale error = &fault.Error{Code: fault.ClockStale}
	// ErrCancelled: a wait was cancelled, which says nothing about the clock (C-136).
	ErrCancelled error = &fault.Error{Code: fault.ClockCancelled}
)

// subject names a domain in an error; arithmetic does not know its domain.
func subject(d ident.Domain) ident.Ref {
	if d == "" {
		return ident.Ref{}
	}
	return ident.Ref{Kind: ident.KindDomain, Name: d}
}

func failure(code fault.Code, op string, cause error, format string, args ...any) error {
	return fault.New(code, op, ident.Ref{}, fmt.Sprintf(format, args...), cause)
}

// instant prints nanoseconds from the Unix epoch as people write them.
func instant(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// length prints an unsigned distance in nanoseconds.
func length(ns uint64) string {
	if d := time.Duration(ns); d >= 0 {
		return d.String()
	}
	return fmt.Sprintf("%dns", ns)
}
