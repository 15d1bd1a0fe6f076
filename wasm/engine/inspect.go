// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Identity is the SHA-256 of a module file.
type Identity [32]byte

// String is lower-case hexadecimal.
func (i Identity) String() string { return hex.EncodeToString(i[:]) }

// Inspection is what the checks before compilation found out about a module.
type Inspection struct {
	Identity Identity
	// MemoryBytes is the initial size of all memories together (W-017).
	MemoryBytes uint64
	// HasStart says that instantiation runs guest code; it has one fuel budget and one time limit like any operation.
	HasStart bool
	// HasErrors says that the guest has the global-error channel.
	HasErrors bool
	// Functions is the number of functions the module defines.
	Functions int
}

// CheckMemory refuses a module whose memories are larger than max from the start.
func (i *Inspection) CheckMemory(max uint64) error {
	if i.MemoryBytes <= max {
		return nil
	}
	return &Failure{Stage: protocol.StageInstantiation, Export: NoExport, Gone: true,
		Cause: coded(fault.WasmMemory, nil, "wasm guest exceeded MAX MEMORY %d: its memories start with %d pages of 64 KiB", max, i.MemoryBytes/pageBytes)}
}

// externs as the binary format numbers them.
const (
	externFunc   = 0
	externMemory = 2
)

// module is what inspect keeps while it reads.
type module struct {
	file    []byte
	types   []uint32 // where in the file each begins, so that a module of many types costs no more than its size
	funcs   []uint32 // type of each function, imported ones first
	seen    map[byte]bool
	defined int
	bodies  int
	ins     *Inspection
	have    [NoExport]bool
	memory  bool
}

// Inspect checks a module file without compiling it: size, format, imports, exports and their types, and sizes that would make the
// compilation costly. It reads each byte of the file's structure once, allocates in proportion to the file and never fails otherwise than
// with a *Failure of stage `module compilation`. It does not validate code; the compiler does.
func Inspect(wasm []byte, lim *Limits) (*Inspection, error) {
	if f := checkHead(wasm, lim); f != nil {
		return nil, f
	}
	m := &module{file: wasm, seen: map[byte]bool{}, ins: &Inspection{Identity: sha256.Sum256(wasm)}}
	r := &reader{b: wasm, at: 8}
	for r.err == nil && r.left() > 0 {
		id := r.byte()
		body := r.section(r.u32())
		if r.err != nil {
			break
		}
		if f := m.readSection(id, &body, lim); f != nil {
			return nil, f
		}
		if body.err != nil {
			return nil, compileFailure(fault.WasmModule, "section %d of the module is damaged %v", id, body.err)
		}
	}
	if r.err != nil {
		return nil, compileFailure(fault.WasmModule, "the module is damaged %v", r.err)
	}
	if f := m.checkExports(); f != nil {
		return nil, f
	}
	m.ins.HasErrors = m.have[GlobalErrorPtr]
	m.ins.Functions = m.defined
	return m.ins, nil
}

// checkHead names what the file is, if it is not a module.
func checkHead(wasm []byte, lim *Limits) *Failure {
	switch {
	case len(wasm) == 0:
		return compileFailure(fault.WasmModule, "the file is empty")
	case len(wasm) > lim.ModuleBytes:
		return compileFailure(fault.WasmModule, "the module has %d bytes, more than the limit of %d", len(wasm), lim.ModuleBytes)
	case bytes.HasPrefix(wasm, []byte("\x7fELF")):
		return compileFailure(fault.WasmModule, "the file is an ELF binary, not a WebAssembly module: build it for wasm32")
	case !bytes.HasPrefix(wasm, []byte("\x00asm")):
		return compileFailure(fault.WasmModule, "the file does not begin like a WebAssembly module")
	case len(wasm) < 8:
		return compileFailure(fault.WasmModule, "the module ends after %d bytes", len(wasm))
	case wasm[6] == 1:
		return compileFailure(fault.WasmModule, "the file is a WebAssembly component; a core module is needed")
	case !bytes.Equal(wasm[4:8], []byte{1, 0, 0, 0}):
		return compileFailure(fault.WasmModule, "the module has version %d; version 1 is needed", wasm[4])
	}
	return nil
}

func (m *module) readSection(id byte, r *reader, lim *Limits) *Failure {
	if id != 0 {
		if m.seen[id] {
			return compileFailure(fault.WasmModule, "section %d of the module occurs twice", id)
		}
		m.seen[id] = true
	}
	switch id {
	case 1:
		m.readTypes(r)
	case 2:
		return m.readImports(r)
	case 3:
		n := r.count()
		m.funcs = slices.Grow(m.funcs, n)
		for range n {
			m.funcs = append(m.funcs, r.u32())
			m.defined++
		}
	case 4:
		return readTables(r)
	case 5:
		n := r.count()
		if n > maxMemories {
			return compileFailure(fault.WasmModule, "the module has %d memories, more than the limit of %d", n, maxMemories)
		}
		for range n {
			if f := m.readMemory(r); f != nil {
				return f
			}
		}
	case 7:
		return m.readExports(r)
	case 8:
		m.ins.HasStart = true
	case 10:
		return m.readBodies(r, lim)
	}
	return nil
}

// readTypes reads function types. The type forms of proposals that are switched off end the list; the compiler names them.
func (m *module) readTypes(r *reader) {
	n := r.count()
	m.types = slices.Grow(m.types, n/3) // three bytes are the least
	for range n {
		if form := r.byte(); form != 0x60 {
			r.fail("type form 0x%02x is not a function type", form)
			return
		}
		m.types = append(m.types, uint32(r.at))
		r.bytes(r.u32())
		r.bytes(r.u32())
	}
}

func (m *module) readImports(r *reader) *Failure {
	for range r.count() {
		from, name, kind := r.name(), r.name(), r.byte()
		if r.err != nil {
			return nil
		}
		k := slices.IndexFunc(importTable, func(f protocol.Function) bool { return f.Name == name })
		if from != protocol.ImportModule || k < 0 || kind != externFunc {
			return compileFailure(fault.WasmImport, "the module imports %s of %s, which the host does not provide", quote(name), quote(from))
		}
		index := r.u32()
		if r.err == nil && !m.isType(index, importTable[k]) {
			return compileFailure(fault.WasmImport, "the module imports %s with another type than the host's", name)
		}
		m.funcs = append(m.funcs, index)
	}
	return nil
}

func (m *module) isType(index uint32, f protocol.Function) bool {
	if uint64(index) >= uint64(len(m.types)) {
		return false
	}
	r := reader{b: m.file, at: int(m.types[index])}
	return sameValues(r.bytes(r.u32()), f.Params) && sameValues(r.bytes(r.u32()), f.Results)
}

var valueBytes = map[protocol.ValueType]byte{protocol.I32: 0x7f, protocol.I64: 0x7e}

func sameValues(have []byte, want []protocol.ValueType) bool {
	if len(have) != len(want) {
		return false
	}
	for k, w := range want {
		if have[k] != valueBytes[w] {
			return false
		}
	}
	return true
}

func (m *module) readMemory(r *reader) *Failure {
	flags := r.byte()
	if r.err == nil && flags > 1 {
		return compileFailure(fault.WasmModule, "a memory of the module is shared, 64-bit or has other pages than 64 KiB")
	}
	least := r.u32()
	if flags == 1 {
		r.u32()
	}
	m.ins.MemoryBytes += uint64(least) * pageBytes
	return nil
}

// What a store may have beside its memory; the backends hold it to the same figures.
const (
	maxMemories      = 4
	maxTables        = 4
	maxTableElements = 65536
)

// readTables refuses tables that no store may have. A form it does not know is the compiler's to name.
func readTables(r *reader) *Failure {
	n := r.count()
	if n > maxTables {
		return compileFailure(fault.WasmModule, "the module has %d tables, more than the limit of %d", n, maxTables)
	}
	for range n {
		const funcref = 0x70
		if kind, flags := r.byte(), r.byte(); kind != funcref || flags > 1 {
			return nil
		} else if least := r.u32(); least > maxTableElements {
			return compileFailure(fault.WasmModule, "a table of the module has %d elements, more than the limit of %d", least, maxTableElements)
		} else if flags == 1 {
			r.u32()
		}
	}
	return nil
}

func (m *module) readExports(r *reader) *Failure {
	for range r.count() {
		name, kind, index := r.name(), r.byte(), r.u32()
		if r.err != nil {
			return nil
		}
		if name == memoryExport && kind == externMemory {
			m.memory = true
		}
		k := slices.IndexFunc(exportTable, func(f protocol.Function) bool { return f.Name == name })
		if k < 0 {
			continue
		}
		right := kind == externFunc && uint64(index) < uint64(len(m.funcs)) && m.isType(m.funcs[index], exportTable[k])
		if !right && Export(k) == Initialize {
			continue // just a name, not the start of a reactor
		}
		if !right {
			return compileFailure(fault.WasmExport, "missing required export %s: the module exports it with another type", name)
		}
		m.have[k] = true
	}
	return nil
}

func (m *module) readBodies(r *reader, lim *Limits) *Failure {
	for k := range r.count() {
		n := r.u32()
		r.bytes(n)
		if r.err == nil && int64(n) > int64(lim.FunctionBytes) {
			return compileFailure(fault.WasmModule, "function %d of the module has %d bytes of code, more than the limit of %d", k, n, lim.FunctionBytes)
		}
		m.bodies++
	}
	return nil
}

func (m *module) checkExports() *Failure {
	for k := range requiredExports {
		if !m.have[k] {
			return compileFailure(fault.WasmExport, "missing required export %s", Export(k))
		}
	}
	if !m.memory {
		return compileFailure(fault.WasmExport, "missing required export %s: the host reads and writes the guest's buffer through it", memoryExport)
	}
	channel := 0
	for k := GlobalErrorPtr; k <= ClearGlobalError; k++ {
		if m.have[k] {
			channel++
		}
	}
	if channel != 0 && channel != 3 {
		for k := GlobalErrorPtr; k <= ClearGlobalError; k++ {
			if !m.have[k] {
				return compileFailure(fault.WasmExport, "missing required export %s: the global-error channel has three exports or none", k)
			}
		}
	}
	if m.bodies != m.defined {
		return compileFailure(fault.WasmModule, "the module declares %d functions and has code for %d", m.defined, m.bodies)
	}
	return nil
}

// quote shows a name of the module; names are the builder's text, not data, and are cut.
func quote(name string) string {
	if len(name) > 64 {
		name = name[:64] + "..."
	}
	return "'" + chain(name) + "'"
}
