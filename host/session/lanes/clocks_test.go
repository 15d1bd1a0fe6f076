// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/session/clocks"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
)

// desk is handler, sender and clock lane of one session; everything fits, except the reply to a request that tooLarge names.
type desk struct {
	mu       sync.Mutex
	replies  map[uint64]wire.ServerBody
	order    []any // what was queued: request identities, and unsolicited frames
	tooLarge uint64
	open     bool // a transaction
	block    chan struct{}
}

func (d *desk) Command(_ context.Context, r wire.CommandRequest, admit func() bool) wire.ServerBody {
	if !admit() {
		return wire.RequestCancelled{}
	}
	if r.Text == "block" {
		<-d.block
	}
	d.open = r.Text == "BEGIN" || d.open && r.Text != "REVERT"
	return wire.CommandOutcome{Disposition: wire.DispositionCompleted, Reference: r.Reference, Text: "handler"}
}

func (d *desk) ListDomains(context.Context) wire.ServerBody { return wire.DomainList{} }
func (d *desk) Status(context.Context) wire.ServerBody {
	return wire.StatusReport{Node: "n", Role: "leader"}
}
func (d *desk) InTransaction() bool { return d.open }
func (d *desk) End(context.Context) {}

func (d *desk) Send(_ lanes.Lane, f wire.ServerFrame) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	whole := f.RequestID != d.tooLarge
	if !whole {
		f.Body = wire.RequestRejected{Kind: wire.RejectReplyTooLarge}
	}
	d.replies[f.RequestID] = f.Body
	d.order = append(d.order, f.RequestID)
	return whole
}

func (d *desk) Queue(_ context.Context, body wire.ServerBody) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.order = append(d.order, body)
	return nil
}

func (d *desk) NewSlot() clocks.Slot { return deskSlot{d} }

type deskSlot struct{ desk *desk }

func (s deskSlot) Offer(body wire.ServerBody) (bool, error) {
	return false, s.desk.Queue(context.Background(), body)
}
func (s deskSlot) Withdraw() bool { return false }

// reply is the reply to a request when nothing moves any more; nil for none.
func (d *desk) reply(id uint64) wire.ServerBody {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.replies[id]
}

func (d *desk) events() (list []any) {
	synctest.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.order {
		if _, reply := one.(uint64); !reply {
			list = append(list, one)
		}
	}
	return list
}

// following runs f with a session in virtual time.
func following(t *testing.T, ready bool, f func(t *testing.T, n *clockstest.Node, d *desk, s *lanes.Session, say func(id uint64, body wire.ClientBody))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := clockstest.New()
		if ready {
			n.Install()
		}
		d := &desk{replies: map[uint64]wire.ServerBody{}, block: make(chan struct{})}
		s := lanes.New(t.Context(), d, d, lanes.Options{Clocks: clocks.New(n, d, nil), Domain: "weather"})
		f(t, n, d, s, func(id uint64, body wire.ClientBody) {
			if err := s.Receive(lanes.Ordered, wire.ClientFrame{RequestID: id, Body: body}); err != nil {
				t.Error(err)
			}
		})
		s.Abort()
		if err := s.Wait(context.Background()); err != nil {
			t.Error(err)
		}
		if n.Watches() != 0 {
			t.Errorf("%d watches are open", n.Watches())
		}
	})
}

const uuid = "0192f6a0-7c00-7abc-8def-0123456789ab"

func command(text string) wire.CommandRequest {
	return wire.CommandRequest{Reference: uuid, Text: text, Format: wire.FormatText}
}

// TestAnAttachHoldsTheLane: it is admitted before it waits, so a cancellation does not end the wait; what follows waits behind it, and
// requests of the control lane do not.
func TestAnAttachHoldsTheLane(t *testing.T) {
	// req: C-090
	// req: X-173
	// req: X-044 half: clocks and commands
	following(t, false, func(t *testing.T, n *clockstest.Node, d *desk, s *lanes.Session, say func(uint64, wire.ClientBody)) {
		n.Publish("weather", clock.Observed{Generation: 1, State: clock.Unpaced})
		say(1, wire.AttachDomainClockRequest{Domain: "weather"})
		synctest.Wait()
		say(2, wire.CancelRequest{Target: 1})
		say(3, command("SHOW INGESTORS"))
		if err := s.Receive(lanes.Control, wire.ClientFrame{RequestID: 4, Body: wire.StatusRequest{}}); err != nil {
			t.Error(err)
		}
		if d.reply(1) != nil || d.reply(3) != nil || d.reply(4) == nil || d.reply(2) != (wire.CancelOutcome{Result: wire.CancelRequested}) {
			t.Fatalf("before the installation: %v", d.replies)
		}
		n.Install()
		if out, ok := d.reply(1).(wire.DomainClockAttachOutcome); !ok || out.Disposition != wire.ClockAttached {
			t.Errorf("attach: %+v", d.reply(1))
		}
		if d.reply(3) == nil {
			t.Error("the command behind it has no reply")
		}
	})
}

// TestACancelledAttachNeverDelivers: one that still waits for its turn is cancelled, and so is the reply that does not fit.
func TestACancelledAttachNeverDelivers(t *testing.T) {
	// req: C-092 half: the end of the session is TestTheEndDuringAnAttach
	// req: X-175
	// req: X-055 half: clock requests
	following(t, true, func(t *testing.T, n *clockstest.Node, d *desk, _ *lanes.Session, say func(uint64, wire.ClientBody)) {
		n.Publish("weather", clock.Observed{Generation: 1, State: clock.Unpaced})
		say(1, command("block"))
		say(2, wire.AttachDomainClockRequest{Domain: "weather"})
		say(3, wire.CancelRequest{Target: 2})
		if _, ok := d.reply(2).(wire.RequestCancelled); !ok {
			t.Errorf("cancelled: %+v", d.reply(2))
		}
		close(d.block)
		d.tooLarge = 4
		say(4, wire.AttachDomainClockRequest{Domain: "weather"})
		if r, ok := d.reply(4).(wire.RequestRejected); !ok || r.Kind != wire.RejectReplyTooLarge {
			t.Errorf("too large: %+v", d.reply(4))
		}
		n.Publish("weather", clock.Observed{Generation: 2, State: clock.Unpaced})
		if got := d.events(); len(got) > 0 {
			t.Errorf("delivered: %v", got)
		}
		say(5, wire.AttachDomainClockRequest{Domain: "weather"})
		d.reply(5)
		n.Publish("weather", clock.Observed{Generation: 3, State: clock.Unpaced})
		if got := d.events(); len(got) != 1 {
			t.Errorf("after a good attach: %v", got)
		}
	})
}

// TestTheEndDuringAnAttach: the end of the session ends the wait, and a stopping node does too; nothing is delivered.
func TestTheEndDuringAnAttach(t *testing.T) {
	// req: C-090
	// req: C-092
	// req: C-101
	for _, end := range []string{"end", "drain", "abort"} {
		following(t, false, func(t *testing.T, n *clockstest.Node, d *desk, s *lanes.Session, say func(uint64, wire.ClientBody)) {
			n.Publish("weather", clock.Observed{Generation: 1, State: clock.Unpaced})
			say(1, wire.AttachDomainClockRequest{Domain: "weather"})
			synctest.Wait()
			switch end {
			case "end":
				s.End()
			case "abort":
				s.Abort()
			default:
				s.Drain()
				<-s.Idle()
				if out, ok := d.reply(1).(wire.DomainClockAttachOutcome); !ok || out.Code != string(fault.SessionOver) {
					t.Errorf("drain: %+v", d.reply(1))
				}
				s.End()
			}
			n.Install()
			n.Publish("weather", clock.Observed{Generation: 2, State: clock.Unpaced})
			if got := d.events(); len(got) > 0 || end != "drain" && d.reply(1) != nil {
				t.Errorf("%s: %v, %+v", end, got, d.reply(1))
			}
		})
	}
}

// TestClocksAndTransactions: both requests are refused between BEGIN and its end, as typed requests and as statements.
func TestClocksAndTransactions(t *testing.T) {
	// req: C-089
	// req: X-124 half: clocks
	following(t, true, func(t *testing.T, n *clockstest.Node, d *desk, _ *lanes.Session, say func(uint64, wire.ClientBody)) {
		n.Publish("weather", clock.Observed{Generation: 1, State: clock.Unpaced})
		n.Publish("other", clock.Observed{Generation: 1, State: clock.Unpaced})
		say(1, wire.AttachDomainClockRequest{Domain: "weather"})
		say(2, command("BEGIN"))
		say(3, wire.AttachDomainClockRequest{Domain: "other"})
		say(4, wire.DetachDomainClockRequest{Domain: "weather"})
		say(5, command("attach domain clock"))
		say(6, command("DETACH DOMAIN CLOCK;"))
		if out := d.reply(3).(wire.DomainClockAttachOutcome); out.Disposition != wire.ClockAttachFailed || out.Code != string(fault.SessionInTransaction) {
			t.Errorf("attach: %+v", out)
		}
		if out := d.reply(4).(wire.DomainClockDetachOutcome); out.Disposition != wire.ClockDetachFailed || out.Hint == "" {
			t.Errorf("detach: %+v", out)
		}
		for id := uint64(5); id < 7; id++ {
			out := d.reply(id).(wire.CommandOutcome)
			if out.Disposition != wire.DispositionFailed || len(out.Diagnostics) != 1 || out.Diagnostics[0].Code != fault.SessionInTransaction {
				t.Errorf("statement %d: %+v", id, out)
			}
		}
		n.Publish("weather", clock.Observed{Generation: 2, State: clock.Unpaced})
		if got := d.events(); len(got) != 1 {
			t.Errorf("the attachment from before does not deliver: %v", got)
		}
		say(7, command("REVERT"))
		say(8, wire.DetachDomainClockRequest{Domain: "weather"})
		if out := d.reply(8).(wire.DomainClockDetachOutcome); out.Disposition != wire.ClockDetached {
			t.Errorf("after it: %+v", out)
		}
	})
}

// TestClockStatements: the statements address the domain of the command, or that of the session.
func TestClockStatements(t *testing.T) {
	// req: X-172 half: that USE does not move an attachment is the client's to show
	following(t, true, func(t *testing.T, n *clockstest.Node, d *desk, _ *lanes.Session, say func(uint64, wire.ClientBody)) {
		n.Publish("weather", clock.Observed{Generation: 4, State: clock.Paced, Pace: clock.Pace{Period: 10, Skew: 1}, Mapping: clock.Mapping{Rate: 0.5}})
		n.Publish("other", clock.Observed{State: clock.Stopped})
		asked := command("ATTACH DOMAIN CLOCK;")
		asked.Format = wire.FormatJSON
		say(1, asked)
		want := wire.CommandOutcome{Disposition: wire.DispositionCompleted, Reference: uuid, Domain: "weather",
			Text: "the session follows the clock of domain weather: generation 4, paced",
			Data: `{"generation":4,"state":"paced","period_ns":10,"skew_ns":1,"logical_start_ns":0,"wall_started_at_ns":0,"time_rate":0.5}`}
		if diff := cmp.Diff(wire.ServerBody(want), d.reply(1)); diff != "" {
			t.Error(diff)
		}
		other := command("ATTACH DOMAIN CLOCK")
		other.Domain = "other"
		say(2, other)
		if out := d.reply(2).(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted || out.Domain != "other" || out.Data != "" {
			t.Errorf("another domain: %+v", out)
		}
		other.Domain = "nowhere"
		say(3, other)
		say(4, command("attach domain clock"))
		for id, code := range map[uint64]fault.Code{3: fault.SessionDomainUnknown, 4: fault.SessionClockAttached} {
			out := d.reply(id).(wire.CommandOutcome)
			if out.Disposition != wire.DispositionFailed || len(out.Diagnostics) != 1 || out.Diagnostics[0].Code != code {
				t.Errorf("statement %d: %+v", id, out)
			}
		}
		say(5, command("DETACH DOMAIN CLOCK"))
		say(6, wire.DetachDomainClockRequest{Domain: "weather"})
		if out := d.reply(5).(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted || !strings.Contains(out.Text, "no longer") {
			t.Errorf("detach: %+v", out)
		}
		if out := d.reply(6).(wire.DomainClockDetachOutcome); out.Disposition != wire.ClockNotAttached {
			t.Errorf("detach again: %+v", out)
		}
		say(7, command("ATTACH DOMAIN CLOCK; SHOW INGESTORS"))
		if out := d.reply(7).(wire.CommandOutcome); out.Text != "handler" {
			t.Errorf("more than one statement: %+v", out)
		}
		bad := command("ATTACH DOMAIN CLOCK")
		bad.Reference = "mine"
		say(8, bad)
		if out := d.reply(8).(wire.CommandOutcome); out.Text != "handler" {
			t.Errorf("a reference that is none: %+v", out)
		}
	})
}

// TestClockRequestsHaveTheirLane: they belong to the ordered lane, and a session without clocks refuses them and goes on.
func TestClockRequestsHaveTheirLane(t *testing.T) {
	// req: X-050 half: unsupported requests
	following(t, true, func(t *testing.T, _ *clockstest.Node, d *desk, s *lanes.Session, _ func(uint64, wire.ClientBody)) {
		if err := s.Receive(lanes.Control, wire.ClientFrame{RequestID: 1, Body: wire.AttachDomainClockRequest{Domain: "weather"}}); err != nil {
			t.Error(err)
		}
		if r, ok := d.reply(1).(wire.RequestRejected); !ok || r.Kind != wire.RejectUnsupportedRequest {
			t.Errorf("on the control lane: %+v", d.reply(1))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		d := &desk{replies: map[uint64]wire.ServerBody{}}
		s := lanes.New(t.Context(), d, d, lanes.Options{})
		for id, body := range map[uint64]wire.ClientBody{1: wire.AttachDomainClockRequest{Domain: "d"}, 2: wire.DetachDomainClockRequest{Domain: "d"}} {
			if err := s.Receive(lanes.Ordered, wire.ClientFrame{RequestID: id, Body: body}); err != nil {
				t.Error(err)
			}
			if r, ok := d.reply(id).(wire.RequestRejected); !ok || r.Kind != wire.RejectUnsupportedRequest {
				t.Errorf("without clocks: %+v", d.reply(id))
			}
		}
		if err := s.Receive(lanes.Ordered, wire.ClientFrame{RequestID: 3, Body: command("ATTACH DOMAIN CLOCK")}); err != nil {
			t.Error(err)
		}
		if out := d.reply(3).(wire.CommandOutcome); out.Text != "handler" {
			t.Errorf("the statement without clocks: %+v", out)
		}
		s.Abort()
		if err := s.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
