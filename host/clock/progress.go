// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Tick is one boundary of a paced domain: number ID, counted from 1, lies at the origin plus (ID-1) periods (C-053).
type Tick struct {
	ID       uint64
	Boundary vtime.Logical
}

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
