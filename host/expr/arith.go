// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/bits"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// arithOp is one of the five binary operators on numbers.
type arithOp uint8

const (
	opAdd arithOp = iota
	opSub
	opMul
	opDiv
	opRem
)

func (o arithOp) String() string { return [...]string{"+", "-", "*", "/", "%"}[o] }

// arith is a checked binary operator on one exact numeric type (nspl 6.2). The loop computes all rows and notes whether any of them
// could have failed; only then exact looks at them one by one.
type arith[T loop.Number] struct {
	a, b node
	kind types.Scalar
	op   arithOp
	loop func(dst, a, b []T) bool
	// by is the loop for a constant right operand, or nil.
	by    func(dst, a []T, b T) bool
	exact func(a, b T) Kind
	texts [5]string
	place
}

func (x *arith[T]) eval(r *run, sel []byte) column {
	a, b := x.a.eval(r, sel), x.b.eval(r, sel)
	if a.null() || b.null() {
		return r.nulls(x.kind)
	}
	konst := a.konst && b.konst
	n := r.n
	if konst {
		n = 1
	}
	out := r.newFixed(x.kind, n, konst, x.root)
	out.valid = r.both(&a, &b, n)
	dst := loop.View[T](out.fixed)
	var bad bool
	if b.konst && !konst && x.by != nil {
		bad = x.by(dst, loop.View[T](a.fixed), loop.View[T](b.fixed)[0])
	} else {
		if !konst {
			a, b = r.spread(&a, n), r.spread(&b, n)
		}
		bad = x.loop(dst, loop.View[T](a.fixed), loop.View[T](b.fixed))
	}
	if bad {
		x.report(r, sel, &out, loop.View[T](a.fixed), loop.View[T](b.fixed), b.konst && !konst)
	}
	return out
}

// report finds the rows that failed.
func (x *arith[T]) report(r *run, sel []byte, out *column, a, b []T, by bool) {
	valid := out.valid
	for i := range a {
		if !validAt(valid, i) {
			continue
		}
		v := b[0]
		if !by {
			v = b[i]
		}
		if k := x.exact(a[i], v); k != 0 {
			r.reject(out, sel, i, k, x.texts[k])
		}
	}
}

func newArith(op arithOp, kind types.Scalar, a, b node) node {
	switch kind {
	case types.U8:
		return intArith[uint8](op, kind, a, b)
	case types.I8:
		return intArith[int8](op, kind, a, b)
	case types.U16:
		return intArith[uint16](op, kind, a, b)
	case types.I16:
		return intArith[int16](op, kind, a, b)
	case types.U32:
		return intArith[uint32](op, kind, a, b)
	case types.I32:
		return intArith[int32](op, kind, a, b)
	case types.U64:
		return intArith[uint64](op, kind, a, b)
	case types.I64:
		return intArith[int64](op, kind, a, b)
	case types.F32:
		return floatArith[float32](op, kind, a, b)
	default:
		return floatArith[float64](op, kind, a, b)
	}
}

func arithTexts(op arithOp) [5]string {
	call := "`" + op.String() + "`: "
	return [5]string{
		DivisionByZero:  call + "division by zero",
		Overflow:        call + "result is outside the range of the type",
		InvalidArgument: call + "result is NaN or infinite",
	}
}

func intArith[T loop.Integer](op arithOp, kind types.Scalar, a, b node) node {
	x := &arith[T]{a: a, b: b, kind: kind, op: op, texts: arithTexts(op)}
	signed := kind.Signed()
	switch op {
	case opAdd:
		x.exact = addKind[T]
		x.loop, x.by = loop.AddUnsigned[T], loop.AddUnsignedBy[T]
		if signed {
			x.loop, x.by = loop.AddSigned[T], loop.AddSignedBy[T]
		}
	case opSub:
		x.exact = subKind[T]
		x.loop, x.by = loop.SubUnsigned[T], loop.SubUnsignedBy[T]
		if signed {
			x.loop, x.by = loop.SubSigned[T], loop.SubSignedBy[T]
		}
	case opMul:
		x.exact = mulKind[T]
		x.loop = loop.MulNarrow[T]
		switch kind {
		case types.I64:
			x.loop = loop.MulSigned[T]
		case types.U64:
			x.loop = loop.MulUnsigned[T]
		}
	case opDiv:
		x.exact = divKind[T]
		x.loop, x.by = loop.Div[T], loop.DivBy[T]
	default:
		x.exact = remKind[T]
		x.loop, x.by = loop.Rem[T], loop.RemBy[T]
	}
	return x
}

func addKind[T loop.Integer](a, b T) Kind {
	s := a + b
	if (b >= 0) != (s >= a) {
		return Overflow
	}
	return 0
}

func subKind[T loop.Integer](a, b T) Kind {
	s := a - b
	if (b >= 0) != (s <= a) {
		return Overflow
	}
	return 0
}

func mulKind[T loop.Integer](a, b T) Kind {
	if a == 0 || b == 0 {
		return 0
	}
	var zero T
	if zero-1 > 0 { // unsigned
		hi, lo := bits.Mul64(uint64(a), uint64(b))
		if hi != 0 || uint64(T(lo)) != lo {
			return Overflow
		}
		return 0
	}
	x, y := int64(a), int64(b)
	p := x * y
	hi, _ := bits.Mul64(uint64(x), uint64(y))
	high := int64(hi) - (x>>63)&y - (y>>63)&x // the upper half of the signed product
	if high != p>>63 || int64(T(p)) != p {
		return Overflow
	}
	return 0
}

func divKind[T loop.Integer](a, b T) Kind {
	switch {
	case b == 0:
		return DivisionByZero
	case b < 0 && b+1 == 0 && a == loop.Lowest[T]():
		return Overflow
	default:
		return 0
	}
}

func remKind[T loop.Integer](_, b T) Kind {
	if b == 0 {
		return DivisionByZero
	}
	return 0
}

func floatArith[T loop.Float](op arithOp, kind types.Scalar, a, b node) node {
	x := &arith[T]{a: a, b: b, kind: kind, op: op, texts: arithTexts(op)}
	apply := floatOp[T](op)
	x.exact = func(a, b T) Kind {
		if v := apply(a, b); v-v != 0 {
			return InvalidArgument
		}
		return 0
	}
	switch op {
	case opAdd:
		x.loop, x.by = loop.AddFloat[T], loop.AddFloatBy[T]
	case opSub:
		x.loop, x.by = loop.SubFloat[T], func(dst, a []T, b T) bool { return loop.AddFloatBy(dst, a, -b) }
	case opMul:
		x.loop, x.by = loop.MulFloat[T], loop.MulFloatBy[T]
	case opDiv:
		x.loop = loop.DivFloat[T]
	default:
		x.loop = loop.RemFloat[T]
	}
	return x
}

func floatOp[T loop.Float](op arithOp) func(a, b T) T {
	switch op {
	case opAdd:
		return func(a, b T) T { return a + b }
	case opSub:
		return func(a, b T) T { return a - b }
	case opMul:
		return func(a, b T) T { return a * b }
	case opDiv:
		return func(a, b T) T { return a / b }
	default:
		return func(a, b T) T { return T(math.Mod(float64(a), float64(b))) }
	}
}

// The float loops note a result that is NaN or infinite: only those differ from themselves minus themselves being zero.

// negate is unary minus: signed integers are checked, floats never fail.
type negate[T loop.Number] struct {
	a       node
	kind    types.Scalar
	checked bool
	lowest  T
	place
}

func newNegate(kind types.Scalar, a node) node {
	switch kind {
	case types.I8:
		return &negate[int8]{a: a, kind: kind, checked: true, lowest: math.MinInt8}
	case types.I16:
		return &negate[int16]{a: a, kind: kind, checked: true, lowest: math.MinInt16}
	case types.I32:
		return &negate[int32]{a: a, kind: kind, checked: true, lowest: math.MinInt32}
	case types.I64:
		return &negate[int64]{a: a, kind: kind, checked: true, lowest: math.MinInt64}
	case types.F32:
		return &negate[float32]{a: a, kind: kind}
	default:
		return &negate[float64]{a: a, kind: kind}
	}
}

func (x *negate[T]) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	out := r.newFixed(x.kind, a.n, a.konst, x.root)
	out.valid = a.valid
	src, dst := loop.View[T](a.fixed), loop.View[T](out.fixed)
	bad := false
	for i, v := range src {
		dst[i] = -v
		bad = bad || v == x.lowest
	}
	if !bad || !x.checked {
		return out
	}
	for i, v := range src {
		if v == x.lowest && validAt(a.valid, i) {
			r.reject(&out, sel, i, Overflow, "`-`: result is outside the range of the type")
		}
	}
	return out
}
