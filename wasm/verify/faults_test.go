// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// faults are the guests of c/tests/faulty.c in the order of its enumeration, each with checks that it must fail.
var faults = []struct {
	name  string
	fails string
}{
	{"none", ""},
	{"init traps", "init.accepted"},
	{"init refuses", "init.accepted"},
	{"unbranched fails", "init.unbranched"},
	{"domain type matters", "init.domain_type"},
	{"any schema", "init.mismatch job.init"},
	{"damaged init taken", "init.damaged"},
	{"works before init", "init.first"},
	{"capacity lies", "buffer.alloc"},
	{"negative alloc", "buffer.negative"},
	{"negative range", "buffer.ranges"},
	{"far range traps", "buffer.ranges"},
	{"alloc leaks", "buffer.reused"},
	{"many rows fail", "batch.rows"},
	{"edge traps", "batch.edges"},
	{"long text fails", "batch.text"},
	{"damaged batch taken", "batch.damaged"},
	{"damage changes state", "batch.damaged"},
	{"emit never ends", "batch.drained"},
	{"token lost", "tokens.settled"},
	{"token twice", "tokens.settled"},
	{"entry torn", "tokens.whole"},
	{"flush always emits", "flush.twice"},
	{"timeout fails", "timeout.delivered"},
	{"unknown handle traps", "timeout.unknown"},
	{"save changes", "state.dump"},
	{"restore changes", "state.round_trip"},
	{"state incomplete", "state.continues"},
	{"state holds token", "state.transient"},
	{"empty state refused", "state.empty"},
	{"any state", "state.damaged state.foreign"},
	{"other domain refused", "state.domain"},
	{"no verdict", "state.verdict"},
	{"batches leak", "cost.memory"},
	{"reason of the job", "job.init"},
	{"acks of the job", "job.examples job.model"},
	{"label of the job", "job.examples job.model"},
	{"failure changes", "job.failures"},
	{"version of the job", "job.state"},
	{"invented token", "tokens.settled"},
	{"zone of a column", "batch.rows"},
}

// faulty is the faulty guest with a fault.
func faulty(t testing.TB, fault int) []byte {
	t.Helper()
	wasm := module(t, "tests/c_faulty.wasm")
	at := bytes.Index(wasm, []byte("nervix-fault:\x00"))
	if at < 0 {
		t.Fatal("the mark is not in the module")
	}
	wasm[at+len("nervix-fault:")] = byte(fault)
	return wasm
}

// compiledOnce compiles modules that differ in the fault only once: the mark is data, so it stands in the code too.
func compiledOnce(t testing.TB) engine.Compiler {
	t.Helper()
	b, err := shim.Open(engine.BackendOptions{StackBytes: Limits().StackBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	mark := []byte("nervix-fault:")
	have := map[string][]byte{}
	return func(_ context.Context, wasm []byte) ([]byte, error) {
		at := bytes.Index(wasm, mark) + len(mark)
		fault := wasm[at]
		right := bytes.Clone(wasm)
		right[at] = 0
		stored := have[string(right)]
		if stored == nil {
			code, err := b.Compile(right)
			if err != nil {
				return nil, err
			}
			defer code.Close()
			if stored, err = code.Serialize(); err != nil {
				return nil, err
			}
			have[string(right)] = stored
		}
		stored = bytes.Clone(stored)
		stored[bytes.Index(stored, mark)+len(mark)] = fault
		return stored, nil
	}
}

// Each check finds what it is for. The right guest of the same source passes all of them, although its nervix_reset_state traps.
func TestEachFaultIsFound(t *testing.T) {
	// req: W-037
	found := map[string]bool{
		"cost.same":           true, // a module has no chance to draw on: only the engine could break it
		"module.imports":      true, // TestModulesThatCannotRun
		"module.exports":      true,
		"module.instantiates": true,
	}
	o := options()
	o.Compiler = compiledOnce(t)
	for i, fault := range faults {
		names := strings.Fields(fault.fails)
		for _, f := range some(t, faulty(t, i), o, append(names, "init.accepted")) {
			want := Holds
			if slices.Contains(names, f.Check) {
				want = Fails
				found[f.Check] = true
			}
			if f.Outcome != want {
				t.Errorf("%s: %s %s: %s", fault.name, f.Check, f.Outcome, f.Detail)
			}
			if f.Outcome == Fails && f.Detail == "" {
				t.Errorf("%s: %s fails without saying why", fault.name, f.Check)
			}
		}
	}
	for _, c := range checks() {
		if !found[c.name] {
			t.Errorf("no fault proves %s", c.name)
		}
		if len(c.requirements) == 0 || strings.Contains(c.title, "\n") || strings.ContainsAny(c.name, " \t") {
			t.Errorf("%s has no requirement, or a name or title that is no line", c.name)
		}
	}
}

// some runs checks by name.
func some(t testing.TB, wasm []byte, o Options, names []string) (all []Finding) {
	t.Helper()
	k, err := newKit(context.Background(), wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks() {
		if slices.Contains(names, c.name) {
			all = append(all, k.one(c))
		}
	}
	if err := k.close(); err != nil {
		t.Error(err)
	}
	return all
}

func wat(t testing.TB, g watguest.Guest) []byte {
	t.Helper()
	b, err := shim.ModuleText(g.Text())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A module that cannot be run has a report in which exactly the reason fails; what is no module has none.
func TestModulesThatCannotRun(t *testing.T) {
	// req: W-001 half: the kit; the engine has its own tests
	for _, c := range []struct {
		name, fails, detail string
		wasm                []byte
	}{
		{"WASI", "module.imports", "fd_write", wat(t, watguest.Guest{Imports: watguest.HostImports + `(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))`})},
		{"missing export", "module.exports", "missing required export nervix_flush", wat(t, watguest.Guest{Omit: []string{"nervix_flush"}})},
		{"half an error channel", "module.exports", "nervix_clear_global_error", wat(t, watguest.Guest{Errors: true, Omit: []string{"nervix_clear_global_error"}})},
		{"start traps", "module.instantiates", "unreachable", wat(t, watguest.Guest{Extra: `(func $s unreachable) (start $s)`})},
	} {
		r := run(t, c.wasm, options())
		if len(r.Findings) != len(checks()) {
			t.Errorf("%s: %d findings, there are %d checks", c.name, len(r.Findings), len(checks()))
		}
		for _, f := range r.Findings {
			if (f.Check == c.fails) != (f.Outcome == Fails && strings.Contains(f.Detail, c.detail)) && f.Check != "init.accepted" {
				t.Errorf("%s: %s %s: %s", c.name, f.Check, f.Outcome, f.Detail)
			}
		}
	}
	for name, wasm := range map[string][]byte{"empty": {}, "text": []byte("hello"), "ELF": []byte("\x7fELF\x02"), "damaged": module(t, "c_reference.wasm")[:5000]} {
		if r, err := Run(t.Context(), wasm, options()); err == nil {
			t.Errorf("%s has a report: %s", name, r.Summary())
		}
	}
}

// A guest that answers everything with success and echoes its input is nearly nowhere right.
func TestAnEchoDoesNotConform(t *testing.T) {
	r := run(t, wat(t, watguest.Guest{}), options())
	if r.Failed() < 15 {
		for _, f := range r.Findings {
			t.Log(f.Check, f.Outcome, f.Detail)
		}
		t.Errorf("an echo fails only %d checks", r.Failed())
	}
}

// A guest that never ends meets the limits, and the kit ends.
func TestEndlessGuests(t *testing.T) {
	for _, export := range []string{"nervix_init", "nervix_process_batch", "nervix_alloc", "nervix_read_emit"} {
		o := options()
		o.Fuel = 1_000_000
		if r := run(t, wat(t, watguest.With(export, "(loop $l br $l) unreachable")), o); r.Failed() == 0 {
			t.Errorf("an endless %s is not found", export)
		}
	}
	o := options()
	if r := run(t, wat(t, watguest.With("nervix_read_emit", "i32.const 64")), o); r.Failed() == 0 {
		t.Error("a guest that emits for ever is not found")
	}
}
