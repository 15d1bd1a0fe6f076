// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// node is what the checks of one runtime node have in common.
type node struct {
	b *builder
	r *report
	e *entry
	// input is the schema of the rows the node works on; nil when it could not be found.
	input *types.Schema
	// metadata has the source facts of an ingestor.
	metadata *types.Schema
	// branch is what the node's expressions can read as `branch`; nil in unbranched execution.
	branch *Branch
}

func (n *node) word() string { return object(n.e.ref) }

// flush turns a FLUSH clause into its plan.
func flush(f ast.Flush) Flush {
	if f.Immediate {
		return Flush{Immediate: true}
	}
	return Flush{Each: duration(f.Each), MaxBytes: int64(min(f.MaxBatch.Bytes, math.MaxInt64))}
}

// inputs checks the FROM clause: no relay twice, one schema by name (nspl 10.1). branch demands the branch of every relay; with
// anyBranch each may have its own (emitters). It also finds the input schema; nil when the inputs do not agree.
func (n *node) inputs(from ast.Inputs, branch *Branch, anyBranch bool) []Input {
	if len(from.From) == 0 {
		n.r.check(fault.ModelEmpty, n.r.name(), n.word()+" needs at least one input")
		return nil
	}
	seen := make(map[ident.Name]bool, len(from.From))
	var inputs []Input
	agree := true
	for _, in := range from.From {
		if seen[in.Relay.Name] {
			n.r.check(fault.ModelDuplicate, in.Relay.Span, "RELAY "+string(in.Relay.Name)+" is listed twice")
		}
		seen[in.Relay.Name] = true
		relay := n.b.g.Relay(in.Relay.Name)
		if relay == nil {
			agree = false
			continue
		}
		if len(inputs) > 0 && inputs[0].Relay.Schema.Name() != relay.Schema.Name() {
			first := inputs[0].Relay
			n.r.check(fault.ModelSchema, in.Relay.Span, object(relay.Ref)+" has SCHEMA "+string(relay.Schema.Name())+", but "+object(first.Ref)+
				" has SCHEMA "+string(first.Schema.Name()), relay.Ref, first.Ref)
			agree = false
		}
		if !anyBranch {
			n.sameBranch(relay, branch, in.Relay.Span, "")
		}
		inputs = append(inputs, Input{Relay: relay})
	}
	if !agree {
		return nil
	}
	n.input = inputs[0].Relay.Schema
	return inputs
}

// wheres compiles the source predicates of inputs that were found. In an emitter a predicate has the branch of its own relay.
func (n *node) wheres(from ast.Inputs, inputs []Input) {
	for i := range inputs {
		if from.From[i].Where != nil {
			inputs[i].Where = n.predicate(from.From[i].Where)
		}
	}
}

// sameBranch demands that a relay has exactly the branch of the node that uses it; the text names both (nspl 10.3). An empty hint takes that
// of the catalogue.
func (n *node) sameBranch(relay *Relay, branch *Branch, span fault.Span, hint string) bool {
	if relay.Branch.same(branch) {
		return true
	}
	related := []ident.Ref{relay.Ref}
	for _, one := range []*Branch{relay.Branch, branch} {
		if one != nil {
			related = append(related, one.Ref)
		}
	}
	n.r.at(fault.StageCheck, fault.ModelBranch, span,
		object(relay.Ref)+" is "+relay.Branch.declaration()+", but "+n.word()+" is "+branch.declaration()+" here", hint, related...)
	return false
}

// route checks one output of a node that keeps the branch. It is false when something the route needs is defective itself.
func (n *node) route(index int, route ast.Route) (Route, bool) {
	plan := Route{Index: index, Relay: n.b.g.Relay(route.To.Name), Flush: flush(route.Flush)}
	if plan.Relay == nil {
		return plan, false
	}
	n.sameBranch(plan.Relay, n.branch, route.To.Span, "")
	if n.input != nil {
		plan.Construct = n.construct(route.Construct, plan.Relay.Schema, route.To.Span)
	}
	plan.Policy = n.policy(route.OnError, plan.Relay.Schema, []*Branch{n.branch})
	return plan, route.OnError.Policy != ast.PolicySendTo || plan.Policy.Relay != nil
}

// policy checks a message-error policy. Error records go to a relay with exactly the branch of the failing operation, given by each of
// at, and read the output that failed (nspl 9.5).
func (n *node) policy(p ast.MessagePolicy, output *types.Schema, at []*Branch) Policy {
	plan := Policy{Kind: PolicyKind(p.Policy)}
	if p.Policy != ast.PolicySendTo {
		return plan
	}
	relay := n.b.g.Relay(p.To.Name)
	if relay == nil {
		return plan
	}
	for _, branch := range at {
		if !n.sameBranch(relay, branch, p.To.Span, n.errorHint()) {
			return plan
		}
	}
	plan.Relay = relay
	if n.input != nil && output != nil {
		plan.Record = n.errorRecord(p, relay, output)
	}
	return plan
}

// errorHint explains the branch that an error relay needs.
func (n *node) errorHint() string {
	switch n.e.ref.Kind {
	case ident.KindIngestor:
		return "rows fail before they have a branch: the error relay of an ingestor is UNBRANCHED"
	case ident.KindEmitter:
		return "the error relay of an emitter has the branch of every input"
	default:
		return "the error relay has the branch of the node"
	}
}
