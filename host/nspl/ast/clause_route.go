// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Route is one output of a node: `TO relay construct flush policy` (nspl 10).
type Route struct {
	Node
	To        Ident
	Construct Construct
	Flush     Flush
	OnError   MessagePolicy
}

func (r Route) references() []Reference {
	return append([]Reference{refer(ident.KindRelay, r.To)}, r.OnError.references()...)
}

// BoundRoute is a route of an ingestor: it declares the branch and builds its key.
type BoundRoute struct {
	Route
	Branch RouteBranch
}

func (r BoundRoute) references() []Reference {
	refs := append([]Reference{refer(ident.KindRelay, r.To)}, r.Branch.references()...)
	return append(refs, r.OnError.references()...)
}
