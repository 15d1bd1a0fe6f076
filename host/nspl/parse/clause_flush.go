// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// flush reads FLUSH IMMEDIATE or FLUSH EACH dur MAX BATCH SIZE size.
func (p *parser) flush() ast.Flush {
	start := p.tok.Span.Offset
	f := ast.Flush{}
	p.advising("FLUSH IMMEDIATE or FLUSH EACH duration MAX BATCH SIZE size is required here", func() { p.expect("FLUSH") })
	if p.accept("IMMEDIATE") {
		f.Immediate = true
	} else {
		p.expect("EACH")
		f.Each = p.duration("the flush interval")
		p.expect("MAX BATCH SIZE")
		f.MaxBatch = p.size()
	}
	f.Node = p.from(start)
	return f
}
