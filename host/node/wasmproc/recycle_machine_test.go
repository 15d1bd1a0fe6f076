// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestRecyclingScripts drives the machine. Sizes are KiB.
//
//	guest born=N [floor=N] [after=N] [max=N] [ignore]   a branch whose instance was just made, in its first callback
//	work n=N memory=N [bound] [rejected]                callbacks with their checkpoints, until one is followed by a successor
//	successor outcome=WORD [memory=N]                   what came of it
//	trap born=N                                         the next callback traps, and the one after it makes an instance
//	end                                                 the branch ends
func TestRecyclingScripts(t *testing.T) {
	// req: A07, W-186
	var m *machine
	datadriven.RunTest(t, "testdata/recycling.txt", func(t *testing.T, d *datadriven.TestData) string {
		size := func(key string) uint64 {
			var n uint64
			d.MaybeScanArgs(t, key, &n)
			return n << 10
		}
		count := func(key string, n int) int {
			d.MaybeScanArgs(t, key, &n)
			return n
		}
		feed := func(e event) string { return fmt.Sprintf("%v -> %v", m.step(e), m.phase) }
		made := func() {
			m.step(event{kind: evWork})
			m.step(event{kind: evLoaded})
			m.step(event{kind: evCreated, memory: size("born")})
		}
		switch d.Cmd {
		case "guest":
			m = &machine{log: !d.HasArg("ignore")}
			m.recycling.rules = Recycling{Floor: size("floor"), After: uint64(count("after", 0))}.rules(size("max"))
			made()
			return m.phase.String()
		case "work":
			returned := event{kind: evReturned, emitted: true}
			if d.HasArg("rejected") {
				returned = event{kind: evReturned, outcome: rejected}
			}
			for i := range count("n", 1) {
				if m.phase == idle {
					m.step(event{kind: evWork})
				}
				m.step(returned)
				m.step(event{kind: evSaved})
				if text := feed(event{kind: evStored, memory: size("memory"), bound: d.HasArg("bound")}); m.phase != idle {
					return fmt.Sprintf("after %d: %s", i+1, text)
				}
			}
			return m.phase.String()
		case "successor":
			var word string
			d.ScanArgs(t, "outcome", &word)
			e := parseEvent("renewed:" + word)
			e.memory = size("memory")
			return feed(e)
		case "trap":
			m.step(event{kind: evWork})
			m.step(event{kind: evReturned, outcome: lost})
			made()
			return m.phase.String()
		case "end":
			return feed(event{kind: evEnd})
		default:
			return "unknown " + strings.TrimSpace(d.Input)
		}
	})
}
