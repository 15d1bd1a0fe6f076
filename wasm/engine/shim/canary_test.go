// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// A guest whose code writes nothing into its memory, which is full of one byte but for a reason: whatever else is in it afterwards was written by the host,
// and whatever else comes out was read from another place. Each range that the host may write or read has the fill on both sides.
func TestHostLeavesTheRestOfMemoryAlone(t *testing.T) {
	// req: W-002
	const fill, bufferAt, errorAt, reason, pages = 0xa5, 70_000, 30_000, "because it is so", 2
	fail := "(global.set $errlen (i32.const 16)) "
	g := watguest.Guest{Errors: true, Bodies: map[string]string{
		"nervix_alloc":      "(global.set $ptr (i32.const 70000)) i32.const 70000",
		"nervix_on_timeout": fail + "i32.const -3",
		"nervix_flush":      "(global.set $ptr (i32.const 70000)) (global.set $emit (i32.const 40)) i32.const 0",
		"nervix_load_state": fail + "i32.const -8",
		"nervix_dump_state": "(global.set $ptr (i32.const 0)) i32.const 131072", // all of it
	}, Extra: `(func $fill (memory.fill (i32.const 0) (i32.const 165) (i32.const 131072)) (memory.init $reason (i32.const 30000) (i32.const 0) (i32.const 16))
	  (global.set $error (i32.const 30000))) (start $fill) (data $reason "` + reason + `")`}
	each(t, engine.Limits{}, func(w world) {
		i := w.instance(g, plain)
		want := bytes.Repeat([]byte{fill}, pages<<16)
		copy(want[errorAt:], reason)
		whole := func(after string) {
			w.Helper()
			i.Begin(engine.OpSave, now)
			a, err := i.Dump()
			if err != nil {
				w.Fatal(err)
			}
			got := a.Output.Bytes()
			for k := range got {
				if got[k] != want[k] {
					w.Fatalf("after %s: byte %d of guest memory is %#x, want %#x", after, k, got[k], want[k])
				}
			}
			if len(got) != len(want) {
				w.Fatalf("after %s: %d bytes", after, len(got))
			}
		}
		whole("instantiation")
		for _, n := range []int{1, 100, 0, 17, 9000} {
			in := strings.Repeat("y", n)
			copy(want[bufferAt:], in)
			if out, err := w.batch(i, in); err != nil || out != in {
				w.Fatalf("%d bytes: got %d, %v", n, len(out), err)
			}
			whole("a batch in one crossing")
			i.Begin(engine.OpInit, now)
			v, err := i.Alloc(uint32(n))
			if err != nil || v.Len() != n {
				w.Fatalf("%d bytes: got %d, %v", n, v.Len(), err)
			}
			if n > 0 {
				copy(v.Bytes(), strings.Repeat("z", 2*n)) // what does not fit has no place to go
				copy(want[bufferAt:], strings.Repeat("z", n))
			}
			if _, err := i.Send(engine.Init, v.At(), uint32(n)); err != nil {
				w.Fatal(err)
			}
			whole("an initialisation in two")
		}
		for _, f := range []struct {
			op  engine.Op
			run func() (engine.Answer, error)
		}{
			{engine.OpTimeout, func() (engine.Answer, error) { return i.OnTimeout(1) }},
			{engine.OpRestore, func() (engine.Answer, error) { return i.Deliver(engine.LoadState, []byte("zz")) }},
		} {
			i.Begin(f.op, now)
			_, err := f.run()
			if got := reasonOf(w, err); got != reason {
				w.Fatalf("the reason is %q", got)
			}
			whole("a refusal")
		}
		i.Begin(engine.OpFlush, now)
		a, err := i.Flush()
		if err != nil || string(a.Output.Bytes()) != strings.Repeat("z", 40) {
			w.Fatalf("%q, %v", a.Output.Bytes(), err)
		}
		whole("a flush")
	})
}

// reasonOf is the reason of a refusal.
func reasonOf(w world, err error) string {
	w.Helper()
	f := want(w, err, fault.CodeOf(err))
	return f.Reason
}
