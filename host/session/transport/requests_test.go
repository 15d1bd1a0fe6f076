// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
)

func TestCommandsRunInWrittenOrder(t *testing.T) {
	// req: X-044 half: commands; the other requests of the ordered lane do not exist yet
	n := serve(t, nil)
	p := n.login(t)
	var want []string
	for i := range 50 {
		text := fmt.Sprintf("ok %d", i)
		want = append(want, text)
		p.send(command(text))
	}
	for i := range want {
		f := p.read(lanes.Ordered)
		if f.RequestID != uint64(i+1) || f.Body.(wire.CommandOutcome).Text != "did "+want[i] {
			t.Fatalf("reply %d: %+v", i, f)
		}
	}
	if diff := cmp.Diff(want, n.executor.ran()); diff != "" {
		t.Fatal(diff)
	}
}

func TestInspectionsDoNotWaitForCommands(t *testing.T) {
	// req: X-045 half: domain list and status
	// req: X-046 half: the answer to a cancellation
	n := serve(t, nil)
	p := n.login(t)
	held := p.send(command("admitted"))
	<-n.executor.started
	list, status := p.send(wire.ListDomainsRequest{}), p.send(wire.StatusRequest{})
	got := map[uint64]wire.ServerBody{}
	for range 2 {
		f := p.read(lanes.Control)
		got[f.RequestID] = f.Body
	}
	want := map[uint64]wire.ServerBody{
		list:   wire.DomainList{Domains: []wire.DomainEntry{{Name: "weather", Status: "running"}}},
		status: wire.StatusReport{Node: "n1", Incarnation: 1, Revision: 2, Role: "leader"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	p.write(lanes.Control, wire.ClientFrame{RequestID: 50, Body: wire.CancelRequest{Target: 77}})
	if f := p.read(lanes.Control); f.Body != (wire.CancelOutcome{Result: wire.CancelNotInFlight}) {
		t.Fatalf("cancellation of nothing: %+v", f)
	}
	n.executor.release <- ""
	if f := p.read(lanes.Ordered); f.RequestID != held {
		t.Fatalf("got %+v", f)
	}
}

func TestAnIdentityInFlightIsRefused(t *testing.T) {
	// req: X-042
	n := serve(t, nil)
	p := n.login(t)
	held := p.send(command("admitted"))
	<-n.executor.started
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: held, Body: command("ok second")})
	p.write(lanes.Control, wire.ClientFrame{RequestID: held, Body: wire.StatusRequest{}})
	p.write(lanes.Control, wire.ClientFrame{RequestID: held, Body: wire.CancelRequest{Target: held}})
	for _, lane := range []lanes.Lane{lanes.Ordered, lanes.Control, lanes.Control} {
		f := p.read(lane)
		if r, ok := f.Body.(wire.RequestRejected); !ok || r.Kind != wire.RejectDuplicateID || r.Field != "request_id" || f.RequestID != held {
			t.Fatalf("got %+v", f)
		}
	}
	n.executor.release <- ""
	if f := p.read(lanes.Ordered); f.RequestID != held || f.Body.(wire.CommandOutcome).Text != "did admitted" {
		t.Fatalf("the original: %+v", f)
	}
	// Once answered, the identity is free in the server's eyes.
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: held, Body: command("ok third")})
	if f := p.read(lanes.Ordered); f.Body.(wire.CommandOutcome).Text != "did ok third" {
		t.Fatalf("got %+v", f)
	}
	if diff := cmp.Diff([]string{"admitted", "ok third"}, n.executor.ran()); diff != "" {
		t.Fatal(diff)
	}
}

func TestThe65thRequestIsRefused(t *testing.T) {
	// req: X-043 half: no consumer reads and submitted batches yet
	// req: X-041 half: under this load; the fake server of the client's tests has the other half
	n := serve(t, nil)
	p := n.login(t)
	ids := []uint64{p.send(command("admitted"))}
	<-n.executor.started
	for i := range 63 {
		ids = append(ids, p.send(command(fmt.Sprintf("ok %d", i))))
	}
	refused := []uint64{p.send(command("ok too many"))}
	f := p.read(lanes.Ordered)
	if r, ok := f.Body.(wire.RequestRejected); !ok || r.Kind != wire.RejectTooManyInFlight || f.RequestID != refused[0] {
		t.Fatalf("65th command: %+v", f)
	}
	id := p.send(wire.StatusRequest{})
	if r, ok := p.read(lanes.Control).Body.(wire.RequestRejected); !ok || r.Kind != wire.RejectTooManyInFlight {
		t.Fatalf("65th request on the other lane, %d: %+v", id, r)
	}
	n.executor.release <- ""
	var replies []uint64
	for range ids {
		f := p.read(lanes.Ordered)
		if _, ok := f.Body.(wire.CommandOutcome); !ok {
			t.Fatalf("got %+v", f)
		}
		replies = append(replies, f.RequestID)
	}
	if diff := cmp.Diff(ids, replies); diff != "" {
		t.Fatal(diff)
	}
	if slices.Contains(n.executor.ran(), "ok too many") {
		t.Fatal("a refused command ran")
	}
	p.send(command("ok again"))
	p.read(lanes.Ordered)
}

func TestCancellationBeforeAndAfterAdmission(t *testing.T) {
	// req: X-053
	// req: X-054 half: recovery by reference is the control plane's
	// req: X-055 half: commands
	// req: X-056 half: no transaction attach
	n := serve(t, nil)
	p := n.login(t)
	cancel := func(target uint64, want wire.CancelResult) {
		t.Helper()
		id := p.send(wire.CancelRequest{Target: target})
		if f := p.read(lanes.Ordered); f.RequestID != id || f.Body != (wire.CancelOutcome{Result: want}) {
			t.Fatalf("cancellation of %d: %+v", target, f)
		}
	}
	next := func(want uint64) wire.ServerBody {
		t.Helper()
		f := p.read(lanes.Ordered)
		if f.RequestID != want {
			t.Fatalf("got %+v, want a reply to %d", f, want)
		}
		return f.Body
	}
	admitted := p.send(command("admitted"))
	<-n.executor.started
	waiting, last := p.send(command("ok waiting")), p.send(command("ok last"))
	// A waiting command answers at once, before the one that runs.
	cancel(waiting, wire.CancelRequested)
	if body := next(waiting); body != (wire.RequestCancelled{}) {
		t.Fatalf("waiting: %+v", body)
	}
	cancel(waiting, wire.CancelNotInFlight)
	// After admission only the ordinary reply comes, and the lane stays taken until then.
	cancel(admitted, wire.CancelRequested)
	if slices.Contains(n.executor.ran(), "ok last") {
		t.Fatal("the lane was given up for an admitted command")
	}
	n.executor.release <- ""
	if out := next(admitted).(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted {
		t.Fatalf("admitted: %+v", out)
	}
	next(last)
	// A command that runs and is not admitted yet has no effect.
	running := p.send(command("hold"))
	<-n.executor.started
	id := p.send(wire.CancelRequest{Target: running})
	// The command may end before the outcome of the cancellation is on its way: the two come in any order.
	got := map[uint64]wire.ServerBody{}
	for range 2 {
		f := p.read(lanes.Ordered)
		got[f.RequestID] = f.Body
	}
	if got[id] != (wire.CancelOutcome{Result: wire.CancelRequested}) || got[running] != (wire.RequestCancelled{}) {
		t.Fatalf("running: %+v", got)
	}
	if diff := cmp.Diff([]string{"admitted", "ok last"}, n.executor.ran()); diff != "" {
		t.Fatal(diff)
	}
}

// TestCancellationRaces: whatever the order, each request has one terminal reply, and one that is cancelled never ran.
func TestCancellationRaces(t *testing.T) {
	// req: X-053
	n := serve(t, nil)
	p := n.login(t)
	cancelled := map[string]bool{}
	for i := range 1_000 {
		text := fmt.Sprintf("ok %d", i)
		id := p.send(command(text))
		p.send(wire.CancelRequest{Target: id})
		replies := 0
		for range 2 { // in either order
			f := p.read(lanes.Ordered)
			if _, ok := f.Body.(wire.CancelOutcome); ok {
				continue
			}
			if f.RequestID != id {
				t.Fatalf("got %+v", f)
			}
			replies++
			_, cancelled[text] = f.Body.(wire.RequestCancelled)
		}
		if replies != 1 {
			t.Fatalf("%d terminal replies", replies)
		}
	}
	for _, text := range n.executor.ran() {
		if cancelled[text] {
			t.Fatalf("%s was cancelled and ran", text)
		}
	}
}

func TestRejectionsKeepTheSession(t *testing.T) {
	// req: X-050 half: invalid, unsupported request, duplicate, too many, reply too large
	// req: X-035 half: no transfer in parts, so the limit is the frame's
	n := serve(t, nil)
	p := n.login(t)
	p.write(lanes.Control, wire.ClientFrame{RequestID: 101, Body: command("ok")})
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: 102, Body: wire.StatusRequest{}})
	bad := command("ok")
	bad.Reference = "not-a-uuid"
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: 103, Body: bad})
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: 104, Body: command("big")})
	for _, want := range []struct {
		lane lanes.Lane
		id   uint64
		kind wire.RejectKind
	}{
		{lanes.Control, 101, wire.RejectUnsupportedRequest}, {lanes.Ordered, 102, wire.RejectUnsupportedRequest},
		{lanes.Ordered, 103, wire.RejectInvalid}, {lanes.Ordered, 104, wire.RejectReplyTooLarge},
	} {
		f := p.read(want.lane)
		if r, ok := f.Body.(wire.RequestRejected); !ok || f.RequestID != want.id || r.Kind != want.kind {
			t.Fatalf("got %+v, want %+v", f, want)
		}
	}
	p.send(command("ok"))
	p.read(lanes.Ordered)
}

func TestSessionEndRevertsItsTransaction(t *testing.T) {
	// req: X-002 half: the open transaction
	n := prepare(t, nil)
	n.start(t)
	p := n.login(t)
	p.send(command("begin"))
	p.read(lanes.Ordered)
	p.send(command("admitted"))
	<-n.executor.started
	_ = p.conn.CloseWithError(0, "")
	n.executor.release <- ""
	n.server.Drain()
	if err := n.server.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n.executor.reverted() != 1 || !slices.Contains(n.executor.ran(), "admitted") {
		t.Fatalf("reverted %d, ran %v", n.executor.reverted(), n.executor.ran())
	}
}

func TestDrainFinishesWhatIsAdmitted(t *testing.T) {
	// req: X-279 half: no console
	// req: X-282 half: the reason is told, the time left is not
	n := prepare(t, func(c *transport.Config) {})
	n.start(t)
	p := n.login(t)
	admitted := p.send(command("admitted"))
	<-n.executor.started
	waiting := p.send(command("ok waiting"))
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: waiting, Body: command("probe")})
	if r, ok := p.read(lanes.Ordered).Body.(wire.RequestRejected); !ok || r.Kind != wire.RejectDuplicateID {
		t.Fatalf("the waiting command is not there: %+v", r)
	}
	n.server.Drain()
	if f := p.read(lanes.Ordered); f.RequestID != waiting || f.Body != (wire.RequestCancelled{}) {
		t.Fatalf("waiting: %+v", f)
	}
	late := p.send(command("ok late"))
	if f := p.read(lanes.Ordered); f.RequestID != late || f.Body.(wire.RequestRejected).Kind != wire.RejectServerBusy {
		t.Fatalf("late: %+v", f)
	}
	n.executor.release <- ""
	if f := p.read(lanes.Ordered); f.RequestID != admitted || f.Body.(wire.CommandOutcome).Disposition != wire.DispositionCompleted {
		t.Fatalf("admitted: %+v", f)
	}
	if e := p.ending(); e.Reason != wire.EndingShuttingDown {
		t.Fatalf("got %+v", e)
	}
	if err := n.server.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"admitted"}, n.executor.ran()); diff != "" {
		t.Fatal(diff)
	}
}

func TestAbortEndsAdmittedWork(t *testing.T) {
	n := prepare(t, nil)
	n.start(t)
	p := n.login(t)
	p.send(command("admitted"))
	<-n.executor.started
	n.server.Abort()
	if e := p.ending(); e.Reason != wire.EndingShuttingDown {
		t.Fatalf("got %+v", e)
	}
	if err := n.server.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
