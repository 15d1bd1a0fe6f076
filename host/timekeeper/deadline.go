// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"context"
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Deadline is an instant of domain time of one generation (C-135). Only a handle makes one. It neither is nor becomes an osclock.Deadline, which
// is physical (C-137).
type Deadline struct {
	cell       *cell // no deadline of another domain of the same name is waited for
	domain     ident.Domain
	generation ident.Generation
	target     vtime.Logical
}

// Domain is whose time it is.
func (d Deadline) Domain() ident.Domain { return d.domain }

// Generation is the generation it belongs to.
func (d Deadline) Generation() ident.Generation { return d.generation }

// Target is the instant.
func (d Deadline) Target() vtime.Logical { return d.target }

// Deadline makes the deadline of a target in the handle's generation. It reads no clock.
func (h *Handle) Deadline(target vtime.Logical) Deadline {
	return Deadline{cell: h.cell, domain: h.domain, generation: h.generation, target: target}
}

// Wait returns once domain time has reached the deadline, with a fresh snapshot, at once if it is due. It looks again whenever its timer fires, the
// installation changes or ctx ends, so that a step of UTC never makes it return early (C-135). Otherwise its error is one of three (C-136):
//
//   - clock.unavailable: the clock cannot be read, or is not the deadline's; the cause says which.
//   - clock.cancelled: ctx ended; its cause is below.
//   - clock.unschedulable: the wait exceeds the longest timer.
func (h *Handle) Wait(ctx context.Context, d Deadline) (vtime.Snapshot, error) {
	const op = "clock.Wait"
	subject := ident.Ref{Kind: ident.KindDomain, Name: h.domain}
	unavailable := func(cause error) (vtime.Snapshot, error) {
		return vtime.Snapshot{}, fault.New(fault.ClockUnavailable, op, subject, "", cause)
	}
	if d.cell != h.cell || d.generation != h.generation || h.any {
		return unavailable(fault.New(fault.ClockStale, op, subject,
			fmt.Sprintf("the deadline is one of %s, generation %d, and the handle one of generation %d", d.domain, d.generation, h.generation), nil))
	}
	var alarm *osclock.Alarm
	for {
		in := h.cell.current.Load()
		if !h.may(in) {
			return unavailable(h.refuse(op, in))
		}
		now, err := in.read(h.cell.now())
		if err != nil {
			return unavailable(err)
		}
		if !now.Before(d.target) {
			return vtime.Snapshot{Domain: h.domain, Generation: h.generation, Now: now}, nil
		}
		left, err := in.mapping().Wait(now, d.target)
		if err != nil {
			return vtime.Snapshot{}, fault.New(fault.ClockUnschedulable, op, subject, "", err)
		}
		if alarm == nil {
			alarm = osclock.NewAlarm(left)
			defer alarm.Stop()
		} else {
			alarm.Reset(left)
		}
		select {
		case <-alarm.C():
		case <-in.changed:
		case <-h.end:
		case <-ctx.Done():
			return vtime.Snapshot{}, fault.New(fault.ClockCancelled, op, subject, "", context.Cause(ctx))
		}
	}
}
