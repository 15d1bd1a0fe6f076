// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/bits"

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
type arith[T number] struct {
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
	dst := view[T](out.fixed)
	var bad bool
	if b.konst && !konst && x.by != nil {
		bad = x.by(dst, view[T](a.fixed), view[T](b.fixed)[0])
	} else {
		if !konst {
			a, b = r.spread(&a, n), r.spread(&b, n)
		}
		bad = x.loop(dst, view[T](a.fixed), view[T](b.fixed))
	}
	if bad {
		x.report(r, sel, &out, view[T](a.fixed), view[T](b.fixed), b.konst && !konst)
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

func intArith[T integer](op arithOp, kind types.Scalar, a, b node) node {
	x := &arith[T]{a: a, b: b, kind: kind, op: op, texts: arithTexts(op)}
	signed := kind.Signed()
	switch op {
	case opAdd:
		x.exact = addKind[T]
		x.loop, x.by = addUnsigned[T], addUnsignedBy[T]
		if signed {
			x.loop, x.by = addSigned[T], addSignedBy[T]
		}
	case opSub:
		x.exact = subKind[T]
		x.loop, x.by = subUnsigned[T], subUnsignedBy[T]
		if signed {
			x.loop, x.by = subSigned[T], subSignedBy[T]
		}
	case opMul:
		x.exact = mulKind[T]
		x.loop = mulNarrow[T]
		switch kind {
		case types.I64:
			x.loop = mulSigned[T]
		case types.U64:
			x.loop = mulUnsigned[T]
		}
	case opDiv:
		x.exact = divKind[T]
		x.loop, x.by = divLoop[T], divBy[T]
	default:
		x.exact = remKind[T]
		x.loop, x.by = remLoop[T], remBy[T]
	}
	return x
}

func addSigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] + b[i]
		bad |= (a[i] ^ s) & (b[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

func addSignedBy[T integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] + b
		bad |= (a[i] ^ s) & (b ^ s)
		dst[i] = s
	}
	return bad < 0
}

func addUnsigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		s := a[i] + b[i]
		bad |= b2u(s < a[i])
		dst[i] = s
	}
	return bad != 0
}

func addUnsignedBy[T integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		s := a[i] + b
		bad |= b2u(s < b)
		dst[i] = s
	}
	return bad != 0
}

func addKind[T integer](a, b T) Kind {
	s := a + b
	if (b >= 0) != (s >= a) {
		return Overflow
	}
	return 0
}

func subSigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] - b[i]
		bad |= (a[i] ^ b[i]) & (a[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

func subSignedBy[T integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] - b
		bad |= (a[i] ^ b) & (a[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

func subUnsigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		bad |= b2u(a[i] < b[i])
		dst[i] = a[i] - b[i]
	}
	return bad != 0
}

func subUnsignedBy[T integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		bad |= b2u(a[i] < b)
		dst[i] = a[i] - b
	}
	return bad != 0
}

func subKind[T integer](a, b T) Kind {
	s := a - b
	if (b >= 0) != (s <= a) {
		return Overflow
	}
	return 0
}

// mulNarrow multiplies widths up to 32 bits in 64 bits.
func mulNarrow[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p := int64(a[i]) * int64(b[i])
		dst[i] = T(p)
		bad |= b2u(int64(T(p)) != p)
	}
	return bad != 0
}

// mulSigned multiplies 64 bits and notes operands outside 31 bits and a sign: products of such halves cannot overflow.
func mulSigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p, q := a[i], b[i]
		dst[i] = p * q
		bad |= (uint64(p) + 1<<31) | (uint64(q) + 1<<31)
	}
	return bad>>32 != 0
}

// mulUnsigned notes operands of more than 32 bits.
func mulUnsigned[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p, q := a[i], b[i]
		dst[i] = p * q
		bad |= uint64(p) | uint64(q)
	}
	return bad>>32 != 0
}

func mulKind[T integer](a, b T) Kind {
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

func divLoop[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	bad := false
	for i, v := range b {
		if v == 0 {
			bad = true
			dst[i] = 0
			continue
		}
		dst[i] = a[i] / v
		if v+1 == 0 {
			bad = true // possibly MIN / -1; for unsigned types exact finds nothing
		}
	}
	return bad
}

func divBy[T integer](dst, a []T, b T) bool {
	if b == 0 || b+1 == 0 {
		for i := range dst {
			dst[i] = 0
			if b != 0 {
				dst[i] = a[i] / b
			}
		}
		return true
	}
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b
	}
	return false
}

func divKind[T integer](a, b T) Kind {
	switch {
	case b == 0:
		return DivisionByZero
	case b < 0 && b+1 == 0 && a == lowest[T]():
		return Overflow
	default:
		return 0
	}
}

// remLoop: the sign of the dividend; MIN % -1 is 0 in Go as in NSPL.
func remLoop[T integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	bad := false
	for i, v := range b {
		if v == 0 {
			bad = true
			dst[i] = 0
			continue
		}
		dst[i] = a[i] % v
	}
	return bad
}

func remBy[T integer](dst, a []T, b T) bool {
	if b == 0 {
		clear(dst)
		return len(dst) > 0
	}
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] % b
	}
	return false
}

func remKind[T integer](_, b T) Kind {
	if b == 0 {
		return DivisionByZero
	}
	return 0
}

// bitsOf is the width of T.
func bitsOf[T integer]() int {
	var n int
	for v := T(1); v != 0; v <<= 1 {
		n++
	}
	return n
}

// lowest is the smallest value of T; 0 for unsigned types.
func lowest[T integer]() T {
	var zero T
	if zero-1 > 0 {
		return 0
	}
	return T(1) << (bitsOf[T]() - 1)
}

func floatArith[T float](op arithOp, kind types.Scalar, a, b node) node {
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
		x.loop, x.by = floatAdd[T], floatAddBy[T]
	case opSub:
		x.loop, x.by = floatSub[T], func(dst, a []T, b T) bool { return floatAddBy(dst, a, -b) }
	case opMul:
		x.loop, x.by = floatMul[T], floatMulBy[T]
	case opDiv:
		x.loop = floatDiv[T]
	default:
		x.loop = floatRem[T]
	}
	return x
}

func floatOp[T float](op arithOp) func(a, b T) T {
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

func floatAdd[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] + b[i]
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatAddBy[T float](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] + b
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatSub[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] - b[i]
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatMul[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] * b[i]
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatMulBy[T float](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] * b
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatDiv[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] / b[i]
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

func floatRem[T float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := T(math.Mod(float64(a[i]), float64(b[i])))
		dst[i] = v
		bad |= b2u(v-v != 0)
	}
	return bad != 0
}

// negate is unary minus: signed integers are checked, floats never fail.
type negate[T number] struct {
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
	src, dst := view[T](a.fixed), view[T](out.fixed)
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
