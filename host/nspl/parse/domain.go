// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseUse(p *parser, start int) ast.Statement {
	s := &ast.Use{Name: p.named(ident.KindDomain)}
	s.Node = p.from(start)
	return s
}

func parseListDomains(p *parser, start int) ast.Statement {
	return &ast.ListDomains{Node: p.from(start)}
}

func parseStop(p *parser, start int) ast.Statement {
	p.note("DOMAIN", "START and STOP take no name: USE the domain first")
	return &ast.Stop{Node: p.from(start)}
}
