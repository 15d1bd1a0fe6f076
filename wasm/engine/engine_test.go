// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a backend without guests: compile and run do what the test says.
type fake struct {
	compile func() error
	run     func(*Request, *Result)
	ticks   atomic.Int64
	closed  []string
}

func (f *fake) Version() string { return "fake1" }
func (f *fake) Compile([]byte) (Code, error) {
	if f.compile != nil {
		if err := f.compile(); err != nil {
			return nil, err
		}
	}
	return (*fakeCode)(f), nil
}
func (f *fake) Load(b []byte) (Code, error) {
	if string(b) != "code" {
		return nil, errors.New("other library")
	}
	return (*fakeCode)(f), nil
}
func (f *fake) Tick(n uint64) { f.ticks.Add(int64(n)) }
func (f *fake) Usage() Usage  { return Usage{} }
func (f *fake) Close()        { f.closed = append(f.closed, "backend") }

type fakeCode fake

func (c *fakeCode) Serialize() ([]byte, error) { return []byte("code"), nil }
func (c *fakeCode) Close()                     { c.closed = append(c.closed, "code") }
func (c *fakeCode) Instantiate(q *Request, r *Result) Store {
	*r = Result{At: NoExport, NextHandle: q.NextHandle}
	return (*fakeStore)(c)
}

type fakeStore fake

func (s *fakeStore) Close() { s.closed = append(s.closed, "store") }
func (s *fakeStore) Run(q *Request, r *Result) {
	*r = Result{At: q.Entry, NextHandle: q.NextHandle}
	if s.run != nil {
		s.run(q, r)
	}
}

func start(t *testing.T, f *fake, c Config) *Engine {
	t.Helper()
	e, err := New(c, func(BackendOptions) (Backend, error) { return f, nil })
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func stop(t *testing.T, e *Engine) {
	t.Helper()
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

var spec = Spec{Fuel: 100, Memory: 1 << 20}

// guestModule is the smallest module that Inspect accepts: types, functions, one memory, exports, bodies.
func guestModule() []byte {
	section := func(id byte, body []byte) []byte { return append([]byte{id, byte(len(body) & 0x7f), 0}, body...) }
	fix := func(s []byte) []byte { // two-byte lengths
		n := len(s) - 3
		s[1], s[2] = byte(n&0x7f)|0x80, byte(n>>7)
		return s
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	types, funcs, exports, code := []byte{13}, []byte{13}, []byte{14}, []byte{13}
	for k := range requiredExports {
		f := exportTable[k]
		types = append(types, 0x60, byte(len(f.Params)))
		for _, v := range f.Params {
			types = append(types, valueBytes[v])
		}
		types = append(types, byte(len(f.Results)))
		for _, v := range f.Results {
			types = append(types, valueBytes[v])
		}
		funcs = append(funcs, byte(k))
		exports = append(append(append(exports, byte(len(f.Name))), f.Name...), 0, byte(k))
		code = append(code, 3, 0, 0, 0x0b)
	}
	exports = append(append(append(exports, byte(len(memoryExport))), memoryExport...), externMemory, 0)
	for _, s := range [][]byte{section(1, types), section(3, funcs), section(5, []byte{1, 0, 2}), section(7, exports), section(10, code)} {
		out = append(out, fix(s)...)
	}
	return out
}

// A compilation that fails is told to all who wait and tried again by the next; one whose caller gives up goes on.
func TestAcquire(t *testing.T) {
	f := &fake{}
	gate := make(chan error)
	f.compile = func() error { return <-gate }
	e := start(t, f, Config{})
	failed := make(chan error)
	for range 2 {
		go func() {
			_, err := e.Acquire(context.Background(), guestModule())
			failed <- err
		}()
	}
	for e.Modules() == 0 {
		runtime.Gosched()
	}
	gate <- errors.New("first line\n\nCaused by:\n    0: second")
	again, good := 0, 0
	for told := 0; told < 2; {
		select {
		case err := <-failed:
			told++
			if err == nil {
				good++
			} else if fault.CodeOf(err) != fault.WasmModule || !strings.Contains(err.Error(), "does not compile: first line: second") {
				t.Error(err)
			}
		case gate <- nil: // one came after the failure and compiles again
			again++
		}
	}
	if again > 1 || good != again {
		t.Errorf("%d compiled again, %d of two have the module", again, good)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("gone")
	cancel(gone)
	select {
	case gate <- nil:
	default:
	}
	if m, err := e.Acquire(ctx, append(guestModule(), 0, 1, 0)); err == nil {
		m.Release()
	} else if !errors.Is(err, gone) {
		t.Error(err)
	}
	short, cancelShort := context.WithCancel(context.Background())
	cancelShort()
	if err := e.Close(short); err == nil {
		t.Error("closed while a module compiles")
	}
	gate <- nil
	stop(t, e)
}

// Close frees stores, then code, then the backend, and a failed store answers nothing more.
func TestCloseOrder(t *testing.T) {
	f := &fake{run: func(q *Request, r *Result) {
		if q.Entry == Flush {
			r.Status, r.Trap = StatusTrap, 9
		}
	}}
	e := start(t, f, Config{})
	m, err := e.Acquire(context.Background(), guestModule())
	if err != nil {
		t.Fatal(err)
	}
	i, err := m.Instantiate(spec, vtime.LogicalFromNS(1))
	if err != nil {
		t.Fatal(err)
	}
	i.Begin(OpFlush, vtime.LogicalFromNS(2))
	var failure *Failure
	if _, err = i.Flush(); !errors.As(err, &failure) || !failure.Gone || failure.Stage != protocol.StageFlush {
		t.Errorf("got %v", err)
	}
	i.Begin(OpSave, vtime.LogicalFromNS(3))
	if _, err = i.Dump(); fault.CodeOf(err) != fault.WasmMisuse {
		t.Errorf("a trapped instance answers: %v", err)
	}
	m.Release()
	if e.Modules() != 1 {
		t.Error("the instance does not hold its module")
	}
	stop(t, e)
	if got := strings.Join(f.closed, " "); got != "store code backend" {
		t.Errorf("closed %s", got)
	}
	if f.ticks.Load() < 0 {
		t.Error("no ticks")
	}
}

// Every field of a request is of its operation: nothing of the last one leaks into the next.
func TestRequests(t *testing.T) {
	var got []Request
	f := &fake{run: func(q *Request, r *Result) {
		got = append(got, *q)
		r.GrantPtr, r.Grant = 64, make([]byte, q.Size)
		r.NextHandle = q.NextHandle + 1
	}}
	e := start(t, f, Config{Limits: Limits{MaxBuffer: 1000, OperationTime: time.Second}})
	defer stop(t, e)
	m, err := e.Acquire(context.Background(), guestModule())
	if err != nil {
		t.Fatal(err)
	}
	defer m.Release()
	i, err := m.Instantiate(Spec{Fuel: 100, Memory: 1 << 20, FirstHandle: 9}, vtime.LogicalFromNS(1))
	if err != nil {
		t.Fatal(err)
	}
	i.Begin(OpBatch, vtime.LogicalFromNS(5))
	if _, err := i.Deliver(ProcessBatch, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if _, err := i.ReadEmit(); err != nil {
		t.Fatal(err)
	}
	i.Begin(OpSave, vtime.LogicalFromNS(6))
	if _, err := i.Dump(); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Alloc(1001); fault.CodeOf(err) != fault.WasmBuffer || !strings.Contains(err.Error(), "guest buffer size 1001 exceeds configured limit 1000") {
		t.Error(err)
	}
	if _, err := i.Deliver(LoadState, make([]byte, 1001)); fault.CodeOf(err) != fault.WasmBuffer {
		t.Error(err)
	}
	if len(got) != 3 {
		t.Fatalf("%d requests", len(got))
	}
	first, second, third := got[0], got[1], got[2]
	if !first.Begin || first.Allow != AllowTimeout|AllowReset || first.Now != 5 || first.Fuel != 100 || first.Ticks != 101 || first.NextHandle != 9 || !first.Ask || string(first.Payload) != "abc" {
		t.Errorf("first %+v", first)
	}
	if second.Begin || second.Ask || second.Payload != nil || second.NextHandle != 0 {
		t.Errorf("second %+v", second)
	}
	if !third.Begin || third.Allow != 0 || third.Now != 6 || third.Ask {
		t.Errorf("third %+v", third)
	}
}

// The cache of the library's next version stands beside this one's, is pruned by use, and a folder that cannot be written does no harm.
func TestCacheFolder(t *testing.T) {
	dir := t.TempDir()
	a := &cache{dir: dir, maxBytes: 1 << 20, suffix: "guard-1"}
	b := &cache{dir: dir, maxBytes: 1 << 20, suffix: "guard-2"}
	id := Identity{1}
	for _, c := range []*cache{a, b} {
		if err := c.write(id, []byte(c.suffix)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*cache{a, b} {
		if got, err := c.read(id); err != nil || string(got) != c.suffix {
			t.Errorf("%q, %v", got, err)
		}
	}
	a.maxBytes = 2 * (cacheHead + 1000)
	old := time.Unix(1000, 0)
	for k := range byte(4) {
		if err := a.write(Identity{k}, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(a.path(Identity{k}), old, old.Add(time.Duration(k)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 2 {
		t.Errorf("left %v, %v", names, err)
	}
	blocked := filepath.Join(dir, "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e := start(t, &fake{}, Config{CacheDir: filepath.Join(blocked, "cache")})
	defer stop(t, e)
	m, err := e.Acquire(context.Background(), guestModule())
	if err != nil {
		t.Fatal(err)
	}
	m.Release()
}

func TestLimits(t *testing.T) {
	for text, p := range map[string]Profile{"auto": ProfileAuto, "guard": ProfileGuard, "dense": ProfileDense} {
		if got, err := ParseProfile(text); err != nil || got != p || got.String() != text {
			t.Error(text, got, err)
		}
	}
	if _, err := ParseProfile("Guard"); err == nil {
		t.Error("Guard was read")
	}
	if ProfileAuto.Resolve(8000) != ProfileGuard || ProfileAuto.Resolve(8001) != ProfileDense || ProfileGuard.Resolve(1e6) != ProfileGuard {
		t.Error("profiles resolve otherwise")
	}
	for _, bad := range []Limits{{Stores: -1}, {MaxBuffer: maxBuffer + 1}, {EpochPeriod: time.Microsecond}, {OperationTime: time.Millisecond}, {StackBytes: 1}} {
		bad.EnsureDefaults()
		if bad.Validate() == nil {
			t.Errorf("%+v holds", bad)
		}
	}
	if MapCount() < 10 || MapBudget() < 1000 {
		t.Errorf("%d maps in use, budget %d", MapCount(), MapBudget())
	}
}
