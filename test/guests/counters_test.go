// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestRowsAreCountedRight filters, multiplies, rewrites and refuses rows by many in a batch, and compares all counters with what was asked.
func TestRowsAreCountedRight(t *testing.T) {
	t.Parallel()
	// req: A11
	w := start(t)
	a := w.arena(t, "counted", arenaOptions{window: 1000, files: []file{{"puppet.wasm", wat(t, puppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", detached: true, routes: "TO out " + sendFaults + " TO side WHERE output.id > 500 ON MESSAGE ERROR LOG"}.text())
	three := "p(i" + envelope{numbers(counter, counter, counter), outputs(to("out", plainColumns, sidecar(row(rowToken), row(rowToken), row(rowToken))))}.pack().script() + ")"
	both := "p(i" + envelope{numbers(counter), outputs(to("out", plainColumns, sidecar(row(rowToken))), to("side", plainColumns, sidecar(row(rowToken))))}.pack().script() + ")"
	type truth struct{ Given, Acked, Nacked, Failed, Out, Side, Faults int }
	var want truth
	const rounds = 250
	for n := range rounds {
		bed := fmt.Sprint("b", n%7)
		a.feed(item{bed, ""}, item{bed, acks()}, item{bed, three}, item{bed, both})
		want.Given += 4
		want.Acked++
		want.Out += 1 + 3 + 1
		if a.rows > 500 { // the row for both relays
			want.Side++
		}
		if n%5 == 0 {
			a.feed(item{bed, errs("out", "wrong")}, item{bed, nacks("no")})
			want.Given += 2
			want.Failed++
			want.Faults++
			want.Nacked++
		}
	}
	a.Do("START")
	a.Finish("feed")
	var got truth
	nodes.Eventually(t, "every row was worked", func() bool {
		d := a.describe("puppet")
		got = truth{Given: d.Rows.Given, Acked: d.Rows.Acked, Nacked: d.Rows.Nacked, Failed: d.Rows.Failed, Out: len(a.came("out")), Side: len(a.came("side")),
			Faults: len(lines[fault](t, a.at+"/faults.ndjson"))}
		return got == want
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var edges struct {
		Metrics struct {
			In []struct {
				Relay string
				Total int
			} `json:"incoming_edges"`
			Out []struct {
				Relay string
				Total int
			} `json:"outgoing_edges"`
		}
	}
	a.Describe("WASM PROCESSOR puppet", &edges)
	totals := map[string]int{}
	for _, e := range append(edges.Metrics.In, edges.Metrics.Out...) {
		totals[e.Relay] = e.Total
	}
	if d := cmp.Diff(map[string]int{"items": want.Given, "out": want.Out, "side": want.Side}, totals); d != "" {
		t.Errorf("the edges: %s", d)
	}
	metrics := w.node.Get("/metrics")
	for name, value := range map[string]int{
		`nervix_messages_total{direction="in",`: want.Given, `nervix_messages_total{direction="out",`: want.Out + want.Side, `nervix_rejected_total{`: want.Failed,
	} {
		found := ""
		for _, line := range strings.Split(metrics, "\n") {
			if strings.HasPrefix(line, name) && strings.Contains(line, `name="puppet"`) {
				found = line
			}
		}
		if !strings.HasSuffix(found, fmt.Sprintf("} %d", value)) {
			t.Errorf("%s is %q, want %d", name, found, value)
		}
	}
	a.Do("STOP")
	w.node.Stop()
}
