// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// cmpOp is a comparison; > and >= are < and <= with the operands exchanged.
type cmpOp uint8

const (
	opEQ cmpOp = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

func (o cmpOp) String() string { return [...]string{"=", "!=", "<", "<=", ">", ">="}[o] }

// swapped is the comparison with its operands exchanged.
func (o cmpOp) swapped() cmpOp { return [...]cmpOp{opEQ, opNE, opGT, opGE, opLT, opLE}[o] }

// compare is a comparison of two values of one exact scalar type.
type compare struct {
	a, b node
	op   cmpOp
	place
}

func (x *compare) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	return r.compare(x.op, &a, &b, x.root)
}

// compare is null where an operand is.
func (r *run) compare(op cmpOp, a, b *column, root bool) column {
	if a.null() || b.null() {
		return r.nulls(types.Bool)
	}
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newBits(n, konst, root)
	out.valid = r.both(a, b, n)
	if a.konst && !konst {
		a, b, op = b, a, op.swapped()
	}
	switch {
	case a.kind == types.Bool:
		compareBits(out.bits, op, a, b, n)
	case textual(a.kind):
		compareText(out.bits, op, a, b, n)
	default:
		compareFixed(out.bits, op, a, b)
	}
	return out
}

func compareBits(dst []byte, op cmpOp, a, b *column, n int) {
	for w := range words(n) {
		v := ^(word(a.bits, w) ^ boolWord(b, w))
		if op == opNE {
			v = ^v
		}
		putWord(dst, w, v)
	}
}

// boolWord reads 64 values of a BOOL column, a constant repeated.
func boolWord(c *column, w int) uint64 {
	if !c.konst {
		return word(c.bits, w)
	}
	return -loop.Bit(bitAt(c.bits, 0))
}

func compareText(dst []byte, op cmpOp, a, b *column, n int) {
	if b.konst && (op == opEQ || op == opNE) {
		equalText(dst, a, b.span(0), n)
		if op == opNE {
			for i := range dst {
				dst[i] = ^dst[i]
			}
		}
		return
	}
	var one []byte
	if b.konst {
		one = b.span(0)
	}
	clear(dst)
	for i := range n {
		if !b.konst {
			one = b.span(i)
		}
		if textHolds(op, a.span(i), one) {
			setBit(dst, i)
		}
	}
}

// equalText compares the lengths first, which the offsets hold side by side.
func equalText(dst []byte, a *column, one []byte, n int) {
	clear(dst)
	offs, size := a.offs[:n+1], int32(len(one))
	from := offs[0]
	for i, to := range offs[1:] {
		if to-from == size && string(a.text[from:to]) == string(one) {
			setBit(dst, i)
		}
		from = to
	}
}

func textHolds(op cmpOp, a, b []byte) bool {
	switch op {
	case opEQ:
		return string(a) == string(b)
	case opNE:
		return string(a) != string(b)
	case opLT:
		return bytes.Compare(a, b) < 0
	case opLE:
		return bytes.Compare(a, b) <= 0
	case opGT:
		return bytes.Compare(a, b) > 0
	default:
		return bytes.Compare(a, b) >= 0
	}
}

func compareFixed(dst []byte, op cmpOp, a, b *column) {
	switch a.kind {
	case types.U8:
		compareNumbers[uint8](dst, op, a, b)
	case types.I8:
		compareNumbers[int8](dst, op, a, b)
	case types.U16:
		compareNumbers[uint16](dst, op, a, b)
	case types.I16:
		compareNumbers[int16](dst, op, a, b)
	case types.U32:
		compareNumbers[uint32](dst, op, a, b)
	case types.I32:
		compareNumbers[int32](dst, op, a, b)
	case types.U64:
		compareNumbers[uint64](dst, op, a, b)
	case types.I64, types.Datetime:
		compareNumbers[int64](dst, op, a, b)
	case types.F32:
		compareNumbers[float32](dst, op, a, b)
	default:
		compareNumbers[float64](dst, op, a, b)
	}
}

// compareNumbers packs eight results into a byte at a time. != is the complement of =, which is right for NaN too; the orders are not
// complements of each other for NaN, so each has its loop.
func compareNumbers[T loop.Number](dst []byte, op cmpOp, a, b *column) {
	va, vb := loop.View[T](a.fixed), loop.View[T](b.fixed)
	if b.konst && !a.konst {
		v := vb[0]
		switch op {
		case opEQ, opNE:
			loop.EqualTo(dst, va, v)
		case opLT:
			loop.LessThan(dst, va, v)
		case opLE:
			loop.AtMost(dst, va, v)
		case opGT:
			loop.GreaterThan(dst, va, v)
		default:
			loop.AtLeast(dst, va, v)
		}
	} else {
		switch op {
		case opEQ, opNE:
			loop.Equal(dst, va, vb)
		case opLT:
			loop.Less(dst, va, vb)
		case opLE:
			loop.LessEqual(dst, va, vb)
		case opGT:
			loop.Less(dst, vb, va)
		default:
			loop.LessEqual(dst, vb, va)
		}
	}
	if op == opNE {
		for i := range dst {
			dst[i] = ^dst[i]
		}
	}
}

// distinct is IS [NOT] DISTINCT FROM: null-safe and never null. Floats compare by IEEE 754, so NaN is distinct from NaN.
type distinct struct {
	a, b node
	not  bool
	place
}

func (x *distinct) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newBits(n, konst, x.root)
	var equal []byte
	if !a.null() && !b.null() {
		c := r.compare(opEQ, &a, &b, false)
		equal = c.bits
	}
	for w := range words(n) {
		va, vb := constWord(&a, w), constWord(&b, w)
		same := ^va & ^vb
		if equal != nil {
			same |= va & vb & word(equal, w)
		}
		if !x.not {
			same = ^same
		}
		putWord(out.bits, w, same)
	}
	return out
}

// constWord is 64 validity bits of a column, a constant's repeated.
func constWord(c *column, w int) uint64 {
	if !c.konst {
		return validWord(c.valid, w)
	}
	return -loop.Bit(validAt(c.valid, 0))
}
