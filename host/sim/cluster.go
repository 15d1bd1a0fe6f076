// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// epoch is the UTC at which every run begins.
const epoch = int64(1_700_000_000_000_000_000)

// Config is what a run is made from.
type Config struct {
	Seed uint64
	// Nodes is how many nodes the cluster has; all are voters, but for those in Late.
	Nodes int
	// Late is how many of them have never been started when the run begins, nor been admitted as voters.
	Late int
	// Break is the obligation that the run breaks; None in an honest run.
	Break Rule
	// Trace gets a line for every event, if it is not nil.
	Trace func(line string)
}

// Violation is a check that failed.
type Violation struct {
	Check string
	Text  string
	// At is the simulated time since the start, Event the number of the event.
	At    time.Duration
	Event int
	// What is the event after which the check failed.
	What string
}

// Error says what was violated, when and after which event.
func (v *Violation) Error() string {
	return fmt.Sprintf("%s: %s (event %d, %s, after %s)", v.Check, v.Text, v.Event, v.What, v.At)
}

// Cluster is a simulated cluster of timekeepers. It belongs to one goroutine.
type Cluster struct {
	config Config
	random *rand.Rand
	queue  queue
	now    int64
	// happening is the event at work, count how many there were.
	happening string
	count     int
	broken    *Violation

	nodes   []*node // node number i+1
	network network
	plane   plane
	// calm keeps timers and graph installations from being late for no reason.
	calm bool
	// emitted are the ticks that processes emitted, the oldest first.
	emitted []emission
	// judged counts what the checks saw, so that tests can see that a run was worth something.
	judged Judged
}

// Judged counts what happened in a run.
type Judged struct {
	Events, Reads, Accepted, Refused, Emitted, Sent, Coalesced, Takeovers, Commits, Stale, Crashes, Steps int
}

type emission struct {
	at       int64
	progress clock.Progress
}

// New makes a cluster with its first leader. Its nodes run, but for the late ones; it holds no domain.
func New(c Config) *Cluster {
	s := &Cluster{config: c, random: rand.New(rand.NewPCG(c.Seed, 0x5eed))}
	s.network = network{cluster: s, blocked: map[link]bool{}, drop: 0.1, duplicate: 0.1, slow: 0.1}
	s.plane = plane{cluster: s, log: []clocks{{}}, voters: map[ident.Node]bool{}}
	for i := range c.Nodes {
		n := &node{cluster: s, id: ident.Node(i + 1)}
		s.nodes = append(s.nodes, n)
		if i < c.Nodes-c.Late {
			s.plane.voters[n.id] = true
			n.boot()
		}
	}
	s.plane.elect(s.nodes[0])
	s.plane.watch()
	return s
}

// Advance runs the events of the next d of simulated time. Its error is the first Violation of the run.
func (s *Cluster) Advance(d time.Duration) error {
	end := s.now + int64(d)
	for s.broken == nil && s.queue.Len() > 0 && s.queue.events[0].at <= end {
		e := s.queue.take()
		s.now, s.happening = e.at, e.what
		s.count++
		s.judged.Events++
		if s.config.Trace != nil {
			s.config.Trace(fmt.Sprintf("%6d %12s %s", s.count, time.Duration(s.now), e.what))
		}
		e.do()
		s.check()
	}
	if s.broken != nil {
		return s.broken
	}
	s.now = end
	return nil
}

// Do makes something happen now, between two events, and checks.
func (s *Cluster) Do(what string, do func()) error {
	s.queue.add(s.now, what, do)
	return s.Advance(0)
}

// Judged is what happened so far.
func (s *Cluster) Judged() Judged { return s.judged }

// after makes something happen after d.
func (s *Cluster) after(d time.Duration, what string, do func()) {
	s.queue.add(s.now+int64(max(d, 0)), what, do)
}

// violate notes the first failed check.
func (s *Cluster) violate(check, format string, args ...any) {
	if s.broken == nil {
		s.broken = &Violation{Check: check, Text: fmt.Sprintf(format, args...), At: time.Duration(s.now), Event: s.count, What: s.happening}
	}
}

func (s *Cluster) breaks(r Rule) bool { return s.config.Break == r }

// chance is true with a probability.
func (s *Cluster) chance(p float64) bool { return s.random.Float64() < p }

// between draws a duration.
func (s *Cluster) between(from, to time.Duration) time.Duration {
	return from + time.Duration(s.random.Int64N(int64(to-from)+1))
}

// node is a place in the cluster: what survives its processes.
type node struct {
	cluster     *Cluster
	id          ident.Node
	incarnation ident.Incarnation
	// offset is how far the host's UTC is from the truth.
	offset time.Duration
	// process is nil while the node is down.
	process *process
	// hangs says that graph installations do not end here.
	hangs bool
	// stalled is the moment until which the processes of the host do not get to run their timers.
	stalled int64
}

func (n *node) utc() vtime.UTC { return vtime.UTCFromNS(epoch + n.cluster.now + int64(n.offset)) }

// boot starts a process, which is another incarnation.
func (n *node) boot() {
	n.incarnation++
	n.process = newProcess(n)
	n.process.start()
}

// crash ends the process. What it has sent is still under way.
func (n *node) crash() {
	if n.process != nil {
		n.process.dead = true
		n.process = nil
		n.cluster.judged.Crashes++
	}
}
