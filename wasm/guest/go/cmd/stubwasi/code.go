// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// immediate is what follows an opcode.
type immediate uint8

const (
	unknown immediate = iota
	none
	number   // one number
	numbers  // two numbers
	oneByte  // a byte
	twoBytes // two bytes
	float32s
	float64s
	list        // a list of numbers, and a number
	typeList    // a list of types
	function    // the index of a function
	byteAfter   // a number, and a byte
	subOperator // a number that says which instruction it is
)

// operators are the instructions of WebAssembly 2.0 without vectors.
var operators = func() (t [256]immediate) {
	set := func(first, last int, i immediate) {
		for op := first; op <= last; op++ {
			t[op] = i
		}
	}
	set(0x00, 0x01, none)   // unreachable, nop
	set(0x02, 0x04, number) // block, loop, if: the type is a number
	t[0x05], t[0x0B] = none, none
	set(0x0C, 0x0D, number) // br, br_if
	t[0x0E], t[0x0F] = list, none
	t[0x10], t[0x11] = function, numbers // call, call_indirect
	set(0x1A, 0x1B, none)                // drop, select
	t[0x1C] = typeList
	set(0x20, 0x26, number)  // variables and tables
	set(0x28, 0x3E, numbers) // loads and stores
	set(0x3F, 0x40, oneByte) // memory.size, memory.grow
	set(0x41, 0x42, number)
	t[0x43], t[0x44] = float32s, float64s
	set(0x45, 0xC4, none) // numeric
	t[0xD0], t[0xD1], t[0xD2] = number, none, function
	t[0xFC] = subOperator
	return t
}()

// subOperators are those behind 0xFC.
var subOperators = [...]immediate{none, none, none, none, none, none, none, none, byteAfter, number, twoBytes, oneByte, numbers, number, numbers, number, number, number}

// renumber rewrites the indices of functions in the body of one. They keep their length.
func renumber(body []byte, index func(uint32) uint32) error {
	r := &reader{b: body}
	for range r.count() { // local variables
		r.u32()
		r.leb()
	}
	for r.more() {
		op := r.byte()
		kind := operators[op]
		if kind == subOperator {
			sub := r.u32()
			if int(sub) >= len(subOperators) {
				return fmt.Errorf("instruction 0xFC %d is not known", sub)
			}
			kind = subOperators[sub]
		}
		if kind == function {
			start := r.at
			old := r.u32()
			if r.err != nil {
				break
			}
			if err := padded(body[start:], index(old), r.at-start); err != nil {
				return err
			}
			continue
		}
		if !r.skip(kind) {
			return fmt.Errorf("instruction 0x%02X is not known", op)
		}
	}
	return r.err
}

func (r *reader) skip(kind immediate) bool {
	switch kind {
	case none:
	case number:
		r.leb()
	case numbers:
		r.leb()
		r.leb()
	case oneByte:
		r.byte()
	case twoBytes:
		r.bytes(2)
	case float32s:
		r.bytes(4)
	case float64s:
		r.bytes(8)
	case list:
		for range r.count() {
			r.leb()
		}
		r.leb()
	case typeList:
		for range r.count() {
			r.leb()
		}
	case byteAfter:
		r.leb()
		r.byte()
	default:
		return false
	}
	return true
}
