// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"strings"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Route is a construction to check.
type Route struct {
	Construct ast.Construct
	Records   Records
	// Output is the schema of the target relay, codec or client sink.
	Output *types.Schema
	// Span is where an unset required field is reported: the target's name.
	Span fault.Span
	// Leaving says that the output leaves the system, so that a sensitive value needs an explicit leak even for a sensitive field
	// (nspl 3.3).
	Leaving bool
	// KeepConstants is expr.Options.KeepConstants.
	KeepConstants bool
}

// Check checks all rules of nspl 9.2 and compiles the construction of a transforming route. All defects are reported.
func Check(r Route) (*Plan, fault.Diagnostics) {
	c := &checker{
		scope: NewTransformScope(r.Records, r.Output), target: r.Output, input: r.Records.Input, leaving: r.Leaving,
		options: expr.Options{KeepConstants: r.KeepConstants},
		plan:    &Plan{target: r.Output, record: expr.RecordOutput, setOp: OpSet},
	}
	c.inherit(r.Construct.Inherit)
	c.assignments(r.Construct.Set)
	c.unset(r.Span, false)
	c.where(r.Construct.Where)
	return c.done()
}

// CheckGenerated checks and compiles the SET and WHERE of a set-only route over a record that the node made (nspl 9.1, 15.7); the package
// comment has the rules. Output is the schema of both the record and the target relay; an INHERIT is refused. The plan runs with RunOver.
func CheckGenerated(r Route) (*Plan, fault.Diagnostics) {
	c := &checker{
		scope: GeneratedScope(r.Records, r.Output), target: r.Output, leaving: r.Leaving, options: expr.Options{KeepConstants: r.KeepConstants},
		plan: &Plan{target: r.Output, record: expr.RecordOutput, setOp: OpSet, reads: make([]bool, r.Output.Len()), assigned: make([]bool, r.Output.Len())},
	}
	c.inherit(r.Construct.Inherit)
	c.assignments(r.Construct.Set)
	c.where(r.Construct.Where)
	return c.done()
}

// CheckKey checks and compiles BRANCHED BY b SET: every key field has to be set. output is the finished output of the route; at
// run time its columns, already selected, stand in RecordOutput.
func CheckKey(set []ast.Assignment, rec Records, output, key *types.Schema, span fault.Span) (*Plan, fault.Diagnostics) {
	c := &checker{scope: KeyScope(rec, output, key), target: key, plan: &Plan{target: key, record: expr.RecordTarget, setOp: OpBranch}}
	c.assignments(set)
	c.unset(span, true)
	return c.done()
}

// CheckErrorRecord checks and compiles ON MESSAGE ERROR SEND TO r SET. Every required field of r's schema has to be set.
func CheckErrorRecord(set []ast.Assignment, rec ErrorRecords, target *types.Schema, span fault.Span) (*Plan, fault.Diagnostics) {
	c := &checker{scope: ErrorScope(rec, target), target: target, plan: &Plan{target: target, record: expr.RecordTarget, setOp: OpSet}}
	c.assignments(set)
	c.unset(span, false)
	return c.done()
}

type checker struct {
	scope   TransformScope
	target  *types.Schema
	input   *types.Schema
	leaving bool
	options expr.Options
	plan    *Plan
	faults  fault.Diagnostics
}

func (c *checker) report(span fault.Span, code fault.Code, message, hint string) {
	if hint == "" {
		hint = fault.Lookup(code).Hint
	}
	c.faults = append(c.faults, fault.At(fault.StageCheck, code, span, message, hint))
}

func (c *checker) done() (*Plan, fault.Diagnostics) {
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	return c.plan, nil
}

// inherit is rule 2: exact partners only; sensitivity may rise, never fall but by LEAK SENSITIVE on a listed field.
func (c *checker) inherit(in *ast.Inherit) {
	switch {
	case in == nil:
	case c.input == nil:
		c.report(in.Where(), fault.ExprPlace, "INHERIT has no input record here", "use SET")
	case in.All:
		c.inheritAll(in)
	default:
		c.inheritListed(in)
	}
}

func (c *checker) inheritAll(in *ast.Inherit) {
	except := make(map[ident.Name]bool, len(in.Except))
	for _, e := range in.Except {
		_, inOutput := c.target.Index(e.Name)
		if _, inInput := c.input.Index(e.Name); !inOutput && !inInput { // Q12
			c.report(e.Span, fault.ConstructTarget, "neither the input nor the output has a field `"+string(e.Name)+"`", expr.FieldHint(e.Name, c.target))
		}
		except[e.Name] = true
	}
	for i, f := range c.target.Fields() {
		j, ok := c.input.Index(f.Name)
		if !ok || except[f.Name] || !f.SameShape(c.input.Field(j)) {
			continue
		}
		c.copyField(in.Where(), i, j, false, "EXCEPT "+string(f.Name)+", or list the fields with `"+string(f.Name)+" LEAK SENSITIVE`")
	}
}

func (c *checker) inheritListed(in *ast.Inherit) {
	seen := make(map[ident.Name]bool, len(in.Fields))
	for _, f := range in.Fields {
		name := string(f.Field.Name)
		i, inOutput := c.target.Index(f.Field.Name)
		j, inInput := c.input.Index(f.Field.Name)
		switch {
		case seen[f.Field.Name]:
			c.report(f.Field.Span, fault.ConstructInherit, "`"+name+"` is listed twice", "list it once")
		case !inOutput:
			c.report(f.Field.Span, fault.ConstructTarget, "the output has no field `"+name+"`", expr.FieldHint(f.Field.Name, c.target))
		case !inInput:
			c.report(f.Field.Span, fault.ConstructTarget, "the input has no field `"+name+"`", expr.FieldHint(f.Field.Name, c.input))
		case !c.target.Field(i).SameShape(c.input.Field(j)):
			c.report(f.Field.Span, fault.ConstructInherit,
				"`"+name+"` is "+shape(c.input.Field(j))+" in the input and "+shape(c.target.Field(i))+" in the output", "")
			c.scope.Initialise(i)
		default:
			c.copyField(f.Field.Span, i, j, f.Leak, "write `"+name+" LEAK SENSITIVE` where that is intended")
		}
		seen[f.Field.Name] = true
	}
}

// copyField adds the step that inherits output field i from input field j.
func (c *checker) copyField(span fault.Span, i, j int, leak bool, hint string) {
	name := string(c.target.Field(i).Name)
	c.sensitive(span, name, c.input.Field(j).Sensitive && !leak, i, hint)
	c.plan.steps = append(c.plan.steps, step{field: i, inherit: true, input: j, paths: paths(c.assigned(name), []string{"input." + name})})
	c.scope.Initialise(i)
}

// sensitive refuses a sensitive value for a plain field, and for any field of a record that leaves the system.
func (c *checker) sensitive(span fault.Span, name string, sensitive bool, field int, hint string) {
	switch {
	case !sensitive:
	case c.leaving:
		c.report(span, fault.ConstructSensitive, "the value of `"+name+"` is sensitive and would leave the system", hint)
	case !c.target.Field(field).Sensitive:
		c.report(span, fault.ConstructSensitive, "the value of `"+name+"` is sensitive and the field is not", hint)
	}
}

// assigned is the path of a target field in error.fields. A key field is named by its branch.
func (c *checker) assigned(name string) string {
	if c.plan.setOp == OpBranch {
		return expr.RecordBranch.String() + "." + name
	}
	return expr.RecordOutput.String() + "." + name
}

// assignments is rule 3: left to right, a target may repeat.
func (c *checker) assignments(set []ast.Assignment) {
	for _, a := range set {
		name := string(a.Field.Name)
		i, ok := c.target.Index(a.Field.Name)
		if !ok {
			c.report(a.Field.Span, fault.ConstructTarget, "schema `"+string(c.target.Name())+"` has no field `"+name+"`", expr.FieldHint(a.Field.Name, c.target))
		}
		if literal, isLiteral := a.Value.(*ast.Literal); isLiteral && literal.Kind == ast.LiteralNull {
			c.assignNull(a, i, ok)
			continue
		}
		checked, faults := expr.Check(a.Value, c.scope, c.options)
		c.faults = append(c.faults, faults...)
		if !ok {
			continue
		}
		if len(faults) == 0 {
			c.assign(a, i, checked)
		}
		c.scope.Initialise(i) // also after a defect, so that later reads do not repeat it
	}
}

func (c *checker) assignNull(a ast.Assignment, i int, known bool) {
	if !known {
		return
	}
	if !c.target.Field(i).Optional {
		c.report(a.Value.Where(), fault.ConstructNullable, "`"+string(a.Field.Name)+"` is required and cannot be NULL", "declare the field OPTIONAL")
	}
	c.step(step{field: i, paths: paths(c.assigned(string(a.Field.Name)), nil)})
	c.scope.Initialise(i)
}

func (c *checker) assign(a ast.Assignment, i int, checked *expr.Checked) {
	f, name, span := c.target.Field(i), string(a.Field.Name), a.Value.Where()
	if !f.Type.Equal(checked.Type) {
		hint := ""
		if f.Type.IsScalar() && checked.Type.IsScalar() {
			hint = "nothing converts by itself: write `... AS " + f.Type.String() + "`"
		}
		c.report(span, fault.ConstructType, "`"+name+"` is "+f.Type.String()+" and the value is "+checked.Type.String(), hint)
	} else if checked.Optional && !f.Optional {
		c.report(span, fault.ConstructNullable, "`"+name+"` is required and the value may be null", "")
	}
	c.sensitive(span, name, checked.Sensitive, i, "write leak_sensitive(...) where that is intended")
	p := expr.Compile(checked)
	c.reading(checked)
	c.step(step{field: i, program: p, paths: paths(c.assigned(name), p.Reads())})
}

// step adds an assignment to the plan.
func (c *checker) step(s step) {
	c.plan.steps = append(c.plan.steps, s)
	if c.plan.assigned != nil {
		c.plan.assigned[s.field] = true
	}
}

// reading notes which columns of the record it starts from a set-only plan reads.
func (c *checker) reading(checked *expr.Checked) {
	if c.plan.reads == nil {
		return
	}
	for _, ref := range checked.Reads() {
		if ref.Record == c.plan.record && !c.plan.assigned[ref.Column] {
			c.plan.reads[ref.Column] = true
		}
	}
}

// unset is rule 6: required fields that are never set. All asks for optional fields too, as a branch key does.
func (c *checker) unset(span fault.Span, all bool) {
	var missing []string
	for i, f := range c.target.Fields() {
		if !c.scope.set[i] && (all || !f.Optional) {
			missing = append(missing, "`"+string(f.Name)+"`")
		}
	}
	if len(missing) == 0 {
		return
	}
	what := "required field"
	if all {
		what = "key field"
	}
	if len(missing) > 1 {
		what += "s"
	}
	c.report(span, fault.ConstructUninitialised, what+" "+strings.Join(missing, ", ")+" of schema `"+string(c.target.Name())+"` never set", "")
}

// where is rule 7: it reads the finished output.
func (c *checker) where(e ast.Expr) {
	if e == nil {
		return
	}
	checked, faults := expr.CheckPredicate(e, c.scope.Finished(), c.options)
	if len(faults) > 0 {
		c.faults = append(c.faults, faults...)
		return
	}
	c.reading(checked)
	c.plan.where = expr.Compile(checked)
	c.plan.paths = c.plan.where.Reads()
}
