// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const schemas = `
CREATE SCHEMA reading (bed STRING, n I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE WIRE JSON SCHEMA reading_wire MODE STRICT (bed STRING, n INTEGER);
CREATE CODEC reading_codec FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading;
CREATE BRANCH by_bed SCHEMA bed_key TTL 1m;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '/data' };
`

const (
	fromFile = " FROM FILE files PATH 'in.ndjson' MODE ACK PARALLEL MAX 1000 ACK TIMEOUT 5s RETRY POLICY BACKOFF 100ms MAX 1s ON QUIESCE SUSPEND DECODE USING reading_codec "
	toFile   = " TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 100ms MAX 1s ENCODE USING reading_codec INHERIT ALL "
	logAll   = " ON MESSAGE ERROR LOG "
	general  = " ON GENERAL ERROR LOG;"
)

// short is source -> ins (by bed) -> junction -> outs -> sink. The junction drops n = 0 and fails for n = 13.
const short = schemas + `
CREATE RELAY ins SCHEMA reading BRANCHED BY by_bed CAPACITY 2;
CREATE RELAY outs SCHEMA reading BRANCHED BY by_bed CAPACITY 2;
CREATE INGESTOR probes` + fromFile + `TO ins INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE` + logAll + general + `
CREATE JUNCTION watch FROM ins WHERE n != 0 BRANCHED BY by_bed TO outs INHERIT ALL EXCEPT n SET n = input.n + 0 / (input.n - 13) FLUSH IMMEDIATE` + logAll + `;
CREATE EMITTER sink FROM outs` + toFile + `FLUSH IMMEDIATE` + logAll + general

func item(bed string, n int) string { return fmt.Sprintf(`{"bed":"%s","n":%d}`, bed, n) }

// fleet is one source an ingestor.
type fleet struct {
	mu      sync.Mutex
	sources map[ident.Name]*nodetest.Source
}

func (f *fleet) OpenSource(ctx context.Context, plan connector.SourcePlan, events connector.SourceEvents) (connector.SourceSession, error) {
	f.mu.Lock()
	s := f.sources[plan.Ingestor.Name]
	f.mu.Unlock()
	return s.OpenSource(ctx, plan, events)
}

// node is an engine under the revisions of a registry.
type node struct {
	t     *testing.T
	e     *Engine
	state *registry.State
	store *state.Store
	fs    vfs.FS
	fleet *fleet
	sink  *nodetest.Sink
	logs  *nodetest.Logs
	heap  *nodetest.Heap
	at    ident.Revision
}

const self = ident.Node(1)

// start makes an engine without executions.
func start(t *testing.T) *node {
	t.Helper()
	n := &node{
		t: t, state: registry.NewState(), fs: vfs.NewMem(), fleet: &fleet{sources: map[ident.Name]*nodetest.Source{}}, sink: &nodetest.Sink{}, logs: &nodetest.Logs{},
		heap: nodetest.NewHeap(),
	}
	n.open()
	n.must(n.apply(&registry.Bootstrap{Cluster: "c", Limits: registry.DefaultLimits()}))
	n.must(n.apply(&registry.NodeStarted{Node: registry.Node{ID: self, Incarnation: 1, Logical: "n1.node"}}))
	return n
}

func (n *node) open() {
	n.t.Helper()
	store, err := state.Open("data/state", state.Options{Node: self, FS: n.fs})
	if err != nil {
		n.t.Fatal(err)
	}
	n.store = store
	n.e = New(Config{
		Node: self, Sources: n.fleet, Sinks: n.sink, Store: store, Log: slog.New(slog.NewTextHandler(n.logs, nil)), Lanes: 3,
		PositionFields: func(string) []string { return []string{"offset", "line"} },
	})
}

func (n *node) close() {
	n.t.Helper()
	if err := n.e.Close(context.Background()); err != nil {
		n.t.Error(err)
	}
	if err := n.store.Close(); err != nil {
		n.t.Error(err)
	}
}

func (n *node) must(err error) {
	n.t.Helper()
	if err != nil {
		n.t.Fatal(err)
	}
}

// source gives an ingestor its lines.
func (n *node) source(name ident.Name, lines ...string) *nodetest.Source {
	s := nodetest.NewSource(n.heap, lines...)
	n.fleet.mu.Lock()
	n.fleet.sources[name] = s
	n.fleet.mu.Unlock()
	return s
}

// commit brings the next revision into being without installing it.
func (n *node) commit(b registry.Body) (prev *registry.State) {
	n.t.Helper()
	n.at++
	next, res, err := registry.Apply(n.state, n.at, &registry.Command{UTC: vtime.UTCFromNS(int64(n.at) * 1e9), Body: b})
	if err != nil || res.Verdict != registry.Applied {
		n.t.Fatalf("%T: %+v %v", b, res, err)
	}
	prev, n.state = n.state, next
	return prev
}

func (n *node) apply(b registry.Body) error {
	n.t.Helper()
	prev := n.commit(b)
	return n.e.Install(context.Background(), prev, n.state)
}

// define creates the domain with its definitions, all placed on this node.
func (n *node) define(text string) {
	n.t.Helper()
	n.must(n.apply(&registry.CreateDomain{Name: nodetest.Domain, Text: "CREATE UNPACED DOMAIN farm;", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral}))
	n.must(n.apply(n.puts(text, false)))
}

// puts makes a mutation from definitions.
func (n *node) puts(text string, capacityOnly bool) *registry.MutateModels {
	n.t.Helper()
	return puts(n.t, n.state.Domains[nodetest.Domain], text, capacityOnly, self)
}

// puts makes a mutation of a domain that places its runtime nodes on one node.
func puts(t *testing.T, in *registry.Domain, text string, capacityOnly bool, on ident.Node) *registry.MutateModels {
	t.Helper()
	m := &registry.MutateModels{Domain: in.Name, Base: in.Model}
	for _, d := range nodetest.Definitions(t, text) {
		key := registry.Key{Kind: d.DefKind(), Name: d.DefName()}
		put := registry.Put{Key: key, Text: print.Statement(d), Grammar: 1, CapacityOnly: capacityOnly}
		for _, r := range d.References() {
			put.Dependencies = append(put.Dependencies, registry.Key{Kind: r.Kind, Name: r.Name})
		}
		m.Puts = append(m.Puts, put)
		switch d.DefKind() {
		case ident.KindRelay, ident.KindIngestor, ident.KindJunction, ident.KindEmitter:
			if !capacityOnly {
				m.Assign = append(m.Assign, registry.Assignment{Key: key, Node: on})
			}
		}
	}
	return m
}

func (n *node) startDomain(anew bool) error {
	n.t.Helper()
	d := n.state.Domains[nodetest.Domain]
	n.must(n.apply(&registry.Start{Domain: nodetest.Domain, Base: d.Model, RestartPositions: anew}))
	return n.e.Ready(context.Background(), nodetest.Domain, n.state.Domains[nodetest.Domain].Generation)
}

func (n *node) stopDomain() {
	n.t.Helper()
	n.must(n.apply(&registry.Stop{Domain: nodetest.Domain}))
}

// ask inspects by a statement.
func (n *node) ask(text string) (string, error) {
	n.t.Helper()
	stmt, faults := parse.Statement(text)
	if len(faults) > 0 {
		n.t.Fatalf("%s: %v", text, faults)
	}
	got, err := n.e.Inspect(context.Background(), n.state, nodetest.Domain, stmt)
	if got.JSON != nil {
		return string(got.JSON), err
	}
	return got.Text, err
}

// show asks and wants every one of the words in the answer.
func (n *node) show(text string, words ...string) string {
	n.t.Helper()
	got, err := n.ask(text)
	if err != nil {
		n.t.Fatalf("%s: %v", text, err)
	}
	for _, w := range words {
		if !strings.Contains(got, w) {
			n.t.Fatalf("%s lacks %q:\n%s", text, w, got)
		}
	}
	return got
}

// emitted are the payloads of every publish call.
func (n *node) emitted() []string {
	var out []string
	for _, a := range n.sink.Attempts() {
		out = append(out, a.Payloads...)
	}
	return out
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, use func(n *node)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := start(t)
		defer n.close()
		use(n)
	})
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// replace changes one part of a text, which must be there.
func replace(t *testing.T, text, old, by string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the text lacks %q", old)
	}
	return strings.Replace(text, old, by, 1)
}
