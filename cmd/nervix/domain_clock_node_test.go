// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/clocks/clockstest"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
)

// clockNode is a real session server with clocks the test publishes, and a context file for it.
type clockNode struct {
	t       *testing.T
	dir     *datadir.Dir
	clocks  *clockstest.Node
	server  *transport.Server
	address string
	context string
}

func newClockNode(t *testing.T) *clockNode {
	t.Helper()
	dir, err := datadir.Open(filepath.Join(t.TempDir(), "data"), osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	n := &clockNode{t: t, dir: dir, clocks: clockstest.Ready(), address: "127.0.0.1:0"}
	t.Cleanup(func() { _ = dir.Close() })
	n.start()
	t.Cleanup(func() { n.stop() })
	return n
}

func (n *clockNode) start() {
	n.t.Helper()
	certificates, err := n.dir.Certificates(osclock.UTC())
	if err != nil {
		n.t.Fatal(err)
	}
	n.server = transport.NewServer(transport.Config{Node: "n1", Incarnation: 1, Clocks: n.clocks, Authenticate: n,
		TLS:  &tls.Config{Certificates: []tls.Certificate{certificates.Server}},
		Open: func(o transport.Opened) lanes.Handler { return commands.New(n, n, o.User, ident.Domain(o.Domain)) }})
	bound, err := n.server.Listen(n.address, &certificates.ResetKey)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // the port of a node that stopped is not free at once
		time.Sleep(20 * time.Millisecond)
		bound, err = n.server.Listen(n.address, &certificates.ResetKey)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.address = bound.String()
	if n.context, err = n.dir.WriteContext(client.Scheme+"://"+n.address, certificates.CAPEM, datadir.Credentials{Username: "admin", Password: "secret"}); err != nil {
		n.t.Fatal(err)
	}
}

func (n *clockNode) stop() {
	n.t.Helper()
	n.server.Abort()
	if err := n.server.Wait(context.Background()); err != nil {
		n.t.Error(err)
	}
}

func (n *clockNode) Authenticate(context.Context, string, string) error { return nil }

func (n *clockNode) Execute(_ context.Context, r commands.Request) commands.Outcome {
	r.Admit()
	return commands.Outcome{Disposition: wire.DispositionCompleted, Domain: r.Domain}
}

func (n *clockNode) Revert(context.Context, commands.RevertRequest) {}

func (n *clockNode) Domains(context.Context, string) ([]wire.DomainEntry, error) { return nil, nil }

func (n *clockNode) Status(context.Context) (wire.StatusReport, error) {
	return wire.StatusReport{Node: "n1", Role: "leader"}, nil
}

// output hands over lines as they are written.
type output struct {
	mu    sync.Mutex
	part  bytes.Buffer
	lines chan string
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.part.Write(p)
	for {
		line, err := o.part.ReadString('\n')
		if err != nil {
			o.part.WriteString(line)
			return len(p), nil
		}
		o.lines <- strings.TrimSuffix(line, "\n")
	}
}

// runner is a run of nervix domain-clock.
type runner struct {
	t      *testing.T
	out    *output
	notes  bytes.Buffer
	cancel context.CancelFunc
	code   chan int
}

func (n *clockNode) run(args ...string) *runner {
	r := &runner{t: n.t, out: &output{lines: make(chan string, 1000)}, code: make(chan int, 1)}
	var ctx context.Context
	ctx, r.cancel = context.WithCancel(n.t.Context())
	n.t.Cleanup(r.cancel)
	all := append([]string{"--context", n.context, "--domain", "History", "domain-clock"}, args...)
	go func() {
		r.code <- run(ctx, all, terminal{strings.NewReader(""), r.out, &r.notes, func(string) string { return "" }})
	}()
	return r
}

// line waits for the next line of standard output; it begins with the prefix.
func (r *runner) line(prefix string) {
	r.t.Helper()
	got := ""
	select {
	case got = <-r.out.lines:
	case code := <-r.code:
		r.code <- code
		select { // what was written before the end
		case got = <-r.out.lines:
		default:
			r.t.Fatalf("ended with %d: %s", code, &r.notes)
		}
	case <-time.NewTimer(2 * time.Minute).C:
	}
	if !strings.HasPrefix(got, prefix) {
		r.t.Fatalf("got %q, want %q", got, prefix)
	}
}

// exit waits for the end; nothing may be left on standard output.
func (r *runner) exit(want int, note string) {
	r.t.Helper()
	if code := <-r.code; code != want || !strings.Contains(r.notes.String(), note) {
		r.t.Errorf("exit %d, want %d: %s", code, want, &r.notes)
	}
	select {
	case line := <-r.out.lines:
		r.t.Errorf("a line too many: %s", line)
	default:
	}
}

// TestDomainClockOfANode follows a real node through generations, over its restart, and to the removal of the domain.
func TestDomainClockOfANode(t *testing.T) {
	// req: X-294
	// req: X-296
	// req: C-083
	// req: C-214 half: the transport loss; one node
	n := newClockNode(t)
	n.clocks.Publish("history", clock.Observed{Generation: 0, State: clock.Stopped})
	r := n.run("--follow")
	r.line("attached: generation 0, stopped")
	n.clocks.Publish("history", pacedClock(1))
	r.line("state: generation 1, paced, period 24h,")
	n.clocks.Tick("history", 1)
	r.line("tick: generation 1, id 1, ")
	n.stop()
	r.line("interrupted: ")
	n.clocks.Publish("history", clock.Observed{Generation: 1, State: clock.Stopped})
	n.clocks.Publish("history", pacedClock(2))
	n.start()
	r.line("state: generation 2, paced, ")
	n.clocks.Tick("history", 3)
	r.line("tick: generation 2, id 3, ")
	n.clocks.Remove("history")
	r.line("ended: domain removed")
	r.exit(exitDone, "")

	r = n.run()
	r.exit(exitFailed, "no such domain")

	n.clocks.Publish("history", clock.Observed{Generation: 1, State: clock.Unpaced})
	r = n.run("--format", "jsonl")
	r.line(`{"type":"attached","generation":1,"state":"unpaced"}`)
	r.cancel()
	r.exit(exitDone, "")
	r = n.run("--for", "1ms")
	r.line("attached: generation 1, unpaced")
	r.exit(exitDone, "")
	r = n.run("--follow=false")
	r.line("attached: generation 1, unpaced")
	r.exit(exitDone, "")
}
