// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

var _ control.Log = (*dragon.Log)(nil)

// idle stands in for the node that Control installs revisions on.
type idle struct{ resumed []ident.Domain }

func (i *idle) Install(_ context.Context, prev, next *registry.State) error {
	for _, name := range next.DomainNames() {
		if prev == nil && next.Domains[name].Status == registry.Running {
			i.resumed = append(i.resumed, name)
		}
	}
	return nil
}

func (*idle) Ready(context.Context, ident.Domain, ident.Generation) error { return nil }

func (*idle) Inspect(context.Context, *registry.State, ident.Domain, ast.Statement) (control.Inspection, error) {
	return control.Inspection{}, errors.New("no inspections here")
}

func (*idle) Hash(string) (string, error) { return "$h", nil }

// TestControlOverTheLog runs statements over the real log, restarts both, and finds everything again.
func TestControlOverTheLog(t *testing.T) {
	// req: G-001 half: one node, so no partition
	dir := t.TempDir()
	var reference ident.Reference
	live := func(incarnation ident.Incarnation, node *idle, run func(do func(string) control.Outcome, c *control.Control)) {
		l := open(t, dir, "c")
		c, err := control.Open(t.Context(), control.Config{
			Log: l, Checker: control.ModelChecker{}, Installer: node, Inspector: node, Hasher: node, Cluster: "c",
			Users:  []registry.User{{Name: "ann", PHC: "$h"}},
			Node:   registry.Node{ID: 7, Incarnation: incarnation, Logical: "n7.node"},
			Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		run(func(text string) control.Outcome {
			out := c.Execute(t.Context(), control.Request{User: "ann", Domain: "d", Text: text})
			if out.Disposition != control.Completed {
				t.Errorf("%s: %s %v", text, out.Disposition, out.Diagnostics)
			}
			return out
		}, c)
		c.Close()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	var shown string
	live(1, &idle{}, func(do func(string) control.Outcome, _ *control.Control) {
		do("CREATE DOMAIN d")
		do("BEGIN; CREATE RELAY r SCHEMA s UNBRANCHED; CREATE SCHEMA s (x I64); COMMIT")
		shown = do("SHOW CREATE RELAY r").Text
		reference = do("START").Reference
	})
	node := &idle{}
	live(2, node, func(do func(string) control.Outcome, c *control.Control) {
		if got := do("SHOW CREATE RELAY r").Text; got != shown {
			t.Errorf("before the restart\n%s\nafter it\n%s", shown, got)
		}
		if len(node.resumed) != 1 {
			t.Errorf("resumed %v", node.resumed)
		}
		again := c.Execute(t.Context(), control.Request{Reference: reference, User: "ann", Domain: "d", Text: "START"})
		if again.Disposition != control.Completed || !again.Recovered {
			t.Errorf("the repeated START: %s, recovered %v, %v", again.Disposition, again.Recovered, again.Diagnostics)
		}
		do("STOP")
	})
}
