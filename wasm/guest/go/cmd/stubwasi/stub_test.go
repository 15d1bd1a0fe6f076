// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"
)

// sample is a module that imports a function of WASI, one of the host and one of the kit, and calls them, with some instructions of every form.
func sample() []byte {
	sec := func(id byte, items int, body ...byte) []byte {
		return appendSection(nil, id, append([]byte{byte(items)}, body...))
	}
	imported := func(module, name string, typ byte) []byte {
		return append(appendName(appendName(nil, module), name), 0, typ)
	}
	code := []byte{
		1, 2, typeI32, // two variables
		0x02, 0x40, 0x10, 0, 0x0B, // block: call what is of WASI
		0x10, 1, 0x1A, // the host
		0x10, 0x82, 0x00, // the kit, with a number longer than it has to be
		0x41, 0x80, 0x7F, 0x1A, 0x42, 0x01, 0x1A,
		0x43, 0, 0, 0, 0, 0x1A, 0x44, 0x10, 0, 0, 0, 0, 0, 0x10, 0, 0x1A,
		0x41, 0, 0x0E, 1, 0, 0,
		0x41, 0, 0x41, 0, 0x28, 2, 4, 0x36, 2, 0, 0x3F, 0, 0x1A,
		0x41, 0, 0x41, 0, 0x41, 0, 0xFC, 0x0A, 0, 0,
		0x41, 0, 0x11, 0, 0, 0xD2, 0, 0x1A,
		0x10, 3, // itself
		0x0B,
	}
	body := append(appendU32(nil, uint32(len(code))), code...)
	return bytes.Join([][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		sec(secType, 3, typeFunc, 0, 1, typeI32, typeFunc, 0, 1, typeI64, typeFunc, 0, 0),
		sec(secImport, 3, bytes.Join([][]byte{imported(wasi, "sched_yield", 0), imported(hostModule, domainTime, 1), imported(channelModule, "trap", 2)}, nil)...),
		sec(secFunction, 1, 2),
		sec(4, 1, 0x70, 0, 2),
		sec(5, 1, 0, 1),
		sec(secExport, 1, append(appendName(nil, "run"), 0, 3)...),
		sec(secElement, 1, 0, opI32Const, 0, opEnd, 2, 0, 3),
		sec(secCode, 1, body...),
		sec(secData, 1, 0, opI32Const, 0x80, 0xE0, 0x00, opEnd, 2, 'o', 'k'),
		sec(secCustom, 4, []byte("name\x00")...),
	}, nil)
}

func TestStub(t *testing.T) {
	// req: W-001 half: what is built for WASI imports nothing but the host's functions afterwards
	out, err := stub(sample(), defaultGOGC)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.imports) != 1 || m.imports[0].module != hostModule || m.imports[0].name != domainTime {
		t.Errorf("it imports %v", m.imports)
	}
	for _, name := range []string{"run", "nervix_global_error_ptr", "nervix_global_error_len", "nervix_clear_global_error"} {
		if !m.has(name) {
			t.Errorf("it does not export %s", name)
		}
	}
	if len(m.defined) != 7 || int(m.globals) != len(variables) {
		t.Errorf("it has %d functions and %d variables", len(m.defined), m.globals)
	}
	for _, s := range m.sections {
		switch s.id {
		case secElement: // the function of WASI is number 1 now
			if !bytes.Equal(s.body, []byte{1, 0, opI32Const, 0, opEnd, 2, 1, 3}) {
				t.Errorf("the table has % x", s.body)
			}
		case secCode:
			guard := []byte{0, opI32Const, 1, opGlobalSet, running, opCall, 3, opI32Const, 0, opGlobalSet, running, opEnd} // around run
			for _, part := range [][]byte{guard, {0x02, 0x40, 0x10, 1, 0x0B, 0x10, 0, 0x1A, 0x10, 0x82, 0x00}, {0x44, 0x10, 0, 0, 0, 0, 0, 0x10, 0}, {0xD2, 1}, {0x10, 3, 0x0B}} {
				if !bytes.Contains(s.body, part) {
					t.Errorf("the code lacks % x", part)
				}
			}
		case secCustom:
			t.Error("the names of functions are kept, though their numbers changed")
		}
	}
	if again, err := stub(out, defaultGOGC); err == nil {
		t.Errorf("a module of %d bytes was stubbed twice", len(again))
	}
}

func TestRefusals(t *testing.T) {
	with := func(old, new string) []byte { return bytes.ReplaceAll(sample(), []byte(old), []byte(new)) }
	for want, wasm := range map[string][]byte{
		"no WebAssembly module":                     []byte("\x7fELF 1234"),
		"neither of the host nor of WASI":           with("nervix_stubwasi", "nervix_another_"),
		"or has another type":                       with("\x04trap\x00\x02", "\x04trap\x00\x00"),
		"where last words are put":                  with("\x41\x80\xE0\x00", "\x41\x80\xA0\x00"),
		"is not known":                              with("\x42\x01\x1A", "\xFD\x01\x1A"),
		"exports nervix_clear_global_error already": with("\x03run", "\x19nervix_clear_global_error"),
	} {
		if want[0] == 'e' { // the section grows by 22 bytes
			i := bytes.Index(wasm, []byte("\x01\x19nervix_clear"))
			wasm[i-1] += 22
		}
		if _, err := stub(wasm, defaultGOGC); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the refusal is %v, not `%s`", err, want)
		}
	}
}

func TestDamage(t *testing.T) {
	good := sample()
	for n := range good {
		_, _ = stub(good[:n], defaultGOGC) // does not panic
		bad := bytes.Clone(good)
		bad[n] ^= 0x81
		_, _ = stub(bad, defaultGOGC)
	}
}

func FuzzStub(f *testing.F) {
	f.Add(sample())
	f.Fuzz(func(t *testing.T, wasm []byte) { _, _ = stub(wasm, defaultGOGC) })
}
