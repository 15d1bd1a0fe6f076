// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/expr"
)

// NoIndex is the Index of a failure whose operation has no position (error.operation_index is null).
const NoIndex = -1

// Failure is one failed row of a construction with the operation that failed first. It holds no value.
type Failure struct {
	Row       int
	Operation Operation
	// Index is the zero-based position of the operation, inherited fields counted first, or NoIndex for a predicate.
	Index int
	// Kind is the kind of an evaluation failure; zero stands for error.code `validation`.
	Kind expr.Kind
	// Fields are the paths assigned or read, sorted. Shared; must not be changed.
	Fields []string
	// Reason names the function and the defect.
	Reason string

	// shot is the state of the output when the row failed.
	shot int
}

// Code is the word of error.code.
func (f Failure) Code() string {
	if f.Kind == 0 {
		return "validation"
	}
	return "evaluation"
}

// Message is error.message (nspl 9.5): node names kind and name of the node, for example `JUNCTION sort`.
func (f Failure) Message(node string) string {
	kind := f.Code()
	if f.Kind != 0 {
		kind = f.Kind.String()
	}
	return node + ": " + string(f.Operation) + ": " + kind + ": " + f.Reason
}

// Outcome is what a construction made of a batch. It may be used again for the next batch after Release; its slices are then reused.
type Outcome struct {
	// Columns are the columns of the target schema before selection: a row that failed has nulls even in required columns.
	Columns []arrow.Array
	// All says that every row is kept; Keep is then unused.
	All bool
	// Keep is the selection of rows that did not fail and that WHERE keeps, in Arrow's bit order from bit 0.
	Keep []byte
	// Kept is the number of kept rows.
	Kept int
	// Failures lists the failed rows in row order, each once.
	Failures []Failure

	failed []byte
	shots  [][]arrow.Array
	rows   int
	// absent says, in RunOver, which fields are neither initialised nor assigned.
	absent []bool
}

// Release gives up the columns.
func (o *Outcome) Release() {
	releaseAll(o.Columns)
	for _, s := range o.shots {
		releaseAll(s)
	}
	o.Columns, o.shots, o.Failures = o.Columns[:0], o.shots[:0], o.Failures[:0]
}

func releaseAll(columns []arrow.Array) {
	for i, c := range columns {
		if c != nil {
			c.Release()
			columns[i] = nil
		}
	}
}

// RunOver builds the records of a set-only route (CheckGenerated). base are the columns of the target schema that the node made for it, each of
// its field's exact type and env.Rows long, or nil where it is uninitialised; a nil base has no initialised column. They are borrowed;
// columns without an assignment come out by reference. env holds the branch key in RecordBranch where there is one; RunOver fills and clears
// env.Columns of RecordOutput. The columns of out are released first, so base must not be out.Columns.
//
// A required column that is uninitialised and not assigned fails every row, one that is null in a row fails that row (finalize,
// validation; W-082).
func (p *Plan) RunOver(env *expr.Env, base []arrow.Array, out *Outcome) {
	out.start(p.target.Len(), env.Rows)
	out.absent = slices.Grow(out.absent[:0], p.target.Len())[:p.target.Len()]
	for i := range out.Columns {
		out.absent[i] = base == nil || base[i] == nil
		switch {
		case !out.absent[i]:
			base[i].Retain()
			out.Columns[i] = base[i]
		case p.reads[i]:
			out.Columns[i] = expr.Nulls(env.Alloc, p.target.Field(i).Type, env.Rows)
		}
		out.absent[i] = out.absent[i] && !p.assigned[i]
	}
	p.build(env, out)
}

// Run builds the records of a batch. env holds the columns the plan's scopes name; Run fills and clears env.Columns of its own record.
// The columns of out are released first.
func (p *Plan) Run(env *expr.Env, out *Outcome) {
	out.start(p.target.Len(), env.Rows)
	out.absent = out.absent[:0]
	p.build(env, out)
}

func (p *Plan) build(env *expr.Env, out *Outcome) {
	env.Columns[p.record] = out.Columns
	for i := range p.steps {
		p.steps[i].run(p, env, out, i)
	}
	p.finalise(env, out)
	mask := p.filter(env, out)
	env.Columns[p.record] = nil
	out.keep(mask)
	slices.SortStableFunc(out.Failures, func(a, b Failure) int { return cmp.Compare(a.Row, b.Row) })
}

func (o *Outcome) start(fields, rows int) {
	o.Release()
	o.Columns = slices.Grow(o.Columns, fields)[:fields]
	clear(o.Columns)
	need := (rows + 7) / 8
	o.failed = slices.Grow(o.failed[:0], need)[:need]
	clear(o.failed)
	o.rows = rows
}

func (s *step) run(p *Plan, env *expr.Env, out *Outcome, index int) {
	var next arrow.Array
	switch {
	case s.inherit:
		next = env.Columns[expr.RecordInput][s.input]
		next.Retain()
	case s.program == nil:
		next = expr.Nulls(env.Alloc, p.target.Field(s.field).Type, env.Rows)
	default:
		res := s.program.Eval(env)
		next = res.Array
		out.fail(res.Failed, Failure{Operation: p.setOp, Index: index, Fields: s.paths})
	}
	if old := out.Columns[s.field]; old != nil {
		old.Release()
	}
	out.Columns[s.field] = next
}

// fail adds the rows that had not failed before; what was set until now is kept for partial_output.
func (o *Outcome) fail(f *expr.Failures, what Failure) {
	if f.Len() == 0 {
		return
	}
	shot := -1
	for _, row := range f.Rows {
		if o.hasFailed(row.Row) {
			continue
		}
		if shot < 0 {
			shot = o.shoot()
		}
		what.Row, what.Kind, what.Reason, what.shot = row.Row, row.Kind, row.Text, shot
		o.add(what)
	}
}

func (o *Outcome) add(f Failure) {
	o.failed[f.Row>>3] |= 1 << (f.Row & 7)
	o.Failures = append(o.Failures, f)
}

func (o *Outcome) hasFailed(row int) bool { return o.failed[row>>3]>>(row&7)&1 != 0 }

// shoot retains the present columns and gives the index of the copy.
func (o *Outcome) shoot() int {
	columns := slices.Clone(o.Columns)
	for _, c := range columns {
		if c != nil {
			c.Retain()
		}
	}
	o.shots = append(o.shots, columns)
	return len(o.shots) - 1
}

// finalise is rule 6 of nspl 9.2: unset optional fields become nulls. A required field that is null in a row that did not fail breaks
// its declaration; such a row fails instead of going on.
func (p *Plan) finalise(env *expr.Env, out *Outcome) {
	for i := range out.Columns {
		field := p.target.Field(i)
		if out.Columns[i] == nil {
			out.Columns[i] = expr.Nulls(env.Alloc, field.Type, env.Rows)
		}
		if c := out.Columns[i]; !field.Optional && expr.HasNulls(c) {
			p.missing(out, i, c)
		}
	}
}

func (p *Plan) missing(out *Outcome, field int, c arrow.Array) {
	name := string(p.target.Field(field).Name)
	what := Failure{Operation: OpFinalize, Index: NoIndex, Fields: []string{"output." + name}, Reason: "the required field `" + name + "` is null", shot: -1}
	if len(out.absent) > 0 && out.absent[field] {
		what.Reason = "the required field `" + name + "` was left uninitialised and no SET gives it a value"
	}
	for row := range out.rows {
		if c.IsValid(row) || out.hasFailed(row) {
			continue
		}
		if what.shot < 0 {
			what.shot = out.shoot()
		}
		what.Row = row
		out.add(what)
	}
}

// filter evaluates WHERE over the finished output; nil without one.
func (p *Plan) filter(env *expr.Env, out *Outcome) []byte {
	if p.where == nil {
		return nil
	}
	mask, failed := p.where.EvalMask(env, out.Keep)
	out.Keep = mask
	out.fail(failed, Failure{Operation: OpRouteWhere, Index: NoIndex, Fields: p.paths})
	return mask
}

// keep joins the mask of WHERE with the rows that did not fail.
func (o *Outcome) keep(mask []byte) {
	o.All = mask == nil && len(o.Failures) == 0
	if o.All {
		o.Kept = o.rows
		return
	}
	if mask == nil {
		o.Keep = slices.Grow(o.Keep[:0], len(o.failed))[:len(o.failed)]
		for i := range o.Keep {
			o.Keep[i] = 0xff
		}
		if left := o.rows & 7; left != 0 {
			o.Keep[len(o.Keep)-1] = 1<<left - 1
		}
	}
	o.Kept = 0
	for i := range o.Keep {
		o.Keep[i] &^= o.failed[i]
		o.Kept += bits.OnesCount8(o.Keep[i])
	}
	o.All = o.Kept == o.rows
}

// Partial gives the columns of partial_output: one row per failure, in the order of Failures, holding what was set when the row
// failed and nulls elsewhere. The caller releases them.
func (p *Plan) Partial(env *expr.Env, out *Outcome) ([]arrow.Array, error) {
	columns := make([]arrow.Array, p.target.Len())
	picks := make([]expr.Pick, len(out.Failures))
	for field := range columns {
		for i, f := range out.Failures {
			picks[i] = expr.Pick{Array: out.shots[f.shot][field], Row: f.Row}
		}
		c, err := expr.Gather(env.Alloc, p.target.Field(field).Type, picks)
		if err != nil {
			releaseAll(columns)
			return nil, err
		}
		columns[field] = c
	}
	return columns, nil
}
