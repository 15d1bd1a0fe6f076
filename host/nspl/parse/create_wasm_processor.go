// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

const guestLimits = "MAX FUEL n and then MAX MEMORY size stand directly after FILE, once and in this order; a guest has no limit in time"

func parseCreateWASM(p *parser, a ast.Attachment) created {
	for _, word := range []string{"MAX", "MEMORY", "FUEL", "TIME", "TIMEOUT"} {
		p.note(word, guestLimits)
	}
	p.note("ON", "ON REJECTED STATE and ON GLOBAL ERROR stand after the last route")
	p.note("MATERIALIZED", notMaterialized)
	p.note("DECODE", "a guest reads records of the input schema; there is no codec")
	s := &ast.CreateWASM{Attachment: a, Inputs: p.inputs()}
	if p.accept("FILTER WHERE") {
		s.Filter = p.expr()
	}
	p.module(s)
	p.note("USING", "USING RESOURCE stands once, before FILE; "+notMaterialized)
	s.Branch = p.branchDecl("a WASM processor says BRANCHED BY branch or UNBRANCHED directly after MAX MEMORY")
	s.Routes = p.guestRoutes()
	p.guestPolicies(s)
	return s
}

// module reads USING RESOURCE name version FILE 'f' MAX FUEL n MAX MEMORY size.
func (p *parser) module(s *ast.CreateWASM) {
	p.advising("USING RESOURCE name VERSION n FILE 'module.wasm' names the module, directly after the inputs and their FILTER WHERE", func() { p.expect("USING RESOURCE") })
	p.note("FILTER", "FILTER WHERE stands directly after the inputs, before USING RESOURCE")
	s.Resource = p.named(ident.KindResource)
	s.Version = p.version()
	p.advising("FILE 'module.wasm' names the module inside the version", func() { p.expect("FILE") })
	s.File = p.text()
	p.advising(guestLimits, func() { p.expect("MAX FUEL") })
	p.advising("MAX FUEL is a whole number without unit: the instructions of one guest operation", func() { s.MaxFuel = p.count("MAX FUEL") })
	p.advising(guestLimits, func() { p.expect("MAX MEMORY") })
	s.MaxMemory = p.size()
}

// guestRoutes reads one or more routes of a WASM processor: TO relay [SET ..] [WHERE ..] ON MESSAGE ERROR ...
func (p *parser) guestRoutes() []ast.GuestRoute {
	p.note("FLUSH", "a route of a WASM processor has no FLUSH: the guest decides when rows leave")
	p.note("INHERIT", "a route of a WASM processor inherits nothing: a column without SET is passed on as the guest made it")
	p.note("UNSET", "there is no UNSET: a column without SET is passed on as the guest made it")
	p.note("BRANCHED", "the branch of a WASM processor is declared once, directly after MAX MEMORY")
	p.note("UNBRANCHED", "the branch of a WASM processor is declared once, directly after MAX MEMORY")
	var list []ast.GuestRoute
	for {
		start := p.tok.Span.Offset
		if len(list) > 0 && !p.accept("TO") {
			return list
		}
		if len(list) == 0 {
			p.expect("TO")
		}
		p.offered = map[string]bool{}
		r := ast.GuestRoute{To: p.named(ident.KindRelay)}
		if p.accept("SET") {
			r.Set = p.assignments()
		}
		if p.accept("WHERE") {
			r.Where = p.expr()
		}
		r.OnError = p.messagePolicy()
		r.Node = p.from(start)
		list = append(list, r)
	}
}

var rejectedPolicies = []choice[ast.RejectedPolicy]{{"PRESERVE", ast.RejectedPreserve}, {"RESET", ast.RejectedReset}}

// guestTails are the clauses behind the last route; the value says whether it is the first of them.
var guestTails = []choice[bool]{{"ON REJECTED STATE", true}, {"ON GLOBAL ERROR", false}}

// guestPolicies reads [ON REJECTED STATE (PRESERVE|RESET)] ON GLOBAL ERROR (IGNORE|LOG).
func (p *parser) guestPolicies(s *ast.CreateWASM) {
	const last = "ON GLOBAL ERROR IGNORE or LOG is required at the end"
	p.note("MESSAGE", "a route has one ON MESSAGE ERROR; after the last route follow ON REJECTED STATE and ON GLOBAL ERROR")
	p.note("GENERAL", "a WASM processor has ON GLOBAL ERROR")
	p.note("SEND", "SEND TO belongs to ON MESSAGE ERROR; a global error has no record to send")
	start := p.tok.Span.Offset
	rejected := false
	p.advising(last, func() { rejected = choose(p, guestTails) })
	if rejected {
		p.note("TO", "ON REJECTED STATE stands after the last route")
		p.advising("PRESERVE keeps state that the guest refuses, RESET begins anew", func() { s.OnRejected = choose(p, rejectedPolicies) })
		start = p.tok.Span.Offset
		p.advising(last, func() { p.expect("ON GLOBAL ERROR") })
	}
	s.OnGlobal.Policy = choose(p, generalPolicies)
	s.OnGlobal.Node = p.from(start)
	p.note("TO", "routes stand before ON REJECTED STATE and ON GLOBAL ERROR")
	p.note("ON", "ON GLOBAL ERROR is the last clause; ON REJECTED STATE stands before it")
}
