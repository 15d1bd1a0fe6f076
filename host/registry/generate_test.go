// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"strconv"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// generator draws commands from a small world, so that they meet: few names, few references, time in steps of minutes.
type generator struct {
	t     *rapid.T
	milli int64
	state *registry.State // the state the next command will meet
}

func (g *generator) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

func (g *generator) name(label string) ident.Name {
	i := g.pick(label, 3)
	return ident.Name("abc"[i : i+1])
}

func (g *generator) reference() ident.Reference {
	at := g.milli + int64(g.pick("ref offset", 8)-4)*60_000
	at -= at % 300_000
	return ident.NewReference(at, [10]byte{9: byte(g.pick("ref", 12))})
}

func (g *generator) transaction() ident.Reference {
	if list := g.state.Transactions(); len(list) > 0 && g.pick("known", 8) > 0 {
		return list[g.pick("transaction", len(list))].ID
	}
	return g.reference()
}

func (g *generator) key() registry.Key {
	kinds := []ident.Kind{ident.KindSchema, ident.KindRelay, ident.KindIngestor, ident.KindResource}
	return registry.Key{Kind: kinds[g.pick("kind", len(kinds))], Name: g.name("object")}
}

func (g *generator) keys(label string) []registry.Key {
	var list []registry.Key
	for range g.pick(label, 3) {
		list = append(list, g.key())
	}
	return list
}

func (g *generator) base(name ident.Name) ident.Revision {
	if d := g.state.Domains[name]; d != nil && g.pick("stale", 6) > 0 {
		return d.Model
	}
	return 0
}

func (g *generator) outcome() registry.Outcome {
	if g.pick("failure", 2) == 0 {
		return registry.Outcome{Text: "done", Transaction: g.reference(), AlreadyExisted: g.pick("existed", 2) == 0, Position: uint32(g.pick("position", 3))}
	}
	return registry.Outcome{Code: fault.DomainFailed, Text: "failed", Diagnostics: fault.Diagnostics{{
		Stage: fault.StageActivate, Code: fault.NodeFailed, Message: "no file", Hint: "create it", Located: true, Span: fault.Span{Offset: 3, Length: 4},
		Related: []ident.Ref{{Domain: "a", Kind: ident.KindIngestor, Name: "b"}},
	}}}
}

func (g *generator) command() *registry.Command {
	g.milli += int64(g.pick("pass", 4)) * 60_000
	c := &registry.Command{UTC: vtime.UTCFromNS(g.milli * 1e6), User: g.name("user"), Body: g.body()}
	if g.pick("referenced", 4) > 0 {
		c.Reference, c.Digest[0] = g.reference(), byte(g.pick("digest", 2))
		c.Domain, c.Text, c.Pending = g.name("selected"), "text "+strconv.Itoa(g.pick("text", 3)), g.pick("pending", 2) == 0
	}
	if g.pick("stepped", 5) == 0 {
		c.Step = &registry.Step{Transaction: g.transaction(), Through: uint32(1 + g.pick("through", 3))}
	}
	if g.pick("concluding", 5) == 0 {
		c.Concludes = &registry.Conclusion{Reference: g.reference(), Outcome: g.outcome()}
	}
	return c
}

func (g *generator) body() registry.Body {
	name := g.name("domain")
	switch g.pick("body", 22) {
	case 0:
		return g.bootstrap()
	case 1:
		return &registry.NodeStarted{Node: registry.Node{ID: 1, Incarnation: ident.Incarnation(1 + g.pick("incarnation", 4)), Logical: "n1.node"}}
	case 2, 3:
		b := &registry.CreateDomain{
			Name: name, Text: "CREATE DOMAIN " + string(name) + ";", Grammar: 1, Pace: registry.Unpaced,
			Placement: registry.Placement(1 + g.pick("placement", 4)), IfNotExists: g.pick("if not exists", 2) == 0,
		}
		if g.pick("paced", 2) == 0 {
			b.Pace, b.Pacing = registry.Paced, clock.Pace{Period: uint64(g.pick("period", 3)), Skew: uint64(g.pick("skew", 3))}
		}
		return b
	case 4:
		return &registry.DropDomain{Name: name}
	case 5, 6:
		return g.mutation(name)
	case 7:
		return g.opening(name).Start(name, g.base(name), nil)
	case 8:
		return &registry.Stop{Domain: name, Generation: ident.Generation(g.pick("generation", 3))}
	case 9:
		return &registry.PutUser{User: registry.User{Name: name, PHC: "$h"}, Alter: g.pick("alter", 2) == 0, IfNotExists: g.pick("if not exists", 2) == 0}
	case 10:
		return &registry.DropUser{Name: name}
	case 11:
		return &registry.BeginTransaction{}
	case 12, 13:
		return &registry.AppendStatement{
			Transaction: g.transaction(), Position: uint32(1 + g.pick("position", 3)), Text: "S;", Grammar: 1,
		}
	case 14:
		b := &registry.SetTransactionState{Transaction: g.transaction(), To: registry.TransactionState(1 + g.pick("to", 6))}
		if b.To == registry.TransactionFailed {
			b.FailedOperation, b.Failure = 1, g.outcome()
		}
		if b.To == registry.TransactionCommitting {
			b.Frozen = g.frozen(name)
		}
		return b
	case 15:
		return g.reconcile(name)
	case 16, 17:
		return &registry.AdmitVersion{Domain: name, Resource: g.name("resource"), Upload: g.reference(), Node: ident.Node(1 + g.pick("node", 2))}
	case 18, 19, 20:
		return g.end(name)
	default:
		return &registry.Conclude{}
	}
}

func (g *generator) bootstrap() registry.Body {
	limits := registry.DefaultLimits()
	limits.Open, limits.Statements, limits.References, limits.OpenSourceBytes, limits.DefinitionBytes = 3, 3, 30, 9, 60
	limits.ResourceVersions, limits.Versions = 4, 7
	return &registry.Bootstrap{Cluster: "c", Limits: limits, Users: []registry.User{{Name: "a", PHC: "$h"}}}
}

func (g *generator) mutation(name ident.Name) registry.Body {
	m := &registry.MutateModels{Domain: name, Base: g.base(name), Drops: g.keys("drops")}
	for _, k := range g.keys("puts") {
		m.Puts = append(m.Puts, registry.Put{
			Key: k, Text: "CREATE X " + strconv.Itoa(g.pick("version", 9)) + ";", Grammar: 1, Dependencies: g.keys("dependencies"),
			CapacityOnly: g.pick("capacity", 2) == 0,
		})
		if k.Kind.Runtime() && g.pick("assign", 3) > 0 {
			m.Assign = append(m.Assign, registry.Assignment{Key: k, Node: 1})
		}
	}
	if g.pick("binds", 3) == 0 {
		m.Binds = []registry.Binding{{Resource: g.name("bound"), Version: uint64(1 + g.pick("bound version", 3)), Latest: g.pick("latest", 2) == 0}}
	}
	return m
}

func (g *generator) authority() clock.Authority {
	return clock.Authority{Node: ident.Node(g.pick("authority", 3)), Incarnation: ident.Incarnation(g.pick("of", 2))}
}

// opening mostly fits the domain.
func (g *generator) opening(name ident.Domain) registry.Opening {
	o := registry.Opening{RestartPositions: g.pick("restart", 2) == 0}
	if d := g.state.Domains[name]; d != nil && d.Pace == registry.Paced == (g.pick("fitting", 6) > 0) {
		o.Mapping = clock.Mapping{
			WallStartedAt: vtime.UTCFromNS(g.milli * 1e6), LogicalStart: vtime.LogicalFromNS(int64(g.pick("origin", 5)) - 2),
			Rate: []float64{1, 0.5, 1e9, 5e-324}[g.pick("rate", 4)],
		}
		o.Authority = g.authority()
	}
	return o
}

func (g *generator) frozen(name ident.Domain) []registry.Frozen {
	var list []registry.Frozen
	if g.pick("frozen start", 2) == 0 {
		o := g.opening(name)
		list = append(list, registry.Frozen{Operation: 1, Start: &o})
	}
	if g.pick("frozen version", 2) == 0 {
		list = append(list, registry.Frozen{Operation: 2, Resource: g.name("bound"), Version: 2})
	}
	return list
}

func (g *generator) reconcile(name ident.Domain) registry.Body {
	b := &registry.ReconcileAuthority{Domain: name, Generation: ident.Generation(1 + g.pick("generation", 2)), Authority: g.authority()}
	if d := g.state.Domains[name]; d != nil && g.pick("expected", 6) > 0 {
		b.Expected = d.Fence
	}
	return b
}

// end completes or fails a version, mostly one that exists.
func (g *generator) end(name ident.Domain) registry.Body {
	resource, upload, number := g.name("resource"), g.reference(), uint64(1+g.pick("version", 3))
	if d := g.state.Domains[name]; d != nil && d.Resources[resource] != nil && len(d.Resources[resource].Versions) > 0 && g.pick("known", 6) > 0 {
		v := d.Resources[resource].Versions[g.pick("which", len(d.Resources[resource].Versions))]
		upload, number = v.Upload, v.Number
	}
	if g.pick("fail", 3) == 0 {
		return &registry.FailVersion{Domain: name, Resource: resource, Upload: upload, Version: number}
	}
	content := registry.Content{ArchiveBytes: 10, Files: 1, Bytes: 9}
	content.Digest[0] = byte(g.pick("content", 2))
	return &registry.CompleteVersion{Domain: name, Resource: resource, Upload: upload, Version: number, Content: content}
}
