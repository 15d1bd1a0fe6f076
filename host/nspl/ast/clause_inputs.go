// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Inputs is the FROM clause of a relay-consuming node (nspl 10.1). It holds at least one relay.
type Inputs struct {
	Node
	From []Input
}

// Input is one relay of a FROM clause with its source predicate; Where is nil when it was left out.
type Input struct {
	Node
	Relay Ident
	Where Expr
}

func (in Inputs) references() []Reference {
	var refs []Reference
	for _, one := range in.From {
		refs = append(refs, refer(ident.KindRelay, one.Relay))
	}
	return refs
}
