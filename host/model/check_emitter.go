// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// emitter checks an emitter (nspl 18). Its inputs may have different branches, which end here: success expressions do not see them.
func (b *builder) emitter(r *report, e *entry) {
	def := e.def.(*ast.CreateEmitter)
	plan := &Emitter{Ref: e.ref, Definition: def, Fingerprint: b.prints.of(e), Attached: def.Attachment == ast.Attached, GeneralLog: def.OnGeneral.Policy == ast.PolicyLog, Flush: flush(def.Flush)}
	n := &node{b: b, r: r, e: e}
	plan.Client = b.clientFor(r, def.Sink.ClientName(), def.Sink.SinkKind())
	plan.Inputs = n.inputs(def.Inputs, nil, true)
	n.wheres(def.Inputs, plan.Inputs)
	plan.InputSchema = n.input
	n.sink(def, plan)
	n.encoder(def, plan)
	if n.input == nil || plan.Codec == nil {
		return
	}
	plan.Construct = n.construct(def.Construct, plan.Codec.Schema, def.Sink.Encoder().Span)
	plan.Policy = n.emitterPolicy(def, plan)
	if plan.Client == nil || r.failed || (def.OnError.Policy == ast.PolicySendTo && plan.Policy.Relay == nil) {
		return
	}
	b.g.Emitters = append(b.g.Emitters, plan)
	b.reads(plan.Ref, plan.Attached, plan.Inputs)
}

// emitterPolicy checks the error policy: the error relay must fit the branch of every input (nspl 18.2). Error records may read it.
func (n *node) emitterPolicy(def *ast.CreateEmitter, plan *Emitter) Policy {
	branches := make([]*Branch, len(plan.Inputs))
	for i, in := range plan.Inputs {
		branches[i] = in.Relay.Branch
	}
	inside := *n
	inside.branch = branches[0]
	return inside.policy(def.OnError, plan.Codec.Schema, branches)
}

// sink checks the TO clause.
func (n *node) sink(def *ast.CreateEmitter, plan *Emitter) {
	file, ok := def.Sink.(*ast.FileSink)
	if !ok {
		n.r.check(fault.ModelUnsupported, def.Sink.Where(), "sinks of type "+string(def.Sink.SinkKind())+" are not supported by this version")
		return
	}
	if problem := relativePath(file.Path.Value); problem != "" {
		n.r.check(fault.ModelPath, file.Path.Span, "the path of a FILE sink "+problem)
	}
	plan.Sink = Sink{Kind: strings.ToLower(string(file.SinkKind())), Options: map[string]string{"path": file.Path.Value}}
	plan.Retry = checkRetry(n.r, file.Retry)
}

// encoder finds the codec, which must encode (nspl 5.2).
func (n *node) encoder(def *ast.CreateEmitter, plan *Emitter) {
	name := def.Sink.Encoder()
	if name == nil {
		n.r.check(fault.ModelEmpty, def.Sink.Where(), n.word()+" needs ENCODE USING")
		return
	}
	codec := n.b.g.Codec(name.Name)
	if codec == nil {
		return
	}
	if codec.NewEncoder == nil {
		n.r.check(fault.ModelDirection, name.Span, object(codec.Ref)+" cannot encode: it has no ON EMITTING", codec.Ref)
		return
	}
	plan.Codec = codec
}
