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

// Observed is the clock as a client is told about it: neither authority nor fence. Pace and Mapping are set only in state Paced.
type Observed struct {
	Generation ident.Generation
	State      State
	Pace       Pace
	Mapping    Mapping
}
