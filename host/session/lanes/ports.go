// SPDX-License-Identifier: Apache-2.0

package lanes

import (
	"context"

	"github.com/nervix-go/nervix/host/wire"
)

// Lane is one of the two bidirectional streams of a session.
type Lane uint8

// The lanes. Ordered is stream 1, Control is stream 2.
const (
	Ordered Lane = iota
	Control
)

func (l Lane) String() string {
	if l == Ordered {
		return "ordered lane"
	}
	return "control lane"
}

// Handler serves the requests of one session. Command and End are called by one goroutine, never at the same time; ListDomains and
// Status come from others, at any time.
type Handler interface {
	// Command executes a command and gives its terminal reply. It calls admit just before the first effect; if that says false, the
	// command was cancelled, must have no effect, and the reply is RequestCancelled. ctx ends when the request is cancelled or the
	// session ends before admission, and when the server is aborted.
	Command(ctx context.Context, r wire.CommandRequest, admit func() bool) wire.ServerBody
	ListDomains(ctx context.Context) wire.ServerBody
	Status(ctx context.Context) wire.ServerBody
	// InTransaction says whether the session holds an open transaction after the last command. It is called by the goroutine of Command.
	InTransaction() bool
	// End releases what the session holds: its open transaction is reverted. It is called once, after the last command.
	End(ctx context.Context)
}

// Sender puts a frame into the outbound queue of a lane and waits while the queue is full. It gives up when the session has ended. False
// says that this very frame was not queued: the session ended, or the frame did not fit and another took its place.
type Sender interface {
	Send(lane Lane, frame wire.ServerFrame) bool
}
