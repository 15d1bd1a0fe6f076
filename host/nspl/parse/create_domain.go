// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

var placements = []choice[ast.Placement]{
	{"REQUIRE COLOCATION", ast.PlacementRequireColocation},
	{"PREFER COLOCATION", ast.PlacementPreferColocation},
	{"NEUTRAL", ast.PlacementNeutral},
	{"SUGGEST SEPARATION", ast.PlacementSuggestSeparation},
}

func parseCreateDomain(p *parser, _ ast.Ident) created {
	s := &ast.CreateDomain{Pace: ast.Unpaced, Placement: ast.PlacementNeutral}
	if p.accept("PLACEMENT") {
		s.Placement = choose(p, placements)
	}
	return s
}
