// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// relayOps are the operations of ALTER RELAY by their first words.
var relayOps = []choice[func(p *parser, start int) ast.RelayOp]{{"SET CAPACITY", parseSetCapacity}}

func parseAlterRelay(p *parser, start int) ast.Statement {
	s := &ast.AlterRelay{Name: p.named(ident.KindRelay)}
	p.list(func() {
		from := p.tok.Span.Offset
		s.Ops = append(s.Ops, choose(p, relayOps)(p, from))
	})
	s.Node = p.from(start)
	return s
}

func parseSetCapacity(p *parser, start int) ast.RelayOp {
	op := &ast.SetCapacity{Capacity: p.capacity()}
	op.Node = p.from(start)
	return op
}
