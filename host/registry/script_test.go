// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// epoch is the time at which scripts begin.
const epoch = int64(1_700_000_000_000)

// script runs one file of testdata/script: each directive is a command with the arguments all commands have (ref, user, domain, digest,
// at, step, pending, concludes) and those of its body. The second replica replays every entry in its encoded form.
type script struct {
	t       *testing.T
	milli   int64
	state   *registry.State
	replica *registry.State
	index   ident.Revision
}

func TestScripts(t *testing.T) {
	// req: G-013 (every entry is replayed on a second state, and both results must be the same value)
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s := &script{t: t, milli: epoch, state: registry.NewState(), replica: registry.NewState()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.run(d)
		})
	})
}

func (s *script) run(d *datadriven.TestData) string {
	switch d.Cmd {
	case "show":
		return s.show()
	case "pass":
		step, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			s.t.Fatal(err)
		}
		s.milli += step.Milliseconds()
		return "ok"
	case "cycle":
		loaded, err := registry.DecodeSnapshot(registry.EncodeSnapshot(s.state))
		if err != nil {
			s.t.Fatal(err)
		}
		s.state = loaded
		return "ok"
	}
	c := &registry.Command{UTC: vtime.UTCFromNS(s.milli * 1e6), User: "ann", Body: s.body(d)}
	s.head(d, c)
	return s.apply(c)
}

func (s *script) apply(c *registry.Command) string {
	s.index++
	entry := registry.EncodeCommand(c)
	next, res, err := registry.Apply(s.state, s.index, c)
	if err != nil {
		return err.Error()
	}
	replica, again, err := registry.ApplyBytes(s.replica, s.index, entry)
	if err != nil {
		s.t.Fatal(err)
	}
	if string(registry.EncodeResult(res)) != string(registry.EncodeResult(again)) {
		s.t.Fatalf("replicas answer differently:\n%+v\n%+v", res, again)
	}
	s.state, s.replica = next, replica
	if string(registry.EncodeSnapshot(next)) != string(registry.EncodeSnapshot(replica)) {
		s.t.Fatal("replicas differ")
	}
	text := res.Verdict.String()
	if res.Pending {
		text += " pending"
	}
	if res.Outcome.Code != "" {
		text += " [" + string(res.Outcome.Code) + "]"
	}
	if res.Outcome.Text != "" {
		text += " " + res.Outcome.Text
	}
	return text
}

// ref builds the reference `n` or `n@offset`: its time is the offset from now, by default zero from the epoch of the script.
func (s *script) ref(text string) ident.Reference {
	name, offset, given := strings.Cut(text, "@")
	n, err := strconv.Atoi(name)
	if err != nil {
		s.t.Fatal(err)
	}
	milli := epoch
	if given {
		d, err := time.ParseDuration(offset)
		if err != nil {
			s.t.Fatal(err)
		}
		milli += d.Milliseconds()
	}
	return ident.NewReference(milli, [10]byte{9: byte(n)})
}

func arg(d *datadriven.TestData, name, fallback string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Join(a.Vals, ",")
		}
	}
	return fallback
}

func number(d *datadriven.TestData, name string) uint64 {
	n, _ := strconv.ParseUint(arg(d, name, "0"), 10, 64)
	return n
}

func (s *script) head(d *datadriven.TestData, c *registry.Command) {
	if r := arg(d, "ref", ""); r != "" {
		c.Reference = s.ref(r)
	}
	c.User = ident.Name(arg(d, "user", "ann"))
	c.Domain = ident.Name(arg(d, "domain", ""))
	c.Text = arg(d, "text", "")
	c.Digest = registry.Digest(sha256.Sum256([]byte(arg(d, "digest", d.Cmd))))
	c.Pending = d.HasArg("pending")
	if tx := arg(d, "step", ""); tx != "" {
		c.Step = &registry.Step{Transaction: s.ref(tx), Through: uint32(number(d, "through"))}
	}
	if r := arg(d, "concludes", ""); r != "" {
		c.Concludes = &registry.Conclusion{Reference: s.ref(r), Outcome: registry.Outcome{Text: arg(d, "conclusion", "done")}}
	}
}

func keys(text string) []registry.Key {
	var list []registry.Key
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, ",", " ")) {
		kind, name, _ := strings.Cut(word, ":")
		k := registry.Key{Kind: ident.KindSchema, Name: ident.Name(name)}
		switch kind {
		case "relay":
			k.Kind = ident.KindRelay
		case "resource":
			k.Kind = ident.KindResource
		}
		list = append(list, k)
	}
	return list
}

func (s *script) body(d *datadriven.TestData) registry.Body {
	name := ident.Name(arg(d, "name", ""))
	switch d.Cmd {
	case "bootstrap":
		limits := registry.DefaultLimits()
		limits.Statements, limits.Open, limits.References = 3, 2, uint32(number(d, "references"))
		limits.SourceBytes = 40
		return &registry.Bootstrap{Cluster: arg(d, "cluster", "c1"), Limits: limits, Users: []registry.User{{Name: "ann", PHC: "$argon2id$a"}}}
	case "node":
		return &registry.NodeStarted{Node: registry.Node{
			ID: ident.Node(number(d, "id")), Incarnation: ident.Incarnation(number(d, "incarnation")), Logical: "n1.node", Session: "h:1",
		}}
	case "create-domain":
		b := &registry.CreateDomain{
			Name: name, Text: "CREATE UNPACED DOMAIN " + string(name) + ";", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral,
			IfNotExists: d.HasArg("if-not-exists"),
		}
		if d.HasArg("paced") {
			b.Pace, b.Pacing = registry.Paced, clock.Pace{Period: number(d, "period"), Skew: number(d, "skew")}
		}
		return b
	case "drop-domain":
		return &registry.DropDomain{Name: name}
	case "mutate":
		return s.mutation(d, name)
	case "start":
		return opening(s.t, d).Start(name, s.base(d, name), nil)
	case "stop":
		return &registry.Stop{Domain: name, Generation: ident.Generation(number(d, "generation"))}
	case "put-user":
		return &registry.PutUser{User: registry.User{Name: name, PHC: "$argon2id$b"}, Alter: d.HasArg("alter"), IfNotExists: d.HasArg("if-not-exists")}
	case "drop-user":
		return &registry.DropUser{Name: name}
	case "begin":
		return &registry.BeginTransaction{}
	case "append":
		return &registry.AppendStatement{
			Transaction: s.ref(arg(d, "tx", "")), Position: uint32(number(d, "position")), Text: arg(d, "statement", "START;"), Grammar: 1,
		}
	case "move":
		return s.move(d)
	case "conclude":
		return &registry.Conclude{}
	case "admit", "complete", "fail":
		return s.version(d, name)
	case "reconcile":
		return s.reconcile(d, name)
	}
	s.t.Fatalf("no command %s", d.Cmd)
	return nil
}

func (s *script) base(d *datadriven.TestData, name ident.Domain) ident.Revision {
	if d.HasArg("base") {
		return ident.Revision(number(d, "base"))
	}
	if domain := s.state.Domains[name]; domain != nil {
		return domain.Model
	}
	return 0
}

func (s *script) mutation(d *datadriven.TestData, name ident.Domain) registry.Body {
	m := &registry.MutateModels{Domain: name, Base: s.base(d, name), Drops: keys(arg(d, "drop", ""))}
	for _, k := range keys(arg(d, "put", "")) {
		m.Puts = append(m.Puts, registry.Put{
			Key: k, Text: arg(d, "as", "CREATE "+k.In("").String()+";"), Grammar: 1, Dependencies: keys(arg(d, "needs", "")),
			CapacityOnly: d.HasArg("capacity-only"),
		})
	}
	for _, k := range keys(arg(d, "assign", "")) {
		m.Assign = append(m.Assign, registry.Assignment{Key: k, Node: ident.Node(max(1, number(d, "to-node")))})
	}
	if d.HasArg("bind") {
		m.Binds = []registry.Binding{{Resource: ident.Name(arg(d, "bind", "")), Version: number(d, "version"), Latest: d.HasArg("latest")}}
	}
	return m
}

func (s *script) move(d *datadriven.TestData) registry.Body {
	states := map[string]registry.TransactionState{
		"open": registry.TransactionOpen, "committing": registry.TransactionCommitting, "committed": registry.TransactionCommitted,
		"failed": registry.TransactionFailed, "reverted": registry.TransactionReverted, "expired": registry.TransactionExpired,
	}
	b := &registry.SetTransactionState{Transaction: s.ref(arg(d, "tx", "")), To: states[arg(d, "to", "")], FailedOperation: uint32(number(d, "operation"))}
	if d.HasArg("failure") {
		b.Failure = registry.Outcome{Code: "object.exists", Text: arg(d, "failure", "")}
	}
	if d.HasArg("freeze-start") {
		o := opening(s.t, d)
		b.Frozen = append(b.Frozen, registry.Frozen{Operation: uint32(number(d, "freeze-start")), Start: &o})
	}
	if d.HasArg("freeze-version") {
		b.Frozen = append(b.Frozen, registry.Frozen{Operation: 2, Resource: "m", Version: number(d, "freeze-version")})
	}
	return b
}

func (s *script) show() string {
	var b strings.Builder
	fmt.Fprintf(&b, "revision %d, %d kept, %d open\n", s.state.Revision, s.state.Executions(), s.state.OpenTransactions())
	for _, id := range s.state.NodeIDs() {
		fmt.Fprintf(&b, "node %s incarnation %d\n", id, s.state.Nodes[id].Incarnation)
	}
	for _, name := range s.state.DomainNames() {
		d := s.state.Domains[name]
		fmt.Fprintf(&b, "domain %s %s generation %d epoch %d model %d fenced %v\n", name, d.Status, d.Generation, d.PositionEpoch, d.Model, !d.Committing.IsZero())
		b.WriteString(showClock(d))
		for _, k := range d.Keys() {
			def := d.Definitions[k]
			fmt.Fprintf(&b, "  %s created %d changed %d on %s: %s\n", k.In(""), def.Created, def.Changed, d.Schedule[k], def.Text)
			if r := d.Resources[k.Name]; k.Kind == ident.KindResource {
				b.WriteString(showVersions(r))
			}
		}
	}
	for _, t := range s.state.Transactions() {
		fmt.Fprintf(&b, "transaction %d of %s in %s: %s %d/%d, %d bytes", t.ID[15], t.Owner, t.Domain, t.State, t.Progress, t.Count, t.SourceBytes)
		for _, f := range t.Frozen {
			b.WriteString(showFrozen(f))
		}
		if t.FailedOperation > 0 {
			fmt.Fprintf(&b, ", operation %d: %s", t.FailedOperation, t.Failure.Text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
