// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/wasm/protocol"
)

// The text form of what a guest emitted holds every member of every envelope, and nothing of its layout. Tokens count from firstToken.

// render gives the text form of envelopes that were checked and not settled.
func (g *guest) render(groups []*protocol.Group) string {
	var b strings.Builder
	for _, group := range groups {
		b.WriteString("envelope\n")
		if group.Generated != nil {
			for i, c := range group.Generated.Columns() {
				f := group.Generated.Schema().Field(i)
				fmt.Fprintf(&b, "  generated %d %s nullable=%t: %s\n", i, f.Type, f.Nullable, values(c))
			}
		}
		for i := range group.Outputs {
			g.renderOutput(&b, &group.Outputs[i])
		}
	}
	return b.String()
}

func values(c arrow.Array) string {
	all := make([]string, c.Len())
	for i := range all {
		all[i] = value(c, i)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// value is one value in quotes, or null.
func value(c arrow.Array, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	return fmt.Sprintf("%q", c.ValueStr(i))
}

func (g *guest) renderOutput(b *strings.Builder, out *protocol.Bound) {
	fmt.Fprintf(b, "  %s:", g.scenario.schemas.Routes[out.Route].Relay)
	var inputs []int
	for _, c := range out.Columns {
		fmt.Fprintf(b, " %s %d", c.Source, c.Index)
		if c.Source == protocol.Input && !slices.Contains(inputs, int(c.Index)) {
			inputs = append(inputs, int(c.Index))
		}
	}
	b.WriteByte('\n')
	acks := &out.Acks
	for i := range acks.Rows() {
		row := acks.Row(i)
		fmt.Fprintf(b, "    row %s", tokensText(row.Tokens))
		if row.HasSource {
			fmt.Fprintf(b, " <- %d", row.Source-firstToken)
			if p, ok := g.ledger.Locate(row.Source); ok {
				for _, c := range inputs {
					fmt.Fprintf(b, " %s", value(g.inputs[p.Batch].Column(c), int(p.Row)))
				}
			}
		}
		b.WriteByte('\n')
	}
	for i := range acks.Acked() {
		fmt.Fprintf(b, "    acked %s\n", tokensText(acks.AckedSet(i)))
	}
	for i := range acks.Nacked() {
		set, reason := acks.NackedSet(i)
		fmt.Fprintf(b, "    nacked %s %q\n", tokensText(set), reason)
	}
	for i := range acks.Failed() {
		set, reason := acks.FailedSet(i)
		fmt.Fprintf(b, "    message error %s %q\n", tokensText(set), reason)
	}
}

func tokensText(t protocol.Tokens) string {
	all := make([]string, t.Len())
	for i := range all {
		all[i] = fmt.Sprint(t.At(i) - firstToken)
	}
	return "[" + strings.Join(all, " ") + "]"
}

// difference names the first line in which two texts differ.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return fmt.Sprintf("line %d is `%s` instead of `%s`", i+1, cut(strings.TrimSpace(b)), cut(strings.TrimSpace(a)))
		}
	}
	return ""
}

func cut(s string) string {
	if len(s) > 160 {
		return s[:160] + "..."
	}
	return s
}
