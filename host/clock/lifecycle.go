// SPDX-License-Identifier: Apache-2.0

package clock

import "github.com/nervix-go/nervix/host/kernel/ident"

// Lifecycle is what a committed revision says about the clock of one domain. It is a value; equal values mean the same clock.
type Lifecycle struct {
	Domain ident.Domain
	// Created tells a domain from a later one of the same name.
	Created    ident.Revision
	Generation ident.Generation
	Running    bool
	Paced      bool
	// Pace is set in paced domains, Mapping while a paced generation runs.
	Pace    Pace
	Mapping Mapping
	Fence   Fence
}

// State is how the clock appears to a reader (gaps 2.2). The zero Lifecycle is missing.
func (l Lifecycle) State() State {
	switch {
	case l.Domain == "":
		return Missing
	case !l.Running:
		return Stopped
	case !l.Paced:
		return Unpaced
	case l.Mapping.IsZero() || l.Fence.Authority.IsZero():
		return Uninstalled
	default:
		return Paced
	}
}

// Observe is what clients are told about the clock. Two lifecycles that differ only in who produces their ticks are observed alike (C-086).
func (l Lifecycle) Observe() Observed {
	o := Observed{Generation: l.Generation, State: l.State()}
	if o.State == Paced {
		o.Pace, o.Mapping = l.Pace, l.Mapping
	}
	return o
}

// OnlyFenceDiffers says that next is l under another fence. Such a change is installed at once, ahead of the graph (C-049); every other
// one waits for it (C-050).
func (l Lifecycle) OnlyFenceDiffers(next Lifecycle) bool {
	if l.Fence == next.Fence {
		return false
	}
	l.Fence = next.Fence
	return l == next
}
