// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// finding is a diagnostic with the change it is told at; stored when there is none.
type finding struct {
	change int
	fault.Diagnostic
}

type findings []finding

// sorted gives the diagnostics by change and place, and beside each the index of its change.
func (f findings) sorted() (fault.Diagnostics, []int) {
	list := slices.Clone(f)
	slices.SortStableFunc(list, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.change, b.change), cmp.Compare(a.Span.Offset, b.Span.Offset), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	list = slices.CompactFunc(list, func(a, b finding) bool {
		return a.change == b.change && a.Span == b.Span && a.Code == b.Code && a.Message == b.Message
	})
	var diagnostics fault.Diagnostics
	var at []int
	for _, one := range list {
		diagnostics = append(diagnostics, one.Diagnostic)
		at = append(at, one.change)
	}
	return diagnostics, at
}

// atChange tells a defect at a place of a change.
func (c *candidate) atChange(change int, d fault.Diagnostic) {
	c.found = append(c.found, finding{change, d})
}

// report tells a defect of one definition. A defect of a stored definition has no place in the submitted text: it is told at the change
// that caused it, with the stored object related.
type report struct {
	c *candidate
	e *entry
	// failed says whether a defect was told.
	failed bool
}

// at tells a defect. An empty hint takes that of the catalogue.
func (r *report) at(stage fault.Stage, code fault.Code, span fault.Span, message, hint string, related ...ident.Ref) {
	if hint == "" {
		hint = fault.Lookup(code).Hint
	}
	d := fault.At(stage, code, span, message, hint)
	d.Related = related
	r.add(d)
}

// check is at for the stage check.
func (r *report) check(code fault.Code, span fault.Span, message string, related ...ident.Ref) {
	r.at(fault.StageCheck, code, span, message, "", related...)
}

// all tells the defects that the checker of expressions found in a part of the definition.
func (r *report) all(list fault.Diagnostics) {
	for _, d := range list {
		r.add(d)
	}
}

func (r *report) add(d fault.Diagnostic) {
	r.failed = true
	if r.e.origin != stored {
		r.c.atChange(r.e.origin, d)
		return
	}
	d.Message = object(r.e.ref) + ": " + d.Message
	d.Related = append([]ident.Ref{r.e.ref}, d.Related...)
	change, ok := r.c.cause(r.e.ref)
	if !ok {
		d.Located, d.Span, change = false, fault.Span{}, stored
	} else {
		d.Located, d.Span = true, nameSpan(r.c.changes[change])
	}
	r.c.atChange(change, d)
}

// name tells a defect at the definition's name.
func (r *report) name() fault.Span { return r.e.def.Head().Name.Span }
