// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/nervix-go/nervix/host/wire"
)

// NewReference makes an execution reference: a UUIDv7 of the current time.
func NewReference() string { return uuid.Must(uuid.NewV7()).String() }

// Execute runs one command and waits for its result. The command is sent again under the same reference, text and domain when its
// session is lost and when the node does not know the result yet, until CallTimeout or ctx ends. Then the error is ErrUncertain,
// or the last outcome of disposition Unknown.
//
// When ctx ends, the node is asked to cancel. ErrCancelled then says that the command never takes effect.
func (c *Client) Execute(ctx context.Context, command Command) (Outcome, error) {
	x := execution{client: c, reference: command.Reference}
	if x.reference == "" {
		x.reference = NewReference()
	}
	x.body = wire.CommandRequest{Reference: x.reference, Domain: command.Domain, Text: command.Text, Format: wire.FormatText}
	if x.body.Domain == "" {
		x.body.Domain = c.config.Domain
	}
	if command.JSON {
		x.body.Format = wire.FormatJSON
	}
	ctx, stop := context.WithTimeout(ctx, c.config.CallTimeout)
	defer stop()
	out, failed := x.run(ctx)
	if failed != nil {
		failed.Reference = x.reference
		return Outcome{}, failed
	}
	return out, nil
}

// execution is one call of Execute.
type execution struct {
	client    *Client
	reference string
	body      wire.CommandRequest
	// doubt says that some attempt may have been admitted.
	doubt bool
	// unknown is the last outcome of disposition Unknown.
	unknown *Outcome
}

func (x *execution) run(ctx context.Context) (Outcome, *Error) {
	delay := backoff{}
	for {
		out, failed, again := x.attempt(ctx)
		if !again {
			return out, failed
		}
		if !delay.wait(ctx) {
			return x.undecided(failed)
		}
	}
}

// attempt sends the command once. again says that a repetition may bring the result.
func (x *execution) attempt(ctx context.Context) (out Outcome, failed *Error, again bool) {
	if x.client.transactionLost() {
		return Outcome{}, failure(ErrTransactionLost, "the node reverts what was not committed", nil), false
	}
	s, failed := x.client.session(ctx)
	if failed != nil {
		return x.noSession(failed)
	}
	inside := x.client.holdsTransaction(s)
	got := s.roundTrip(ctx, x.client.config.RequestTimeout, orderedLane, x.body)
	x.doubt = x.doubt || got.doubt
	switch reply := got.reply.(type) {
	case wire.CommandOutcome:
		return x.outcome(s, reply)
	case wire.RequestRejected:
		failed = rejection(reply)
		return Outcome{}, failed, repeatable(reply.Kind)
	case wire.RequestCancelled:
		if ctx.Err() != nil && !x.doubt {
			return Outcome{}, failure(ErrCancelled, "", context.Cause(ctx)), false
		}
		return Outcome{}, failure(ErrConnect, "the node stops", nil), true
	case nil:
	default:
		s.fail(failure(ErrProtocol, "another reply than a command's", nil))
		x.doubt, got.failed = true, s.reason()
	}
	switch {
	case inside && got.doubt:
		// On a new session the text would run outside the transaction that it was meant for.
		x.client.forgetTransaction()
		out, failed = x.undecided(failure(ErrConnect, "the session that held the transaction is lost", got.failed))
		return out, failed, false
	case errors.Is(got.failed, ErrProtocol):
		out, failed = x.undecided(got.failed)
		return out, failed, false
	case !x.doubt && (errors.Is(got.failed, ErrCancelled) || errors.Is(got.failed, ErrRejected)):
		return Outcome{}, got.failed, false
	}
	return Outcome{}, got.failed, true
}

// noSession: without an admitted attempt the failure to connect is the answer; else it is one more reason not to know.
func (x *execution) noSession(failed *Error) (Outcome, *Error, bool) {
	if !x.doubt && x.unknown == nil {
		return Outcome{}, failed, false
	}
	for _, final := range []error{ErrClosed, ErrAuthentication, ErrTLS, ErrProtocol} {
		if errors.Is(failed, final) {
			out, failed := x.undecided(failed)
			return out, failed, false
		}
	}
	return Outcome{}, failed, true
}

func (x *execution) outcome(s *session, reply wire.CommandOutcome) (Outcome, *Error, bool) {
	if reply.Reference != x.reference {
		s.fail(failure(ErrProtocol, "an outcome names another reference", nil))
		x.doubt = true
		out, failed := x.undecided(s.reason())
		return out, failed, false
	}
	out := outcomeOf(reply)
	x.client.setTransaction(s, reply.Transaction)
	if out.Disposition == Unknown {
		x.doubt, x.unknown = true, &out
		return out, failure(ErrUncertain, out.Cause, nil), true
	}
	return out, nil, false
}

// undecided ends a call whose time is over: the last unknown outcome, else an error that tells whether there may be an effect.
func (x *execution) undecided(last *Error) (Outcome, *Error) {
	switch {
	case x.unknown != nil:
		return *x.unknown, nil
	case x.doubt:
		return Outcome{}, failure(ErrUncertain, "the command may have been admitted", last)
	}
	return Outcome{}, last
}

// repeatable says whether an unchanged repetition may be taken.
func repeatable(k wire.RejectKind) bool {
	return k == wire.RejectTooManyInFlight || k == wire.RejectServerBusy
}

func rejection(r wire.RequestRejected) *Error {
	kind := ErrRejected
	if r.Kind == wire.RejectReplyTooLarge {
		kind = ErrReplyTooLarge
	}
	detail := r.Kind.String()
	if r.Field != "" {
		detail += " (" + r.Field + ")"
	}
	if r.Text != "" {
		detail += ": " + r.Text
	}
	return failure(kind, detail, nil)
}

// Back-off between attempts: 100 ms doubling to 1 s (X, limits table).
const (
	backoffFirst = 100 * time.Millisecond
	backoffLast  = time.Second
)

type backoff struct{ next time.Duration }

// wait pauses; false says that ctx ended.
func (b *backoff) wait(ctx context.Context) bool {
	b.next = max(backoffFirst, min(2*b.next, backoffLast))
	pause, stop := context.WithTimeout(ctx, b.next)
	defer stop()
	<-pause.Done()
	return ctx.Err() == nil
}
