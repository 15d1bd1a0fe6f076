// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var droppable = kindTable(append([]ident.Kind{ident.KindUser}, definedKinds...)...)

func parseDrop(p *parser, start int) ast.Statement {
	s := &ast.Drop{Kind: choose(p, droppable)}
	s.Name = p.named(s.Kind)
	s.Node = p.from(start)
	return s
}
