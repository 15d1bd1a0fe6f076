// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Watch follows the clock of one domain for a client session: what is installed, and the ticks this node accepts. It is level-triggered and
// lossy: whoever wakes up reads the newest values. It keeps the cell of the domain it was made for, so that the removal of the domain reaches it, and a
// later domain of the name does not. It holds nothing that has to be given back.
type Watch struct {
	cell   *cell
	domain ident.Domain
}

// Watch begins to follow a domain; session.domain_unknown if the node holds none of that name. Wait for Installed first: before it every domain is
// missing (C-090, C-091).
func (k *Keeper) Watch(domain ident.Domain) (*Watch, error) {
	c := k.cell(domain)
	if c == nil {
		return nil, fault.New(fault.SessionDomainUnknown, "clock.Watch", ident.Ref{Kind: ident.KindDomain, Name: domain}, "", nil)
	}
	return &Watch{cell: c, domain: domain}, nil
}

// Changed is closed at the next publication of an installation or of accepted progress after this call. Get it before reading, so that nothing between
// reading and waiting is missed (C-085). The removal of the domain publishes missing first and then closes it (C-205); after it nothing is
// ever published. A pause is no publication here (C-074).
func (w *Watch) Changed() <-chan struct{} { return w.cell.next() }

// Observed is the installed clock as clients are told about it: one whole installation that was published (C-206), without authority (C-086). False says
// that the domain is missing.
func (w *Watch) Observed() (clock.Observed, bool) {
	o := w.cell.current.Load().lifecycle.Observe()
	return o, o.State != clock.Missing
}

// Tick is the newest tick accepted of the installed generation; false while there is none, or while the clock is not paced.
func (w *Watch) Tick() (clock.Progress, bool) { return w.cell.tick() }

// Logical is the node's own reading of a generation, the watermarked one that execution uses (C-087). It fails like that one: also when another
// generation is installed.
func (w *Watch) Logical(generation ident.Generation) (vtime.Logical, error) {
	h := Handle{cell: w.cell, domain: w.domain, generation: generation}
	s, err := h.Snapshot()
	return s.Now, err
}

// Close is for symmetry: a watch holds nothing but its cell.
func (w *Watch) Close() {}
