// SPDX-License-Identifier: Apache-2.0

// Package timekeeper gives executions their clock handles. A handle belongs to one generation of one domain; it ends with it and never
// attaches to a successor. An unpaced domain's time is actual UTC through the same handle (nspl 11.5); paced installations come with
// the domain clock.
package timekeeper

import (
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Handle is the execution clock of one generation. Reads take no lock.
type Handle struct {
	domain     ident.Domain
	generation ident.Generation
	ended      atomic.Bool
}

// Unpaced makes the handle of a generation of an unpaced domain.
func Unpaced(domain ident.Domain, generation ident.Generation) *Handle {
	return &Handle{domain: domain, generation: generation}
}

// End makes every later read fail; it is final.
func (h *Handle) End() { h.ended.Store(true) }

// Snapshot reads domain time. After End it fails; wall time never takes the place of a missing clock.
func (h *Handle) Snapshot() (vtime.Snapshot, error) {
	if h.ended.Load() {
		return vtime.Snapshot{}, h.gone("clock.Snapshot")
	}
	return vtime.Snapshot{Domain: h.domain, Generation: h.generation, Now: vtime.UnpacedNow(osclock.UTC())}, nil
}

// Until is the physical time until domain time reaches target, at least 1 ns while it lies ahead.
func (h *Handle) Until(target vtime.Logical) (time.Duration, error) {
	if h.ended.Load() {
		return 0, h.gone("clock.Until")
	}
	now := vtime.UnpacedNow(osclock.UTC())
	d, err := target.Sub(now)
	if err != nil { // farther away than a duration can say
		if target.Before(now) {
			return -1 << 63, nil
		}
		return 1<<63 - 1, nil
	}
	return d, nil
}

// Now is the reading alone; ok is false after End.
func (h *Handle) Now() (vtime.Logical, bool) {
	s, err := h.Snapshot()
	return s.Now, err == nil
}

func (h *Handle) gone(op string) error {
	return fault.New(fault.DomainStopped, op, ident.Ref{Kind: ident.KindDomain, Name: h.domain}, "this generation of the domain has ended", nil)
}
