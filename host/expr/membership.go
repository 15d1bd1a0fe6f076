// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// linearSet is the largest set that is compared element by element; larger ones are hashed.
const linearSet = 8

// memberFixed is [NOT] IN over a set of fixed-width constants; an empty set never comes here. NaN is a member of nothing.
type memberFixed[T loop.Number] struct {
	a    node
	list []T
	set  map[T]struct{}
	not  bool
	place
}

func newMember[T loop.Number](a node, list []T, not bool) node {
	x := &memberFixed[T]{a: a, list: list, not: not}
	if len(list) > linearSet {
		x.set = make(map[T]struct{}, len(list))
		for _, v := range list {
			x.set[v] = struct{}{}
		}
	}
	return x
}

func (x *memberFixed[T]) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newBits(a.n, a.konst, x.root)
	out.valid = a.valid
	values := loop.View[T](a.fixed)
	if x.set != nil {
		clear(out.bits)
		for i, v := range values {
			if _, ok := x.set[v]; ok {
				setBit(out.bits, i)
			}
		}
	} else {
		loop.EqualTo(out.bits, values, x.list[0])
		one := r.mem.bitmap(a.n)
		for _, v := range x.list[1:] {
			loop.EqualTo(one, values, v)
			for i, b := range one {
				out.bits[i] |= b
			}
		}
	}
	if x.not {
		for i, b := range out.bits {
			out.bits[i] = ^b
		}
	}
	return out
}

// memberText is [NOT] IN over a set of STRING constants.
type memberText struct {
	a    node
	list []string
	set  map[string]struct{}
	not  bool
	place
}

func newMemberText(a node, list []string, not bool) node {
	x := &memberText{a: a, list: list, not: not}
	if len(list) > linearSet {
		x.set = make(map[string]struct{}, len(list))
		for _, v := range list {
			x.set[v] = struct{}{}
		}
	}
	return x
}

func (x *memberText) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newBits(a.n, a.konst, x.root)
	out.valid = a.valid
	clear(out.bits)
	for i := range a.n {
		if x.has(a.span(i)) != x.not {
			setBit(out.bits, i)
		}
	}
	return out
}

func (x *memberText) has(v []byte) bool {
	if x.set != nil {
		_, ok := x.set[string(v)]
		return ok
	}
	for _, e := range x.list {
		if e == string(v) {
			return true
		}
	}
	return false
}

// memberBool is [NOT] IN over BOOL constants.
type memberBool struct {
	a             node
	hasYes, hasNo bool
	not           bool
	place
}

func (x *memberBool) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newBits(a.n, a.konst, x.root)
	out.valid = a.valid
	for w := range words(a.n) {
		v := word(a.bits, w)
		in := v&-loop.Bit(x.hasYes) | ^v&-loop.Bit(x.hasNo)
		if x.not {
			in = ^in
		}
		putWord(out.bits, w, in)
	}
	return out
}

// memberNone is IN or NOT IN over an empty set: FALSE or TRUE for every row, null too. The operand is evaluated for its failures.
type memberNone struct {
	a   node
	not bool
}

func (x *memberNone) eval(r *run, sel []byte) column {
	x.a.eval(r, sel)
	return r.boolColumn(x.not)
}

// buildMember chooses the node for an operand of a type and its constants, which are columns of one value each.
func buildMember(kind types.Scalar, a node, set []column, not bool) node {
	if len(set) == 0 {
		return &memberNone{a: a, not: not}
	}
	switch kind {
	case types.Bool:
		x := &memberBool{a: a, not: not}
		for i := range set {
			v := bitAt(set[i].bits, 0)
			x.hasYes, x.hasNo = x.hasYes || v, x.hasNo || !v
		}
		return x
	case types.String, types.Bytes:
		list := make([]string, len(set))
		for i := range set {
			list[i] = string(set[i].span(0))
		}
		return newMemberText(a, list, not)
	case types.U8:
		return newMember(a, firsts[uint8](set), not)
	case types.I8:
		return newMember(a, firsts[int8](set), not)
	case types.U16:
		return newMember(a, firsts[uint16](set), not)
	case types.I16:
		return newMember(a, firsts[int16](set), not)
	case types.U32:
		return newMember(a, firsts[uint32](set), not)
	case types.I32:
		return newMember(a, firsts[int32](set), not)
	case types.U64:
		return newMember(a, firsts[uint64](set), not)
	case types.I64, types.Datetime:
		return newMember(a, firsts[int64](set), not)
	case types.F32:
		return newMember(a, firsts[float32](set), not)
	default:
		return newMember(a, firsts[float64](set), not)
	}
}

// firsts takes the values of one-value columns.
func firsts[T loop.Number](set []column) []T {
	out := make([]T, len(set))
	for i := range set {
		out[i] = loop.View[T](set[i].fixed)[0]
	}
	return out
}
