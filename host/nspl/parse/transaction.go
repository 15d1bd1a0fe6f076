// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

func parseBegin(p *parser, start int) ast.Statement {
	p.note("TRANSACTION", "BEGIN stands alone")
	return &ast.Begin{Node: p.from(start)}
}

func parseCommit(p *parser, start int) ast.Statement {
	return &ast.Commit{Node: p.from(start)}
}

func parseRevert(p *parser, start int) ast.Statement {
	return &ast.Revert{Node: p.from(start)}
}
