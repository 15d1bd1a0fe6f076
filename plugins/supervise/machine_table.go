// SPDX-License-Identifier: Apache-2.0

package supervise

// move is one legal transition.
type move struct {
	to      state
	effects []effect
}

func to(s state, effects ...effect) move { return move{s, effects} }

// moves is the whole table. A late timer or a repeated wish is legal where it can race; everything else that is missing is a defect.
var moves = map[state]map[event]move{
	idle: {
		evWanted: to(starting, fxStart),
		evStop:   to(stopped, fxEnded),
	},
	starting: {
		evWanted:      to(starting),
		evStarted:     to(running, fxUp, fxArm),
		evStartFailed: to(retrying, fxDown, fxArm),
		evStop:        to(killing, fxKill),
	},
	running: {
		evWanted: to(running),
		evTimer:  to(running),
		evExited: to(waiting, fxDown, fxArm),
		evCut:    to(cutting, fxDisarm, fxKill),
		evStop:   to(asking, fxAsk, fxArm),
	},
	cutting: {
		evWanted: to(cutting),
		evTimer:  to(cutting),
		evCut:    to(cutting),
		evExited: to(waiting, fxDown, fxArm),
		evStop:   to(killing, fxKill),
	},
	waiting: {
		evWanted:   to(waiting),
		evTimer:    to(starting, fxStart),
		evUnwanted: to(idle),
		evCut:      to(waiting),
		evStop:     to(stopped, fxDisarm, fxEnded),
	},
	retrying: {
		evWanted:   to(retrying),
		evTimer:    to(starting, fxStart),
		evUnwanted: to(failed),
		evStop:     to(stopped, fxDisarm, fxEnded),
	},
	failed: {
		evWanted: to(starting, fxStart),
		evStop:   to(stopped, fxEnded),
	},
	asking: {
		evWanted: to(asking),
		evTimer:  to(terminating, fxTerm, fxArm),
		evCut:    to(killing, fxDisarm, fxKill),
		evExited: to(stopped, fxDisarm, fxDown, fxEnded),
		evStop:   to(asking),
	},
	terminating: {
		evWanted: to(terminating),
		evTimer:  to(killing, fxKill),
		evCut:    to(killing, fxDisarm, fxKill),
		evExited: to(stopped, fxDisarm, fxDown, fxEnded),
		evStop:   to(terminating),
	},
	killing: {
		evWanted:      to(killing),
		evTimer:       to(killing),
		evCut:         to(killing),
		evStarted:     to(killing, fxKill), // stopped while the launcher was at work
		evStartFailed: to(stopped, fxDown, fxEnded),
		evExited:      to(stopped, fxDown, fxEnded),
		evStop:        to(killing),
	},
	stopped: {
		evWanted: to(stopped),
		evTimer:  to(stopped),
		evCut:    to(stopped),
		evStop:   to(stopped),
	},
}
