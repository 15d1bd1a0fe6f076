// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"cmp"
	"time"
)

// state of one connector process.
type state uint8

//	Wanted           Started            Exited
//
// idle ───────────▶ starting ─────────▶ running ─────────▶ waiting ──Timer──▶ starting
//
//	│ StartFailed       │ Cut                 ▲ │ Unwanted
//	│                   └──▶ cutting ──Exited─┘ └──▶ idle
//	└──▶ retrying ──Timer──▶ starting
//	        │ Unwanted
//	        └──▶ failed ──Wanted──▶ starting
//
// Stop: running ──▶ asking ──Timer──▶ terminating ──Timer──▶ killing ──Exited──▶ stopped
const (
	idle        state = iota // nobody needs the process
	starting                 // the launcher is at work
	running                  // configured; sessions may open channels
	cutting                  // killed by us; waiting for its end
	waiting                  // it ended by itself; backoff before the next start
	retrying                 // the last start failed; backoff before the next
	failed                   // the last start failed and nobody waits for another
	asking                   // asked to stop, grace running
	terminating              // TERM sent
	killing                  // KILL sent to the process group
	stopped                  // final
)

var stateNames = [...]string{"idle", "starting", "running", "cutting", "waiting", "retrying", "failed", "asking", "terminating", "killing", "stopped"}

func (s state) String() string { return stateNames[s] }

// event is what happened.
type event uint8

const (
	evWanted      event = iota // a session needs the process
	evStarted                  // handshake and configuration are done
	evStartFailed              // the launch failed and left nothing running
	evExited                   // the process is gone and reaped
	evCut                      // it broke the protocol or hangs
	evTimer                    // the armed timer fired
	evUnwanted                 // it fired, and no session needs the process
	evStop                     // orderly stop
)

var eventNames = [...]string{"wanted", "started", "start-failed", "exited", "cut", "timer", "unwanted", "stop"}

func (e event) String() string { return eventNames[e] }

// effect is what the driver has to do, in order.
type effect uint8

const (
	fxStart  effect = iota // launch
	fxUp                   // tell the sessions that an incarnation is ready
	fxDown                 // tell the sessions that it is gone
	fxArm                  // arm the timer with machine.timer
	fxDisarm               // disarm it
	fxAsk                  // ask the process to stop
	fxTerm                 // TERM to the process
	fxKill                 // KILL to its process group
	fxEnded                // nothing more will happen
)

var effectNames = [...]string{"start", "up", "down", "arm", "disarm", "ask", "term", "kill", "ended"}

func (f effect) String() string { return effectNames[f] }

// Times of the machine.
const (
	firstBackoff = 100 * time.Millisecond
	lastBackoff  = 5 * time.Second
	// stableAfter is how long a process has to run until its next failure is treated as the first.
	stableAfter = 2 * time.Second
	// stopGrace and termGrace bound the polite part of a stop: together below the 5 s of P-008.
	stopGrace = 2 * time.Second
	termGrace = time.Second
)

// machine decides over one connector process. It is pure: the driver brings events and performs effects in their order.
type machine struct {
	state state
	// timer is the duration that fxArm means.
	timer time.Duration
	// restarts counts launches after the first.
	restarts int

	grace    time.Duration // how long asking lasts, stopGrace if zero
	launches int
	backoff  time.Duration
}

// step moves on one event. An event without an entry for the state is a defect of the driver; ok is false and nothing changes.
func (m *machine) step(e event) (effects []effect, ok bool) {
	move, ok := moves[m.state][e]
	if !ok {
		return nil, false
	}
	effects = move.effects
	if m.state == running && e == evTimer || e == evUnwanted {
		m.backoff = 0
	}
	m.state = move.to
	for _, fx := range effects {
		switch fx {
		case fxStart:
			if m.launches++; m.launches > 1 {
				m.restarts++
			}
		case fxArm:
			m.timer = m.duration()
		}
	}
	return effects, true
}

func (m *machine) duration() time.Duration {
	switch m.state {
	case running:
		return stableAfter
	case asking:
		return cmp.Or(m.grace, stopGrace)
	case terminating:
		return termGrace
	default: // waiting, retrying
		m.backoff = min(max(2*m.backoff, firstBackoff), lastBackoff)
		return m.backoff
	}
}
