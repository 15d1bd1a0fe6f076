// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// reader collects the first defect of a stored form, so that the conversions read as plain assignments.
type reader struct{ err error }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = corrupt(fmt.Sprintf(format, args...))
	}
}

func (r *reader) reference(b []byte) (out ident.Reference) {
	switch len(b) {
	case 0:
	case len(out):
		copy(out[:], b)
	default:
		r.fail("a reference of %d bytes", len(b))
	}
	return out
}

// given is a reference that may not be absent.
func (r *reader) given(b []byte) ident.Reference {
	out := r.reference(b)
	if out.IsZero() {
		r.fail("a reference is missing")
	}
	return out
}

func (r *reader) digest(b []byte) (out Digest) {
	switch len(b) {
	case 0:
	case len(out):
		copy(out[:], b)
	default:
		r.fail("a digest of %d bytes", len(b))
	}
	return out
}

func (r *reader) key(k *wire.ControlKey) Key {
	if kind := ident.Kind(k.Kind); kind >= ident.KindNode {
		r.fail("object kind %d", k.Kind)
	}
	return Key{ident.Kind(k.Kind), ident.Name(k.Name)}
}

func (r *reader) keys(list []*wire.ControlKey) []Key { return each(list, r.key) }

func (r *reader) assignment(a *wire.ControlAssignment) Assignment {
	return Assignment{r.key(a.Key), ident.Node(a.Node)}
}

func (r *reader) outcome(o *wire.ControlOutcome) Outcome {
	if o == nil {
		return Outcome{}
	}
	return Outcome{
		Code: fault.Code(o.Code), Text: o.Text, AlreadyExisted: o.AlreadyExisted, Transaction: r.reference(o.Transaction), Position: o.Position,
		Diagnostics: each(o.Diagnostics, r.diagnostic),
	}
}

func (r *reader) diagnostic(d *wire.ControlDiagnostic) fault.Diagnostic {
	return fault.Diagnostic{
		Stage: fault.Stage(d.Stage), Code: fault.Code(d.Code), Message: d.Message, Hint: d.Hint, Located: d.Located,
		Span: fault.Span{Offset: int(d.Offset), Length: int(d.Length)},
		Related: each(d.Related, func(x *wire.ControlRelated) ident.Ref {
			return ident.Ref{Domain: ident.Name(x.Domain), Kind: ident.Kind(x.Kind), Name: ident.Name(x.Name)}
		}),
	}
}

// each converts a list; an empty one becomes nil, so that equal states are equal values.
func each[A, B any](list []A, convert func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, one := range list {
		out[i] = convert(one)
	}
	return out
}

func packReference(r ident.Reference) []byte {
	if r.IsZero() {
		return nil
	}
	return slices.Clone(r[:])
}

func packDigest(d Digest) []byte { return slices.Clone(d[:]) }

func packKey(k Key) *wire.ControlKey {
	return &wire.ControlKey{Kind: byte(k.Kind), Name: string(k.Name)}
}

func packAssignment(a Assignment) *wire.ControlAssignment {
	return &wire.ControlAssignment{Key: packKey(a.Key), Node: uint64(a.Node)}
}

func packOutcome(o Outcome) *wire.ControlOutcome {
	return &wire.ControlOutcome{
		Code: string(o.Code), Text: o.Text, AlreadyExisted: o.AlreadyExisted, Transaction: packReference(o.Transaction), Position: o.Position,
		Diagnostics: each(o.Diagnostics, packDiagnostic),
	}
}

func packDiagnostic(d fault.Diagnostic) *wire.ControlDiagnostic {
	return &wire.ControlDiagnostic{
		Stage: string(d.Stage), Code: string(d.Code), Message: d.Message, Hint: d.Hint, Located: d.Located,
		Offset: int64(d.Span.Offset), Length: int64(d.Span.Length),
		Related: each(d.Related, func(x ident.Ref) *wire.ControlRelated {
			return &wire.ControlRelated{Domain: string(x.Domain), Kind: byte(x.Kind), Name: string(x.Name)}
		}),
	}
}

func packLimits(l Limits) *wire.ControlLimits {
	return &wire.ControlLimits{
		Statements: l.Statements, SourceBytes: l.SourceBytes, Open: l.Open, IdleNs: int64(l.Idle), TombstoneNs: int64(l.Tombstone),
		References: l.References, OpenSourceBytes: l.OpenSourceBytes, DefinitionBytes: l.DefinitionBytes,
		ResourceVersions: l.ResourceVersions, Versions: l.Versions,
	}
}

func packUser(u User) *wire.ControlUser {
	return &wire.ControlUser{Name: string(u.Name), Phc: u.PHC}
}
