// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
)

// Credentials are what context.json holds.
type Credentials struct {
	Server   string `json:"server"`
	CA       string `json:"ca_pem"`
	User     string `json:"username"`
	Password string `json:"password"`
}

// Credentials reads the node's context.json.
func (n *Node) Credentials() Credentials {
	n.t.Helper()
	var c Credentials
	content, err := os.ReadFile(filepath.Join(n.Data, "context.json"))
	if err == nil {
		err = json.Unmarshal(content, &c)
	}
	if err != nil {
		n.t.Fatal(err)
	}
	return c
}

// Config is the client configuration of the administrator.
func (n *Node) Config() client.Config {
	c := n.Credentials()
	return client.Config{Server: c.Server, CAPEM: []byte(c.CA), User: c.User, Password: c.Password}
}

// Session is a session of the administrator.
type Session struct {
	t testing.TB
	*client.Client
	domain string
}

// Dial opens a session that ends with the test.
func (n *Node) Dial() *Session {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.Dial(ctx, n.Config())
	if err != nil {
		n.t.Fatalf("dial: %v\n%s", err, n.Log())
	}
	n.t.Cleanup(func() { _ = c.Close() })
	return &Session{t: n.t, Client: c}
}

// Use chooses the domain of later statements.
func (s *Session) Use(domain string) { s.domain = domain }

// Try executes one statement.
func (s *Session) Try(text string) (client.Outcome, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return s.Execute(ctx, client.Command{Text: text, Domain: s.domain, JSON: true})
}

// Do executes statements that must complete, each ended by a semicolon and a line end; it gives the outcome of the last.
func (s *Session) Do(texts ...string) client.Outcome {
	s.t.Helper()
	var last client.Outcome
	for _, text := range Statements(strings.Join(texts, "\n")) {
		out, err := s.Try(text)
		if err != nil {
			s.t.Fatalf("%s: %v", text, err)
		}
		if out.Disposition != client.Completed {
			s.t.Fatalf("%s: %s %v", text, out.Disposition, out.Diagnostics)
		}
		if strings.HasPrefix(text, "USE ") {
			s.domain = out.Domain
		}
		last = out
	}
	return last
}

// Refused executes a statement that must fail and gives what the diagnostics say, one a line.
func (s *Session) Refused(text string) string {
	s.t.Helper()
	out, err := s.Try(text)
	if err != nil {
		s.t.Fatalf("%s: %v", text, err)
	}
	if out.Disposition != client.Failed {
		s.t.Fatalf("%s: %s, want a refusal: %s", text, out.Disposition, out.Text)
	}
	var lines []string
	for _, d := range out.Diagnostics {
		lines = append(lines, fmt.Sprintf("%s: %s (%s)", d.Code, d.Message, d.Hint))
	}
	return strings.Join(lines, "\n")
}

// Statements cuts a text at semicolons that end a line.
func Statements(text string) []string {
	var out []string
	for _, part := range strings.SplitAfter(text+"\n", ";\n") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, strings.TrimSuffix(part, ";"))
		}
	}
	return out
}

// Ingestor is the part of DESCRIBE INGESTOR that tests read.
type Ingestor struct {
	Status     string `json:"status"`
	Ready      bool   `json:"ready"`
	Unresolved int    `json:"unresolved"`
	Rejected   int    `json:"rejected"`
	Position   struct {
		Offset int64 `json:"offset"`
		Line   int64 `json:"line"`
	} `json:"position"`
	Transient string `json:"transient_error"`
	// Text is the whole document.
	Text string `json:"-"`
}

// Ingestor describes an ingestor.
func (s *Session) Ingestor(name string) Ingestor {
	s.t.Helper()
	var i Ingestor
	s.Describe("INGESTOR "+name, &i)
	return i
}

// TryIngestor is Ingestor while nodes are being killed.
func (s *Session) TryIngestor(name string, limit time.Duration) (Ingestor, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	var i Ingestor
	out, err := s.Execute(ctx, client.Command{Text: "DESCRIBE INGESTOR " + name + " FORMAT JSON", Domain: s.domain, JSON: true})
	if err != nil {
		return i, err
	}
	i.Text = out.Data
	return i, json.Unmarshal([]byte(out.Data), &i)
}

// Describe fills target from DESCRIBE what FORMAT JSON and gives the document.
func (s *Session) Describe(what string, target any) string {
	s.t.Helper()
	out := s.Do("DESCRIBE " + what + " FORMAT JSON")
	if err := json.Unmarshal([]byte(out.Data), target); err != nil {
		s.t.Fatalf("DESCRIBE %s: %v in %q", what, err, out.Data)
	}
	if i, ok := target.(*Ingestor); ok {
		i.Text = out.Data
	}
	return out.Data
}

// Revision is the committed revision that the node has installed.
func (s *Session) Revision() uint64 {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	status, err := s.Status(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	return uint64(status.Revision)
}

// Finish waits until an ingestor is finished with nothing unresolved, as long as its position moves.
func (s *Session) Finish(name string) Ingestor {
	s.t.Helper()
	i := s.Ingestor(name)
	for i.Status != "finished" || i.Unresolved != 0 {
		before := i.Position
		Eventually(s.t, "INGESTOR "+name+" moves or is finished with nothing unresolved", func() bool {
			i = s.Ingestor(name)
			return i.Position != before || i.Status == "finished" && i.Unresolved == 0
		})
	}
	return i
}

// Get reads a page of the admin listener.
func (n *Node) Get(path string) string {
	n.t.Helper()
	r, err := http.Get("http://" + n.Admin + path)
	if err != nil {
		n.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}
