// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// sinks are the sinks of an emitter by their first word.
var sinks = []choice[func(p *parser, start int) ast.Sink]{{"FILE", parseFileSink}}

func parseCreateEmitter(p *parser, a ast.Attachment) created {
	p.note("USING", notMaterialized)
	s := &ast.CreateEmitter{Attachment: a, Inputs: p.inputs()}
	p.note("FILTER", "an emitter has no FILTER WHERE: write FROM relay WHERE .., or WHERE .. before FLUSH")
	p.note("BRANCHED", "an emitter declares no branch; it takes rows of every branch")
	p.note("UNBRANCHED", "an emitter declares no branch; it takes rows of every branch")
	p.expect("TO")
	start := p.tok.Span.Offset
	s.Sink = choose(p, sinks)(p, start)
	s.Construct = p.construct()
	s.Flush = p.flush()
	s.OnError = p.messagePolicy()
	s.OnGeneral = p.generalPolicy()
	return s
}
