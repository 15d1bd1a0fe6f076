// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

const namesNoDomain = "the clock is that of the selected domain: USE the domain first"

func parseAttachClock(p *parser, start int) ast.Statement {
	p.advice = namesNoDomain
	return &ast.AttachDomainClock{Node: p.from(start)}
}

func parseDetachClock(p *parser, start int) ast.Statement {
	p.advice = namesNoDomain
	return &ast.DetachDomainClock{Node: p.from(start)}
}
