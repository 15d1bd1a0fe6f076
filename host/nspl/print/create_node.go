// SPDX-License-Identifier: Apache-2.0

package print

import (
	"fmt"
	"strconv"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

func (p *printer) createIngestor(s *ast.CreateIngestor) {
	p.line(0, "CREATE INGESTOR "+name(s.Name))
	p.source(s.Source)
	if s.Decode != nil {
		p.line(2, "DECODE USING "+name(*s.Decode))
	}
	if s.Timestamp != nil {
		p.line(2, timestamp(*s.Timestamp))
	}
	p.filter(s.Filter)
	for i := range s.Routes {
		p.route(s.Routes[i].Route, &s.Routes[i].Branch)
	}
	p.generalPolicy(s.OnGeneral)
}

func timestamp(t ast.Timestamp) string {
	if t.At == nil {
		return "TIMESTAMP NOW"
	}
	return "TIMESTAMP AT " + field(t.At.Name)
}

func (p *printer) source(s ast.Source) {
	switch source := s.(type) {
	case *ast.FileSource:
		follow := ""
		if source.Follow {
			follow = " FOLLOW"
		}
		p.line(2, "FROM FILE "+name(source.Client)+" PATH "+text(source.Path.Value)+follow)
		p.line(4, "MODE ACK PARALLEL MAX "+strconv.FormatUint(source.MaxParallel.Value, 10)+" ACK TIMEOUT "+
			source.Ack.Timeout.Text+" "+retry(source.Ack.Retry))
		p.line(4, "ON QUIESCE "+source.Quiesce.String())
	default:
		panic(fmt.Sprintf("print: no form for %T", s))
	}
}

func (p *printer) createJunction(s *ast.CreateJunction) {
	p.line(0, "CREATE "+s.Attachment.String()+" JUNCTION "+name(s.Name))
	p.inputs(s.Inputs)
	p.filter(s.Filter)
	p.line(2, branch(s.Branch))
	for _, r := range s.Routes {
		p.route(r, nil)
	}
}

func (p *printer) createEmitter(s *ast.CreateEmitter) {
	p.line(0, "CREATE "+s.Attachment.String()+" EMITTER "+name(s.Name))
	p.inputs(s.Inputs)
	p.sink(s.Sink)
	p.construct(2, s.Construct)
	p.flush(2, s.Flush)
	p.messagePolicy(2, s.OnError)
	p.generalPolicy(s.OnGeneral)
}

func (p *printer) sink(s ast.Sink) {
	switch sink := s.(type) {
	case *ast.FileSink:
		p.line(2, "TO FILE "+name(sink.Client)+" PATH "+text(sink.Path.Value))
		p.line(4, "MODE ACK "+retry(sink.Retry))
		p.line(4, "ENCODE USING "+name(sink.Encode))
	default:
		panic(fmt.Sprintf("print: no form for %T", s))
	}
}
