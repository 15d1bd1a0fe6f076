// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/users"
	"github.com/nervix-go/nervix/host/wire"
)

// plane is a fake control plane. `hold` waits for release before admission, `admitted` after it; both end with their context.
type plane struct {
	mu               sync.Mutex
	ran              []string
	started, release chan struct{}
}

func (p *plane) Execute(ctx context.Context, r commands.Request) commands.Outcome {
	admitted := false
	if strings.HasPrefix(r.Text, "admitted") {
		admitted = r.Admit()
	}
	if admitted || strings.HasPrefix(r.Text, "hold") {
		p.started <- struct{}{}
		select {
		case <-p.release:
		case <-ctx.Done():
		}
	}
	if !admitted && !r.Admit() {
		return commands.Outcome{Cancelled: true}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ran = append(p.ran, r.Text)
	out := commands.Outcome{Disposition: wire.DispositionCompleted, Text: r.User + " " + r.Text, Domain: r.Domain}
	if r.JSON {
		out.Data = `{"x":1}`
	}
	if r.Text == "COMMIT" {
		out.Commit = &wire.CommitReport{Applied: 1, Failed: 2, Operations: []wire.OperationResult{{Number: 1, Fate: wire.FateApplied, Text: "applied"},
			{Number: 2, Fate: wire.FateFailed, Diagnostics: fault.Diagnostics{{Stage: fault.StageActivate, Code: "node.failed", Message: "no file"}}},
			{Number: 3, Fate: wire.FateNotApplied}}}
	}
	if r.Text == "bad" {
		out.Disposition = wire.DispositionFailed
		out.Diagnostics = fault.Diagnostics{fault.At(fault.StageParse, "syntax.unexpected", fault.Span{Offset: 0, Length: 3}, "unexpected word", "hint")}
	}
	return out
}

func (p *plane) Revert(context.Context, commands.RevertRequest) {}

func (p *plane) Domains(context.Context, string) ([]wire.DomainEntry, error) {
	return []wire.DomainEntry{{Name: "default", Status: "stopped"}, {Name: "weather", Status: "running"}}, nil
}

func (p *plane) Status(context.Context) (wire.StatusReport, error) {
	return wire.StatusReport{Node: "n1", Incarnation: 4, Revision: 9, Role: "leader",
		Connectors: []wire.ConnectorStatus{{Kind: "file", PID: 12, State: "running", Restarts: 1}}}, nil
}

type passwords map[string]string

func (p passwords) PasswordHash(_ context.Context, user string) (string, bool, error) {
	phc, ok := p[user]
	return phc, ok, nil
}

// host is a node made of the real parts, with a data folder.
type host struct {
	t       *testing.T
	dir     *datadir.Dir
	plane   *plane
	judge   *users.Judge
	server  *transport.Server
	address string
	context datadir.Context
}

func newHost(t *testing.T) *host {
	t.Helper()
	dir, err := datadir.Open(t.TempDir(), osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	h := &host{t: t, dir: dir, plane: &plane{started: make(chan struct{}, 10), release: make(chan struct{}, 10)}, address: "127.0.0.1:0"}
	t.Cleanup(func() { _ = dir.Close() })
	h.start()
	t.Cleanup(func() { h.stop() })
	return h
}

// start listens on the address of the last start, with the certificate of the data folder, and writes and reads the context file.
func (h *host) start() {
	h.t.Helper()
	check := func(err error) {
		if err != nil {
			h.t.Helper()
			h.t.Fatal(err)
		}
	}
	certificates, err := h.dir.Certificates(osclock.UTC())
	check(err)
	admin, err := h.dir.Admin(users.GeneratePassword)
	check(err)
	phc, err := users.Hash(admin.Password)
	check(err)
	h.judge, err = users.NewJudge(passwords{admin.Username: phc})
	check(err)
	h.server = transport.NewServer(transport.Config{Node: h.dir.Identity().Node.String(), Incarnation: uint64(h.dir.Incarnation()),
		TLS: &tls.Config{Certificates: []tls.Certificate{certificates.Server}}, Authenticate: h.judge,
		Open: func(o transport.Opened) lanes.Handler {
			return commands.New(h.plane, h.plane, o.User, ident.Domain(o.Domain))
		}})
	bound, err := h.server.Listen(h.address, &certificates.ResetKey)
	for end := time.Now().Add(time.Minute); err != nil && time.Now().Before(end); { // the port of a node that stopped is not free at once
		time.Sleep(20 * time.Millisecond)
		bound, err = h.server.Listen(h.address, &certificates.ResetKey)
	}
	check(err)
	h.address = bound.String()
	path, err := h.dir.WriteContext(client.Scheme+"://"+h.address, certificates.CAPEM, admin)
	check(err)
	h.context, err = datadir.ReadContext(path)
	check(err)
}

func (h *host) stop() {
	h.t.Helper()
	h.server.Abort()
	if err := h.server.Wait(context.Background()); err != nil {
		h.t.Error(err)
	}
	h.judge.Close()
}

func (h *host) config() client.Config {
	return client.Config{Server: h.context.Server, CAPEM: []byte(h.context.CAPEM), User: h.context.Username, Password: h.context.Password,
		Domain: "weather"}
}

func (h *host) dial() *client.Client {
	h.t.Helper()
	c, err := client.Dial(h.t.Context(), h.config())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCommandsAndInspections(t *testing.T) {
	h := newHost(t)
	c := h.dial()
	if c.Node() != "n1" {
		t.Errorf("node %s", c.Node())
	}
	out, err := c.Execute(t.Context(), client.Command{Text: "SHOW", JSON: true})
	want := client.Outcome{Disposition: client.Completed, Reference: out.Reference, Text: "admin SHOW", Data: `{"x":1}`, Domain: "weather"}
	if diff := cmp.Diff(want, out); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	out, err = c.Execute(t.Context(), client.Command{Text: "bad", Domain: "other"})
	if err != nil || out.Disposition != client.Failed || len(out.Diagnostics) != 1 || out.Diagnostics[0].Hint != "hint" || out.Domain != "other" {
		t.Fatal(out, err)
	}
	out, err = c.Execute(t.Context(), client.Command{Text: "COMMIT"})
	wantCommit := &client.Commit{Applied: 1, Failed: 2, Operations: []client.Operation{{Number: 1, Fate: client.FateApplied, Text: "applied"},
		{Number: 2, Fate: client.FateFailed, Diagnostics: fault.Diagnostics{{Stage: fault.StageActivate, Code: "node.failed", Message: "no file"}}},
		{Number: 3, Fate: client.FateNotApplied}}}
	if diff := cmp.Diff(wantCommit, out.Commit); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	domains, err := c.ListDomains(t.Context())
	if diff := cmp.Diff([]client.Domain{{Name: "default", Status: "stopped"}, {Name: "weather", Status: "running"}}, domains); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	status, err := c.Status(t.Context())
	wantStatus := client.Status{Node: "n1", Incarnation: 4, Revision: 9, Role: "leader",
		Connectors: []client.Connector{{Kind: "file", PID: 12, State: "running", Restarts: 1}}}
	if diff := cmp.Diff(wantStatus, status); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
}

// TestRefusalsAreTold apart: bad credentials, TLS, and a host where nothing listens.
func TestRefusalsAreToldApart(t *testing.T) {
	// req: X-025
	// req: X-015 half: no console; the client does not try again by itself
	h := newHost(t)
	other := newHost(t)
	free, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := client.Scheme + "://" + free.LocalAddr().String()
	_ = free.Close()
	for _, c := range []struct {
		name   string
		change func(*client.Config)
		want   error
	}{
		{"wrong password", func(c *client.Config) { c.Password = "hunter2" }, client.ErrAuthentication},
		{"unknown user", func(c *client.Config) { c.User, c.Password = "nobody", "hunter2" }, client.ErrAuthentication},
		{"another cluster's authority", func(c *client.Config) { c.CAPEM = []byte(other.context.CAPEM) }, client.ErrTLS},
		{"the system's roots", func(c *client.Config) { c.CAPEM = nil }, client.ErrTLS},
		{"no certificate", func(c *client.Config) { c.CAPEM = []byte("hunter2") }, client.ErrTLS},
		{"wrong name", func(c *client.Config) { c.TLS = &tls.Config{ServerName: "elsewhere", RootCAs: nil} }, client.ErrTLS},
		{"nothing listens", func(c *client.Config) { c.Server = dead }, client.ErrConnect},
		{"no such host", func(c *client.Config) { c.Server = "nervix://host.invalid:47391" }, client.ErrConnect},
		{"bad address", func(c *client.Config) { c.Server = "127.0.0.1" }, client.ErrAddress},
	} {
		config := h.config()
		c.change(&config)
		_, err := client.Dial(t.Context(), config)
		if !errors.Is(err, c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		for _, other := range []error{client.ErrAuthentication, client.ErrTLS, client.ErrConnect, client.ErrAddress} {
			if other != c.want && errors.Is(err, other) {
				t.Errorf("%s: %v is also %v", c.name, err, other)
			}
		}
	}
}

func TestNameOfTheLoopbackIsServed(t *testing.T) {
	h := newHost(t)
	config := h.config()
	config.Server = strings.Replace(config.Server, "127.0.0.1", "localhost", 1)
	c, err := client.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}

// TestANodeThatRestarts keeps authority and password, and the client finds it again without being told.
func TestANodeThatRestarts(t *testing.T) {
	h := newHost(t)
	c := h.dial()
	before := h.context
	for range 3 {
		if _, err := c.Execute(t.Context(), client.Command{Text: "SHOW"}); err != nil {
			t.Fatal(err)
		}
		h.stop()
		h.start()
	}
	if _, err := c.Execute(t.Context(), client.Command{Text: "SHOW"}); err != nil {
		t.Fatal(err)
	}
	if h.context != before {
		t.Error("the context changed over restarts on one port")
	}
}

func TestACommandThatIsGivenUp(t *testing.T) {
	// req: X-061
	h := newHost(t)
	c := h.dial()
	running := make(chan error, 1)
	go func() {
		_, err := c.Execute(t.Context(), client.Command{Text: "admitted"})
		running <- err
	}()
	<-h.plane.started
	// Queued behind it, and given up before it starts.
	ctx, giveUp := context.WithCancel(t.Context())
	queued := make(chan error, 1)
	go func() {
		_, err := c.Execute(ctx, client.Command{Text: "queued"})
		queued <- err
	}()
	if _, err := c.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	giveUp()
	if err := <-queued; !errors.Is(err, client.ErrCancelled) || errors.Is(err, client.ErrUncertain) {
		t.Errorf("queued: %v", err)
	}
	h.plane.release <- struct{}{}
	if err := <-running; err != nil {
		t.Errorf("running: %v", err)
	}
	// Running and not admitted.
	ctx, giveUp = context.WithCancel(t.Context())
	go func() {
		_, err := c.Execute(ctx, client.Command{Text: "hold"})
		queued <- err
	}()
	<-h.plane.started
	giveUp()
	if err := <-queued; !errors.Is(err, client.ErrCancelled) {
		t.Errorf("not admitted: %v", err)
	}
	// Admitted: the effect comes, and the caller is told that it may.
	ctx, giveUp = context.WithCancel(t.Context())
	go func() {
		_, err := c.Execute(ctx, client.Command{Text: "admitted and left"})
		queued <- err
	}()
	<-h.plane.started
	giveUp()
	if err := <-queued; !errors.Is(err, client.ErrUncertain) || errors.Is(err, client.ErrCancelled) {
		t.Errorf("admitted: %v", err)
	}
	h.plane.release <- struct{}{}
	if _, err := c.Execute(t.Context(), client.Command{Text: "last"}); err != nil {
		t.Fatal(err)
	}
	h.plane.mu.Lock()
	defer h.plane.mu.Unlock()
	if want := []string{"admitted", "admitted and left", "last"}; !slices.Equal(h.plane.ran, want) {
		t.Errorf("ran %v", h.plane.ran)
	}
}
