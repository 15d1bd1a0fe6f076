// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var messagePolicies = []choice[ast.Policy]{{"IGNORE", ast.PolicyIgnore}, {"LOG", ast.PolicyLog}, {"SEND TO", ast.PolicySendTo}}

var generalPolicies = []choice[ast.Policy]{{"IGNORE", ast.PolicyIgnore}, {"LOG", ast.PolicyLog}}

// messagePolicy reads ON MESSAGE ERROR (IGNORE | LOG | SEND TO relay SET ..).
func (p *parser) messagePolicy() ast.MessagePolicy {
	start := p.tok.Span.Offset
	const advice = "ON MESSAGE ERROR IGNORE, LOG or SEND TO relay SET .. is required on every route and every emitter"
	p.advising(advice, func() { p.expect("ON MESSAGE ERROR") })
	m := ast.MessagePolicy{Policy: choose(p, messagePolicies)}
	if m.Policy == ast.PolicySendTo {
		m.To = p.named(ident.KindRelay)
		p.expect("SET")
		m.Set = p.assignments()
	}
	m.Node = p.from(start)
	return m
}

// generalPolicy reads ON GENERAL ERROR (IGNORE | LOG).
func (p *parser) generalPolicy() ast.GeneralPolicy {
	start := p.tok.Span.Offset
	p.note("SEND", "SEND TO belongs to ON MESSAGE ERROR; a general error has no record to send")
	p.advising("ON GENERAL ERROR IGNORE or LOG is required at the end", func() { p.expect("ON GENERAL ERROR") })
	g := ast.GeneralPolicy{Policy: choose(p, generalPolicies)}
	g.Node = p.from(start)
	return g
}

// retry reads RETRY POLICY BACKOFF dur MAX dur.
func (p *parser) retry() ast.Retry {
	start := p.tok.Span.Offset
	p.expect("RETRY POLICY BACKOFF")
	r := ast.Retry{Backoff: p.duration("the backoff")}
	p.expect("MAX")
	r.Max = p.duration("the greatest backoff")
	r.Node = p.from(start)
	return r
}

// ackTail reads ACK TIMEOUT dur and the retry policy.
func (p *parser) ackTail() ast.AckTail {
	start := p.tok.Span.Offset
	p.expect("ACK TIMEOUT")
	a := ast.AckTail{Timeout: p.duration("the acknowledgement timeout")}
	a.Retry = p.retry()
	a.Node = p.from(start)
	return a
}
