// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// command is the nervix command, built beside the daemon unless it is there.
var command = sync.OnceValues(func() (string, error) {
	program := filepath.Join(filepath.Dir(nodes.Built().Daemon), "nervix")
	if _, err := os.Stat(program); !errors.Is(err, fs.ErrNotExist) {
		return program, err
	}
	c := exec.Command("go", "build", "-o", program, "github.com/nervix-go/nervix/cmd/nervix")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building nervix: %w\n%s", err, text)
	}
	return program, nil
})

// world is a node and the folders it works in.
type world struct {
	node       *nodes.Node
	data, root string
}

func start(t *testing.T, flags ...string) *world {
	t.Helper()
	w := &world{data: t.TempDir() + "/data", root: t.TempDir()}
	w.node = nodes.Start(t, nodes.Options{Data: w.data, Root: w.root, Flags: flags})
	return w
}

// nervix prepares the command with the context of the node.
func (w *world) nervix(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	program, err := command()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, arguments...)
	c.Env = append(os.Environ(), "NERVIX_CONTEXT="+filepath.Join(w.data, "context.json"))
	c.Dir = w.root
	return c
}

// session is a session of the administrator that fails the test it is of, not the one that started the node.
type session struct {
	*nodes.Session
	t *testing.T
}

// session opens one whose statements go to a domain. It notices soon that a node was killed.
func (w *world) session(t *testing.T, domain string) *session {
	t.Helper()
	config := w.node.Config()
	config.KeepAlive = 200 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, config)
	if err != nil {
		t.Fatalf("%v\n%s", err, w.node.Log())
	}
	t.Cleanup(func() { _ = c.Close() })
	s := &session{&nodes.Session{Client: c}, t}
	s.Use(domain)
	return s
}

// Do executes statements that must complete; it gives the outcome of the last.
func (s *session) Do(texts ...string) (last client.Outcome) {
	s.t.Helper()
	for _, text := range nodes.Statements(strings.Join(texts, "\n")) {
		out, err := s.Try(text)
		if err != nil || out.Disposition != client.Completed {
			s.t.Fatalf("%s: %s %v %v", text, out.Disposition, out.Diagnostics, err)
		}
		if strings.HasPrefix(text, "USE ") {
			s.Use(out.Domain)
		}
		last = out
	}
	return last
}

// Refused executes a statement that must fail and gives what the diagnostics say.
func (s *session) Refused(text string) string {
	s.t.Helper()
	out, err := s.Try(text)
	if err != nil || out.Disposition != client.Failed {
		s.t.Fatalf("%s: %s %v, want a refusal: %s", text, out.Disposition, err, out.Text)
	}
	var told strings.Builder
	for _, d := range out.Diagnostics {
		fmt.Fprintf(&told, "%s: %s (%s)\n", d.Code, d.Message, d.Hint)
	}
	return told.String()
}

// describe reads DESCRIBE of an object into a value.
func (s *session) describe(what string, target any) {
	s.t.Helper()
	out := s.Do("DESCRIBE " + what + " FORMAT JSON")
	if err := json.Unmarshal([]byte(out.Data), target); err != nil {
		s.t.Fatalf("DESCRIBE %s: %v in %q", what, err, out.Data)
	}
}

// domainEntry is what LIST DOMAINS has of a domain.
type domainEntry struct {
	Name         string
	Pace         string
	PeriodNS     *uint64 `json:"period_ns"`
	SkewNS       *uint64 `json:"skew_ns"`
	Status       string
	StartVersion uint64 `json:"start_version"`
}

func entry(t *testing.T, s *session, name string) domainEntry {
	t.Helper()
	var all []domainEntry
	read := json.NewDecoder(strings.NewReader(s.Do("LIST DOMAINS").Data))
	read.DisallowUnknownFields()
	if err := read.Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, d := range all {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("no domain %s in %+v", name, all)
	return domainEntry{}
}
