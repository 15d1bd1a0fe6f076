// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest/order"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

func paced(generation ident.Generation) clock.Observed {
	return clock.Observed{Generation: generation, State: clock.Paced, Pace: clock.Pace{Period: 10},
		Mapping: clock.Mapping{LogicalStart: vtime.LogicalFromNS(int64(generation)), Rate: 1}}
}

// withClocks gives the node's sessions clocks. They are made when the node is, so inside the bubble of a virtual test.
func withClocks(n **clockstest.Node) func(*transport.Config) {
	return func(c *transport.Config) {
		*n = clockstest.Ready()
		c.Clocks = *n
	}
}

// request writes a request of the ordered lane and gives its reply, skipping frames about clocks.
func (p *peer) request(body wire.ClientBody) wire.ServerBody {
	p.t.Helper()
	p.next++
	id := p.next
	p.write(lanes.Ordered, wire.ClientFrame{RequestID: id, Body: body})
	for {
		if f := p.read(lanes.Ordered); f.RequestID == id {
			return f.Body
		}
	}
}

func TestAClockIsFollowedOverTheWire(t *testing.T) {
	// req: C-083
	// req: C-084 half: nothing is persisted; that there is no traffic between nodes follows from the imports
	// req: X-185 half: the same
	// req: X-009 half: the smallest frame limit holds every clock frame
	var clocks *clockstest.Node
	n := serve(t, func(c *transport.Config) { withClocks(&clocks)(c); c.FrameLimit = wire.MinFrameLimit })
	long := ident.Domain(strings.Repeat("d", 255))
	clocks.Publish(long, paced(1))
	clocks.Tick(long, 3)
	p, reply := n.loginWith(t, 2)
	if !slices.Contains(reply.Features, transport.FeatureClocks) {
		t.Fatalf("greeting: %+v", reply)
	}
	var seen order.Checker
	see := func(body wire.ServerBody) {
		t.Helper()
		if err := seen.See(body); err != nil {
			t.Fatal(err)
		}
	}
	see(p.request(wire.AttachDomainClockRequest{Domain: string(long)}))
	see(p.read(lanes.Ordered).Body)
	if seen.Tick() != 3 {
		t.Fatalf("the first frame is not the accepted tick: %+v", seen)
	}
	clocks.Publish(long, clock.Observed{Generation: 1, State: clock.Stopped})
	see(p.read(lanes.Ordered).Body)
	clocks.Publish(long, paced(2))
	see(p.read(lanes.Ordered).Body)
	clocks.Tick(long, 1)
	see(p.read(lanes.Ordered).Body)
	see(p.request(wire.DetachDomainClockRequest{Domain: string(long)}))
	clocks.Publish(long, paced(3))
	p.send(command("ok"))
	if _, ok := p.read(lanes.Ordered).Body.(wire.CommandOutcome); !ok {
		t.Error("a frame after the detach reply")
	}
	// A new session knows nothing of the old one.
	see(p.request(wire.AttachDomainClockRequest{Domain: string(long)}))
	q, _ := n.loginWith(t, 2)
	if out := q.request(wire.DetachDomainClockRequest{Domain: string(long)}).(wire.DomainClockDetachOutcome); out.Disposition != wire.ClockNotAttached {
		t.Errorf("another session: %+v", out)
	}
	clocks.Remove(long)
	see(p.read(lanes.Ordered).Body)
	if seen.Ends != 1 || seen.States != 2 || seen.Ticks != 2 {
		t.Errorf("%+v", seen)
	}
}

// TestAnOldClientCannotFollow: a frame of protocol 2 would end its session, so the request is refused and the statement goes where all
// statements go.
func TestAnOldClientCannotFollow(t *testing.T) {
	// req: X-036 half: versions, not yet minors
	var clocks *clockstest.Node
	n := serve(t, withClocks(&clocks))
	clocks.Publish("weather", paced(1))
	p, reply := n.loginWith(t, 1)
	if slices.Contains(reply.Features, transport.FeatureClocks) {
		t.Errorf("greeting: %+v", reply)
	}
	if r, ok := p.request(wire.AttachDomainClockRequest{Domain: "weather"}).(wire.RequestRejected); !ok || r.Kind != wire.RejectUnsupportedRequest {
		t.Errorf("attach: %+v", r)
	}
	if out := p.request(command("ATTACH DOMAIN CLOCK")).(wire.CommandOutcome); out.Text != "did ATTACH DOMAIN CLOCK" {
		t.Errorf("statement: %+v", out)
	}
	if clocks.Watches() != 0 {
		t.Error("the clock is watched")
	}
}

// TestASlowClientGetsTheNewestTick: while the client does not read, ticks take one place, and what it finds then is what the transport had
// taken, and after it the newest.
func TestASlowClientGetsTheNewestTick(t *testing.T) {
	// req: C-097
	// req: X-180
	// req: X-178 half: many generations against a client that does not read
	var clocks *clockstest.Node
	virtually(t, withClocks(&clocks), func(t *testing.T, n *node, wires *cable) {
		clocks.Publish("weather", paced(1))
		small := &quic.Config{InitialStreamReceiveWindow: 2 << 10, MaxStreamReceiveWindow: 2 << 10, MaxIdleTimeout: time.Hour, KeepAlivePeriod: time.Second}
		p, leave := n.virtualPeer(t, wires, 1, small)
		defer leave()
		h := hello(password)
		h.ProtocolMax = 2
		p.write(lanes.Ordered, wire.ClientFrame{Body: h})
		p.read(lanes.Ordered)
		var seen order.Checker
		see := func(body wire.ServerBody) {
			if err := seen.See(body); err != nil {
				t.Error(err)
			}
		}
		see(p.request(wire.AttachDomainClockRequest{Domain: "weather"}))
		id := uint64(0)
		tick := func(times int) {
			for range times {
				id++
				clocks.Tick("weather", id)
				osclock.Wait(t.Context(), time.Millisecond)
			}
		}
		tick(2000)
		// The window of the client holds a few dozen frames. What the transport has not taken is one.
		for seen.Tick() < id {
			see(p.read(lanes.Ordered).Body)
		}
		if seen.Ticks > 40 {
			t.Errorf("a client that did not read got %d of 2000 ticks", seen.Ticks)
		}
		// The same with generations: those published while the lane is full collapse. Each of the 16 places of the lane may have one.
		ticks := seen.Ticks
		for g := ident.Generation(2); g < 1000; g++ {
			clocks.Publish("weather", paced(g))
			clocks.Tick("weather", 1)
			osclock.Wait(t.Context(), time.Millisecond)
		}
		for c, _ := seen.Clock(); c.Generation < 999 || seen.Tick() < 1; c, _ = seen.Clock() {
			see(p.read(lanes.Ordered).Body)
		}
		if seen.States > 60 || seen.Ticks-ticks > 60 {
			t.Errorf("a client that did not read got %d of 998 states and %d ticks", seen.States, seen.Ticks-ticks)
		}
	})
}

// TestClockFramesUnderLoad lets publications, commands, attaches, detaches and a client of changing speed meet on a real session in virtual
// time.
func TestClockFramesUnderLoad(t *testing.T) {
	// req: C-102
	// req: C-095
	// req: X-181
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			var clocks *clockstest.Node
			virtually(t, withClocks(&clocks), func(t *testing.T, n *node, wires *cable) {
				clocksUnderLoad(t, n, clocks, wires, rand.New(rand.NewPCG(seed, 9)))
			})
		})
	}
}

func clocksUnderLoad(t *testing.T, n *node, clocks *clockstest.Node, wires *cable, r *rand.Rand) {
	for _, d := range []ident.Domain{"a", "b"} {
		clocks.Publish(d, paced(1))
	}
	small := &quic.Config{InitialStreamReceiveWindow: 4 << 10, MaxStreamReceiveWindow: 4 << 10, MaxIdleTimeout: time.Hour, KeepAlivePeriod: time.Second}
	p, leave := n.virtualPeer(t, wires, 1, small)
	defer leave()
	h := hello(password)
	h.ProtocolMax = 2
	p.write(lanes.Ordered, wire.ClientFrame{Body: h})
	p.read(lanes.Ordered)
	publisher, reader := rand.New(rand.NewPCG(r.Uint64(), 1)), rand.New(rand.NewPCG(r.Uint64(), 2))
	var work sync.WaitGroup
	work.Add(2)
	go func() {
		defer work.Done()
		generation, tick := map[ident.Domain]ident.Generation{"a": 1, "b": 1}, map[ident.Domain]uint64{}
		for range 800 {
			d := []ident.Domain{"a", "b"}[publisher.IntN(2)]
			switch publisher.IntN(10) {
			case 0:
				generation[d]++
				tick[d] = 0
				clocks.Publish(d, paced(generation[d]))
			case 1:
				clocks.Publish(d, clock.Observed{Generation: generation[d], State: clock.Uninstalled})
			case 2:
				clocks.Publish(d, paced(generation[d]))
			default:
				tick[d]++
				clocks.Tick(d, tick[d])
			}
			if publisher.IntN(3) == 0 {
				osclock.Wait(t.Context(), time.Duration(publisher.IntN(3000))*time.Microsecond)
			}
		}
	}()
	const requests = 120
	seen := map[string]*order.Checker{"a": {}, "b": {}}
	go func() {
		defer work.Done()
		for replies := 0; replies < requests; {
			if reader.IntN(30) == 0 {
				osclock.Wait(t.Context(), 60*time.Millisecond)
			}
			f := p.read(lanes.Ordered)
			if f.RequestID != 0 {
				replies++
			}
			for name, one := range seen {
				if domainIs(f.Body, name) {
					if err := one.See(f.Body); err != nil {
						t.Error(name, err)
					}
				}
			}
		}
	}()
	for range requests {
		d := []string{"a", "b"}[r.IntN(2)]
		var body wire.ClientBody = wire.AttachDomainClockRequest{Domain: d}
		switch r.IntN(4) {
		case 0:
			body = wire.DetachDomainClockRequest{Domain: d}
		case 1:
			body = command("ok")
		}
		p.next++
		p.write(lanes.Ordered, wire.ClientFrame{RequestID: p.next, Body: body})
		osclock.Wait(t.Context(), time.Duration(r.IntN(20))*time.Millisecond)
	}
	work.Wait()
	synctest.Wait()
	if seen["a"].Ticks == 0 || seen["b"].States == 0 {
		t.Errorf("nothing was delivered: %+v %+v", seen["a"], seen["b"])
	}
}

func domainIs(body wire.ServerBody, name string) bool {
	switch b := body.(type) {
	case wire.DomainClockAttachOutcome:
		return b.Domain == name
	case wire.DomainClockDetachOutcome:
		return b.Domain == name
	case wire.DomainClockObserved:
		return b.Domain == name
	case wire.DomainClockTicked:
		return b.Domain == name
	}
	return false
}

// TestADrainEndsTheFollowing: the session goes on until its requests are answered, and the ending is the last frame.
func TestADrainEndsTheFollowing(t *testing.T) {
	// req: C-101
	var clocks *clockstest.Node
	n := serve(t, withClocks(&clocks))
	clocks.Publish("weather", paced(1))
	p, _ := n.loginWith(t, 2)
	if out := p.request(wire.AttachDomainClockRequest{Domain: "weather"}).(wire.DomainClockAttachOutcome); out.Disposition != wire.ClockAttached {
		t.Fatalf("%+v", out)
	}
	n.server.Drain()
	if diff := cmp.Diff(wire.EndingShuttingDown, p.ending().Reason); diff != "" {
		t.Error(diff)
	}
	n.stop(t)
	if clocks.Watches() != 0 {
		t.Error("the clock is still watched")
	}
}
