// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// life runs a guest through all operations, with a new instance after each loss, and writes down everything the port shows.
func (w world) life(m *engine.Module, spec engine.Spec) []string {
	var log []string
	var i *engine.Instance
	fresh := func() bool {
		var err error
		i, err = m.Instantiate(spec, now)
		if err != nil {
			log = append(log, "instantiate: "+outcome(err))
			return false
		}
		log = append(log, fmt.Sprintf("instantiate: %d bytes", i.MemoryBytes()))
		return true
	}
	if !fresh() {
		return log
	}
	steps := []struct {
		op  engine.Op
		run func() (engine.Answer, error)
	}{
		{engine.OpInit, func() (engine.Answer, error) { return i.Deliver(engine.Init, []byte("init")) }},
		{engine.OpBatch, func() (engine.Answer, error) { return i.Deliver(engine.ProcessBatch, []byte("first message")) }},
		{engine.OpBatch, w.sent(&i, "second message")},
		{engine.OpBatch, func() (engine.Answer, error) { return i.Deliver(engine.ProcessBatch, nil) }},
		{engine.OpTimeout, func() (engine.Answer, error) { return i.OnTimeout(77) }},
		{engine.OpFlush, func() (engine.Answer, error) { return i.Flush() }},
		{engine.OpSave, func() (engine.Answer, error) { return i.Dump() }},
		{engine.OpRestore, func() (engine.Answer, error) { return i.Deliver(engine.LoadState, []byte("saved")) }},
	}
	for _, s := range steps {
		i.Begin(s.op, now)
		a, err := s.run()
		for k := 0; ; k++ {
			log = append(log, fmt.Sprintf("%s: code %d, %q, reset %v, %v, fuel %d, %s", s.op.Stage(), a.Code, clip(a.Output.Bytes()), a.Reset, a.Timeouts, a.FuelUsed, outcome(err)))
			if err != nil || a.Output.Len() == 0 || s.op == engine.OpSave || k == 3 {
				break
			}
			a, err = i.ReadEmit()
		}
		var f *engine.Failure
		if errors.As(err, &f) && f.Gone {
			if i.Close() != nil || !fresh() {
				return log
			}
		}
	}
	log = append(log, fmt.Sprintf("end: %d bytes, next handle %d", i.MemoryBytes(), i.NextHandle()))
	if err := i.Close(); err != nil {
		log = append(log, err.Error())
	}
	return log
}

func (w world) sent(i **engine.Instance, text string) func() (engine.Answer, error) {
	return func() (engine.Answer, error) {
		v, err := (*i).Alloc(uint32(len(text)))
		if err != nil {
			return engine.Answer{}, err
		}
		copy(v.Bytes(), text)
		return (*i).Send(engine.ProcessBatch, v.At(), uint32(len(text)))
	}
}

func clip(b []byte) string {
	if len(b) > 40 {
		return fmt.Sprintf("%s...%d", b[:40], len(b))
	}
	return string(b)
}

func outcome(err error) string {
	var f *engine.Failure
	if !errors.As(err, &f) {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%v gone=%v", f, f.Gone)
}

// hostile are guests that break every rule of the ABI that a module can break while it runs. Parts named twice are combined below.
func hostile() map[string]watguest.Guest {
	all := map[string]watguest.Guest{
		"plain":         {},
		"errors unused": {Errors: true},
		"no pages":      {Memory: "0"},
	}
	bodies := map[string]string{
		"traps":           "unreachable",
		"divides by zero": "(drop (i32.div_s (i32.const 1) (i32.const 0))) unreachable",
		"reads outside":   "(drop (i32.load (i32.const -4))) unreachable",
		"writes outside":  "(i64.store (i32.const 131065) (i64.const 1)) unreachable",
		"fills outside":   "(memory.fill (i32.const 131000) (i32.const 1) (i32.const 1000)) unreachable",
		"loops":           forever,
		"answers -3":      "i32.const -3",
		"answers -7":      "i32.const -7",
		"answers -8":      "i32.const -8",
		"answers -9":      "i32.const -9",
		"answers 5":       "i32.const 5",
		"answers minimum": "i32.const 0x80000000",
		"answers maximum": "i32.const 0x7fffffff",
		"answers 64 MiB":  "i32.const 67108864",
		"above 64 MiB":    "i32.const 67108865",
		"answers 0":       "i32.const 0",
		"answers end":     "i32.const 131072",
		"answers last":    "i32.const 131071",
		"answers odd":     "i32.const 1027",
		"grows":           "(drop (memory.grow (i32.const 2))) i32.const 0",
	}
	for _, name := range watguest.Exports() {
		for what, body := range bodies {
			g := watguest.With(name, body)
			if name == "nervix_current_domain_time_nanos" {
				if !strings.HasSuffix(body, "unreachable") {
					continue
				}
			}
			all[name+" "+what] = g
		}
		g := watguest.With(name, callSelf(name))
		g.Extra = "(func $deep (result i32) (local i64 i64 i64 i64) (i32.add (call $deep) (i32.const 1)))"
		all[name+" recurses"] = g
	}
	for _, name := range []string{"nervix_global_error_ptr", "nervix_global_error_len", "nervix_clear_global_error"} {
		for what, body := range bodies {
			g := watguest.With(name, body)
			g.Errors = true
			if name != "nervix_global_error_len" { // so that it is called
				g.Bodies["nervix_global_error_len"] = "i32.const 3"
			}
			all[name+" "+what] = g
		}
	}
	all["shrinking range"] = watguest.Guest{Bodies: map[string]string{"nervix_dump_state": "i32.const 100", "nervix_buffer_ptr": "i32.const 131000"}}
	all["range over the end of addresses"] = watguest.Guest{Bodies: map[string]string{"nervix_dump_state": "i32.const 100", "nervix_buffer_ptr": "i32.const -50"}}
	all["table burner"] = watguest.Guest{Extra: "(table $t 10 funcref)", Bodies: map[string]string{
		"nervix_flush": "(drop (table.grow $t (ref.null func) (i32.const 1000000))) i32.const 0"}}
	return all
}

func callSelf(name string) string {
	if name == "nervix_current_domain_time_nanos" {
		return "(drop (call $deep)) i64.const 0"
	}
	return "call $deep"
}

// The shim and the reference show the same of every hostile guest, in both profiles: answers, outputs, fuel, codes, texts. No guest
// harms the host, and the engine serves a good guest afterwards.
func TestDifferential(t *testing.T) {
	// req: W-029, W-033, W-037, W-027 half: the error policy, W-100 half: the checkpoint that follows
	// req: A03, A04, A05
	guests := hostile()
	var first map[string][]string
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			w := open(t, engine.Config{Profile: v.profile}, v.open)
			spec := engine.Spec{Fuel: 300_000, Memory: 32 << 20}
			logs := map[string][]string{}
			healthy := w.instance(watguest.Guest{}, plain)
			for name, g := range guests {
				m := w.module(g)
				logs[name] = w.life(m, spec)
				if out, err := w.batch(healthy, name); err != nil || out != name {
					t.Fatalf("after %q the guest beside answers %q, %v", name, out, err)
				}
			}
			if first == nil {
				first = logs
				checkOutcomes(t, logs)
			}
			for _, name := range slices.Sorted(maps.Keys(guests)) {
				if diff := cmp.Diff(first[name], logs[name]); diff != "" {
					t.Errorf("%s differs from %s:\n%s", name, variants[0].name, diff)
				}
			}
			if u := w.Usage(); u.Stores != 1 {
				t.Errorf("%d stores are left", u.Stores)
			}
		})
	}
}

// checkOutcomes pins some transcripts, so that agreement is not agreement on nonsense.
func checkOutcomes(t *testing.T, logs map[string][]string) {
	t.Helper()
	for name, part := range map[string]string{
		"nervix_alloc answers 0":                  "[wasm.range] gone=false",
		"nervix_alloc answers minimum":            "the guest named the range of 4 bytes at 2147483648, outside its memory of 131072 bytes",
		"nervix_alloc answers last":               "the guest named the range of 4 bytes at 131071",
		"nervix_buffer_ptr answers end":           "the guest named the range of 13 bytes at 131072",
		"nervix_read_emit above 64 MiB":           "guest buffer size 67108865 exceeds configured limit 67108864 [wasm.buffer] gone=false",
		"nervix_read_emit answers 64 MiB":         "the guest named the range of 67108864 bytes",
		"nervix_dump_state answers maximum":       "guest buffer size 2147483647 exceeds configured limit 67108864",
		"nervix_load_state answers -7":            "snapshot envelope decoding failed (export 'nervix_load_state')",
		"nervix_load_state answers -8":            "application state restoration failed (export 'nervix_load_state')",
		"nervix_load_state answers -9":            "state restore failed (export 'nervix_load_state')",
		"nervix_process_batch loops":              "wasm guest exhausted MAX FUEL 300000 [wasm.fuel] gone=true",
		"nervix_process_batch recurses":           "wasm guest trapped: call stack exhausted",
		"nervix_process_batch traps":              "wasm guest trapped: unreachable executed [wasm.trap] gone=true",
		"nervix_process_batch answers 5":          "which is no status code [wasm.result] gone=false",
		"nervix_global_error_len answers maximum": "the guest named the range of 2147483647 bytes at 128",
		"range over the end of addresses":         "the guest named the range of 100 bytes at 4294967246",
	} {
		if all := strings.Join(logs[name], "\n"); !strings.Contains(all, part) {
			t.Errorf("%s: %q is not in\n%s", name, part, all)
		}
	}
	for _, name := range []string{"nervix_reset_state traps", "nervix_current_domain_time_nanos traps", "nervix_buffer_len traps", "nervix_buffer_capacity traps"} {
		if diff := cmp.Diff(logs["plain"], logs[name]); diff != "" {
			t.Errorf("%s: the export is called, or matters:\n%s", name, diff)
		}
	}
}

// The host reads the guest's reason wherever the chapter says, clears it once, and a reason fails an operation that answered 0.
func TestGlobalErrors(t *testing.T) {
	// req: W-096, W-097 half: the error policy is the processor's
	// req: A01 half: module hash, branch and row are the processor's to add
	text := "(global.set $errlen (i32.const 11))"
	data := `(data (i32.const 128) "out of luck")`
	each(t, engine.Limits{}, func(w world) {
		// The dump says how often the reason was cleared.
		dump := "(i32.store8 (i32.const 1024) (i32.add (i32.const 48) (global.get $cleared))) (global.set $ptr (i32.const 1024)) i32.const 1"
		for _, name := range []string{"nervix_init", "nervix_process_batch", "nervix_on_timeout", "nervix_flush", "nervix_read_emit"} {
			for _, code := range []string{"0", "-2"} {
				g := watguest.Guest{Errors: true, Extra: data, Bodies: map[string]string{name: text + "i32.const " + code, "nervix_dump_state": dump}}
				log := strings.Join(w.life(w.module(g), plain), "\n")
				told := strings.Count(log, ": out of luck [wasm.result] gone=false")
				if told == 0 || !strings.Contains(log, fmt.Sprintf("state snapshot: code 1, %q", fmt.Sprint(told))) {
					w.Errorf("%s answering %s: %d reasons\n%s", name, code, told, log)
				}
			}
		}
		for _, name := range []string{"nervix_dump_state", "nervix_load_state"} {
			for code, told := range map[string]bool{"0": false, "-1": true} {
				g := watguest.Guest{Errors: true, Extra: data, Bodies: map[string]string{name: text + "i32.const " + code}}
				log := strings.Join(w.life(w.module(g), plain), "\n")
				if strings.Contains(log, "with code -1: out of luck") != told {
					w.Errorf("%s answering %s:\n%s", name, code, log)
				}
			}
		}
		// A panic leaves its text and traps.
		panics := w.instance(watguest.Guest{Errors: true, Extra: data, Bodies: map[string]string{"nervix_flush": text + "unreachable"}}, plain)
		panics.Begin(engine.OpFlush, now)
		_, err := panics.Flush()
		if f := want(w, err, fault.WasmTrap); f.Reason != "out of luck" || !strings.Contains(f.Error(), "(export 'nervix_flush'): wasm guest trapped: unreachable executed: out of luck") {
			w.Error(f)
		}
		bad := w.instance(watguest.Guest{Errors: true, Extra: `(data (i32.const 128) "\ff\fe")`,
			Bodies: map[string]string{"nervix_flush": "(global.set $errlen (i32.const 2)) i32.const -1"}}, plain)
		bad.Begin(engine.OpFlush, now)
		_, err = bad.Flush()
		if f := want(w, err, fault.WasmResult); !strings.Contains(f.Error(), "not UTF-8") || f.Reason != "" {
			w.Error(f)
		}
		long := w.instance(watguest.Guest{Errors: true, Bodies: map[string]string{
			"nervix_flush": "(memory.fill (i32.const 128) (i32.const 0x41) (i32.const 50000)) (i32.store8 (i32.const 4223) (i32.const 0xc3)) (global.set $errlen (i32.const 50000)) i32.const -1"}}, plain)
		long.Begin(engine.OpFlush, now)
		_, err = long.Flush()
		if f := want(w, err, fault.WasmResult); f.Reason != strings.Repeat("A", 4095) {
			w.Errorf("a long reason came as %d bytes", len(f.Reason))
		}
	})
}
