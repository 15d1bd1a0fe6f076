// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest/order"
	"github.com/nervix-go/nervix/host/wire"
	"pgregory.net/rapid"
)

// model is one attachment taken apart: what the node publishes, what the task does, and what the transport takes are steps that a scheduler
// puts in any order. The task's steps are those of attachment.run.
type model struct {
	// What the node has.
	now       clock.Observed
	there     bool
	tick      clock.Progress
	ticked    bool
	version   int // counts publications
	published []clock.Observed
	// The task.
	machine *delivery
	phase   phase
	seen    int // the publication it subscribed before
	read    reading
	frame   wire.ServerBody // being queued
	// The lane: frames, and nil for the tick's place.
	lane  []wire.ServerBody
	place wire.ServerBody
	room  int
	// What does not fit a frame.
	unfit func(clock.Observed) bool
	// The client.
	order  order.Checker
	broken error
}

type phase uint8

const (
	reading1 phase = iota // subscribe and read the clock
	reading2              // read the tick
	acting
	queueing
	waiting
	over
)

func paced(generation ident.Generation, origin int64) clock.Observed {
	return clock.Observed{Generation: generation, State: clock.Paced, Pace: clock.Pace{Period: 10},
		Mapping: clock.Mapping{LogicalStart: vtime.LogicalFromNS(origin), Rate: 1}}
}

func (m *model) publish(o clock.Observed) {
	if o.Generation != m.now.Generation || o.State == clock.Stopped {
		m.ticked = false
	}
	m.now, m.version = o, m.version+1
	m.published = append(m.published, o)
}

// accept publishes the tick after the newest, or a later one.
func (m *model) accept(skip int) {
	if m.now.State != clock.Paced || !m.there {
		return
	}
	id := uint64(1 + skip)
	if m.ticked {
		id += m.tick.Tick.ID
	}
	m.tick, m.ticked, m.version = clock.Progress{Generation: m.now.Generation, Tick: clock.Tick{ID: id}}, true, m.version+1
}

// step lets the task do its next step, if it can.
func (m *model) step() {
	switch m.phase {
	case reading1:
		m.seen = m.version
		m.read = reading{observed: m.now, there: m.there}
		m.phase = reading2
	case reading2:
		m.read.tick, m.read.ticked = m.tick, m.ticked
		m.phase = acting
	case acting:
		m.act()
	case queueing:
		if len(m.frames()) >= m.room {
			return
		}
		m.lane = append(m.lane, m.frame)
		m.phase = reading1
		if m.read.there {
			m.machine.stateQueued(m.read.observed)
		} else {
			m.phase = over
		}
	case waiting:
		if m.version != m.seen {
			m.phase = reading1
		}
	}
}

func (m *model) act() {
	switch m.machine.next(m.read) {
	case tellState:
		m.machine.withdrawn(m.withdraw())
		if m.unfit(m.read.observed) {
			m.machine.stateUnfit(m.read.observed)
			m.phase = reading1
			return
		}
		m.frame, m.phase = wire.DomainClockObserved{Domain: "d", Clock: observed(m.read.observed)}, queueing
	case tellTick:
		m.phase = reading1
		if m.now.Generation != m.read.tick.Generation || m.now.State != clock.Paced || !m.there {
			return // the clock cannot be read
		}
		m.machine.tickOffered(m.read.tick.Tick.ID, m.offer(ticked("d", m.read.tick, vtime.Logical{})))
	case tellEnd:
		m.withdraw()
		m.frame, m.phase = wire.DomainClockAttachmentEnded{Domain: "d", Reason: wire.EndDomainRemoved}, queueing
	default:
		m.phase = waiting
	}
}

// frames are those that count in the lane's length.
func (m *model) frames() (list []wire.ServerBody) {
	for _, f := range m.lane {
		if f != nil {
			list = append(list, f)
		}
	}
	return list
}

func (m *model) offer(tick wire.ServerBody) (replaced bool) {
	if replaced = m.place != nil; !replaced {
		m.lane = append(m.lane, nil)
	}
	m.place = tick
	return replaced
}

func (m *model) withdraw() (there bool) {
	if there = m.place != nil; there {
		m.place = nil
		m.lane = slices.DeleteFunc(m.lane, func(f wire.ServerBody) bool { return f == nil })
	}
	return there
}

// take lets the transport have the next frame; the client sees it at once.
func (m *model) take() {
	if len(m.lane) == 0 {
		return
	}
	f := m.lane[0]
	m.lane = m.lane[1:]
	if f == nil {
		f, m.place = m.place, nil
	}
	m.deliver(f)
}

func (m *model) deliver(f wire.ServerBody) {
	if err := m.order.See(f); err != nil && m.broken == nil {
		m.broken = err
	}
	if state, ok := f.(wire.DomainClockObserved); ok && !slices.ContainsFunc(m.published, func(o clock.Observed) bool { return observed(o) == state.Clock }) {
		m.broken = fmt.Errorf("a clock that was never installed: %+v", state.Clock)
	}
}

// attach replies with what is installed and starts the task.
func (m *model) attach() {
	m.lane = append(m.lane, wire.DomainClockAttachOutcome{Domain: "d", Disposition: wire.ClockAttached, Clock: observed(m.now)})
	m.machine, m.phase = newDelivery(m.now), reading1
}

// detach stops the task wherever it is.
func (m *model) detach() {
	m.withdraw()
	m.phase = over
	m.lane = append(m.lane, wire.DomainClockDetachOutcome{Domain: "d", Disposition: wire.ClockDetached})
}

// settle runs task and transport until nothing is left to do.
func (m *model) settle() {
	for range 1000 {
		m.step()
		m.take()
	}
}

func newModel(room int, first clock.Observed) *model {
	m := &model{there: true, room: room, unfit: func(clock.Observed) bool { return false }}
	m.publish(first)
	m.attach()
	return m
}

// change publishes something a domain can come to from where it is.
func (m *model) change(t *rapid.T) {
	if !m.there {
		return
	}
	next := m.now.Generation + 1
	switch rapid.IntRange(0, 4).Draw(t, "change") {
	case 0:
		m.publish(clock.Observed{Generation: m.now.Generation, State: clock.Stopped})
	case 1:
		m.publish(paced(next, int64(next)))
	case 2:
		if m.now.State == clock.Paced { // the authority is lost
			m.publish(clock.Observed{Generation: m.now.Generation, State: clock.Uninstalled})
		} else if m.now.State == clock.Uninstalled {
			m.publish(paced(m.now.Generation, int64(m.now.Generation)))
		}
	case 3:
		m.publish(m.now) // an equal replacement: an authority move, or the alteration pause
	default:
		m.publish(clock.Observed{Generation: next, State: clock.Unpaced})
	}
}

// TestDeliveryOrderUnderEverySchedule: whatever the order of publications, steps of the task, and of the transport, the client sees the
// delivery order, only clocks that were installed, and in the end the newest clock and the newest tick of its generation.
func TestDeliveryOrderUnderEverySchedule(t *testing.T) {
	// req: C-093
	// req: C-096
	// req: C-102
	// req: C-206
	// req: X-181
	// req: X-179
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.IntRange(1, 3).Draw(t, "room"), paced(1, 1))
		attached := true
		for range rapid.IntRange(0, 120).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0, 1, 2, 3:
				m.step()
			case 4, 5:
				m.take()
			case 6:
				m.change(t)
			case 7, 8:
				m.accept(rapid.IntRange(0, 2).Draw(t, "skip"))
			default:
				if rapid.IntRange(0, 7).Draw(t, "rare") > 0 {
					continue
				}
				switch {
				case m.phase == over && !m.there:
				case attached && rapid.Bool().Draw(t, "remove"):
					m.there, m.version = false, m.version+1
				case attached && m.there:
					m.detach()
					attached = false
				case m.there:
					m.attach()
					attached = true
				}
			}
			if m.broken != nil {
				t.Fatal(m.broken)
			}
		}
		m.settle()
		known, follows := m.order.Clock()
		switch {
		case m.broken != nil:
			t.Fatal(m.broken)
		case !attached || !m.there:
			if follows {
				t.Fatal("the attachment is over, and the client was not told")
			}
		case known != observed(m.now):
			t.Fatalf("the client knows %+v, installed is %+v", known, m.now)
		case m.now.State == clock.Paced && m.ticked && m.order.Tick() != m.tick.Tick.ID:
			t.Fatalf("the client has tick %d, accepted is %d", m.order.Tick(), m.tick.Tick.ID)
		}
	})
}

// TestAFullLaneKeepsOneStateAndOneTick: while nothing is taken, any number of changes and ticks leaves the waiting state frame and one tick's
// place; afterwards comes at most one more state, the newest, and none if it equals what was sent.
func TestAFullLaneKeepsOneStateAndOneTick(t *testing.T) {
	// req: C-095
	// req: C-097
	// req: X-178
	// req: X-180
	work := func(m *model) {
		for range 50 {
			m.step()
		}
	}
	for _, end := range []struct {
		name   string
		last   clock.Observed
		states int
	}{
		{"another clock", paced(9, 9), 2},
		{"the clock already sent", clock.Observed{Generation: 1, State: clock.Stopped}, 1},
	} {
		t.Run(end.name, func(t *testing.T) {
			m := newModel(1, paced(1, 1)) // the reply fills the lane
			m.publish(clock.Observed{Generation: 1, State: clock.Stopped})
			work(m) // its frame waits for room
			for g := ident.Generation(2); g < 7; g++ {
				m.publish(paced(g, 5))
				work(m)
				for range 100 {
					m.accept(0)
					work(m)
				}
			}
			m.publish(end.last)
			work(m)
			if len(m.lane) != 1 {
				t.Fatalf("the full lane has %d frames", len(m.lane))
			}
			m.settle()
			if m.order.States != end.states || m.broken != nil {
				t.Fatalf("%d states, want %d; %v", m.order.States, end.states, m.broken)
			}
		})
	}
	t.Run("ticks", func(t *testing.T) {
		m := newModel(1, paced(1, 1))
		for range 100 {
			m.accept(0)
			work(m)
		}
		if len(m.lane) != 2 {
			t.Fatalf("the lane has %d entries, want the reply and one place", len(m.lane))
		}
		m.settle()
		if m.order.Ticks != 1 || m.order.Tick() != 100 {
			t.Fatalf("%d ticks, the newest %d", m.order.Ticks, m.order.Tick())
		}
	})
}

// TestWhatDoesNotFitWaitsForAChange: a clock that no frame holds is not sent and not tried again, no tick of it goes out, and the next one
// that fits does.
func TestWhatDoesNotFitWaitsForAChange(t *testing.T) {
	// req: C-098
	m := newModel(4, paced(1, 1))
	m.unfit = func(o clock.Observed) bool { return o.Generation == 2 }
	m.publish(paced(2, 2))
	m.accept(0)
	m.settle()
	if m.order.States+m.order.Ticks != 0 || m.phase != waiting {
		t.Fatalf("%d states and %d ticks, phase %d", m.order.States, m.order.Ticks, m.phase)
	}
	m.publish(paced(3, 3))
	m.accept(0)
	m.settle()
	if m.order.States != 1 || m.order.Ticks != 1 || m.broken != nil {
		t.Fatalf("%d states and %d ticks, %v", m.order.States, m.order.Ticks, m.broken)
	}
}

// TestEqualReplacementsSayNothing: an authority move and the alteration pause replace the installation by an equal one, and ticks go on.
func TestEqualReplacementsSayNothing(t *testing.T) {
	// req: C-094
	// req: C-086 half: the map of an installation to what is observed is the clock's own
	m := newModel(4, paced(1, 1))
	for range 5 {
		m.publish(m.now)
		m.accept(0)
		m.settle()
	}
	if m.order.States != 0 || m.order.Ticks != 5 || m.broken != nil {
		t.Fatalf("%d states and %d ticks, %v", m.order.States, m.order.Ticks, m.broken)
	}
}

// TestAWithdrawnTickComesBack: a tick that was withdrawn for a state is sent when the state is over, one that was taken is not.
func TestAWithdrawnTickComesBack(t *testing.T) {
	for _, taken := range []bool{false, true} {
		m := newModel(9, paced(1, 1))
		m.take()
		m.accept(6)
		for range 20 {
			m.step()
		}
		if taken {
			m.take()
		}
		for _, o := range []clock.Observed{{Generation: 1, State: clock.Uninstalled}, paced(1, 1)} {
			m.now, m.version = o, m.version+1
			m.published = append(m.published, o)
			for range 20 {
				m.step()
			}
		}
		m.settle()
		if m.order.Ticks != 1 || m.order.Tick() != 7 || m.order.States != 2 || m.broken != nil {
			t.Fatalf("taken %v: %d ticks, newest %d, %d states, %v", taken, m.order.Ticks, m.order.Tick(), m.order.States, m.broken)
		}
	}
}

// TestDecisions has the decisions one by one.
func TestDecisions(t *testing.T) {
	// req: C-087 half: the reading of the node is the task's
	tick := func(generation ident.Generation, id uint64) clock.Progress {
		return clock.Progress{Generation: generation, Tick: clock.Tick{ID: id}}
	}
	uninstalled := clock.Observed{Generation: 3, State: clock.Uninstalled}
	for _, c := range []struct {
		name string
		told clock.Observed
		did  func(d *delivery)
		read reading
		want action
	}{
		{"the domain is gone", paced(3, 0), nil, reading{observed: paced(3, 0)}, tellEnd},
		{"nothing new", paced(3, 0), nil, reading{observed: paced(3, 0), there: true}, rest},
		{"a tick", paced(3, 0), nil, reading{observed: paced(3, 0), there: true, tick: tick(3, 1), ticked: true}, tellTick},
		{"the tick of a later generation", paced(3, 0), nil, reading{observed: paced(3, 0), there: true, tick: tick(4, 1), ticked: true}, rest},
		{"the tick of an earlier generation", paced(3, 0), nil, reading{observed: paced(3, 0), there: true, tick: tick(2, 9), ticked: true}, rest},
		{"a tick while uninstalled", uninstalled, nil, reading{observed: uninstalled, there: true, tick: tick(3, 9), ticked: true}, rest},
		{"a state before a tick", uninstalled, nil, reading{observed: paced(3, 0), there: true, tick: tick(3, 9), ticked: true}, tellState},
		{"another mapping of the generation", paced(3, 0), nil, reading{observed: paced(3, 1), there: true}, tellState},
		{"a tick that waits", paced(3, 0), func(d *delivery) { d.tickOffered(4, false) },
			reading{observed: paced(3, 0), there: true, tick: tick(3, 4), ticked: true}, rest},
		{"a tick that was taken before one that waits", paced(3, 0), func(d *delivery) { d.tickOffered(4, false); d.tickOffered(5, false); d.withdrawn(true) },
			reading{observed: paced(3, 0), there: true, tick: tick(3, 4), ticked: true}, rest},
		{"a tick that was replaced", paced(3, 0), func(d *delivery) { d.tickOffered(4, false); d.tickOffered(5, true); d.withdrawn(true) },
			reading{observed: paced(3, 0), there: true, tick: tick(3, 4), ticked: true}, tellTick},
		{"a tick that cannot be sent", paced(3, 0), func(d *delivery) { d.tickUnfit(4) },
			reading{observed: paced(3, 0), there: true, tick: tick(3, 4), ticked: true}, rest},
		{"the tick after it", paced(3, 0), func(d *delivery) { d.tickUnfit(4) },
			reading{observed: paced(3, 0), there: true, tick: tick(3, 5), ticked: true}, tellTick},
		{"a state that cannot be sent", uninstalled, func(d *delivery) { d.stateUnfit(paced(3, 0)) }, reading{observed: paced(3, 0), there: true}, rest},
		{"the state after it", uninstalled, func(d *delivery) { d.stateUnfit(paced(3, 0)) }, reading{observed: paced(3, 1), there: true}, tellState},
		{"ids begin again with a generation", paced(3, 0), func(d *delivery) { d.tickOffered(9, false); d.withdrawn(false); d.stateQueued(paced(4, 0)) },
			reading{observed: paced(4, 0), there: true, tick: tick(4, 1), ticked: true}, tellTick},
	} {
		d := newDelivery(c.told)
		if c.did != nil {
			c.did(d)
		}
		if got := d.next(c.read); got != c.want {
			t.Errorf("%s: action %d, want %d", c.name, got, c.want)
		}
	}
}
