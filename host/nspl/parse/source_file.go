// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseFileSource(p *parser, start int) ast.Source {
	s := &ast.FileSource{Client: p.named(ident.KindClient)}
	p.note("FOLLOW", "FOLLOW stands directly after PATH '..'")
	p.expect("PATH")
	s.Path = p.text()
	s.Follow = p.accept("FOLLOW")
	p.note("NO_ACK", "a file is read with MODE ACK PARALLEL MAX n")
	p.note("SEQUENTIAL", "a file is read with MODE ACK PARALLEL MAX n")
	p.expect("MODE ACK PARALLEL MAX")
	s.MaxParallel = p.count("PARALLEL MAX")
	s.Ack = p.ackTail()
	p.expect("ON QUIESCE SUSPEND")
	s.Node = p.from(start)
	return s
}
