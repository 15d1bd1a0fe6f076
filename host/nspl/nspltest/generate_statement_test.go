// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"math"
	"strconv"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// forms draws a statement of every kind; the key names the kind.
var forms = map[string]func(t *rapid.T) ast.Statement{
	"create domain": func(t *rapid.T) ast.Statement {
		d := &ast.CreateDomain{Create: head(t), Placement: ast.Placement(rapid.IntRange(0, 3).Draw(t, "placement"))}
		if rapid.Bool().Draw(t, "paced") {
			d.Pace, d.Period, d.Skew = ast.Paced, duration(t), duration(t)
			if rapid.Bool().Draw(t, "no skew") {
				d.Skew = ast.Duration{Text: "0h0s"}
			}
		}
		return d
	},
	"create user": func(t *rapid.T) ast.Statement {
		return &ast.CreateUser{Create: head(t), Password: ast.NewSecret(strs().Draw(t, "password"))}
	},
	"alter user": func(t *rapid.T) ast.Statement {
		return &ast.AlterUser{Name: name(t), Password: ast.NewSecret(strs().Draw(t, "password"))}
	},
	"create schema": createSchema,
	"create wire":   createWire,
	"create codec":  createCodec,
	"create branch": func(t *rapid.T) ast.Statement {
		b := &ast.CreateBranch{Create: head(t), Schema: name(t), TTL: duration(t)}
		if rapid.Bool().Draw(t, "bounded") {
			n := count(t)
			b.MaxInstances = &n
		}
		return b
	},
	"create relay": func(t *rapid.T) ast.Statement {
		r := &ast.CreateRelay{Create: head(t), Schema: name(t), Branch: branchDecl(t), Capacity: count(t)}
		if r.Name.Name == "branch" || r.Name.Name == "message" {
			r.Name.Name = "r"
		}
		return r
	},
	"create client":   createClient,
	"create ingestor": createIngestor,
	"create junction": func(t *rapid.T) ast.Statement {
		j := &ast.CreateJunction{Create: head(t), Attachment: attachment(t), Inputs: inputs(t), Filter: maybeExpr(t), Branch: branchDecl(t)}
		for range rapid.IntRange(1, 3).Draw(t, "routes") {
			j.Routes = append(j.Routes, route(t))
		}
		return j
	},
	"create emitter": func(t *rapid.T) ast.Statement {
		return &ast.CreateEmitter{
			Create: head(t), Attachment: attachment(t), Inputs: inputs(t),
			Sink:      &ast.FileSink{Client: name(t), Path: ast.Text{Value: strs().Draw(t, "path")}, Retry: retry(t), Encode: name(t)},
			Construct: construct(t), Flush: flush(t), OnError: messagePolicy(t), OnGeneral: generalPolicy(t),
		}
	},
	"create resource": func(t *rapid.T) ast.Statement { return &ast.CreateResource{Create: head(t)} },
	"upload": func(t *rapid.T) ast.Statement {
		return &ast.Upload{Resource: name(t), Directory: ast.Text{Value: strs().Draw(t, "directory")}}
	},
	"create wasm processor": createWASM,
	"alter relay": func(t *rapid.T) ast.Statement {
		a := &ast.AlterRelay{Name: name(t)}
		for range rapid.IntRange(1, 3).Draw(t, "ops") {
			a.Ops = append(a.Ops, &ast.SetCapacity{Capacity: count(t)})
		}
		return a
	},
	"drop":        func(t *rapid.T) ast.Statement { return &ast.Drop{Kind: kind(t, ident.KindUser), Name: name(t)} },
	"show create": func(t *rapid.T) ast.Statement { return &ast.ShowCreate{Kind: kind(t, ident.KindRelay), Name: name(t)} },
	"show ingestors": func(t *rapid.T) ast.Statement {
		return &ast.ShowIngestors{Format: format(t)}
	},
	"show cluster status": func(t *rapid.T) ast.Statement {
		return &ast.ShowClusterStatus{Format: format(t)}
	},
	"describe":     describe,
	"use":          func(t *rapid.T) ast.Statement { return &ast.Use{Name: name(t)} },
	"start":        start,
	"attach clock": func(*rapid.T) ast.Statement { return &ast.AttachDomainClock{} },
	"detach clock": func(*rapid.T) ast.Statement { return &ast.DetachDomainClock{} },
	"stop":         func(*rapid.T) ast.Statement { return &ast.Stop{} },
	"list domains": func(*rapid.T) ast.Statement { return &ast.ListDomains{} },
	"begin":        func(*rapid.T) ast.Statement { return &ast.Begin{} },
	"commit":       func(*rapid.T) ast.Statement { return &ast.Commit{} },
	"revert":       func(*rapid.T) ast.Statement { return &ast.Revert{} },
}

func name(t *rapid.T) ast.Ident { return names().Draw(t, "name") }

func head(t *rapid.T) ast.Create { return ast.Create{Name: name(t)} }

func kind(t *rapid.T, extra ident.Kind) ident.Kind {
	return rapid.SampledFrom([]ident.Kind{
		ident.KindDomain, ident.KindSchema, ident.KindWireJSON, ident.KindCodec, ident.KindBranch, ident.KindRelay, ident.KindClient,
		ident.KindIngestor, ident.KindJunction, ident.KindEmitter, ident.KindResource, ident.KindWASM, extra,
	}).Draw(t, "kind")
}

func format(t *rapid.T) ast.Format { return ast.Format(rapid.IntRange(0, 1).Draw(t, "format")) }

func attachment(t *rapid.T) ast.Attachment {
	return ast.Attachment(rapid.IntRange(0, 1).Draw(t, "attachment"))
}

func createSchema(t *rapid.T) ast.Statement {
	s := &ast.CreateSchema{Create: head(t)}
	for range rapid.IntRange(1, 12).Draw(t, "fields") {
		s.Fields = append(s.Fields, ast.FieldDecl{
			Name: name(t), Type: types.Of(scalar(t)), Optional: rapid.Bool().Draw(t, "optional"), Sensitive: rapid.Bool().Draw(t, "sensitive"),
		})
	}
	return s
}

func createWire(t *rapid.T) ast.Statement {
	s := &ast.CreateWire{Create: head(t), Kind: ident.KindWireJSON, Mode: ast.WireMode(rapid.IntRange(0, 1).Draw(t, "mode"))}
	for range rapid.IntRange(1, 12).Draw(t, "fields") {
		s.Fields = append(s.Fields, ast.WireField{
			Name:     rapid.StringMatching(`[A-Za-z0-9_~.-]{1,12}`).Draw(t, "name"),
			Type:     rapid.SampledFrom([]ast.WireType{ast.WireInteger, ast.WireNumber, ast.WireBoolean, ast.WireString}).Draw(t, "type"),
			Optional: rapid.Bool().Draw(t, "optional"),
		})
	}
	return s
}

func createCodec(t *rapid.T) ast.Statement {
	body := &ast.WireCodec{WireKind: ident.KindWireJSON, Wire: name(t), Schema: name(t)}
	for range rapid.IntRange(0, 8).Draw(t, "encodings") {
		body.Encode = append(body.Encode, ast.FieldEncoding{Field: name(t)})
	}
	return &ast.CreateCodec{Create: head(t), Body: body}
}

func createClient(t *rapid.T) ast.Statement {
	c := &ast.CreateClient{Create: head(t), Type: ast.ClientFile}
	for range rapid.IntRange(0, 3).Draw(t, "entries") {
		value := literal(t, 18446744073709551615)
		if value.Kind == ast.LiteralNull {
			value = integer(t, 18446744073709551615)
		}
		c.Config.Entries = append(c.Config.Entries, ast.MapEntry{Key: ast.Text{Value: strs().Draw(t, "key")}, Value: value})
	}
	return c
}

func createIngestor(t *rapid.T) ast.Statement {
	codec := name(t)
	i := &ast.CreateIngestor{Create: head(t), Decode: &codec, Filter: maybeExpr(t), OnGeneral: generalPolicy(t)}
	i.Source = &ast.FileSource{
		Client: name(t), Path: ast.Text{Value: strs().Draw(t, "path")}, Follow: rapid.Bool().Draw(t, "follow"), MaxParallel: count(t),
		Ack: ast.AckTail{Timeout: duration(t), Retry: retry(t)},
	}
	switch rapid.IntRange(0, 2).Draw(t, "timestamp") {
	case 1:
		i.Timestamp = &ast.Timestamp{}
	case 2:
		field := name(t)
		i.Timestamp = &ast.Timestamp{At: &field}
	}
	for range rapid.IntRange(1, 3).Draw(t, "routes") {
		r := ast.BoundRoute{Route: route(t), Branch: ast.RouteBranch{BranchDecl: branchDecl(t)}}
		if r.Branch.Branch != nil {
			r.Branch.Set = assignments(t, 0)
		}
		i.Routes = append(i.Routes, r)
	}
	return i
}

func createWASM(t *rapid.T) ast.Statement {
	w := &ast.CreateWASM{
		Create: head(t), Attachment: attachment(t), Inputs: inputs(t), Filter: maybeExpr(t), Resource: name(t), File: ast.Text{Value: strs().Draw(t, "file")},
		MaxFuel: count(t), MaxMemory: size(t), Branch: branchDecl(t), OnRejected: ast.RejectedPolicy(rapid.IntRange(0, 1).Draw(t, "rejected")),
		OnGlobal: ast.GlobalPolicy{Policy: ast.Policy(rapid.IntRange(0, 1).Draw(t, "policy"))},
	}
	if w.Version.Latest = rapid.Bool().Draw(t, "latest"); !w.Version.Latest {
		w.Version.Number = count(t).Value
	}
	for range rapid.IntRange(1, 3).Draw(t, "routes") {
		w.Routes = append(w.Routes, ast.GuestRoute{To: name(t), Set: assignments(t, 0), Where: maybeExpr(t), OnError: messagePolicy(t)})
	}
	return w
}

func start(t *rapid.T) ast.Statement {
	s := &ast.Start{}
	switch rapid.IntRange(0, 2).Draw(t, "at") {
	case 0:
		return s
	case 1:
		s.AtNow = true
	default:
		s.AtNS = rapid.Int64().Draw(t, "ns")
		zone := time.FixedZone("", 60*rapid.IntRange(-1439, 1439).Draw(t, "offset"))
		s.At = &ast.Text{Value: time.Unix(0, s.AtNS).In(zone).Format("2006-01-02T15:04:05.999999999Z07:00")}
	}
	if rapid.Bool().Draw(t, "rate") {
		value := rapid.Float64Range(5e-324, math.MaxFloat64).Draw(t, "rate")
		s.Rate = &ast.Float{Value: value, Text: strconv.FormatFloat(value, byte(rapid.SampledFrom([]rune("eg")).Draw(t, "form")), -1, 64)}
	}
	return s
}

func describe(t *rapid.T) ast.Statement {
	d := &ast.Describe{
		Kind: rapid.SampledFrom([]ident.Kind{
			ident.KindRelay, ident.KindIngestor, ident.KindJunction, ident.KindEmitter, ident.KindResource, ident.KindWASM,
		}).Draw(t, "kind"),
		Name: name(t), Format: format(t),
	}
	if d.Kind == ident.KindResource && rapid.Bool().Draw(t, "version") {
		n := count(t)
		d.Version = &n
	}
	if d.Kind != ident.KindRelay {
		return d
	}
	for range rapid.IntRange(0, 3).Draw(t, "bindings") {
		b := ast.Binding{Field: name(t), Value: literal(t, 18446744073709551615)}
		b.Negative = (b.Value.Kind == ast.LiteralInt || b.Value.Kind == ast.LiteralFloat) && rapid.Bool().Draw(t, "negative")
		d.Bindings = append(d.Bindings, b)
	}
	return d
}

func branchDecl(t *rapid.T) ast.BranchDecl {
	if rapid.Bool().Draw(t, "unbranched") {
		return ast.BranchDecl{}
	}
	n := name(t)
	return ast.BranchDecl{Branch: &n}
}

func inputs(t *rapid.T) ast.Inputs {
	in := ast.Inputs{}
	for range rapid.IntRange(1, 3).Draw(t, "inputs") {
		in.From = append(in.From, ast.Input{Relay: name(t), Where: maybeExpr(t)})
	}
	return in
}

func route(t *rapid.T) ast.Route {
	return ast.Route{To: name(t), Construct: construct(t), Flush: flush(t), OnError: messagePolicy(t)}
}

func construct(t *rapid.T) ast.Construct {
	c := ast.Construct{Set: assignments(t, 0), Where: maybeExpr(t)}
	switch rapid.IntRange(0, 3).Draw(t, "inherit") {
	case 1:
		c.Inherit = &ast.Inherit{All: true}
	case 2:
		c.Inherit = &ast.Inherit{All: true, Except: []ast.Ident{name(t), name(t)}}
	case 3:
		c.Inherit = &ast.Inherit{Fields: []ast.InheritField{{Field: name(t), Leak: rapid.Bool().Draw(t, "leak")}, {Field: name(t)}}}
	}
	return c
}

func assignments(t *rapid.T, least int) []ast.Assignment {
	var list []ast.Assignment
	for range rapid.IntRange(least, 4).Draw(t, "assignments") {
		list = append(list, ast.Assignment{Field: name(t), Value: expr(t, 2)})
	}
	return list
}

func flush(t *rapid.T) ast.Flush {
	if rapid.Bool().Draw(t, "immediate") {
		return ast.Flush{Immediate: true}
	}
	return ast.Flush{Each: duration(t), MaxBatch: size(t)}
}

func retry(t *rapid.T) ast.Retry { return ast.Retry{Backoff: duration(t), Max: duration(t)} }

func messagePolicy(t *rapid.T) ast.MessagePolicy {
	m := ast.MessagePolicy{Policy: ast.Policy(rapid.IntRange(0, 2).Draw(t, "policy"))}
	if m.Policy == ast.PolicySendTo {
		m.To, m.Set = name(t), assignments(t, 1)
	}
	return m
}

func generalPolicy(t *rapid.T) ast.GeneralPolicy {
	return ast.GeneralPolicy{Policy: ast.Policy(rapid.IntRange(0, 1).Draw(t, "policy"))}
}
