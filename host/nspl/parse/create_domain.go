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
	const paced = "only a paced domain has a period: CREATE PACED DOMAIN name WITH PERIOD duration SKEW duration"
	for _, word := range []string{"WITH", "PERIOD", "SKEW"} {
		p.note(word, paced)
	}
	p.noteRate()
	return &ast.CreateDomain{Pace: ast.Unpaced, Placement: p.placement()}
}

// parseCreatePacedDomain reads WITH PERIOD dur SKEW dur [PLACEMENT policy].
func parseCreatePacedDomain(p *parser, _ ast.Ident) created {
	const clauses = "a paced domain says WITH PERIOD duration SKEW duration, in this order, directly after its name"
	p.note("PERIOD", clauses)
	p.note("SKEW", clauses)
	p.noteRate()
	s := &ast.CreateDomain{Pace: ast.Paced}
	p.advising(clauses, func() { p.expect("WITH PERIOD") })
	p.advising("a period is a duration from 1ns to 18446744073709551615ns", func() { s.Period = p.duration("the period") })
	p.advising(clauses, func() { p.expect("SKEW") })
	p.advising("a skew is a duration from 0ns to 18446744073709551615ns", func() { s.Skew = p.durationOrZero() })
	s.Placement = p.placement()
	return s
}

// noteRate gives the hint for a rate that was written at the domain.
func (p *parser) noteRate() {
	p.note("TIME", "a rate belongs to a start: START AT NOW TIME RATE 2.5")
	p.note("RATE", "a rate belongs to a start: START AT NOW TIME RATE 2.5")
}

func (p *parser) placement() ast.Placement {
	if !p.accept("PLACEMENT") {
		return ast.PlacementNeutral
	}
	return choose(p, placements)
}
