// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/datadriven"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// node stands in for everything behind the ports of a Control.
type node struct {
	mu        sync.Mutex
	notReady  error         // what Ready answers
	gate      chan struct{} // when set, Ready waits for it
	waiting   chan struct{} // told when Ready begins to wait
	installs  []ident.Revision
	resumed   []ident.Domain
	failTimes int
	hashed    []string
	prepared  []string // modules that were judged
	notFit    error    // what Prepare answers
	judging   func()   // called once by Prepare, when set
	arrived   chan struct{}
	reading   *vtime.Logical
	samples   int // of UTC
	utc       int64
}

// epoch is what the clock of a script shows until it is set: 2023-11-14T22:13:20Z.
const epoch = int64(1_700_000_000_000_000_000)

func (n *node) Prepare(ctx context.Context, m control.ModuleBinding) error {
	n.mu.Lock()
	judging := n.judging
	n.judging = nil
	n.mu.Unlock()
	if n.arrived != nil { // a compilation that only the end of the node ends
		close(n.arrived)
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if judging != nil {
		judging()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.prepared = append(n.prepared, fmt.Sprintf("%s of %s version %d (%s) for %s, %d bytes, fuel %d",
		m.File, m.Resource, m.Version, strings.TrimRight(string(m.Digest[:]), "\x00"), m.Processor, m.MaxMemory, m.MaxFuel))
	return n.notFit
}

func (n *node) Read(ident.Domain, ident.Generation) (vtime.Logical, float64, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reading == nil {
		return vtime.Logical{}, 0, false
	}
	return *n.reading, 7, true
}

func (n *node) sample() vtime.UTC {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.samples++
	return vtime.UTCFromNS(epoch + n.utc)
}

func (n *node) Install(_ context.Context, prev, next *registry.State) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failTimes > 0 {
		n.failTimes--
		return errors.New("the listener is busy")
	}
	n.installs = append(n.installs, next.Revision)
	if prev == nil {
		for _, name := range next.DomainNames() {
			if next.Domains[name].Status == registry.Running {
				n.resumed = append(n.resumed, name)
			}
		}
	}
	return nil
}

func (n *node) Ready(ctx context.Context, _ ident.Domain, _ ident.Generation) error {
	n.mu.Lock()
	gate, err := n.gate, n.notReady
	n.mu.Unlock()
	if gate == nil {
		return err
	}
	select {
	case n.waiting <- struct{}{}:
	default:
	}
	select {
	case <-gate:
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.notReady
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (n *node) Inspect(_ context.Context, _ *registry.State, d ident.Domain, s ast.Statement) (control.Inspection, error) {
	return control.Inspection{Text: "inspection in (" + string(d) + "): " + print.Statement(s), JSON: []byte(`{}`)}, nil
}

func (n *node) Hash(password string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hashed = append(n.hashed, password)
	return "$argon2id$of-" + fmt.Sprint(len(password)), nil
}

// script runs one file of testdata/script.
type script struct {
	t           *testing.T
	log         *memlog.Log
	node        *node
	control     *control.Control
	incarnation ident.Incarnation
	requests    byte
	sessions    map[string]*control.Request
	refs        map[string]ident.Reference
	later       map[string]chan control.Outcome
	checker     control.Checker // ModelChecker when nil
	voters      atomic.Pointer[[]clock.Authority]
	leads       func() bool
	scheduler   control.Scheduler
}

func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		s := &script{
			log: memlog.New(), node: &node{waiting: make(chan struct{}, 1)}, sessions: map[string]*control.Request{},
			refs: map[string]ident.Reference{}, later: map[string]chan control.Outcome{},
		}
		s.open(t)
		defer func() { s.control.Close() }()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.run(t, d) })
	})
}

func (s *script) open(t *testing.T) {
	s.incarnation++
	if s.checker == nil {
		s.checker = control.ModelChecker{}
	}
	c, err := control.Open(t.Context(), control.Config{
		Log: s.log, Checker: s.checker, Installer: s.node, Inspector: s.node, Hasher: s.node, Cluster: "c",
		Users: []registry.User{{Name: "ann", PHC: "$h"}},
		Node:  registry.Node{ID: 1, Incarnation: s.incarnation, Logical: "n1.node"}, Modules: s.node, Clocks: s.node, UTC: s.node.sample, Voters: s.candidates(), Leads: s.leads, Scheduler: s.scheduler,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError + 1})),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.control = c
}

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	s.t = t
	switch d.Cmd {
	case "do":
		return s.finish(d, s.control.Execute(t.Context(), s.request(d)))
	case "spawn": // an execution that another directive waits for
		req, name := s.request(d), d.CmdArgs[0].Vals[0]
		out := make(chan control.Outcome, 1)
		select {
		case <-s.node.waiting: // of an execution before
		default:
		}
		s.later[name] = out
		go func() { out <- s.control.Execute(context.Background(), req) }()
		<-s.node.waiting
		return "waiting"
	case "join":
		return s.finish(d, <-s.later[d.CmdArgs[0].Vals[0]])
	case "abandon": // a caller that leaves at once
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return s.finish(d, s.control.Execute(ctx, s.request(d)))
	case "restart":
		s.control.Close()
		s.open(t)
		s.node.mu.Lock()
		defer s.node.mu.Unlock()
		resumed := s.node.resumed
		s.node.resumed = nil
		return fmt.Sprintf("resumed %v", resumed)
	case "ready", "not-ready", "gate", "release":
		return s.readiness(d)
	case "lose-reply", "refuse-once":
		return s.fault(d)
	case "refuse-conclusions", "accept": // an execution whose conclusion is refused counts as waiting
		return s.conclusions(d)
	case "state":
		return s.state()
	}
	if out, known := s.resource(d); known {
		return out
	}
	if out, known := s.clock(d); known {
		return out
	}
	t.Fatalf("no command %s", d.Cmd)
	return ""
}

func (s *script) readiness(d *datadriven.TestData) string {
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	switch d.Cmd {
	case "ready":
		s.node.notReady = nil
	case "not-ready":
		s.node.notReady = fault.Diagnostics{{Stage: fault.StageActivate, Code: fault.NodeFailed, Message: d.Input}}
	case "gate":
		s.node.gate = make(chan struct{})
	case "release":
		close(s.node.gate)
		s.node.gate = nil
	}
	return "ok"
}

// fault hits the next command with a reference.
func (s *script) fault(d *datadriven.TestData) string {
	kind := memlog.LoseReply
	if d.Cmd == "refuse-once" {
		kind = memlog.Refuse
	}
	var once sync.Once
	s.log.Judge(func(c *registry.Command) (f memlog.Fault) {
		if !c.Reference.IsZero() {
			once.Do(func() { f = kind })
		}
		return f
	})
	return "ok"
}

func (s *script) conclusions(d *datadriven.TestData) string {
	if d.Cmd == "accept" {
		s.log.Judge(nil)
		return "ok"
	}
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		if _, conclusion := c.Body.(*registry.Conclude); !conclusion {
			return memlog.None
		}
		select {
		case s.node.waiting <- struct{}{}:
		default:
		}
		return memlog.Hang
	})
	return "ok"
}

func (s *script) session(d *datadriven.TestData) *control.Request {
	name := "s"
	d.MaybeScanArgs(s.t, "session", &name)
	if s.sessions[name] == nil {
		s.sessions[name] = &control.Request{User: "ann"}
	}
	return s.sessions[name]
}

func (s *script) request(d *datadriven.TestData) control.Request {
	req := *s.session(d)
	user, domain, ref := string(req.User), string(req.Domain), ""
	d.MaybeScanArgs(s.t, "user", &user)
	d.MaybeScanArgs(s.t, "domain", &domain)
	d.MaybeScanArgs(s.t, "ref", &ref)
	req.User, req.Domain, req.Text = ident.Name(user), ident.Name(domain), d.Input
	s.requests++ // references ascend, so that transactions are listed in the order of the script
	req.Reference = ident.NewReference(osclock.UTC().UnixMilli(), [10]byte{1: s.requests})
	if ref != "" {
		if s.refs[ref].IsZero() {
			s.refs[ref] = req.Reference
		}
		req.Reference = s.refs[ref]
	}
	return req
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)

// expectations are what the grammar would accept, which other tests pin down.
var expectations = regexp.MustCompile("expected `.*, found")

func (s *script) finish(d *datadriven.TestData, out control.Outcome) string {
	session := s.session(d)
	session.Domain, session.Transaction = out.Domain, out.Transaction
	var b strings.Builder
	for _, one := range out.Statements {
		if len(out.Statements) > 1 {
			fmt.Fprintf(&b, "%d ", one.Number)
			if one.AlreadyExisted {
				b.WriteString("already existed, ")
			}
		}
		fmt.Fprintf(&b, "%s: %s\n", one.Disposition, strings.TrimSuffix(one.Text, "\n"))
		for _, x := range one.Diagnostics {
			place := ""
			if x.Located {
				line, column := fault.Position(d.Input, x.Span.Offset)
				place = fmt.Sprintf(" at %d:%d", line, column)
			}
			fmt.Fprintf(&b, "  %s [%s]%s %s\n", x.Stage, x.Code, place, x.Message)
		}
	}
	if c := out.Commit; c != nil {
		fmt.Fprintf(&b, "commit: %d applied, failed %d\n", c.Applied, c.Failed)
		for _, one := range c.Operations {
			fmt.Fprintf(&b, "  %d %s: %s\n", one.Number, one.Fate, one.Text)
			for _, x := range one.Diagnostics {
				fmt.Fprintf(&b, "    %s [%s] located %v: %s\n", x.Stage, x.Code, x.Located, x.Message)
			}
		}
	}
	if out.AlreadyExisted {
		b.WriteString("already existed\n")
	}
	if out.Recovered {
		b.WriteString("recovered\n")
	}
	if !out.Transaction.IsZero() {
		b.WriteString("in transaction\n")
	}
	return expectations.ReplaceAllString(uuid.ReplaceAllString(b.String(), "<reference>"), "expected <words>, found")
}

func (s *script) state() string {
	var b strings.Builder
	st := s.log.State()
	for _, name := range st.DomainNames() {
		d := st.Domains[name]
		fmt.Fprintf(&b, "domain %s %s generation %d%s\n", name, d.Status, d.Generation, pacing(d))
		for _, k := range d.Keys() {
			fmt.Fprintf(&b, "  %s", k.In(""))
			if n := d.Schedule[k]; n != 0 {
				fmt.Fprintf(&b, " on %s", n)
			}
			b.WriteString(versions(d, k))
			b.WriteByte('\n')
		}
	}
	for _, t := range st.Transactions() {
		fmt.Fprintf(&b, "transaction of %s in %s: %s %d/%d\n", t.Owner, t.Domain, t.State, t.Progress, t.Count)
	}
	if n := len(st.PendingExecutions()); n > 0 {
		fmt.Fprintf(&b, "%d pending\n", n)
	}
	return b.String()
}
