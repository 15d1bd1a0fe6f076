// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func limits() *Limits {
	var l Limits
	l.EnsureDefaults()
	return &l
}

func TestInspect(t *testing.T) {
	ins, err := Inspect(guestModule(), limits())
	if err != nil {
		t.Fatal(err)
	}
	if ins.MemoryBytes != 2<<16 || ins.HasErrors || ins.HasStart || ins.Functions != 13 {
		t.Errorf("%+v", ins)
	}
	if ins.CheckMemory(2<<16) != nil {
		t.Error("two pages do not fit two pages")
	}
	if err := ins.CheckMemory(2<<16 - 1); fault.CodeOf(err) != fault.WasmMemory || !strings.Contains(err.Error(), "wasm guest exceeded MAX MEMORY 131071: its memories start with 2 pages") {
		t.Error(err)
	}
	if _, err := Inspect(append(guestModule(), 8, 1, 0), limits()); err != nil {
		t.Error(err)
	}
	if _, err := Inspect(append(guestModule(), 5, 1, 0), limits()); err == nil || !strings.Contains(err.Error(), "occurs twice") {
		t.Error(err)
	}
}

// Numbers longer than their type, and lengths beyond the file, are damage wherever they stand.
func TestReader(t *testing.T) {
	for text, want := range map[string]uint64{"\x00": 0, "\x7f": 127, "\x80\x01": 128, "\xff\xff\xff\xff\x0f": 1<<32 - 1} {
		r := reader{b: []byte(text)}
		if got := r.uleb(32); got != want || r.err != nil || r.at != len(text) && r.b != nil {
			t.Errorf("%x: %d, %v", text, got, r.err)
		}
	}
	for _, text := range []string{"", "\x80", "\xff\xff\xff\xff\x1f", "\xff\xff\xff\xff\x8f\x00", "\x80\x80\x80\x80\x80\x00"} {
		r := reader{b: []byte(text)}
		if r.uleb(32); r.err == nil {
			t.Errorf("%x was read", text)
		}
	}
}

// A wrong file costs memory in proportion to its size only.
func TestInspectMemory(t *testing.T) {
	types := append([]byte("\x00asm\x01\x00\x00\x00\x01"), 0x84, 0x80, 0xc0, 0x00, 0x80, 0x80, 0xc0, 0x00) // a vector of 2^20 types in 2^20+4 bytes
	types = append(types, make([]byte, 1<<20)...)
	for k := 17; k+2 < len(types); k += 3 {
		types[k] = 0x60
	}
	functions := append([]byte("\x00asm\x01\x00\x00\x00\x03"), 0x84, 0x80, 0xc0, 0x00, 0x80, 0x80, 0xc0, 0x00)
	functions = append(functions, make([]byte, 1<<20)...)
	for name, b := range map[string][]byte{"types": types, "functions": functions} {
		cost, bound := uint64(0), 64<<10+16*uint64(len(b))
		for range 5 { // whatever else the process does is counted too
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			_, err := Inspect(b, limits())
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Errorf("%s: got in", name)
			}
			if cost = after.TotalAlloc - before.TotalAlloc; cost <= bound {
				break
			}
		}
		if cost > bound {
			t.Errorf("%s: %d bytes cost %d", name, len(b), cost)
		}
	}
}

func FuzzInspect(f *testing.F) {
	good := guestModule()
	f.Add(good)
	f.Add(append(slices.Clone(good), 2, 40, 1, 3, 'e', 'n', 'v', 26))
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ins, err := Inspect(b, limits())
		var failure *Failure
		switch {
		case err == nil && ins.Functions == 0:
			t.Error("a guest without functions")
		case err == nil:
		case !errors.As(err, &failure) || failure.Stage != protocol.StageCompilation || fault.CodeOf(err) == "":
			t.Errorf("failed with %v", err)
		}
	})
}
