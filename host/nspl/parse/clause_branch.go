// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// branchDecl reads BRANCHED BY name or UNBRANCHED; advice is the hint when neither stands here.
func (p *parser) branchDecl(advice string) ast.BranchDecl {
	start := p.tok.Span.Offset
	if p.accept("BRANCHED BY") {
		name := p.named(ident.KindBranch)
		return ast.BranchDecl{Node: p.from(start), Branch: &name}
	}
	p.advising(advice, func() { p.expect("UNBRANCHED") })
	return ast.BranchDecl{Node: p.from(start)}
}

// routeBranch reads the branch clause of an ingestor's route.
func (p *parser) routeBranch() ast.RouteBranch {
	start := p.tok.Span.Offset
	r := ast.RouteBranch{BranchDecl: p.branchDecl("a route of an ingestor says BRANCHED BY branch or UNBRANCHED before its FLUSH")}
	if r.Branch != nil && p.accept("SET") {
		r.Set = p.assignments()
	}
	r.Node = p.from(start)
	return r
}
