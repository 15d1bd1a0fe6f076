// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// routes reads one or more routes of a node.
func (p *parser) routes() []ast.Route {
	var list []ast.Route
	for {
		start := p.tok.Span.Offset
		if len(list) > 0 && !p.accept("TO") {
			return list
		}
		if len(list) == 0 {
			p.expect("TO")
		}
		p.offered = map[string]bool{}
		p.note("BRANCHED", "the branch of a junction is declared once, before its first TO")
		p.note("UNBRANCHED", "the branch of a junction is declared once, before its first TO")
		r := ast.Route{To: p.named(ident.KindRelay), Construct: p.construct()}
		r.Flush = p.flush()
		r.OnError = p.messagePolicy()
		r.Node = p.from(start)
		list = append(list, r)
	}
}

// boundRoutes reads one or more routes of an ingestor.
func (p *parser) boundRoutes() []ast.BoundRoute {
	var list []ast.BoundRoute
	for {
		start := p.tok.Span.Offset
		if len(list) > 0 && !p.accept("TO") {
			return list
		}
		if len(list) == 0 {
			p.expect("TO")
		}
		p.offered = map[string]bool{}
		r := ast.BoundRoute{Route: ast.Route{To: p.named(ident.KindRelay), Construct: p.construct()}}
		r.Branch = p.routeBranch()
		r.Flush = p.flush()
		r.OnError = p.messagePolicy()
		r.Node = p.from(start)
		list = append(list, r)
	}
}
