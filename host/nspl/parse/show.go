// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

var showable = kindTable(definedKinds...)

// notShown are plurals that people ask SHOW for, with what there is instead.
var notShown = map[string]string{
	"DOMAINS": "domains are listed with LIST DOMAINS", "NODES": allNodes, "RELAYS": allNodes, "JUNCTIONS": allNodes, "EMITTERS": allNodes,
}

const allNodes = "SHOW CLUSTER STATUS lists the nodes of all domains; one is shown with DESCRIBE"

// notDescribed are kinds without a state of their own, with what shows them.
var notDescribed = map[string]string{
	"DOMAIN": "domains and their states are in LIST DOMAINS and SHOW CLUSTER STATUS", "SCHEMA": definitionOnly, "WIRE": definitionOnly,
	"CODEC": definitionOnly, "BRANCH": definitionOnly, "CLIENT": definitionOnly,
}

const definitionOnly = "it has a definition and no state of its own: SHOW CREATE shows it"

func parseShowCreate(p *parser, start int) ast.Statement {
	p.note("USER", "a user has no definition to show, because it holds a password")
	s := &ast.ShowCreate{Kind: choose(p, showable)}
	s.Name = p.named(s.Kind)
	s.Node = p.from(start)
	return s
}

func parseShowIngestors(p *parser, start int) ast.Statement {
	s := &ast.ShowIngestors{Format: p.format()}
	s.Node = p.from(start)
	return s
}

func parseShowClusterStatus(p *parser, start int) ast.Statement {
	s := &ast.ShowClusterStatus{Format: p.format()}
	s.Node = p.from(start)
	return s
}

var formats = []choice[ast.Format]{{"TEXT", ast.FormatText}, {"JSON", ast.FormatJSON}}

// format reads [FORMAT (TEXT|JSON)].
func (p *parser) format() ast.Format {
	if !p.accept("FORMAT") {
		return ast.FormatText
	}
	return choose(p, formats)
}
