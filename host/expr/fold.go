// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"
	"slices"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// fold replaces an expression that depends on nothing by its value. One that fails stays as it is: its rows fail where and when they would
// have failed, because the same node computes it.
func (c *checker) fold(v operand) operand {
	if v.bad || v.null || !v.constant || c.opts.KeepConstants || !v.typ.IsScalar() {
		return v
	}
	if _, done := v.node.(*constant); done {
		return v
	}
	if col, failures := evalConstant(v.node); failures.Len() == 0 && col.konst {
		v.node = &constant{col}
	}
	return v
}

// evalConstant runs a node that depends on nothing and copies its one value.
func evalConstant(n node) (column, *Failures) {
	env := Env{Rows: 1}
	mem := NewScratch()
	r := &mem.run
	r.start(&env, mem)
	col := n.eval(r, nil)
	return detach(col), r.failures()
}

// detach copies a column out of the scratch.
func detach(c column) column {
	c.valid, c.fixed, c.bits = bytes.Clone(c.valid), bytes.Clone(c.fixed), bytes.Clone(c.bits)
	c.offs, c.text = slices.Clone(c.offs), bytes.Clone(c.text)
	c.ownValid = false
	if c.fixed != nil { // bytes.Clone promises no alignment
		aligned := loop.Raw(make([]uint64, (len(c.fixed)+7)/8))[:len(c.fixed)]
		copy(aligned, c.fixed)
		c.fixed = aligned
	}
	return c
}

func boolConstant(v bool) column {
	return column{kind: types.Bool, n: 1, konst: true, bits: []byte{byte(loop.Bit(v))}}
}

func fixedConstant[T loop.Number](kind types.Scalar, v T) column {
	room := loop.Raw(make([]uint64, 1))[:width(kind)]
	loop.View[T](room)[0] = v
	return column{kind: kind, n: 1, konst: true, fixed: room}
}

func textConstant(s string) column {
	return column{kind: types.String, n: 1, konst: true, offs: []int32{0, int32(len(s))}, text: []byte(s)}
}
