// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/nervix-go/nervix/host/kernel/types"
)

// node is one operation of a program. eval computes its column; sel is the selection under which failures count (nil: all rows). A
// node is immutable and holds no state of an evaluation.
type node interface {
	eval(r *run, sel []byte) column
}

// place is embedded by nodes that make a column. The root of a program writes into buffers of the result's allocator.
type place struct{ root bool }

func (p *place) markRoot() { p.root = true }

// reference reads a column of one of the records of Env.
type reference struct {
	ref   Ref
	konst bool
}

func (x *reference) eval(r *run, _ []byte) column {
	return r.input(r.env.Columns[x.ref.Record][x.ref.Column], x.ref.Type, x.konst)
}

// constant is a literal or a folded expression. Its column is shared by all evaluations and never written.
type constant struct{ col column }

func (x *constant) eval(*run, []byte) column { return x.col }

// nullOf is a typed NULL.
type nullOf struct{ kind types.Scalar }

func (x *nullOf) eval(r *run, _ []byte) column { return r.nulls(x.kind) }
