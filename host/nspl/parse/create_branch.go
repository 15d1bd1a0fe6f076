// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseCreateBranch(p *parser, _ ast.Ident) created {
	s := &ast.CreateBranch{}
	p.expect("SCHEMA")
	s.Schema = p.named(ident.KindSchema)
	p.expect("TTL")
	s.TTL = p.duration("the TTL")
	if p.accept("MAX INSTANCES") {
		n := p.count("MAX INSTANCES")
		s.MaxInstances = &n
		p.expect("EVICT LRU")
	}
	return s
}
