// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/junction"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/recycler"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// World is what nodes stand in: one lane, the allocator of a node, and the graph. It belongs to one goroutine.
type World struct {
	Graph   *model.Graph
	exec    *lanes.Executor
	benches runtime.Benches
	alloc   *recycler.Allocator
	clock   *timekeeper.Handle
	log     *slog.Logger
	random  *rand.ChaCha8
	logged  logged
}

// logged counts the lines that nodes write: a measurement in which rows fail measures something else.
type logged struct{ lines []string }

func (l *logged) Write(b []byte) (int, error) {
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

// NewWorld starts a lane.
func NewWorld() (*World, error) {
	g, err := graph()
	if err != nil {
		return nil, err
	}
	w := &World{Graph: g, exec: lanes.New(1), alloc: &recycler.Allocator{}, clock: timekeeper.Unpaced(domain, 1), random: rand.NewChaCha8([32]byte{1})}
	w.log = slog.New(slog.NewTextHandler(&w.logged, nil))
	w.benches = runtime.NewBenches(w.exec, w.alloc, w.fill)
	return w, nil
}

func (w *World) fill(b []byte) { _, _ = w.random.Read(b) }

// Key is the i-th branch.
func (w *World) Key(i int) *batch.Key { return key(w.Graph.Relays[0].Branch, i) }

// Close stops the lane. It tells what the nodes logged, which is nothing when all went well.
func (w *World) Close() error {
	w.clock.End()
	if err := w.exec.Close(context.Background()); err != nil {
		return err
	}
	if n := len(w.logged.lines); n > 0 {
		return errors.New("the nodes logged: " + w.logged.lines[0])
	}
	return nil
}

var errEnd = errors.New("the measurement is over")

// Processor is a running WASM processor between a feeder and a sink.
type Processor struct {
	*wasmproc.Processor
	*Feed
	Plan *model.WASM
}

// NewProcessor starts one of the processors of the graph over modules: copying, numbering, counting or heating.
func (w *World) NewProcessor(name string, modules wasmproc.Modules) (*Processor, error) {
	plan, err := processor(w.Graph, name)
	if err != nil {
		return nil, err
	}
	sink := &Sink{}
	p, err := wasmproc.New(wasmproc.Config{
		Plan: plan, Targets: []wasmproc.Target{{Relay: sink}}, Modules: modules, Checkpoints: wasmproc.NewMemory(), Created: 1, DomainType: "unpaced",
		Clock: w.clock, Now: w.clock.Now, Lanes: w.exec, Benches: w.benches, Alloc: w.alloc, Random: w.fill, Log: w.log,
	})
	if err != nil {
		return nil, err
	}
	if err := p.Start(context.Background()); err != nil {
		return nil, err
	}
	return &Processor{p, newFeed(w, p.Node(), p.Busy, sink, plan.InputSchema.Arrow()), plan}, nil
}

// Close ends the processor with all its guests.
func (p *Processor) Close() error {
	p.Node().Close(errEnd)
	p.Node().Abandon(errEnd)
	return p.End(context.Background(), errEnd)
}

// Junction is a running junction between a feeder and a sink.
type Junction struct {
	*junction.Junction
	*Feed
}

// NewJunction starts one of the junctions of the graph: copy or number.
func (w *World) NewJunction(name string) *Junction {
	for _, plan := range w.Graph.Junctions {
		if string(plan.Ref.Name) != name {
			continue
		}
		sink := &Sink{}
		j := junction.New(junction.Config{
			Plan: plan, Targets: []junction.Target{{Relay: sink}}, Clock: w.clock, Now: w.clock.Now, Lanes: w.exec, Benches: w.benches, Alloc: w.alloc, Log: w.log,
		})
		return &Junction{j, newFeed(w, j.Node(), j.Node().Busy, sink, plan.InputSchema.Arrow())}
	}
	panic("the benchmark has no junction " + name)
}

// Close ends the junction.
func (j *Junction) Close() error {
	j.Node().Close(errEnd)
	j.Node().Abandon(errEnd)
	return nil
}
