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
	for i := range o.Diagnostics {
		size += len(o.Diagnostics[i].Message) + len(o.Diagnostics[i].Hint)
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
	for i := range o.Diagnostics {
		t.Diagnostics = append(t.Diagnostics, diagnosticT(&o.Diagnostics[i]))
	}
	if o.Transaction != (Transaction{}) {
		t.Transaction = &sessionfb.TransactionT{State: sessionfb.TransactionState(o.Transaction.State), Reference: o.Transaction.Reference}
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
	var d sessionfb.Diagnostic
	if n := x.DiagnosticsLength(); n > 0 {
		o.Diagnostics = make(fault.Diagnostics, n)
		for i := range n {
			x.Diagnostics(&d, i)
			if err := diagnostic(&d, &o.Diagnostics[i]); err != nil {
				return o, err
			}
		}
	}
	var t sessionfb.Transaction
	if x.Transaction(&t) != nil {
		o.Transaction = Transaction{State: TransactionState(t.State()), Reference: string(t.Reference())}
	}
	return o, nil
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
