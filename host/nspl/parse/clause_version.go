// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// version reads VERSION n or VERSION LATEST.
func (p *parser) version() ast.Version {
	start := p.tok.Span.Offset
	v := ast.Version{}
	p.advising("every use of a resource says VERSION n or VERSION LATEST", func() { p.expect("VERSION") })
	if p.accept("LATEST") {
		v.Latest = true
	} else {
		p.advising("a version is its number, or LATEST", func() { v.Number = p.count("VERSION").Value })
	}
	v.Node = p.from(start)
	return v
}
