// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Each line of a script is one event; the answer is the state, the effects and the armed time.
func TestMachine(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		var m machine
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, word := range strings.Fields(d.Input) {
				e, ok := eventNamed(word)
				if !ok {
					t.Fatalf("no event %q", word)
				}
				from := m.state
				effects, legal := m.step(e)
				if !legal {
					fmt.Fprintf(&out, "%s --%s--> illegal\n", from, word)
					continue
				}
				fmt.Fprintf(&out, "%s --%s--> %s", from, word, m.state)
				for _, fx := range effects {
					fmt.Fprintf(&out, " %s", fx)
					if fx == fxArm {
						fmt.Fprintf(&out, "(%v)", m.timer)
					}
				}
				out.WriteString("\n")
			}
			fmt.Fprintf(&out, "restarts=%d\n", m.restarts)
			return out.String()
		})
	})
}

func eventNamed(word string) (event, bool) {
	for i, n := range eventNames {
		if n == word {
			return event(i), true
		}
	}
	return 0, false
}

// Whatever happens, a stop ends every machine once the process is gone, and nothing is started after it.
func TestMachineAlwaysStops(t *testing.T) {
	for first := idle; first < stopped; first++ {
		m := machine{state: first}
		if _, ok := m.step(evStop); !ok {
			t.Fatalf("%v cannot stop", first)
		}
		for range 4 {
			for _, e := range []event{evTimer, evExited, evStartFailed} {
				if m.state == stopped {
					break
				}
				if effects, ok := m.step(e); ok && len(effects) > 0 && effects[0] == fxStart {
					t.Fatalf("started after stop from %v", first)
				}
			}
		}
		if m.state != stopped {
			t.Fatalf("stop from %v ends in %v", first, m.state)
		}
	}
}
