// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// Sections of a module.
const (
	secCustom    = 0
	secType      = 1
	secImport    = 2
	secFunction  = 3
	secGlobal    = 6
	secExport    = 7
	secStart     = 8
	secElement   = 9
	secCode      = 10
	secData      = 11
	secDataCount = 12
)

const (
	typeI32  = 0x7F
	typeI64  = 0x7E
	typeFunc = 0x60
)

// hostModule is where the imports that stay come from.
const hostModule = "env"

type section struct {
	id   byte
	body []byte
}

type funcImport struct {
	module, name string
	typ          uint32
}

// module is a module taken apart as far as it has to change.
type module struct {
	sections []section
	types    [][]byte // as they are encoded
	imports  []funcImport
	defined  []uint32 // types of functions
	globals  uint32   // variables
	exports  []export
}

// export is an exported thing; kind 0 is a function.
type export struct {
	name  string
	kind  byte
	index uint32
}

func (m *module) has(name string) bool {
	return slices.ContainsFunc(m.exports, func(e export) bool { return e.name == name })
}

func parse(wasm []byte) (*module, error) {
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return nil, errors.New("it is no WebAssembly module")
	}
	m := &module{}
	r := &reader{b: wasm, at: 8}
	for r.more() {
		id := r.byte()
		s := section{id, r.bytes(r.u32())}
		if r.err == nil {
			if err := m.note(&s); err != nil {
				return nil, fmt.Errorf("section %d: %w", id, err)
			}
		}
		m.sections = append(m.sections, s)
	}
	return m, r.err
}

func (m *module) note(s *section) error {
	r := &reader{b: s.body}
	switch s.id {
	case secType:
		for range r.count() {
			start := r.at
			if r.byte() != typeFunc {
				return errors.New("a type is not that of a function")
			}
			r.bytes(r.u32())
			r.bytes(r.u32())
			m.types = append(m.types, s.body[start:r.at])
		}
	case secImport:
		for range r.count() {
			i := funcImport{module: r.name(), name: r.name()}
			if kind := r.byte(); r.err == nil && kind != 0 {
				return fmt.Errorf("%s.%s is no function", i.module, i.name)
			}
			i.typ = r.u32()
			m.imports = append(m.imports, i)
		}
	case secFunction:
		for range r.count() {
			m.defined = append(m.defined, r.u32())
		}
	case secGlobal:
		m.globals = uint32(r.count())
		return r.err
	case secExport:
		for range r.count() {
			m.exports = append(m.exports, export{r.name(), r.byte(), r.u32()})
		}
	case secData:
		return m.checkData(r)
	}
	switch s.id {
	case secType, secImport, secFunction, secExport:
		if r.more() {
			return errors.New("bytes stand behind its end")
		}
	}
	return r.err
}

// checkData sees to it that the place for last words is free: Go's linker leaves the first pages to others.
func (m *module) checkData(r *reader) error {
	for range r.count() {
		flags := r.u32()
		if flags == 1 { // passive
			r.bytes(r.u32())
			continue
		}
		if flags == 2 {
			r.u32()
		}
		if r.byte() != opI32Const {
			return errors.New("the place of a data segment is no constant")
		}
		at := r.u32()
		if r.byte() != opEnd {
			return errors.New("the place of a data segment is no constant")
		}
		n := uint32(len(r.bytes(r.u32())))
		if at < wordsAt+wordsSize && at+n > wordsAt {
			return fmt.Errorf("a data segment lies at %d, where last words are put; the module is not of Go's linker", at)
		}
	}
	return r.err
}

// typeIndex finds a type of functions, or adds it.
func (m *module) typeIndex(params, results []byte) uint32 {
	t := append([]byte{typeFunc, byte(len(params))}, params...)
	t = append(append(t, byte(len(results))), results...)
	for i, have := range m.types {
		if bytes.Equal(have, t) {
			return uint32(i)
		}
	}
	m.types = append(m.types, t)
	return uint32(len(m.types) - 1)
}

// stub gives the module with everything but the host's functions answered inside. gogc is what its collector works with.
func stub(wasm []byte, gogc int) ([]byte, error) {
	m, err := parse(bytes.Clone(wasm))
	if err != nil {
		return nil, err
	}
	p, err := m.plan(gogc)
	if err != nil {
		return nil, err
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	hasGlobals := m.globals > 0
	for _, s := range m.sections {
		if s.id == secCustom {
			if name := (&reader{b: s.body}).name(); name == "name" {
				continue // numbers functions as they were
			}
		}
		if s.id > secGlobal && s.id != secCustom && !hasGlobals {
			out, hasGlobals = appendSection(out, secGlobal, p.globalSection([]byte{0})), true
		}
		body, err := p.rewrite(&s)
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", s.id, err)
		}
		out = appendSection(out, s.id, body)
	}
	return out, nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = appendU32(append(out, id), uint32(len(body)))
	return append(out, body...)
}
