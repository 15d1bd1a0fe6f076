// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// domain is a test domain: the definitions that were applied so far.
type domain struct {
	t    *testing.T
	defs map[ident.Ref]ast.Definition
}

func (d *domain) list() []ast.Definition {
	var list []ast.Definition
	for _, def := range d.defs {
		list = append(list, def)
	}
	return list // in the random order of a map, which must not matter
}

// apply stores what a candidate changed, as canonical text that is read again, the way the control plane does.
func (d *domain) apply(c *model.Candidate) {
	for _, ref := range c.Drops {
		delete(d.defs, ref)
	}
	for _, put := range c.Puts {
		stored, faults := parse.Statement(print.Statement(put.Definition))
		if len(faults) > 0 {
			d.t.Fatalf("%v does not read back: %v", put.Ref, faults)
		}
		d.defs[put.Ref] = stored.(ast.Definition)
	}
}

func statements(t *testing.T, text string) []ast.Statement {
	t.Helper()
	parsed, faults := parse.Text(text)
	if len(faults) > 0 {
		t.Fatalf("%s\n%s", text, faults.Error())
	}
	list := make([]ast.Statement, len(parsed))
	for i, p := range parsed {
		list[i] = p.Stmt
	}
	return list
}

func newDomain(t *testing.T, text string) *domain {
	t.Helper()
	d := &domain{t: t, defs: make(map[ident.Ref]ast.Definition)}
	c, faults := model.Check("farm", nil, statements(t, text))
	if len(faults) > 0 {
		t.Fatal(showFaults(text, c, faults))
	}
	d.apply(c)
	return d
}

func baseText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "base.nspl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCheck runs the scripts of testdata/check. Commands: `base` begins with testdata/base.nspl, `empty` with nothing; `check` shows what
// a request would do, `apply` also does it; with the argument `paced` the domain is paced.
func TestCheck(t *testing.T) {
	// req: R-003 half: the grammar's order of clauses is shown in package parse
	// req: R-005 half: omission is a syntax error, shown in package parse
	// req: R-014
	// req: R-015
	// req: R-016
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		d := newDomain(t, "")
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			switch td.Cmd {
			case "base":
				d = newDomain(t, baseText(t)+td.Input)
				return fmt.Sprintf("%d definitions\n", len(d.defs))
			case "empty":
				d = newDomain(t, td.Input)
				return fmt.Sprintf("%d definitions\n", len(d.defs))
			case "check", "apply":
				c, faults := model.Check("farm", d.list(), statements(t, td.Input), model.Paced(td.HasArg("paced")))
				if len(faults) > 0 {
					return showFaults(td.Input, c, faults)
				}
				if td.Cmd == "apply" {
					d.apply(c)
				}
				return showCandidate(c)
			default:
				t.Fatalf("no command %s", td.Cmd)
				return ""
			}
		})
	})
}

// showFaults draws each diagnostic with the text its span marks.
func showFaults(text string, c *model.Candidate, faults fault.Diagnostics) string {
	var b strings.Builder
	for i, d := range faults {
		place := "-"
		if d.Located {
			place = "`" + text[d.Span.Offset:d.Span.End()] + "`"
		}
		fmt.Fprintf(&b, "%s %s in %d at %s\n  %s\n", d.Stage, d.Code, c.At[i], place, d.Message)
		if d.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
		}
		if len(d.Related) > 0 {
			var related []string
			for _, ref := range d.Related {
				related = append(related, ref.Kind.String()+" "+string(ref.Name))
			}
			fmt.Fprintf(&b, "  related: %s\n", strings.Join(related, ", "))
		}
	}
	return b.String()
}

func showCandidate(c *model.Candidate) string {
	var b strings.Builder
	for _, ref := range c.Drops {
		fmt.Fprintf(&b, "drop %s %s\n", ref.Kind, ref.Name)
	}
	for _, put := range c.Puts {
		fmt.Fprintf(&b, "put %s", strings.ReplaceAll(print.Statement(put.Definition), "\n", "\n    "))
		if put.CapacityOnly {
			b.WriteString("  (capacity only)")
		}
		b.WriteByte('\n')
		for _, ref := range put.Dependencies {
			fmt.Fprintf(&b, "  needs %s %s\n", ref.Kind, ref.Name)
		}
	}
	for i := range c.Existed {
		if c.Existed[i] {
			fmt.Fprintf(&b, "%d existed; %s\n", i, c.Notices[i])
		}
	}
	fmt.Fprintf(&b, "quiesce level: %s", c.Level(true))
	if c.CapacityOnly {
		b.WriteString("; a running domain takes it")
	}
	return b.String() + "\n"
}

func TestBuildIsTheSameInAnyOrder(t *testing.T) {
	d := newDomain(t, baseText(t)+guestText)
	list := d.list()
	slices.SortFunc(list, func(a, b ast.Definition) int { return strings.Compare(print.Statement(a), print.Statement(b)) })
	first := outline(t, list)
	slices.Reverse(list)
	if second := outline(t, list); first != second {
		t.Errorf("order matters:\n%s\n%s", first, second)
	}
}

// outline writes what a graph holds, with fingerprints.
func outline(t *testing.T, defs []ast.Definition) string {
	t.Helper()
	g, faults := model.Build("farm", defs)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	var b strings.Builder
	for _, r := range g.Relays {
		fmt.Fprintln(&b, r.Ref, r.Fingerprint, g.Readers(r.Ref.Name))
	}
	for _, i := range g.Ingestors {
		fmt.Fprintln(&b, i.Ref, i.Fingerprint)
	}
	for _, j := range g.Junctions {
		fmt.Fprintln(&b, j.Ref, j.Fingerprint)
	}
	for _, w := range g.WASMs {
		fmt.Fprintln(&b, w.Ref, w.Fingerprint)
	}
	for _, r := range g.Resources {
		fmt.Fprintln(&b, r.Ref, r.Fingerprint)
	}
	for _, e := range g.Emitters {
		fmt.Fprintln(&b, e.Ref, e.Fingerprint)
	}
	fmt.Fprintln(&b, g.Runtime())
	return b.String()
}
