// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/nervix-go/nervix/host/kernel/types"

// cast is `x AS T` and TRY_CAST between two different scalar types (nspl 6.2, conversions). Null converts to null.
type cast struct {
	a        node
	from, to types.Scalar
	// try yields null for a value that does not convert and suppresses only its own failures.
	try  bool
	text string
	// fill converts all values and says whether one of them may not convert; fine looks at one value. Both are unset where text is involved.
	fill func(dst, src *column) bool
	fine func(src *column, i int) bool
	place
}

func newCast(a node, from, to types.Scalar, try bool) node {
	if from == to {
		return a
	}
	x := &cast{a: a, from: from, to: to, try: try}
	name := "conversion to " + to.String() + ": "
	switch {
	case from == types.String:
		x.text = name + "the text does not read as that type or is outside its range"
	case from == types.Bool && to == types.Datetime, from == types.Datetime && to == types.Bool:
		x.text = "conversion from " + from.String() + " to " + to.String() + ": no value converts"
	default:
		x.text = name + "the value is outside the range of the type"
	}
	if from != types.String && to != types.String {
		x.fill, x.fine = convert(from, to)
	}
	return x
}

func (x *cast) eval(r *run, sel []byte) column {
	a := x.a.eval(r, sel)
	switch {
	case a.null():
		return r.nulls(x.to)
	case x.from == types.String:
		return x.parse(r, sel, &a)
	case x.to == types.String:
		return x.print(r, sel, &a)
	}
	out := x.room(r, &a)
	if !x.fill(&out, &a) {
		return out
	}
	for i := range a.n {
		if validAt(a.valid, i) && !x.fine(&a, i) {
			x.refuse(r, sel, &out, i)
		}
	}
	return out
}

// room makes a result of the target type with the nulls of a.
func (x *cast) room(r *run, a *column) column {
	var out column
	if x.to == types.Bool {
		out = r.newBits(a.n, a.konst, x.root)
		clear(out.bits)
	} else {
		out = r.newFixed(x.to, a.n, a.konst, x.root)
	}
	out.valid = a.valid
	return out
}

func (x *cast) refuse(r *run, sel []byte, out *column, i int) {
	if x.try {
		r.blank(out, i)
		return
	}
	r.reject(out, sel, i, CastFailed, x.text)
}

// parse reads text.
func (x *cast) parse(r *run, sel []byte, a *column) column {
	out := x.room(r, a)
	put := parser(x.to)
	for i := range a.n {
		if validAt(a.valid, i) && !put(&out, i, a.span(i)) {
			x.refuse(r, sel, &out, i)
		}
	}
	return out
}

// print writes text. Rows that no longer fit the column fail, also under TRY_CAST: that is no defect of the value.
func (x *cast) print(r *run, sel []byte, a *column) column {
	bound, write := printer(x.from)
	out := r.newText(types.String, a.n, a.n*min(bound, typicalText), a.konst, x.root)
	out.valid = a.valid
	at, limit := 0, r.textLimit()
	for i := range a.n {
		if validAt(out.valid, i) {
			r.growText(&out, at+bound)
			end := len(write(out.text[:at], a, i))
			if end > limit {
				r.reject(&out, sel, i, Overflow, textTooLong)
			} else {
				at = end
			}
		}
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
	return out
}
