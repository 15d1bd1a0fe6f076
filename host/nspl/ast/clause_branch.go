// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// BranchDecl is `BRANCHED BY name` or, with Branch nil, `UNBRANCHED`. One of them is always written.
type BranchDecl struct {
	Node
	Branch *Ident
}

func (b BranchDecl) references() []Reference {
	if b.Branch == nil {
		return nil
	}
	return []Reference{refer(ident.KindBranch, *b.Branch)}
}

// RouteBranch is the branch clause of an ingestor's route, which also builds the key.
type RouteBranch struct {
	BranchDecl
	Set []Assignment
}
