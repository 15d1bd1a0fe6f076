// SPDX-License-Identifier: Apache-2.0

package authority

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Effect is one thing the driver has to do: a Report, Send, Cancel or Failure. Effects are carried out in their order.
type Effect interface{ effect() }

// Attempt names one request under way. Numbers are never used twice by one machine.
type Attempt uint64

// Report is a tick for this node's own timekeeper, which gets it directly, without the network (C-057).
type Report struct{ Progress clock.Progress }

// Send begins a request to a peer. Machine.Ended is due for it, once, when it has ended in whatever way.
type Send struct {
	Attempt Attempt
	To      ident.Node
	Report  clock.Progress
}

// Cancel asks for the end of a request under way; Machine.Ended is still due for it.
type Cancel struct{ Attempt Attempt }

// Failure is what kept a producer from its next tick, for log and events (C-147). Its domain keeps its mapping; nothing is re-anchored (C-017).
type Failure struct {
	Domain ident.Domain
	Err    error
	// Final says that no further tick of this generation will come.
	Final bool
}

func (Report) effect()  {}
func (Send) effect()    {}
func (Cancel) effect()  {}
func (Failure) effect() {}
