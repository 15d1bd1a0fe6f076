// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// apply runs the changes over the base in written order. existed tells for each change whether it was an IF NOT EXISTS that found its
// object, and notices what to tell about it (Q41).
func (c *candidate) apply(changes []ast.Statement) (existed []bool, notices []string) {
	c.changes = changes
	existed, notices = make([]bool, len(changes)), make([]string, len(changes))
	for i, s := range changes {
		switch one := s.(type) {
		case ast.Definition:
			existed[i], notices[i] = c.create(i, one)
		case *ast.AlterRelay:
			c.alterRelay(i, one)
		case *ast.Drop:
			c.drop(i, one)
		default:
			c.atChange(i, fault.At(fault.StageCheck, fault.RequestUnsupported, s.Where(), "this statement does not change the model of a domain", ""))
		}
	}
	return existed, notices
}

func (c *candidate) create(i int, def ast.Definition) (existed bool, notice string) {
	head := def.Head()
	if !modelKind(def.DefKind()) {
		c.atChange(i, fault.At(fault.StageCheck, fault.RequestUnsupported, head.Name.Span, def.DefKind().String()+" belongs to no domain", ""))
		return false, ""
	}
	ref := c.ref(def.DefKind(), def.DefName())
	if old := c.entries[ref]; old != nil {
		if !head.IfNotExists {
			d := fault.At(fault.StageResolve, fault.ObjectExists, head.Name.Span, object(ref)+" exists already", fault.Lookup(fault.ObjectExists).Hint)
			d.Related = []ident.Ref{ref}
			c.atChange(i, d)
			return false, ""
		}
		if shape(old.def) != shape(def) {
			notice = object(ref) + " exists with another definition; it was left as it is"
		}
		return true, notice
	}
	c.entries[ref] = &entry{ref: ref, def: def, origin: i}
	c.touched[ref] = i
	return false, ""
}

func (c *candidate) drop(i int, s *ast.Drop) {
	ref := c.ref(s.Kind, s.Name.Name)
	if !modelKind(s.Kind) {
		c.atChange(i, fault.At(fault.StageCheck, fault.RequestUnsupported, s.Name.Span, s.Kind.String()+" belongs to no domain", ""))
		return
	}
	if c.entries[ref] == nil {
		c.unknownTarget(i, ref, s.Name.Span)
		return
	}
	if s.Kind == ident.KindResource {
		c.atChange(i, fault.At(fault.StageCheck, fault.RequestUnsupported, s.Name.Span, "versions of a resource are never deleted, so "+object(ref)+" is not dropped",
			"an unused resource costs nothing but its files; DROP DOMAIN removes all resources of a domain")) // nspl 2.7
		return
	}
	delete(c.entries, ref)
	c.drops[ref] = drop{i, s.Name.Span}
	c.touched[ref] = i
}

// unknownTarget tells that an ALTER or DROP names nothing.
func (c *candidate) unknownTarget(i int, ref ident.Ref, span fault.Span) {
	hint := suggestion(string(ref.Name), c.names(ref.Kind))
	c.atChange(i, fault.At(fault.StageResolve, fault.ObjectUnknown, span, "there is no "+object(ref)+" in domain "+string(c.domain), hint))
}

// alterRelay replaces the entry by one with the operations applied in written order. The definition keeps the spans it had.
func (c *candidate) alterRelay(i int, s *ast.AlterRelay) {
	ref := c.ref(ident.KindRelay, s.Name.Name)
	old := c.entries[ref]
	if old == nil {
		c.unknownTarget(i, ref, s.Name.Span)
		return
	}
	next := *old.def.(*ast.CreateRelay)
	for _, op := range s.Ops {
		switch one := op.(type) {
		case *ast.SetCapacity:
			if one.Capacity.Value == 0 {
				c.atChange(i, fault.At(fault.StageCheck, fault.ModelRange, one.Capacity.Span, capacityRange, ""))
				return
			}
			next.Capacity = ast.Uint{Value: one.Capacity.Value}
		default:
			c.atChange(i, fault.At(fault.StageCheck, fault.RequestUnsupported, op.Where(), "this operation of ALTER RELAY is not supported", ""))
			return
		}
	}
	c.entries[ref] = &entry{ref: ref, def: &next, origin: old.origin}
	c.touched[ref] = i
}

// names lists the names of a kind.
func (c *candidate) names(kind ident.Kind) []string {
	var names []string
	for ref := range c.entries {
		if ref.Kind == kind {
			names = append(names, string(ref.Name))
		}
	}
	return names
}

// modelKind says whether objects of the kind belong to a domain, so that a candidate holds them (nspl 2.1). A resource is no model and
// a step of its own in a transaction (nspl 2.2), which the caller knows; its definition is checked here like the others.
func modelKind(kind ident.Kind) bool {
	switch kind {
	case ident.KindNone, ident.KindDomain, ident.KindUser, ident.KindNode:
		return false
	default:
		return true
	}
}

var capacityRange = "the capacity of a relay is 1.." + strconv.FormatUint(1<<64-1, 10) + " batches"
