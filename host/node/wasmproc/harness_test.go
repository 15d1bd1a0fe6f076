// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const base = `
CREATE SCHEMA reading (bed STRING, wet F64, n I64 OPTIONAL);
CREATE SCHEMA alarm (bed STRING, level I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE SCHEMA flaw (ref STRING, code STRING, op STRING, why STRING, key STRING, bed STRING OPTIONAL, level I64 OPTIONAL, step U32 OPTIONAL, seen DATETIME OPTIONAL);
CREATE BRANCH by_bed SCHEMA bed_key TTL 1m;
CREATE RELAY readings SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY more SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY copies SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY alarms SCHEMA alarm BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY flaws SCHEMA flaw BRANCHED BY by_bed CAPACITY 4;
CREATE RESOURCE leak_guest;
`

const (
	module = ` USING RESOURCE leak_guest VERSION 3 FILE 'guests/leak.wasm' MAX FUEL 1000 MAX MEMORY 2MiB BRANCHED BY by_bed `
	toBoth = ` TO copies ON MESSAGE ERROR LOG TO alarms ON MESSAGE ERROR LOG `
	logs   = ` ON GLOBAL ERROR LOG;`
	quiet  = ` ON GLOBAL ERROR IGNORE;`
	watch  = `CREATE WASM PROCESSOR watch FROM readings` + module + toBoth
	marker = "wasm processor 'watch' "
)

// bench is one running processor.
type bench struct {
	*nodetest.World
	p     *wasmproc.Processor
	fakes *fakes
	store *testStore
	r     *rand.Rand
}

type option func(c *wasmproc.Config, b *bench)

// run builds the processor of a text over a script and calls use in a bubble.
func run(t *testing.T, lanes int, text string, s script, use func(b *bench), options ...option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := start(t, lanes, text, s, options...)
		stop := b.Upkeep(b.p.Touch, func(int64) { b.p.Node().Scan() }) // as the engine does
		defer func() {
			stop()
			b.end()
		}()
		use(b)
	})
}

func start(t testing.TB, lanes int, text string, s script, options ...option) *bench {
	t.Helper()
	b := &bench{World: nodetest.New(t, base+text, lanes), fakes: &fakes{script: s}, store: newTestStore(), r: rand.New(rand.NewPCG(1, 2))}
	var mu sync.Mutex
	plan := b.Graph.WASMs[0]
	targets := make([]wasmproc.Target, len(plan.Routes))
	for i, r := range plan.Routes {
		targets[i] = wasmproc.Target{Relay: b.Target(r.Relay), Error: b.Target(r.Policy.Relay)}
	}
	c := wasmproc.Config{
		Plan: plan, Targets: targets, Modules: b.fakes, Checkpoints: b.store, Created: 12, DomainType: "unpaced", Clock: b.Clock, Now: b.Clock.Now, Lanes: b.Exec,
		Benches: b.Benches, Alloc: b.Heap, Log: b.Log,
		Random: func(p []byte) {
			mu.Lock()
			defer mu.Unlock()
			for i := range p {
				p[i] = byte(b.r.Uint32())
			}
		},
	}
	for _, o := range options {
		o(&c, b)
	}
	var err error
	if b.p, err = wasmproc.New(c); err != nil {
		t.Fatal(err)
	}
	for i, in := range plan.Inputs {
		input := b.p.Node().Input(i)
		input.Connect(b.Relays[in.Relay.Ref.Name].Attach(input, plan.Attached))
	}
	if b.fakes.refuse == nil {
		if err := b.p.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

var errEnd = errors.New("the test is over")

func (b *bench) end() {
	b.stop()
	b.Close()
	if !b.T.Failed() && b.fakes.left() != 0 {
		b.T.Errorf("%d guests are left", b.fakes.left())
	}
	if b.fakes.acquired != b.fakes.released {
		b.T.Errorf("%d modules acquired, %d released", b.fakes.acquired, b.fakes.released)
	}
}

func (b *bench) stop() {
	b.p.Node().Close(errEnd)
	b.p.Node().Abandon(errEnd)
	for _, r := range b.Relays {
		r.Close()
	}
	if err := b.p.End(context.Background(), errEnd); err != nil {
		b.T.Error(err)
	}
}

func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantRows(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// wantFate compares what became of a batch: whether it settled, and which rows failed.
func wantFate(t testing.TB, f *nodetest.Fate, settled bool, failed ...int) {
	t.Helper()
	got := []int{}
	for row := range f.Failed() {
		got = append(got, row)
	}
	slices.Sort(got)
	if f.Settled() != settled || !slices.Equal(got, append([]int{}, failed...)) {
		t.Fatalf("settled %v, failed %v (%v); want %v, %v", f.Settled(), got, f.Failed(), settled, failed)
	}
}

// errorsOf lists the reported failures, oldest first.
func (b *bench) errorsOf() []string {
	var out []string
	for _, e := range b.p.Observe().Errors {
		out = append([]string{e.Message}, out...)
	}
	return out
}

// like says whether text is made of the parts of want, in their order and with anything where `...` stands.
func like(text, want string) bool {
	parts := strings.Split(want, "...")
	last := parts[len(parts)-1]
	if !strings.HasPrefix(text, parts[0]) || !strings.HasSuffix(text, last) || len(parts) == 1 && text != want {
		return false
	}
	for _, p := range parts[:len(parts)-1] {
		at := strings.Index(text, p)
		if at < 0 {
			return false
		}
		text = text[at+len(p):]
	}
	return strings.HasSuffix(text, last)
}

// wantErrors compares all reports.
func (b *bench) wantErrors(want ...string) {
	b.T.Helper()
	got := b.errorsOf()
	ok := len(got) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = like(got[i], want[i])
	}
	if !ok {
		b.T.Fatalf("reported\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

var (
	bedA = []string{"a"}
	bedB = []string{"b"}
	null = nodetest.Null
)

// through emits each batch as it is.
func through(g *guest, in *given) int32 {
	g.emit(envelope().to("copies", "in0", "in1", "in2").rows(in.tokens...).message())
	return 0
}

// testStore is the store in memory, with checkpoints that a test holds back or fails.
type testStore struct {
	wasmproc.Checkpoints
	mu     sync.Mutex
	hold   bool
	held   []func(error)
	begin  error
	fail   error // of Persist
	load   error
	slow   bool // loads are held back too
	loads  []func()
	events []string
	abort  int
}

func newTestStore() *testStore { return &testStore{Checkpoints: wasmproc.NewMemory()} }

func (s *testStore) Open(p wasmproc.Place) wasmproc.Slot {
	return &testSlot{Slot: s.Checkpoints.Open(p), s: s}
}

// do changes the store while it is in use.
func (s *testStore) do(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *testStore) note(text string) {
	s.mu.Lock()
	s.events = append(s.events, text)
	s.mu.Unlock()
}

// let ends what was held back.
func (s *testStore) let(err error) {
	s.mu.Lock()
	held, loads := s.held, s.loads
	s.held, s.loads, s.hold, s.slow = nil, nil, false, false
	s.mu.Unlock()
	for _, f := range loads {
		f()
	}
	for _, f := range held {
		f(err)
	}
}

type testSlot struct {
	wasmproc.Slot
	s *testStore
}

func (x *testSlot) Load(done func(wasmproc.Saved, error)) (wasmproc.Saved, bool, error) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	saved, _, err := x.Slot.Load(nil)
	if x.s.load != nil {
		saved, err = wasmproc.Saved{}, x.s.load
	}
	if x.s.slow {
		x.s.loads = append(x.s.loads, func() { done(saved, err) })
		return wasmproc.Saved{}, true, nil
	}
	return saved, false, err
}

func (x *testSlot) Begin() error {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	return x.s.begin
}

func (x *testSlot) Persist(done func(error)) (bool, error) {
	x.s.mu.Lock()
	defer x.s.mu.Unlock()
	if x.s.hold {
		x.s.held = append(x.s.held, done)
		return true, nil
	}
	return false, x.s.fail
}

func (x *testSlot) Commit() {
	x.s.note("commit")
	x.Slot.Commit()
}

func (x *testSlot) Abort() {
	x.s.mu.Lock()
	x.s.abort++
	x.s.mu.Unlock()
	x.Slot.Abort()
}
