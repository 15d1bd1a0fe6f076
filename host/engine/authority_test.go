// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/registry"
)

// divided is the log as a node sees it that may be cut off from the others: it learns nothing until it is joined again, and then only the newest state.
type divided struct {
	*memlog.Log

	mu   sync.Mutex
	cut  bool
	told *registry.State
	tell func(*registry.State)
}

func (d *divided) Watch(f func(*registry.State)) (stop func()) {
	d.mu.Lock()
	d.tell = f
	d.mu.Unlock()
	return d.Log.Watch(func(s *registry.State) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if !d.cut {
			d.told = s
			f(s)
		}
	})
}

func (d *divided) State() *registry.State {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		return d.told
	}
	return d.Log.State()
}

func (d *divided) divide() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cut = true
}

func (d *divided) join() {
	newest := d.Log.State()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut {
		d.cut, d.told = false, newest
		d.tell(newest)
	}
}

// member is one node of a cluster: engine and control over a log that others write too. Nobody ever gives this node a command.
type member struct {
	*node
	log         *memlog.Log
	view        *divided
	control     *control.Control
	incarnation ident.Incarnation
}

func (m *member) Hash(string) (string, error) { return "$h", nil }

func cluster(t *testing.T, use func(m *member)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m := &member{node: start(t), log: memlog.New()}
		m.join()
		defer func() {
			m.control.Close()
			m.node.close()
		}()
		use(m)
	})
}

// join starts control on what the log holds by now.
func (m *member) join() {
	m.t.Helper()
	m.incarnation++
	m.view = &divided{Log: m.log}
	c, err := control.Open(context.Background(), control.Config{
		Log: m.view, Checker: control.ModelChecker{}, Installer: m.e, Inspector: m.e, Hasher: m, Cluster: "c", Users: []registry.User{{Name: "ann", PHC: "$h"}},
		Node: registry.Node{ID: self, Incarnation: m.incarnation, Logical: "n1.node"}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	m.must(err)
	m.control = c
}

// leave ends the process: control, engine and store.
func (m *member) leave() {
	m.control.Close()
	m.node.close()
}

// back is the next process of the node.
func (m *member) back() {
	m.node.open()
	m.join()
}

// elsewhere proposes an entry as another node of the cluster does. It gives whether the entry was accepted.
func (m *member) elsewhere(b registry.Body) bool {
	m.t.Helper()
	res, err := m.log.Propose(context.Background(), registry.EncodeCommand(&registry.Command{UTC: vtime.UTCFromNS(time.Now().UnixNano()), Body: b}))
	m.must(err)
	return res.Verdict == registry.Applied
}

func (m *member) mustElsewhere(bodies ...registry.Body) {
	m.t.Helper()
	for _, b := range bodies {
		if !m.elsewhere(b) {
			m.t.Fatalf("%T was refused", b)
		}
	}
}

// make defines a pipeline that has the name of its domain.
func (m *member) make(domain ident.Domain) {
	m.t.Helper()
	m.mustElsewhere(&registry.CreateDomain{Name: domain, Text: "CREATE UNPACED DOMAIN " + string(domain) + ";", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral})
	text := strings.Replace(short, "INGESTOR probes", "INGESTOR "+string(domain), 1)
	m.mustElsewhere(puts(m.t, m.log.State().Domains[domain], text, false, self))
}

func (m *member) run(domain ident.Domain) *registry.Start {
	return &registry.Start{Domain: domain, Base: m.log.State().Domains[domain].Model}
}

// A definition is deleted while a node is cut off; once it is back in touch it stops, without a command given to it. The same after a restart.
func TestDeletedModelEndsWithoutALocalCommand(t *testing.T) {
	// req: G-001
	const farm = nodetest.Domain
	for _, way := range []string{"in touch", "cut off", "dead"} {
		for _, end := range []string{"stopped", "dropped", "an ingestor dropped", "made anew"} {
			cluster(t, func(m *member) {
				src := m.source(ident.Name(farm), item("a", 1))
				m.make(farm)
				m.mustElsewhere(m.run(farm))
				pass(time.Second)
				m.wantEmitted(item("a", 1))
				switch way {
				case "cut off":
					m.view.divide()
				case "dead":
					m.leave()
				}
				m.mustElsewhere(&registry.Stop{Domain: farm})
				switch end {
				case "dropped":
					m.mustElsewhere(&registry.DropDomain{Name: farm})
				case "an ingestor dropped":
					base := m.log.State().Domains[farm].Model
					m.mustElsewhere(&registry.MutateModels{Domain: farm, Base: base, Drops: []registry.Key{{Kind: ident.KindIngestor, Name: ident.Name(farm)}}})
					m.mustElsewhere(m.run(farm))
				case "made anew":
					m.mustElsewhere(&registry.DropDomain{Name: farm})
					m.make(farm)
				}
				if way == "cut off" {
					src.Add(item("a", 2)) // it cannot know yet, and goes on
					pass(time.Second)
					m.wantEmitted(item("a", 1), item("a", 2))
				}
				emitted := len(m.emitted())
				switch way {
				case "cut off":
					m.view.join()
				case "dead":
					m.back()
				}
				pass(10 * time.Second)
				src.Add(item("a", 3))
				pass(time.Hour)
				m.agrees()
				if src.Opened() != 0 || len(m.emitted()) != emitted {
					t.Fatalf("%s, %s: %d sources are open, emitted %q", way, end, src.Opened(), m.emitted())
				}
			})
		}
	}
}

// Whatever others commit while the node is in touch, cut off or dead: afterwards it executes what the committed state names, and nothing else.
func TestNodeRunsExactlyWhatIsCommitted(t *testing.T) {
	// req: G-001
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			cluster(t, func(m *member) {
				rng := rand.New(rand.NewPCG(seed, 1))
				domains := []ident.Domain{"farm", "barn", "mill"}
				for _, d := range domains {
					m.source(ident.Name(d), item("a", 1), item("b", 2))
				}
				ran := 0
				for range 25 {
					way := rng.IntN(4)
					switch way {
					case 0:
						m.view.divide()
					case 1:
						m.leave()
					}
					for range 1 + rng.IntN(4) {
						m.change(rng, domains[rng.IntN(len(domains))])
					}
					switch way {
					case 0:
						m.view.join()
					case 1:
						m.back()
					}
					pass(20 * time.Second)
					ran += m.agrees()
				}
				if ran == 0 {
					t.Fatal("nothing ever ran")
				}
			})
		})
	}
}

// change proposes something for a domain that fits its state.
func (m *member) change(rng *rand.Rand, domain ident.Domain) {
	m.t.Helper()
	d := m.log.State().Domains[domain]
	switch {
	case d == nil:
		m.make(domain)
	case d.Status == registry.Running:
		m.mustElsewhere(&registry.Stop{Domain: domain})
		if rng.IntN(3) == 0 {
			m.mustElsewhere(m.run(domain))
		}
	case rng.IntN(4) == 0:
		m.mustElsewhere(&registry.DropDomain{Name: domain})
	case rng.IntN(4) == 0:
		key := registry.Key{Kind: ident.KindIngestor, Name: ident.Name(domain)}
		if d.Definitions[key] != nil {
			m.mustElsewhere(&registry.MutateModels{Domain: domain, Base: d.Model, Drops: []registry.Key{key}})
		}
	default:
		m.mustElsewhere(m.run(domain))
	}
}

// agrees compares what runs with the committed state, and gives the number of domains that run.
func (m *member) agrees() (running int) {
	m.t.Helper()
	s := m.log.State()
	sinks := 0
	for name := range m.fleet.sources {
		domain := ident.Domain(name)
		d, x := s.Domains[domain], m.e.execution(domain)
		want := d != nil && d.Status == registry.Running
		if want != (x != nil) || want && x.generation != d.Generation {
			m.t.Fatalf("revision %d: domain %s is committed as %+v, its execution is %+v", s.Revision, domain, d, x)
		}
		sources := 0
		if want {
			running++
			sinks++
			if d.Definitions[registry.Key{Kind: ident.KindIngestor, Name: name}] != nil {
				sources = 1
			}
			m.same(d, x)
		}
		if n := m.fleet.sources[name].Opened(); n != sources {
			m.t.Fatalf("revision %d: %d sources of domain %s are open, want %d", s.Revision, n, domain, sources)
		}
	}
	if len(m.e.all()) != running || m.sink.Opened() != sinks {
		m.t.Fatalf("revision %d: %d executions, %d sinks; want %d and %d", s.Revision, len(m.e.all()), m.sink.Opened(), running, sinks)
	}
	return running
}

// same compares the nodes of an execution with the schedule.
func (m *member) same(d *registry.Domain, x *execution) {
	m.t.Helper()
	var placed, executed []string
	for key := range d.Schedule {
		placed = append(placed, key.In(d.Name).String())
	}
	for _, r := range x.relays {
		executed = append(executed, r.Ref().String())
	}
	for _, plan := range x.graph.Ingestors {
		executed = append(executed, plan.Ref.String())
	}
	for _, plan := range x.graph.Junctions {
		executed = append(executed, plan.Ref.String())
	}
	for _, plan := range x.graph.Emitters {
		executed = append(executed, plan.Ref.String())
	}
	slices.Sort(placed)
	slices.Sort(executed)
	if !slices.Equal(placed, executed) || len(x.ingestors) != len(x.graph.Ingestors) || len(x.junctions) != len(x.graph.Junctions) || len(x.emitters) != len(x.graph.Emitters) {
		m.t.Fatalf("domain %s: placed here\n%q\nexecuted\n%q", d.Name, placed, executed)
	}
}
