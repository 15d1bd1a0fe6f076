// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseFileSink(p *parser, start int) ast.Sink {
	s := &ast.FileSink{Client: p.named(ident.KindClient)}
	p.expect("PATH")
	s.Path = p.text()
	p.expect("MODE ACK")
	s.Retry = p.retry()
	p.expect("ENCODE USING")
	s.Encode = p.named(ident.KindCodec)
	s.Node = p.from(start)
	return s
}
