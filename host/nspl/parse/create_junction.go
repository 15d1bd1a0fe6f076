// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

func parseCreateJunction(p *parser, a ast.Attachment) created {
	p.note("USING", notMaterialized)
	s := &ast.CreateJunction{Attachment: a, Inputs: p.inputs()}
	if p.accept("FILTER WHERE") {
		s.Filter = p.expr()
	}
	s.Branch = p.branchDecl("a junction says BRANCHED BY branch or UNBRANCHED before its first TO")
	s.Routes = p.routes()
	p.note("ON", "a junction has no ON GENERAL ERROR; its routes have ON MESSAGE ERROR")
	return s
}
