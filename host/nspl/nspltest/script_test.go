// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// TestScripts runs the scripts of testdata. Their commands:
//
//	parse     a text; answers the canonical text of every statement, then the diagnostics as a person sees them
//	grouping  one expression a line; answers each with all its parentheses, or its diagnostics
//	expected  a text with a cursor `|`; answers what may stand there
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "parse":
				return runParse(t, d.Input)
			case "grouping":
				return runGrouping(d.Input)
			case "expected":
				before, after, found := strings.Cut(d.Input, "|")
				if !found {
					d.Fatalf(t, "the text has no cursor")
				}
				return strings.Join(parse.Expected(before+after, len(before)), "\n") + "\n"
			default:
				d.Fatalf(t, "unknown command %q", d.Cmd)
				return ""
			}
		})
	})
}

func runParse(t *testing.T, src string) string {
	t.Helper()
	var out strings.Builder
	list, defects := parse.Text(src)
	for _, one := range list {
		canonical := print.Statement(one.Stmt)
		out.WriteString(canonical + ";\n")
		again, more := parse.Statement(canonical)
		if len(more) > 0 {
			t.Errorf("the canonical text does not parse: %s\n%s", more.Error(), canonical)
		} else if twice := print.Statement(again); twice != canonical {
			t.Errorf("printing is not stable:\n%s\n%s", canonical, twice)
		}
	}
	out.WriteString(render(src, defects))
	return out.String()
}

func render(src string, defects fault.Diagnostics) string {
	var out strings.Builder
	for _, d := range defects {
		out.WriteString(string(d.Stage) + " " + d.Render(src))
	}
	return out.String()
}

func runGrouping(input string) string {
	var out strings.Builder
	for line := range strings.Lines(input) {
		line = strings.TrimSuffix(line, "\n")
		x, defects := parse.Expr(line)
		if len(defects) > 0 {
			out.WriteString(render(line, defects))
			continue
		}
		out.WriteString(grouped(x) + "\n")
	}
	return out.String()
}
