// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire/gen/sessionfb"
)

// stages maps the numbers of the schema to the stages of fault; zero is no stage.
var stages = [...]fault.Stage{
	sessionfb.StageLex: fault.StageLex, sessionfb.StageParse: fault.StageParse, sessionfb.StageResolve: fault.StageResolve,
	sessionfb.StageCheck: fault.StageCheck, sessionfb.StagePlan: fault.StagePlan, sessionfb.StageAdmit: fault.StageAdmit,
	sessionfb.StageApply: fault.StageApply, sessionfb.StageActivate: fault.StageActivate,
}

// outcomeSize sums the strings of an outcome: a lower bound of its frame.
func outcomeSize(o *CommandOutcome) int {
	size := len(o.Reference) + len(o.Text) + len(o.Data) + len(o.Domain)
	for i := range o.Statements {
		size += len(o.Statements[i].Text) + len(o.Statements[i].Data)
	}
	size += diagnosticsSize(o.Diagnostics)
	if o.Commit != nil {
		for i := range o.Commit.Operations {
			size += len(o.Commit.Operations[i].Text) + diagnosticsSize(o.Commit.Operations[i].Diagnostics)
		}
	}
	return size
}

func diagnosticsSize(list fault.Diagnostics) (size int) {
	for i := range list {
		size += len(list[i].Message) + len(list[i].Hint)
	}
	return size
}

func outcomeT(o *CommandOutcome) *sessionfb.CommandOutcomeT {
	disposition := sessionfb.Disposition(o.Disposition)
	t := &sessionfb.CommandOutcomeT{Disposition: &disposition, Reference: o.Reference, AlreadyExisted: o.AlreadyExisted,
		Recovered: o.Recovered, Text: clean(o.Text), Data: o.Data, Domain: o.Domain, UnknownCause: sessionfb.UnknownCause(o.UnknownCause)}
	for i := range o.Statements {
		s := &o.Statements[i]
		one := sessionfb.Disposition(s.Disposition)
		t.Statements = append(t.Statements, &sessionfb.StatementResultT{Index: s.Index, Disposition: &one, Text: clean(s.Text),
			AlreadyExisted: s.AlreadyExisted, Data: s.Data})
	}
	t.Diagnostics, t.Commit = diagnosticsT(o.Diagnostics), commitT(o.Commit)
	if o.Transaction != (Transaction{}) {
		t.Transaction = &sessionfb.TransactionT{State: sessionfb.TransactionState(o.Transaction.State), Reference: o.Transaction.Reference}
	}
	return t
}

func commitT(c *CommitReport) *sessionfb.CommitReportT {
	if c == nil {
		return nil
	}
	t := &sessionfb.CommitReportT{Applied: c.Applied, Failed: c.Failed}
	for i := range c.Operations {
		o := &c.Operations[i]
		fate := sessionfb.Fate(o.Fate)
		t.Operations = append(t.Operations, &sessionfb.OperationResultT{Number: o.Number, Fate: &fate, Text: clean(o.Text),
			Diagnostics: diagnosticsT(o.Diagnostics)})
	}
	return t
}

func diagnosticsT(list fault.Diagnostics) (t []*sessionfb.DiagnosticT) {
	for i := range list {
		t = append(t, diagnosticT(&list[i]))
	}
	return t
}

func diagnosticT(d *fault.Diagnostic) *sessionfb.DiagnosticT {
	t := &sessionfb.DiagnosticT{Code: string(d.Code), Message: clean(d.Message), Hint: clean(d.Hint)}
	for number, stage := range stages {
		if number > 0 && stage == d.Stage {
			s := sessionfb.Stage(number)
			t.Stage = &s
		}
	}
	if d.Located {
		offset, length := clamp(d.Span.Offset), clamp(d.Span.Length)
		t.Offset, t.Length = &offset, &length
	}
	for _, word := range d.Expected {
		t.Expected = append(t.Expected, clean(word))
	}
	for _, r := range d.Related {
		t.Related = append(t.Related, &sessionfb.RelatedT{Domain: string(r.Domain), Kind: uint16(r.Kind), Name: string(r.Name)})
	}
	return t
}

func clamp(n int) uint32 { return uint32(max(0, min(n, math.MaxInt32))) }

func outcome(x *sessionfb.CommandOutcome) (CommandOutcome, error) {
	o := CommandOutcome{Disposition: Disposition(*x.Disposition()), Reference: string(x.Reference()), AlreadyExisted: x.AlreadyExisted(),
		Recovered: x.Recovered(), Text: string(x.Text()), Data: string(x.Data()), Domain: string(x.Domain()),
		UnknownCause: UnknownCause(x.UnknownCause())}
	var s sessionfb.StatementResult
	if n := x.StatementsLength(); n > 0 {
		o.Statements = make([]StatementResult, n)
		for i := range n {
			x.Statements(&s, i)
			o.Statements[i] = StatementResult{Index: s.Index(), Disposition: Disposition(*s.Disposition()), Text: string(s.Text()),
				AlreadyExisted: s.AlreadyExisted(), Data: string(s.Data())}
		}
	}
	var err error
	if o.Diagnostics, err = diagnostics(x); err != nil {
		return o, err
	}
	var c sessionfb.CommitReport
	if x.Commit(&c) != nil {
		if o.Commit, err = commit(&c); err != nil {
			return o, err
		}
	}
	var t sessionfb.Transaction
	if x.Transaction(&t) != nil {
		o.Transaction = Transaction{State: TransactionState(t.State()), Reference: string(t.Reference())}
	}
	return o, nil
}

func commit(x *sessionfb.CommitReport) (*CommitReport, error) {
	c := &CommitReport{Applied: x.Applied(), Failed: x.Failed()}
	var o sessionfb.OperationResult
	if n := x.OperationsLength(); n > 0 {
		c.Operations = make([]OperationResult, n)
		for i := range n {
			x.Operations(&o, i)
			list, err := diagnostics(&o)
			if err != nil {
				return nil, err
			}
			c.Operations[i] = OperationResult{Number: o.Number(), Fate: Fate(*o.Fate()), Text: string(o.Text()), Diagnostics: list}
		}
	}
	return c, nil
}

// diagnosed is a table with diagnostics.
type diagnosed interface {
	DiagnosticsLength() int
	Diagnostics(d *sessionfb.Diagnostic, i int) bool
}

func diagnostics(x diagnosed) (fault.Diagnostics, error) {
	n := x.DiagnosticsLength()
	if n == 0 {
		return nil, nil
	}
	var d sessionfb.Diagnostic
	list := make(fault.Diagnostics, n)
	for i := range n {
		x.Diagnostics(&d, i)
		if err := diagnostic(&d, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func diagnostic(x *sessionfb.Diagnostic, d *fault.Diagnostic) error {
	d.Code, d.Message, d.Hint = fault.Code(x.Code()), string(x.Message()), string(x.Hint())
	if stage := x.Stage(); stage != nil {
		d.Stage = stages[*stage]
	}
	offset, length := x.Offset(), x.Length()
	if (offset == nil) != (length == nil) {
		return fault.New(fault.WireInvalid, "wire.DecodeServer", ident.Ref{}, "a diagnostic has half a span", nil)
	}
	if offset != nil {
		if *offset > math.MaxInt32 || *length > math.MaxInt32 {
			return fault.New(fault.WireInvalid, "wire.DecodeServer", ident.Ref{}, "a diagnostic's span is out of range", nil)
		}
		d.Located, d.Span = true, fault.Span{Offset: int(*offset), Length: int(*length)}
	}
	if n := x.ExpectedLength(); n > 0 {
		d.Expected = make([]string, n)
		for i := range n {
			d.Expected[i] = string(x.Expected(i))
		}
	}
	var r sessionfb.Related
	if n := x.RelatedLength(); n > 0 {
		d.Related = make([]ident.Ref, n)
		for i := range n {
			x.Related(&r, i)
			if r.Kind() > math.MaxUint8 {
				return fault.New(fault.WireInvalid, "wire.DecodeServer", ident.Ref{}, "a diagnostic names an object kind out of range", nil)
			}
			d.Related[i] = ident.Ref{Domain: ident.Domain(r.Domain()), Kind: ident.Kind(r.Kind()), Name: ident.Name(r.Name())}
		}
	}
	return nil
}
