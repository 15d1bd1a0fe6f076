// SPDX-License-Identifier: Apache-2.0

package junction_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/node/junction"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const base = `
CREATE SCHEMA reading (bed STRING, wet F64, n I64 OPTIONAL);
CREATE SCHEMA alarm (bed STRING, level I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE SCHEMA flaw (ref STRING, code STRING, op STRING, why STRING, key STRING, bed STRING OPTIONAL, level I64 OPTIONAL, step U32 OPTIONAL, seen DATETIME OPTIONAL);
CREATE BRANCH by_bed SCHEMA bed_key TTL 1m;
CREATE RELAY readings SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY more SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY copies SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY alarms SCHEMA alarm BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY flaws SCHEMA flaw BRANCHED BY by_bed CAPACITY 4;
`

const (
	toCopies = " TO copies INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE "
	slow     = " FLUSH EACH 1s MAX BATCH SIZE 1MiB "
)

// bench is one running junction.
type bench struct {
	*nodetest.World
	j *junction.Junction
}

// run builds the junction of a text and calls use in a bubble.
func run(t *testing.T, lanes int, text string, use func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := nodetest.New(t, base+text, lanes)
		plan := w.Graph.Junctions[0]
		targets := make([]junction.Target, len(plan.Routes))
		for i, r := range plan.Routes {
			targets[i] = junction.Target{Relay: w.Target(r.Relay), Error: w.Target(r.Policy.Relay)}
		}
		j := junction.New(junction.Config{
			Plan: plan, Targets: targets, Clock: w.Clock, Now: w.Clock.Now, Lanes: w.Exec, Benches: w.Benches, Alloc: w.Heap, Log: w.Log,
		})
		for i, in := range plan.Inputs {
			input := j.Node().Input(i)
			input.Connect(w.Relays[in.Relay.Ref.Name].Attach(input, plan.Attached))
		}
		stop := w.Upkeep(j.Node().Touch, func(int64) { j.Node().Scan() })
		defer func() {
			j.Node().Close(errEnd)
			j.Node().Abandon(errEnd)
			stop()
			w.Close()
		}()
		use(&bench{w, j})
	})
}

var errEnd = errors.New("the test is over")

func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func wantRows(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// wantFate compares what became of a batch: whether it settled, and which rows failed.
func wantFate(t testing.TB, f *nodetest.Fate, settled bool, failed ...int) {
	t.Helper()
	got := []int{}
	for row := range f.Failed() {
		got = append(got, row)
	}
	slices.Sort(got)
	if f.Settled() != settled || !slices.Equal(got, append([]int{}, failed...)) {
		t.Fatalf("settled %v, failed %v (%v); want %v, %v", f.Settled(), got, f.Failed(), settled, failed)
	}
}
