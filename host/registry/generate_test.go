// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"strconv"

	"pgregory.net/rapid"

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
	kinds := []ident.Kind{ident.KindSchema, ident.KindRelay, ident.KindIngestor}
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
	switch g.pick("body", 16) {
	case 0:
		return g.bootstrap()
	case 1:
		return &registry.NodeStarted{Node: registry.Node{ID: 1, Incarnation: ident.Incarnation(1 + g.pick("incarnation", 4)), Logical: "n1.node"}}
	case 2, 3:
		return &registry.CreateDomain{
			Name: name, Text: "CREATE UNPACED DOMAIN " + string(name) + ";", Grammar: 1, Pace: registry.Unpaced,
			Placement: registry.Placement(1 + g.pick("placement", 4)), IfNotExists: g.pick("if not exists", 2) == 0,
		}
	case 4:
		return &registry.DropDomain{Name: name}
	case 5, 6:
		return g.mutation(name)
	case 7:
		return &registry.Start{Domain: name, Base: g.base(name), RestartPositions: g.pick("restart", 2) == 0}
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
		return b
	default:
		return &registry.Conclude{}
	}
}

func (g *generator) bootstrap() registry.Body {
	limits := registry.DefaultLimits()
	limits.Open, limits.Statements, limits.References, limits.OpenSourceBytes, limits.DefinitionBytes = 3, 3, 30, 9, 60
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
	return m
}
