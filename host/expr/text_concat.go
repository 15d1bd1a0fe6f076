// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/nervix-go/nervix/host/kernel/types"

// concat joins texts; a null contributes nothing, so the result is never null except where it does not fit the column.
type concat struct {
	args []node
	place
}

func (x *concat) eval(r *run, sel []byte) column {
	var room [8]column
	cols := room[:0]
	konst := true
	for _, a := range x.args {
		c := a.eval(r, sel)
		konst = konst && c.konst
		cols = append(cols, c)
	}
	n := r.n
	if konst {
		n = 1
	}
	size := 0
	for i := range cols {
		size += joined(&cols[i], n)
	}
	limit := r.textLimit()
	out := r.newText(types.String, n, min(size, limit), konst, x.root)
	at := 0
	for i := range n {
		start := at
		for j := range cols {
			c := &cols[j]
			k := c.at(i)
			if !validAt(c.valid, k) {
				continue
			}
			s := c.span(k)
			if at+len(s) > limit {
				at = start
				r.reject(&out, sel, i, Overflow, "concat: "+textTooLong)
				break
			}
			at += copy(out.text[at:], s)
		}
		out.offs[i+1] = int32(at)
	}
	out.cut(at)
	return out
}

// joined bounds what a column adds to n rows.
func joined(c *column, n int) int {
	size := int(c.offs[c.n] - c.offs[0])
	if c.konst {
		return size * n
	}
	return size
}
