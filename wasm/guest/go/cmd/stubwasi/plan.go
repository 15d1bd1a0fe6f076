// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strconv"
)

// plan is what becomes of a module. Imports that stay come first, as they have to; the functions that answer the others take their places behind
// them, so that the number of no other function changes.
type plan struct {
	m     *module
	index []uint32 // of what was imported
	kept  []funcImport
	stubs []answer
	extra []answer // functions at the end, exported by their names
	guard map[string]bool
}

// answer is a function made here.
type answer struct {
	name string
	typ  uint32
	body []byte
}

// channelModule is where the guest kit imports the error channel from.
const channelModule = "nervix_stubwasi"

func (m *module) plan(gogc int) (*plan, error) {
	p := &plan{m: m, index: make([]uint32, len(m.imports)), guard: map[string]bool{}}
	n := 0
	for _, i := range m.imports {
		if i.module == hostModule {
			n++
		}
	}
	w := writer{gogc: "GOGC=" + strconv.Itoa(gogc), globals: m.globals}
	var answered []int
	for k, i := range m.imports {
		if int(i.typ) >= len(m.types) {
			return nil, fmt.Errorf("%s.%s has a type that is not there", i.module, i.name)
		}
		if i.module == hostModule {
			if i.name == domainTime {
				w.now, w.hasNow = uint32(len(p.kept)), true
			}
			p.index[k] = uint32(len(p.kept))
			p.kept = append(p.kept, i)
			continue
		}
		p.index[k] = uint32(n + len(answered))
		answered = append(answered, k)
	}
	channel := false
	for _, k := range answered {
		i := m.imports[k]
		body, err := w.answer(i, string(m.types[i.typ]))
		if err != nil {
			return nil, err
		}
		channel = channel || i.module == channelModule
		p.stubs = append(p.stubs, answer{i.name, i.typ, body})
	}
	if len(answered) == 0 {
		return nil, errors.New("there is nothing to answer: the module imports nothing of WASI")
	}
	if !channel {
		return p, nil
	}
	typ := m.typeIndex(nil, []byte{typeI32})
	for _, e := range w.channel() {
		if m.has(e.name) {
			return nil, fmt.Errorf("the module exports %s already", e.name)
		}
		e.typ = typ
		p.extra = append(p.extra, e)
	}
	return p, p.guardExports(&w)
}

// guardExports puts functions in the place of the exported ones that note whether a call has come back.
func (p *plan) guardExports(w *writer) error {
	for _, e := range p.m.exports {
		k := int64(e.index) - int64(len(p.m.imports))
		if e.kind != 0 || k < 0 {
			continue
		}
		if k >= int64(len(p.m.defined)) || int(p.m.defined[k]) >= len(p.m.types) {
			return fmt.Errorf("export %s is a function that is not there", e.name)
		}
		typ := p.m.defined[k]
		p.guard[e.name] = true
		p.extra = append(p.extra, answer{e.name, typ, w.guarded(e.index, p.m.types[typ][1])})
	}
	return nil
}

func (p *plan) renumbered(i uint32) uint32 {
	if int(i) < len(p.index) {
		return p.index[i]
	}
	return i
}

// rewrite gives the new body of a section.
func (p *plan) rewrite(s *section) ([]byte, error) {
	r := &reader{b: s.body}
	switch s.id {
	case secType:
		out := appendU32(nil, uint32(len(p.m.types)))
		for _, t := range p.m.types {
			out = append(out, t...)
		}
		return out, nil
	case secImport:
		out := appendU32(nil, uint32(len(p.kept)))
		for _, i := range p.kept {
			out = appendName(appendName(out, i.module), i.name)
			out = appendU32(append(out, 0), i.typ)
		}
		return out, nil
	case secFunction:
		out := appendU32(nil, uint32(r.count()+len(p.stubs)+len(p.extra)))
		for _, a := range p.stubs {
			out = appendU32(out, a.typ)
		}
		out = append(out, r.rest()...)
		for _, a := range p.extra {
			out = appendU32(out, a.typ)
		}
		return out, r.err
	case secGlobal:
		return p.globalSection(s.body), nil
	case secExport:
		return p.exports(), nil
	case secStart:
		return appendU32(nil, p.renumbered(r.u32())), r.err
	case secElement:
		return p.elements(s.body)
	case secCode:
		return p.code(r)
	}
	return s.body, nil
}

func (p *plan) globalSection(body []byte) []byte {
	r := &reader{b: body}
	out := appendU32(nil, uint32(r.count()+len(variables)))
	out = append(out, r.rest()...)
	for _, v := range variables {
		out = append(out, v.typ, 1) // it changes
		if v.typ == typeI64 {
			out = appendS64(append(out, opI64Const), v.begins)
		} else {
			out = appendS32(append(out, opI32Const), int32(v.begins))
		}
		out = append(out, opEnd)
	}
	return out
}

func (p *plan) exports() []byte {
	out := appendU32(nil, uint32(len(p.m.exports)-len(p.guard)+len(p.extra)))
	for _, e := range p.m.exports {
		if p.guard[e.name] {
			continue
		}
		if e.kind == 0 {
			e.index = p.renumbered(e.index)
		}
		out = appendU32(append(appendName(out, e.name), e.kind), e.index)
	}
	first := len(p.m.imports) + len(p.m.defined)
	for i, a := range p.extra {
		out = appendU32(append(appendName(out, a.name), 0), uint32(first+i))
	}
	return out
}

// elements renumbers the functions of tables, in place.
func (p *plan) elements(body []byte) ([]byte, error) {
	r := &reader{b: body}
	for range r.count() {
		if flags := r.u32(); flags != 0 {
			return nil, fmt.Errorf("elements of form %d are not known", flags)
		}
		if r.byte() != opI32Const {
			return nil, errors.New("the place of elements is no constant")
		}
		r.leb()
		r.byte() // end
		for range r.count() {
			start := r.at
			i := r.u32()
			if r.err != nil {
				break
			}
			if err := padded(body[start:], p.renumbered(i), r.at-start); err != nil {
				return nil, err
			}
		}
	}
	return body, r.err
}

func (p *plan) code(r *reader) ([]byte, error) {
	n := r.count()
	out := appendU32(nil, uint32(n+len(p.stubs)+len(p.extra)))
	add := func(body []byte) { out = append(appendU32(out, uint32(len(body))), body...) }
	for _, a := range p.stubs {
		add(a.body)
	}
	for k := range n {
		body := r.bytes(r.u32())
		if r.err != nil {
			break
		}
		if err := renumber(body, p.renumbered); err != nil {
			return nil, fmt.Errorf("function %d: %w", k, err)
		}
		add(body)
	}
	for _, a := range p.extra {
		add(a.body)
	}
	return out, r.err
}
