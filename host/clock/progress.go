// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Progress is what an authority reports about a boundary it has reached (C-056). It never moves time (C-004).
type Progress struct {
	Domain     ident.Domain
	Generation ident.Generation
	Fence      Fence
	Tick       Tick
	// AuthorityUTC is the authority's own observation when it emitted the tick.
	AuthorityUTC vtime.UTC
	Period       uint64
}

// Accepts judges a report against the receiver's own installation l (C-065, C-066). from is the node that the mutually authenticated
// connection proved, whatever the report says. A refusal is ErrProgress and names the first fact that does not match; the report is to be ignored. Of
// accepted reports a receiver keeps one that Supersedes what it has.
//
// The boundary and the period of a report are not judged: they are shown to observers and establish nothing (C-004, C-069).
func Accepts(l Lifecycle, from ident.Node, p Progress) error {
	refuse := func(format string, args ...any) error {
		f := failure(fault.ClockProgress, "clock.Accepts", nil, format, args...).(*fault.Error)
		f.Subject = subject(p.Domain)
		return f
	}
	switch {
	case l.Domain == "" || p.Domain != l.Domain:
		return refuse("the report is about a domain that is not installed here")
	case !l.Running:
		return refuse("the domain is stopped here")
	case !l.Paced:
		return refuse("the domain is unpaced and has no ticks")
	case p.Generation != l.Generation:
		return refuse("the report is of generation %d; %d is installed", p.Generation, l.Generation)
	case l.Fence.Authority.IsZero():
		return refuse("no node is the authority of the clock here (revision %d)", l.Fence.Revision)
	case p.Fence.Revision != l.Fence.Revision:
		return refuse("the report is of authority revision %d; %d is installed", p.Fence.Revision, l.Fence.Revision)
	case p.Fence.Authority != l.Fence.Authority:
		return refuse("the report is of %s; the authority is %s", p.Fence.Authority, l.Fence.Authority)
	case from != l.Fence.Authority.Node:
		return refuse("the report came from node %s; the authority is %s", from, l.Fence.Authority)
	case p.Tick.ID == 0:
		return refuse("the report has the tick number 0")
	}
	return nil
}

// Supersedes says whether an accepted report replaces the kept one of the same generation (C-067): its number is higher, and its observation
// not earlier. Anything accepted replaces the zero value, which stands for nothing kept; a new generation and a stop return to it (C-068).
func (p Progress) Supersedes(kept Progress) bool {
	if kept == (Progress{}) {
		return true
	}
	return p.Tick.ID > kept.Tick.ID && p.AuthorityUTC.NS() >= kept.AuthorityUTC.NS()
}
