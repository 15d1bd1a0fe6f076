// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// resolution is a VERSION LATEST that was resolved.
type resolution struct {
	operation int // from 1
	resource  ident.Name
	version   uint64
}

func (r resolution) String() string {
	return fmt.Sprintf("resource '%s' version %d (latest)", r.resource, r.version)
}

// resolved names each resolution once, for the end of a text.
func resolved(list []resolution) string {
	text := ""
	var told []resolution
	for _, r := range list {
		r.operation = 0
		if !slices.Contains(told, r) {
			told = append(told, r)
			text += "; " + r.String()
		}
	}
	return text
}

// binder resolves the versions that statements name, against the resources of a domain and what earlier statements of a transaction bring.
type binder struct {
	domain *registry.Domain
	// created are resources that an earlier operation creates: they have no version, also when one of their name had some.
	created map[ident.Name]bool
	// frozen are the resolutions of an admitted COMMIT; they replace LATEST.
	frozen []registry.Frozen

	binds    []registry.Binding
	resolved []resolution
}

// bind gives the statements of one step with numbers in place of LATEST. first is the operation number of the first. Statements that cannot be
// bound stay as they are, with a diagnostic, except an IF NOT EXISTS whose object exists: it binds nothing (nspl 2.3).
func (b *binder) bind(base []ast.Definition, stmts []ast.Statement, first int) ([]ast.Statement, toldList) {
	var bad toldList
	exists := map[registry.Key]bool{}
	for _, d := range base {
		exists[keyOf(d)] = true
	}
	out := slices.Clone(stmts)
	for i, s := range stmts {
		switch one := s.(type) {
		case *ast.Drop:
			delete(exists, registry.Key{Kind: one.Kind, Name: one.Name.Name})
		case *ast.CreateWASM:
			key := keyOf(one)
			number, diagnostic, ok := b.version(one.Resource, one.Version, first+i)
			idle := one.IfNotExists && exists[key]
			exists[key] = true
			if ok {
				bound := *one
				bound.Version.Latest, bound.Version.Number = false, number
				out[i] = &bound
			}
			switch {
			case idle:
			case !ok:
				bad = append(bad, told{first + i, diagnostic})
			default:
				b.note(one, number, first+i)
			}
		case ast.Definition:
			exists[keyOf(one)] = true
		}
	}
	return out, bad
}

// note keeps what a statement binds. A frozen resolution is no longer compared with the latest version.
func (b *binder) note(s *ast.CreateWASM, number uint64, operation int) {
	latest := s.Version.Latest
	if latest {
		b.resolved = append(b.resolved, resolution{operation, s.Resource.Name, number})
	}
	_, frozen := b.decided(operation)
	b.binds = append(b.binds, registry.Binding{Resource: s.Resource.Name, Version: number, Latest: latest && !frozen})
}

func (b *binder) decided(operation int) (uint64, bool) {
	for _, f := range b.frozen {
		if int(f.Operation) == operation && f.Version > 0 {
			return f.Version, true
		}
	}
	return 0, false
}

// version resolves one clause to a completed version.
func (b *binder) version(name ast.Ident, v ast.Version, operation int) (uint64, fault.Diagnostic, bool) {
	refuse := func(code fault.Code, span fault.Span, format string, args ...any) (uint64, fault.Diagnostic, bool) {
		d := complaintAt(fault.StageResolve, code, span, fmt.Sprintf(format, args...))
		d.Related = []ident.Ref{{Domain: b.domain.Name, Kind: ident.KindResource, Name: name.Name}}
		return 0, d, false
	}
	r := b.domain.Resources[name.Name]
	switch {
	case b.created[name.Name]:
		return refuse(fault.ResourceNoVersion, v.Span, "RESOURCE %s is created in this transaction and has no completed version", name.Name)
	case r == nil:
		return refuse(fault.ResourceUnknown, name.Span, "there is no RESOURCE %s in domain %s", name.Name, b.domain.Name)
	}
	number := v.Number
	if v.Latest {
		if frozen, ok := b.decided(operation); ok {
			number = frozen
		} else if latest := r.Latest(); latest != nil {
			number = latest.Number
		} else {
			return refuse(fault.ResourceNoVersion, v.Span, "RESOURCE %s has no completed version", name.Name)
		}
	}
	found := r.Version(number)
	switch {
	case found == nil && (number == 0 || number > r.Last):
		return refuse(fault.ResourceVersionUnknown, v.Span, "RESOURCE %s has no version %d; %s", name.Name, number, latestOf(r))
	case found == nil:
		return refuse(fault.ResourceIncomplete, v.Span, "version %d of RESOURCE %s is failed; %s", number, name.Name, latestOf(r))
	case found.State != registry.VersionCompleted:
		return refuse(fault.ResourceIncomplete, v.Span, "version %d of RESOURCE %s is %s; %s", number, name.Name, found.State, latestOf(r))
	}
	return number, fault.Diagnostic{}, true
}

func latestOf(r *registry.Resource) string {
	if v := r.Latest(); v != nil {
		return fmt.Sprintf("the latest completed one is %d", v.Number)
	}
	return "none is completed"
}

// freezeVersions keeps the resolutions for the admitted COMMIT.
func freezeVersions(list []resolution) []registry.Frozen {
	var frozen []registry.Frozen
	for _, r := range list {
		frozen = append(frozen, registry.Frozen{Operation: uint32(r.operation), Resource: r.resource, Version: r.version})
	}
	return frozen
}

// frozenResolutions are the resolutions that a COMMIT was admitted with.
func frozenResolutions(frozen []registry.Frozen) []resolution {
	var list []resolution
	for _, f := range frozen {
		if f.Version > 0 {
			list = append(list, resolution{int(f.Operation), f.Resource, f.Version})
		}
	}
	return list
}
