// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/registry"
)

// step is a part of a transaction that commits as one: a maximal run of model statements, or one other statement (nspl 2.5, rule 5).
// Operation numbers count from 1.
type step struct {
	first, last int
	stmts       []ast.Statement
}

// checked says whether the step changes definitions; the other steps are START and STOP.
func (s step) checked() bool { return classify(s.stmts[0]).checked() }

// run says whether further model statements belong to the step. CREATE RESOURCE is a step of its own (nspl 2.2).
func (s step) run() bool { return classify(s.stmts[0]) == classModel }

// bringing is the last operation of the step that creates the object.
func (s step) bringing(key registry.Key) int {
	for i, stmt := range slices.Backward(s.stmts) {
		if d, ok := stmt.(ast.Definition); ok && keyOf(d) == key {
			return s.first + i
		}
	}
	return s.last
}

// steps cuts the operations of a transaction.
func steps(stmts []ast.Statement) []step {
	var list []step
	for i, s := range stmts {
		if n := len(list); n > 0 && list[n-1].run() && classify(s) == classModel {
			list[n-1].last++
			list[n-1].stmts = append(list[n-1].stmts, s)
			continue
		}
		list = append(list, step{i + 1, i + 1, []ast.Statement{s}})
	}
	return list
}

// told is a diagnostic with the operation it is told at.
type told struct {
	operation int
	fault.Diagnostic
}

type toldList []told

func tellAll(operation int, list fault.Diagnostics) toldList {
	var all toldList
	for _, d := range list {
		all = append(all, told{operation, d})
	}
	return all
}

// in gives the diagnostics for the request that brought operation number current: only its spans are places of the submitted text, all
// others are told by number.
func (l toldList) in(current int) fault.Diagnostics {
	var list fault.Diagnostics
	for _, one := range l {
		d := one.Diagnostic
		if one.operation != current {
			d.Located, d.Span = false, fault.Span{}
			d.Message = fmt.Sprintf("operation %d: %s", one.operation, d.Message)
		}
		list = append(list, d)
	}
	return list
}

// of gives the diagnostics of an operation that failed at COMMIT. None is a place of a submitted text; those told at other operations of the
// same step say so.
func (l toldList) of(operation int) fault.Diagnostics {
	list := l.in(operation)
	for i := range list {
		list[i].Located, list[i].Span = false, fault.Span{}
	}
	return list
}

// replayed is the outcome of planning a transaction without any effect.
type replayed struct {
	refused    toldList // cannot become valid by later operations
	incomplete toldList // the last run lacks something that a later operation of the same run may bring
	// existed says that the last operation is an IF NOT EXISTS whose object exists at that point; notice is what to tell about it, if anything.
	existed bool
	notice  string
	// resolved are the versions that LATEST stands for at this point, puts what all steps together store, in order.
	resolved []resolution
	puts     []plannedPut
	// last is the last statement with its version resolved.
	last ast.Statement
}

// plannedPut is a definition with the operation that brings it.
type plannedPut struct {
	operation  int
	definition ast.Definition
}

// replay plans the operations against d in order, as commit would apply them.
func (c *Control) replay(d *registry.Domain, stmts []ast.Statement) replayed {
	base, err := c.parsed.base(d)
	if err != nil {
		return replayed{refused: toldList{{len(stmts), fromError(fault.StagePlan, fault.ControlCorrupt, err)[0]}}}
	}
	var out replayed
	running := d.Status == registry.Running
	list := steps(stmts)
	binder := binder{domain: d, created: map[ident.Name]bool{}}
	for i, s := range list {
		if !s.checked() {
			if bad, refused := lifecycle(d, s, &running); refused {
				return replayed{refused: toldList{bad}}
			}
			continue
		}
		last := i == len(list)-1
		bound, unbound := binder.bind(base, s.stmts, s.first)
		if len(unbound) > 0 {
			return replayed{refused: unbound}
		}
		s.stmts = bound
		checked, diagnostics := c.candidate(d, base, s.stmts)
		if last {
			at := len(s.stmts) - 1
			out.existed, out.notice, out.last = checked.Existed[at], checked.Notices[at], s.stmts[at]
		}
		out.resolved = binder.resolved
		if len(diagnostics) > 0 {
			judged := judgeRun(s, checked.At, diagnostics, last)
			judged.existed, judged.notice, judged.last, judged.resolved = out.existed, out.notice, out.last, out.resolved
			return judged
		}
		if running && !live(checked) {
			return replayed{refused: toldList{{s.last, complaintAt(fault.StagePlan, fault.DomainRunning, s.stmts[len(s.stmts)-1].Where(),
				"domain "+string(d.Name)+" runs at this point, and this change needs it stopped")}}}
		}
		for _, p := range checked.Puts {
			out.puts = append(out.puts, plannedPut{s.bringing(keyOf(p.Definition)), p.Definition})
		}
		if one, resource := s.stmts[0].(*ast.CreateResource); resource && len(checked.Puts) > 0 {
			binder.created[one.DefName()] = true
		}
		base = after(base, checked)
	}
	return out
}

// lifecycle plans START and STOP.
func lifecycle(d *registry.Domain, s step, running *bool) (told, bool) {
	one, start := s.stmts[0].(*ast.Start)
	if start == *running {
		code, word := fault.DomainStopped, "stopped"
		if start {
			code, word = fault.DomainRunning, "running"
		}
		return told{s.first, complaintAt(fault.StagePlan, code, s.stmts[0].Where(), "the domain is "+word+" at this point of the transaction")}, true
	}
	if start {
		if bad, refused := misfit(d, one); refused {
			return told{s.first, bad}, true
		}
	}
	*running = start
	return told{}, false
}

// judgeRun tells an incomplete run from a wrong one. Only the last run can still be completed, and only what involves other objects can be
// mended by another statement.
func judgeRun(s step, at []int, diagnostics fault.Diagnostics, last bool) replayed {
	var out replayed
	for i, d := range diagnostics {
		operation := s.last
		if i < len(at) && at[i] >= 0 {
			operation = s.first + at[i]
		}
		one := told{operation, d}
		if last && mendable(d) {
			out.incomplete = append(out.incomplete, one)
		} else {
			out.refused = append(out.refused, one)
		}
	}
	return out
}

func mendable(d fault.Diagnostic) bool {
	switch d.Code {
	case fault.ResolveUnknown, fault.ObjectReferenced:
		return true
	case fault.ObjectExists, fault.ObjectUnknown:
		return false
	case fault.ResourceUnknown, fault.ResourceNoVersion, fault.ResourceIncomplete, fault.ResourceVersionUnknown:
		return false // resources are steps of their own, and versions come from uploads
	default:
		return len(d.Related) > 0
	}
}

// after is the base that the next run meets.
func after(base []ast.Definition, k Checked) []ast.Definition {
	gone := map[registry.Key]bool{}
	for _, key := range k.Drops {
		gone[key] = true
	}
	for _, p := range k.Puts {
		gone[keyOf(p.Definition)] = true
	}
	next := slices.DeleteFunc(slices.Clone(base), func(d ast.Definition) bool { return gone[keyOf(d)] })
	for _, p := range k.Puts {
		next = append(next, p.Definition)
	}
	slices.SortFunc(next, func(a, b ast.Definition) int { return registry.CompareKeys(keyOf(a), keyOf(b)) })
	return next
}

func keyOf(d ast.Definition) registry.Key { return registry.Key{Kind: d.DefKind(), Name: d.DefName()} }

// readStatements parses the stored operations of a transaction.
func readStatements(t *registry.Transaction) ([]ast.Statement, answer, bool) {
	list := make([]ast.Statement, len(t.Statements))
	for i, s := range t.Statements {
		stmt, diagnostics := parse.Statement(s.Text)
		if len(diagnostics) > 0 {
			return nil, answer{diagnostics: fault.Diagnostics{complaint(fault.StagePlan, fault.ControlCorrupt,
				fmt.Sprintf("the stored text of operation %d cannot be read: %s", i+1, diagnostics.Error()))}}, false
		}
		list[i] = stmt
	}
	return list, answer{}, true
}
