// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// inputs reads FROM list(relay [WHERE expr]).
func (p *parser) inputs() ast.Inputs {
	start := p.tok.Span.Offset
	p.expect("FROM")
	in := ast.Inputs{}
	p.list(func() {
		from := p.tok.Span.Offset
		one := ast.Input{Relay: p.named(ident.KindRelay)}
		if p.accept("WHERE") {
			one.Where = p.expr()
		}
		one.Node = p.from(from)
		in.From = append(in.From, one)
	})
	in.Node = p.from(start)
	return in
}
