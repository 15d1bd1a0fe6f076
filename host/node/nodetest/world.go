// SPDX-License-Identifier: Apache-2.0

// Package nodetest is what the tests of node kinds and of the engine stand on: real lanes, real relays and a graph made from NSPL, with sources,
// sinks and consumers that do what a test tells them. Only tests import it. Everything in it works inside a synctest bubble.
package nodetest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/relay/owner"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// Domain is the domain of every test graph.
const Domain ident.Domain = "farm"

// Graph checks NSPL definitions and builds their graph.
func Graph(t testing.TB, text string) *model.Graph {
	t.Helper()
	graph, faults := model.Build(Domain, Definitions(t, text))
	if len(faults) > 0 {
		t.Fatalf("the graph of the test: %v", faults)
	}
	return graph
}

// Definitions parses NSPL definitions.
func Definitions(t testing.TB, text string) []ast.Definition {
	t.Helper()
	parsed, faults := parse.Text(text)
	if len(faults) > 0 {
		t.Fatalf("the text of the test: %v", faults)
	}
	out := make([]ast.Definition, len(parsed))
	for i, p := range parsed {
		out[i] = p.Stmt.(ast.Definition)
	}
	return out
}

// World is one domain with its relays and nothing else running.
type World struct {
	T       testing.TB
	Graph   *model.Graph
	Exec    *lanes.Executor
	Benches runtime.Benches
	Heap    *Heap
	Clock   *timekeeper.Handle
	Relays  map[ident.Name]*owner.Owner
	Logs    *Logs
	Log     *slog.Logger
}

// New builds the world of a graph on a number of lanes.
func New(t testing.TB, text string, laneCount int) *World {
	t.Helper()
	w := &World{
		T: t, Graph: Graph(t, text), Exec: lanes.New(laneCount), Heap: NewHeap(), Clock: timekeeper.Unpaced(Domain, 1),
		Relays: make(map[ident.Name]*owner.Owner), Logs: &Logs{},
	}
	w.Log = slog.New(slog.NewTextHandler(w.Logs, nil))
	random := rand.NewChaCha8([32]byte{1})
	var mu sync.Mutex
	w.Benches = runtime.NewBenches(w.Exec, w.Heap, func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = random.Read(b)
	})
	for _, plan := range w.Graph.Relays {
		c := owner.Config{Ref: plan.Ref, Capacity: plan.Capacity, Now: w.Clock.Now}
		if plan.Branch != nil {
			c.TTL, c.MaxInstances = plan.Branch.TTL, plan.Branch.MaxInstances
		}
		w.Relays[plan.Ref.Name] = owner.New(c)
	}
	return w
}

// Upkeep reports life every 100 ms of physical time, as the engine does, until the returned function is called.
func (w *World) Upkeep(touch ...func(monoNS int64)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() {
		osclock.Every(ctx, 100*time.Millisecond, func() {
			now := osclock.Mono().NS()
			for _, r := range w.Relays {
				r.Touch(now)
				r.Scan()
			}
			for _, f := range touch {
				f(now)
			}
		})
	})
	return func() {
		cancel()
		done.Wait()
	}
}

// Target is a relay as somewhere to publish, nil for none.
func (w *World) Target(plan *model.Relay) runtime.Target {
	if plan == nil {
		return nil
	}
	return w.Relays[plan.Ref.Name]
}

// Close ends relays and lanes, and fails the test if column memory is left.
func (w *World) Close() {
	w.T.Helper()
	for _, r := range w.Relays {
		r.Close()
	}
	w.Clock.End()
	if err := w.Exec.Close(context.Background()); err != nil {
		w.T.Error(err)
	}
	if !w.T.Failed() {
		w.Heap.checked.AssertSize(w.T, 0)
	}
}

// Logs keeps what was logged.
type Logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is everything logged so far.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Count is the number of lines that hold every one of the words.
func (l *Logs) Count(words ...string) (n int) {
lines:
	for line := range strings.Lines(l.String()) {
		for _, w := range words {
			if !strings.Contains(line, w) {
				continue lines
			}
		}
		n++
	}
	return n
}

// Heap is a checked allocator that overwrites memory when it is given back, so that whoever reads a column too late reads rubbish.
type Heap struct{ checked *memory.CheckedAllocator }

// NewHeap makes an empty heap.
func NewHeap() *Heap { return &Heap{memory.NewCheckedAllocator(memory.NewGoAllocator())} }

// Allocate implements memory.Allocator.
func (h *Heap) Allocate(size int) []byte {
	b := h.checked.Allocate(size)
	poison(b) // fresh memory holds nothing either
	return b
}

// Reallocate implements memory.Allocator.
func (h *Heap) Reallocate(size int, b []byte) []byte {
	next := h.Allocate(size)
	copy(next, b)
	h.Free(b)
	return next
}

// Free implements memory.Allocator.
func (h *Heap) Free(b []byte) {
	poison(b)
	h.checked.Free(b)
}

func poison(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

// Lines makes n numbered payloads from a format with one number.
func Lines(format string, from, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(format, from+i)
	}
	return out
}
