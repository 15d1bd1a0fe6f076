// SPDX-License-Identifier: Apache-2.0

package model

import (
	"strings"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// fileMetadata is the scope `metadata` of a FILE source (nspl 6.3).
var fileMetadata = types.NewSchema("metadata", []types.Field{
	{Name: "path", Type: types.Of(types.String)},
	{Name: "line", Type: types.Of(types.I64)},
	{Name: "offset", Type: types.Of(types.I64)},
})

// ingestor checks an ingestor (nspl 14). Its failures happen before a branch exists, so its expressions and error records have none.
func (b *builder) ingestor(r *report, e *entry) {
	def := e.def.(*ast.CreateIngestor)
	plan := &Ingestor{Ref: e.ref, Definition: def, Fingerprint: b.prints.of(e), GeneralLog: def.OnGeneral.Policy == ast.PolicyLog, Timestamp: Timestamp{At: -1}}
	n := &node{b: b, r: r, e: e}
	plan.Client = b.clientFor(r, def.Source.ClientName(), def.Source.SourceKind())
	n.source(def, plan)
	n.decoder(def, plan)
	n.timestamp(def, plan)
	if def.Filter != nil && n.input != nil {
		plan.Filter = n.predicate(def.Filter)
	}
	if len(def.Routes) == 0 {
		r.check(fault.ModelEmpty, r.name(), n.word()+" needs at least one route")
	}
	complete := plan.Client != nil && n.input != nil
	for i, route := range def.Routes {
		made, ok := n.ingestRoute(i, route)
		complete = complete && ok
		plan.Routes = append(plan.Routes, made)
	}
	if complete && !r.failed {
		b.g.Ingestors = append(b.g.Ingestors, plan)
	}
}

// source checks the FROM clause.
func (n *node) source(def *ast.CreateIngestor, plan *Ingestor) {
	file, ok := def.Source.(*ast.FileSource)
	if !ok {
		n.r.check(fault.ModelUnsupported, def.Source.Where(), "sources of type "+string(def.Source.SourceKind())+" are not supported by this version")
		return
	}
	if problem := relativePath(file.Path.Value); problem != "" {
		n.r.check(fault.ModelPath, file.Path.Span, "the path of a FILE source "+problem)
	}
	if file.MaxParallel.Value == 0 {
		n.r.check(fault.ModelRange, file.MaxParallel.Span, "PARALLEL MAX is at least 1")
	}
	n.metadata = fileMetadata
	plan.Source = Source{Kind: strings.ToLower(string(file.SourceKind())), Options: map[string]string{"path": file.Path.Value}, Metadata: fileMetadata}
	if file.Follow {
		plan.Source.Options["follow"], plan.Source.Endless = "true", true
	}
	plan.Mode = SourceMode{Ack: true, Parallel: true, Max: file.MaxParallel.Value, AckTimeout: duration(file.Ack.Timeout), Retry: checkRetry(n.r, file.Ack.Retry)}
	plan.Quiesce = QuiesceSuspend
}

// decoder finds the codec, which must decode (nspl 5.2).
func (n *node) decoder(def *ast.CreateIngestor, plan *Ingestor) {
	if def.Decode == nil {
		n.r.check(fault.ModelEmpty, def.Source.Where(), n.word()+" needs DECODE USING")
		return
	}
	codec := n.b.g.Codec(def.Decode.Name)
	if codec == nil {
		return
	}
	if codec.NewDecoder == nil {
		n.r.check(fault.ModelDirection, def.Decode.Span, object(codec.Ref)+" cannot decode: it has no ON INGESTION", codec.Ref)
		return
	}
	plan.Codec, n.input = codec, codec.Schema
}

// timestamp checks TIMESTAMP AT against the schema of the codec (nspl 14.2). A paced domain admits rows by time, so it needs one (nspl 11.4).
func (n *node) timestamp(def *ast.CreateIngestor, plan *Ingestor) {
	if def.Timestamp == nil {
		if n.b.c.paced {
			n.r.at(fault.StageCheck, fault.ModelTimestamp, n.r.name(), "the domain is PACED, and "+n.word()+" does not say when its records happened",
				"write TIMESTAMP AT field or TIMESTAMP NOW before the first TO")
		}
		return
	}
	plan.Timestamp.Declared, plan.Timestamp.Now = true, def.Timestamp.At == nil
	if def.Timestamp.At == nil || n.input == nil {
		return
	}
	at := *def.Timestamp.At
	column, ok := n.input.Index(at.Name)
	if !ok {
		n.r.at(fault.StageResolve, fault.ModelTimestamp, at.Span, "SCHEMA "+string(n.input.Name())+" has no field "+string(at.Name), expr.FieldHint(at.Name, n.input),
			n.b.c.ref(ident.KindSchema, n.input.Name()))
		return
	}
	if t := n.input.Field(column).Type; t.Scalar != types.Datetime {
		n.r.check(fault.ModelTimestamp, at.Span, "TIMESTAMP AT needs a DATETIME, but "+string(at.Name)+" is "+t.String())
		return
	}
	plan.Timestamp.At = column
}

// ingestRoute checks one route with its branch key (nspl 14.2).
func (n *node) ingestRoute(index int, route ast.BoundRoute) (IngestRoute, bool) {
	plan := IngestRoute{Route: Route{Index: index, Relay: n.b.g.Relay(route.To.Name), Flush: flush(route.Flush)}}
	branch, ok := n.b.declared(route.Branch.BranchDecl)
	plan.Branch = branch
	if plan.Relay == nil {
		return plan, false
	}
	ok = ok && n.routeBranch(plan.Relay, branch, route)
	if n.input != nil {
		plan.Construct = n.construct(route.Construct, plan.Relay.Schema, route.To.Span)
		if ok && branch != nil {
			plan.Key = n.branchKey(route.Branch, branch, plan.Relay.Schema)
		}
	}
	plan.Policy = n.policy(route.OnError, plan.Relay.Schema, []*Branch{nil})
	return plan, ok
}

// routeBranch demands that the route declares exactly the branch of its relay.
func (n *node) routeBranch(relay *Relay, branch *Branch, route ast.BoundRoute) bool {
	span := route.Branch.Span
	if route.Branch.Branch != nil {
		span = route.Branch.Branch.Span
	}
	return n.sameBranch(relay, branch, span, "a route declares the branch of its relay")
}
