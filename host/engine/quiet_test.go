// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

// chain is a graph of several hops whose consumers are detached, so that nothing upstream waits for a row: only the looks at the places see it.
func chain(hops int) string {
	var b strings.Builder
	b.WriteString(schemas)
	for i := range hops + 1 {
		fmt.Fprintf(&b, "CREATE RELAY r%d SCHEMA reading BRANCHED BY by_bed CAPACITY 1;\n", i)
	}
	b.WriteString("CREATE INGESTOR probes" + fromFile + "TO r0 INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE" + logAll + general + "\n")
	for i := range hops {
		// Names are sorted, and nodes are looked at in that order; the chain runs against it, which hides a row best.
		fmt.Fprintf(&b, "CREATE DETACHED JUNCTION j%d FROM r%d BRANCHED BY by_bed TO r%d INHERIT ALL FLUSH EACH 1h MAX BATCH SIZE 1B%s;\n", hops-i, i, i+1, logAll)
	}
	fmt.Fprintf(&b, "CREATE DETACHED EMITTER sink FROM r%d%sFLUSH EACH 1h MAX BATCH SIZE 1B%s%s", hops, toFile, logAll, general)
	return b.String()
}

// A row goes through relays and nodes while settled looks at them, as far as an adversary likes between two looks. All of its choices are tried:
// settled must never be true unless the row has arrived.
func TestNoRowHidesFromTheLook(t *testing.T) {
	const hops = 3 // relay 0, node 0, relay 1, node 1, relay 2, node 2, then the sink
	const sink = 2 * hops
	// Looks: relays in any order, then nodes in any order; each order of three is tried.
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	tried := 0
	for _, relays := range orders {
		for _, nodes := range orders {
			order := make([]int, 0, sink)
			for _, r := range relays {
				order = append(order, 2*r)
			}
			for _, n := range nodes {
				order = append(order, 2*n+1)
			}
			// moves[i] is the number of steps before the i-th look; the last one is before the second reading of the admissions.
			var moves [sink + 2]int
			var try func(at, left int)
			try = func(at, left int) {
				if at == len(moves) {
					tried++
					if place := look(order, moves, sink); place >= 0 {
						t.Fatalf("quiet although the row is at place %d: looks %v, moves %v", place, order, moves)
					}
					return
				}
				for n := 0; n <= left; n++ {
					moves[at] = n
					try(at+1, left-n)
				}
			}
			try(0, sink)
		}
	}
	t.Logf("%d schedules", tried)
}

// look runs settled over one schedule. It returns where the row was if settled was true too early, else -1.
func look(order []int, moves [8]int, sink int) int {
	at, next := 0, 0
	admitted := uint64(1) // relay 0 has it
	step := func() {
		for range moves[next] {
			if at++; at%2 == 0 && at < sink {
				admitted++
			}
		}
		next++
	}
	var places []func() bool
	for _, place := range order {
		places = append(places, func() bool {
			step()
			return at == place
		})
	}
	quiet := settled(places, func() uint64 {
		step()
		return admitted
	})
	if quiet && at < sink {
		return at
	}
	return -1
}

// Whenever quiet says that nothing is left, every row that was admitted has reached the sink.
func TestQuietIsExact(t *testing.T) {
	n := start(t)
	defer n.close()
	src := n.source("probes")
	n.define(chain(5))
	n.must(n.startDomain(false))
	x := n.e.execution(nodetest.Domain)
	r := rand.New(rand.NewPCG(3, 4))
	sent := uint64(0)
	rounds := 1500
	if testing.Short() {
		rounds = 200
	}
	for range rounds {
		for range 1 + r.IntN(3) {
			sent++
			src.Add(item(string(rune('a'+r.IntN(5))), int(sent)))
		}
		for x.ingestors[0].Observe().Read < sent {
			runtime.Gosched()
		}
		x.flush() // the ingestor's window is 100 µs
		for !x.quiet() {
			runtime.Gosched()
		}
		if got := x.emitters[0].Observe().Emitted; got != sent {
			t.Fatalf("quiet with %d of %d rows at the sink", got, sent)
		}
	}
}
