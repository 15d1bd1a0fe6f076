// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"strings"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// reading says what an unqualified or `message` path means at a place.
type reading uint8

const (
	readNone reading = iota
	// readInput reads the original record.
	readInput
	// readLive reads a target field once it is set, before that the same-named input field of equal shape (nspl 9.2 rule 4).
	readLive
	// readTarget reads the finished target only.
	readTarget
	// readOutput reads the finished output of the route a key is built for.
	readOutput
	// readTargetThenOutput reads key fields set so far, then the finished output.
	readTargetThenOutput
)

// scope resolves paths for one place. set is shared with the plan that marks target fields as they are set.
type scope struct {
	place string
	// records are the schemas behind qualifiers; nil where the qualifier does not exist.
	records [expr.RecordCount]*types.Schema
	// target is the record under construction.
	target       *types.Schema
	targetRecord expr.RecordID
	set          []bool
	// finished is the output a key is built from; it has no qualifier but message.
	finished      *types.Schema
	bare, message reading
	// generated says that the record was made by the node, as in set-only routes.
	generated bool
}

func (r Records) scope() *scope {
	s := &scope{place: r.Place}
	s.records[expr.RecordInput] = r.Input
	s.records[expr.RecordBranch] = r.Branch
	s.records[expr.RecordMetadata] = r.Metadata
	return s
}

var qualified = map[ast.Scope]expr.RecordID{
	ast.ScopeInput: expr.RecordInput, ast.ScopeOutput: expr.RecordOutput, ast.ScopeBranch: expr.RecordBranch, ast.ScopeMetadata: expr.RecordMetadata,
	ast.ScopeError: expr.RecordError, ast.ScopePartialOutput: expr.RecordPartialOutput,
}

// Resolve implements expr.Scope.
func (s *scope) Resolve(p *ast.Path) (expr.Ref, *fault.Diagnostic) {
	switch p.Scope {
	case ast.ScopeBare:
		return s.read(p, s.bare)
	case ast.ScopeMessage:
		return s.read(p, s.message)
	}
	record, known := qualified[p.Scope]
	if !known || s.records[record] == nil {
		return s.unavailable(p)
	}
	i, ok := s.records[record].Index(p.Field.Name)
	if !ok {
		return s.unknown(p, s.records[record])
	}
	if s.target != nil && record == s.targetRecord && !s.set[i] {
		return s.unreadable(p, "`output."+string(p.Field.Name)+"` is not set yet at this point", "assignments run in order: set it before, or read input."+string(p.Field.Name))
	}
	return refer(record, s.records[record], i), nil
}

func (s *scope) read(p *ast.Path, how reading) (expr.Ref, *fault.Diagnostic) {
	switch how {
	case readNone:
		return s.unavailable(p)
	case readInput:
		if s.records[expr.RecordInput] == nil {
			return s.unavailable(p)
		}
		return s.field(p, expr.RecordInput, s.records[expr.RecordInput])
	case readTarget:
		return s.field(p, s.targetRecord, s.target)
	case readOutput:
		return s.field(p, expr.RecordOutput, s.finished)
	case readTargetThenOutput:
		if i, ok := s.target.Index(p.Field.Name); ok && s.set[i] {
			return refer(s.targetRecord, s.target, i), nil
		}
		return s.field(p, expr.RecordOutput, s.finished)
	default:
		return s.live(p)
	}
}

// live is rule 4 of nspl 9.2, with Q13 for fields the target does not have.
func (s *scope) live(p *ast.Path) (expr.Ref, *fault.Diagnostic) {
	name := p.Field.Name
	input := s.records[expr.RecordInput]
	t, inTarget := s.target.Index(name)
	if inTarget && s.set[t] {
		return refer(s.targetRecord, s.target, t), nil
	}
	i, inInput := 0, false
	if input != nil {
		i, inInput = input.Index(name)
	}
	switch {
	case inInput && (!inTarget || input.Field(i).SameShape(s.target.Field(t))):
		return refer(expr.RecordInput, input, i), nil
	case inInput:
		return s.unreadable(p, "`"+string(name)+"` is not set yet, and the input field of that name is "+shape(input.Field(i))+", not "+shape(s.target.Field(t)),
			"read input."+string(name)+", or set it before")
	case inTarget:
		return s.unreadable(p, "`"+string(name)+"` is not set yet at this point", "assignments run in order: set it before")
	case input != nil:
		return s.unknown(p, input)
	default:
		return s.unknown(p, s.target)
	}
}

func (s *scope) field(p *ast.Path, record expr.RecordID, schema *types.Schema) (expr.Ref, *fault.Diagnostic) {
	i, ok := schema.Index(p.Field.Name)
	if !ok {
		return s.unknown(p, schema)
	}
	return refer(record, schema, i), nil
}

func refer(record expr.RecordID, schema *types.Schema, i int) expr.Ref {
	f := schema.Field(i)
	return expr.Ref{Record: record, Column: i, Field: f.Name, Type: f.Type, Optional: f.Optional, Sensitive: f.Sensitive}
}

// shape is a field's type and nullability as a schema writes them.
func shape(f types.Field) string {
	if f.Optional {
		return f.Type.String() + " OPTIONAL"
	}
	return f.Type.String()
}

func (s *scope) unavailable(p *ast.Path) (expr.Ref, *fault.Diagnostic) {
	message := "`" + string(p.Scope) + "` cannot be read in this place of " + article(s.place)
	if p.Scope == ast.ScopeBare {
		message = "a field without a scope cannot be read in this place of " + article(s.place)
	}
	hint := "readable here: " + s.readable()
	if s.generated && p.Scope == ast.ScopeInput {
		hint += "; a route reads what the node made, and only ON MESSAGE ERROR SEND TO reads input." + string(p.Field.Name)
	}
	d := fault.At(fault.StageResolve, fault.ExprScope, p.Where(), message, hint)
	return expr.Ref{}, &d
}

func article(place string) string {
	if strings.IndexByte("aeiou", (place + " ")[0]) >= 0 {
		return "an " + place
	}
	return "a " + place
}

// readable lists the scopes of the place in the order of nspl 6.3.
func (s *scope) readable() string {
	var names []string
	if s.bare != readNone {
		names = append(names, "bare fields")
	}
	for _, name := range ast.Scopes() {
		if record, ok := qualified[name]; ok && s.records[record] != nil || name == ast.ScopeMessage && s.message != readNone {
			names = append(names, string(name))
		}
	}
	return strings.Join(names, ", ")
}

func (s *scope) unknown(p *ast.Path, schema *types.Schema) (expr.Ref, *fault.Diagnostic) {
	what := "schema `" + string(schema.Name()) + "`"
	if p.Scope != ast.ScopeBare {
		what = "`" + string(p.Scope) + "` (" + what + ")"
	}
	hint := expr.FieldHint(p.Field.Name, schema)
	if branch := s.records[expr.RecordBranch]; branch != nil && p.Scope == ast.ScopeBare {
		if _, ok := branch.Index(p.Field.Name); ok {
			hint = "a field of the branch key is written branch." + string(p.Field.Name)
		}
	}
	if input := s.records[expr.RecordInput]; input != nil && input != schema {
		if _, ok := input.Index(p.Field.Name); ok && (p.Scope == ast.ScopeBare || p.Scope == ast.ScopeOutput) {
			hint = "the input has it: input." + string(p.Field.Name)
		}
	}
	d := fault.At(fault.StageResolve, fault.ExprField, p.Field.Span, what+" has no field `"+string(p.Field.Name)+"`", hint)
	return expr.Ref{}, &d
}

func (s *scope) unreadable(p *ast.Path, message, hint string) (expr.Ref, *fault.Diagnostic) {
	d := fault.At(fault.StageResolve, fault.ExprUnreadable, p.Where(), message, hint)
	return expr.Ref{}, &d
}
