// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"slices"
)

// Kind is the kind of a row's failure (nspl 7). All of them have error.code `evaluation`.
type Kind uint8

// The kinds of nspl 7; zero is no failure.
const (
	DivisionByZero  Kind = 1
	Overflow        Kind = 2
	CastFailed      Kind = 3
	InvalidArgument Kind = 4
)

// String is the word of nspl 7.
func (k Kind) String() string {
	switch k {
	case DivisionByZero:
		return "division_by_zero"
	case Overflow:
		return "overflow"
	case CastFailed:
		return "cast_failed"
	case InvalidArgument:
		return "invalid_argument"
	default:
		return "none"
	}
}

// Failure is the first failure of one row in evaluation order. Text names the function and the defect and never holds a value.
type Failure struct {
	Row  int
	Kind Kind
	Text string
}

// Failures lists the failed rows of one evaluation in row order, each row once.
type Failures struct {
	Rows []Failure
	// Bits has a bit set for every failed row, in Arrow's bit order from bit 0.
	Bits []byte
}

// Failed says whether the row is in the list.
func (f *Failures) Failed(row int) bool { return f != nil && bitAt(f.Bits, row) }

// Len is the number of failed rows; a nil list has none.
func (f *Failures) Len() int {
	if f == nil {
		return 0
	}
	return len(f.Rows)
}

// run is the state of one evaluation. It lives in the Scratch so that an evaluation allocates only its result.
type run struct {
	env    *Env
	mem    *Scratch
	n      int
	failed []byte
	list   []Failure
	// transient says that no array is made of the root's column, so that it stays in the scratch.
	transient bool
}

func (r *run) start(env *Env, mem *Scratch) {
	mem.reset()
	r.env, r.mem, r.n = env, mem, env.Rows
	r.failed, r.list, r.transient = nil, r.list[:0], false
}

func (r *run) fail(row int, kind Kind, text string) {
	if r.failed == nil {
		r.failed = r.mem.zeros(r.n)
	}
	if bitAt(r.failed, row) {
		return
	}
	setBit(r.failed, row)
	r.list = append(r.list, Failure{row, kind, text})
}

// failures copies the list out of the scratch, in row order.
func (r *run) failures() *Failures {
	if len(r.list) == 0 {
		return nil
	}
	slices.SortFunc(r.list, func(a, b Failure) int { return cmp.Compare(a.Row, b.Row) })
	return &Failures{Rows: slices.Clone(r.list), Bits: slices.Clone(r.failed)}
}

// reject makes row i of c null and reports it if it is selected. For a constant column every selected row fails.
func (r *run) reject(c *column, sel []byte, i int, kind Kind, text string) {
	r.blank(c, i)
	switch {
	case !c.konst:
		if sel == nil || bitAt(sel, i) {
			r.fail(i, kind, text)
		}
	case sel == nil:
		for row := range r.n {
			r.fail(row, kind, text)
		}
	default:
		eachSet(sel, r.n, func(row int) { r.fail(row, kind, text) })
	}
}

// blank makes row i of c null.
func (r *run) blank(c *column, i int) {
	if !c.ownValid {
		v := r.mem.bitmap(c.n)
		if c.valid == nil {
			fillBits(v, c.n, true)
		} else {
			copy(v, c.valid)
		}
		c.valid, c.ownValid = v, true
	}
	clearBit(c.valid, i)
}
