// SPDX-License-Identifier: Apache-2.0

package connector

// State is the state of a session.
type State uint8

// The states. Opening, Open and Lost alternate; Finished (a finite source delivered everything) and Failed (definitive, not retried)
// end an epoch; Closed is final.
const (
	Opening State = iota
	Open
	Lost
	Finished
	Failed
	Closed
)

func (s State) String() string {
	switch s {
	case Opening:
		return "opening"
	case Open:
		return "open"
	case Lost:
		return "lost"
	case Finished:
		return "finished"
	case Failed:
		return "failed"
	default:
		return "closed"
	}
}
