// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/binary"
	"slices"
)

// export is one entry of the export section of a module.
type export struct {
	name  string
	kind  byte
	index uint64
}

// split takes the export section out of a module that engine.Inspect has accepted: what stands before and after it, and its entries.
func split(wasm []byte) (before, after []byte, all []export) {
	const sectionExports = 7
	at := 8
	for at < len(wasm) {
		id, start := wasm[at], at
		size, n := binary.Uvarint(wasm[at+1:])
		body := at + 1 + n
		at = body + int(size)
		if id != sectionExports {
			continue
		}
		r := wasm[body:at]
		number := func() uint64 {
			v, n := binary.Uvarint(r)
			r = r[n:]
			return v
		}
		for range number() {
			k := number()
			e := export{name: string(r[:k]), kind: r[k]}
			r = r[k+1:]
			e.index = number()
			all = append(all, e)
		}
		return wasm[:start], wasm[at:], all
	}
	return wasm, nil, nil
}

// has says whether the module exports a function of this name.
func has(wasm []byte, name string) bool {
	_, _, all := split(wasm)
	return slices.ContainsFunc(all, func(e export) bool { return e.name == name && e.kind == 0 })
}

// swapped is the module with two exported names exchanged, so that a call of one runs the other.
func swapped(wasm []byte, a, b string) []byte {
	before, after, all := split(wasm)
	var body []byte
	body = binary.AppendUvarint(body, uint64(len(all)))
	for _, e := range all {
		switch e.name {
		case a:
			e.name = b
		case b:
			e.name = a
		}
		body = binary.AppendUvarint(body, uint64(len(e.name)))
		body = append(body, e.name...)
		body = append(body, e.kind)
		body = binary.AppendUvarint(body, e.index)
	}
	out := append(slices.Clone(before), 7)
	out = binary.AppendUvarint(out, uint64(len(body)))
	return append(append(out, body...), after...)
}
