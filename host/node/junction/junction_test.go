// SPDX-License-Identifier: Apache-2.0

package junction_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

var (
	null = nodetest.Null
	bedA = []string{"a"}
	bedB = []string{"b"}
)

func TestEveryRowIsOfferedToEveryRoute(t *testing.T) {
	// req: R-013 half: a junction keeps branch and key; reingestors come later
	// req: R-010 half: key and relay of a record that moves over hops; subscriptions come later
	text := `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed
	  TO alarms SET bed = branch.bed, level = 1 WHERE input.wet > 1.0 FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE
	  TO copies INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE
	  TO alarms SET bed = branch.bed, level = 2 WHERE input.wet > 2.0 FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE;`
	run(t, 2, text, func(b *bench) {
		alarms, copies := b.Reader("alarms"), b.Reader("copies")
		copies.Keep()
		f := b.Publish("readings", bedA, nil, "x|0.5|1", "y|1.5|2", "z|2.5|3")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "x|0.5|1", "y|1.5|2", "z|2.5|3")
		got := alarms.Rows()
		slices.Sort(got)
		wantRows(b.T, "alarms", got, "a|1", "a|1", "a|2")
		for _, s := range append(alarms.Seen(), copies.Seen()...) {
			if s.Key != `{"bed":"a"}` || !s.Tracked {
				b.T.Fatalf("%+v", s)
			}
		}
		wantFate(b.T, f, false)
		copies.Let(nil)
		wantFate(b.T, f, true)
		o := b.j.Observe()
		if o.Received[0].Rows != 3 || o.Sent[0].Rows != 2 || o.Sent[1].Rows != 3 || o.Sent[2].Rows != 1 || o.Branches != 1 || len(o.Rejected) != 0 {
			b.T.Fatalf("%+v", o)
		}
	})
}

func TestRowsNobodyKeepsSucceed(t *testing.T) {
	text := `CREATE JUNCTION watch FROM readings WHERE wet > 1.0 FILTER WHERE input.wet < 4.0 BRANCHED BY by_bed
	  TO copies INHERIT ALL WHERE n = 3 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;`
	run(t, 2, text, func(b *bench) {
		copies := b.Reader("copies")
		all := b.Publish("readings", bedA, nil, "x|0.5|3", "x|9|3")
		some := b.Publish("readings", bedB, nil, "x|0.5|3", "x|2|3", "x|3|4", "x|9|3", "x|2|"+null)
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "x|2|3")
		wantFate(b.T, all, true)
		wantFate(b.T, some, true)
		if marks := copies.Seen()[0].Low; !slices.Equal(marks, []int64{1}) {
			b.T.Fatalf("watermark %v is not that of the row", marks)
		}
	})
}

func TestFailedPredicatesAreLoggedAndNotAcknowledged(t *testing.T) {
	// req: K07 half: predicates of a junction; the policies of routes are below
	text := `CREATE JUNCTION watch FROM readings WHERE 10 / n > 1 FILTER WHERE 20 / (input.n - 2) != 0 BRANCHED BY by_bed` + toCopies + ";"
	run(t, 2, text, func(b *bench) {
		copies := b.Reader("copies")
		f := b.Publish("readings", bedA, nil, "secret|1|1", "secret|1|0", "secret|1|2", "secret|1|100", "secret|1|3")
		b.pass(time.Millisecond)
		wantRows(b.T, "copies", copies.Rows(), "secret|1|1", "secret|1|3")
		wantFate(b.T, f, true, 1, 2)
		if b.Logs.Count("not acknowledged", "operation=source_where", "name=watch", "rows=1") != 1 || b.Logs.Count("operation=filter_where") != 1 ||
			strings.Contains(b.Logs.String(), "secret") {
			b.T.Fatal(b.Logs)
		}
		for _, n := range b.j.Observe().Rejected {
			if n != 2 {
				b.T.Fatalf("%+v", b.j.Observe())
			}
		}
	})
}

// failing makes a junction whose route fails for rows with n = 0, under a policy.
func failing(policy string) string {
	return `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed
	  TO alarms SET bed = input.bed, level = 10 / coalesce(input.n, 1) FLUSH IMMEDIATE ON MESSAGE ERROR ` + policy + toCopies + ";"
}

func TestPoliciesOfRoutes(t *testing.T) {
	for policy, want := range map[string][]int{"IGNORE": {}, "LOG": {0, 2}} {
		run(t, 2, failing(policy), func(b *bench) {
			alarms, copies := b.Reader("alarms"), b.Reader("copies")
			f := b.Publish("readings", bedA, nil, "x|1|0", "y|1|5", "z|1|0")
			b.pass(time.Millisecond)
			wantRows(b.T, "alarms", alarms.Rows(), "y|2")
			if len(copies.Rows()) != 3 {
				b.T.Fatal("a row that failed in one route goes the other ways all the same")
			}
			wantFate(b.T, f, true, want...)
			if n := b.Logs.Count("operation=set", "rows=2"); (n == 1) != (policy == "LOG") {
				b.T.Fatal(b.Logs)
			}
		})
	}
}

const sendTo = `SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, key = branch.bed,
  bed = partial_output.bed, level = partial_output.level, step = error.operation_index, seen = error.occurred_at`

func TestErrorRecordsStayInTheBranch(t *testing.T) {
	for _, fail := range []error{nil, errors.New("the flaw was not stored")} {
		run(t, 2, failing(sendTo), func(b *bench) {
			b.Reader("alarms")
			b.Reader("copies")
			flaws := b.Reader("flaws")
			flaws.Keep()
			f := b.Publish("readings", bedA, []int64{70, 80, 90}, "secret|1|0", "y|1|5", "z|1|0")
			b.pass(time.Millisecond)
			wantFate(b.T, f, false)
			seen := flaws.Seen()
			if len(seen) != 1 || seen[0].Key != `{"bed":"a"}` || !slices.Equal(seen[0].Low, []int64{70, 90}) || !slices.Equal(seen[0].High, []int64{70, 90}) {
				b.T.Fatalf("%+v", seen)
			}
			for i, bed := range []string{"secret", "z"} {
				x := strings.Split(seen[0].Rows[i], "|")
				if x[1] != "evaluation" || x[2] != "set" || x[4] != "a" || x[5] != bed || x[6] != null || x[7] != "1" || !strings.HasPrefix(x[8], "2000-01-01") || !strings.HasPrefix(x[3], "JUNCTION watch: set: ") || strings.Contains(x[3], "secret") {
					b.T.Fatalf("record %q", seen[0].Rows[i])
				}
			}
			flaws.Let(fail)
			b.pass(0)
			if fail == nil {
				wantFate(b.T, f, true)
			} else {
				wantFate(b.T, f, true, 0, 2)
			}
		})
	}
	// Without a reader of the error relay the rows fail.
	run(t, 2, failing(sendTo), func(b *bench) {
		b.Reader("alarms")
		b.Reader("copies")
		f := b.Publish("readings", bedA, nil, "x|1|0", "y|1|5", "z|1|0")
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0, 2)
	})
}

// An error record that cannot be built is logged, its row is not acknowledged, and the policy is not applied again.
func TestErrorRecordThatFails(t *testing.T) {
	policy := `SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, key = input.bed, level = 6 / (input.wet AS I64)`
	run(t, 2, failing(policy), func(b *bench) {
		b.Reader("alarms")
		b.Reader("copies")
		flaws := b.Reader("flaws")
		f := b.Publish("readings", bedA, nil, "x|0|0", "y|1|5", "z|3|0")
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0)
		if rows := flaws.Rows(); len(rows) != 1 || !strings.HasSuffix(rows[0], "|z|"+null+"|2|"+null+"|"+null) {
			b.T.Fatalf("%q", rows)
		}
		if b.Logs.Count("error records could not be built", "rows=1") != 1 {
			b.T.Fatal(b.Logs)
		}
		flaws.Do(func() { flaws.Judge = func(nodetest.Seen) error { return errors.New("lost") } })
		f = b.Publish("readings", bedA, nil, "x|0|0", "y|1|5", "z|3|0") // the record that was built carries its own row
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0, 2)
	})
}

func TestBatchesOfABranchMerge(t *testing.T) {
	// req: R-027 half: a junction; deduplicators come later
	// req: R-028
	text := `CREATE JUNCTION watch FROM readings, more BRANCHED BY by_bed TO copies INHERIT ALL WHERE wet > 0.0` + slow + `ON MESSAGE ERROR IGNORE;`
	run(t, 3, text, func(b *bench) {
		copies := b.Reader("copies")
		copies.Keep()
		first := b.Publish("readings", bedA, []int64{5}, "x|1|1")
		other := b.Publish("readings", bedB, []int64{6, 7}, "y|1|2", "y|-1|3")
		b.pass(100 * time.Millisecond)
		second := b.Publish("more", bedA, []int64{4, 8, 9}, "x|2|4", "x|-2|5", "x|3|6")
		b.pass(899 * time.Millisecond)
		if len(copies.Seen()) != 0 {
			b.T.Fatal("flushed before the deadline of the first row")
		}
		b.pass(time.Millisecond)
		got := copies.Seen()
		slices.SortFunc(got, func(x, y nodetest.Seen) int { return strings.Compare(x.Key, y.Key) })
		if len(got) != 2 || got[0].Key != `{"bed":"a"}` || got[1].Key != `{"bed":"b"}` {
			b.T.Fatalf("%+v", got)
		}
		wantRows(b.T, "a", got[0].Rows, "x|1|1", "x|2|4", "x|3|6")
		wantRows(b.T, "b", got[1].Rows, "y|1|2")
		if !slices.Equal(got[0].Low, []int64{5, 4, 9}) || !slices.Equal(got[1].High, []int64{6}) {
			b.T.Fatalf("watermarks %+v", got)
		}
		copies.Let(errors.New("lost"))
		b.pass(0)
		wantFate(b.T, first, true, 0)
		wantFate(b.T, second, true, 0, 2)
		wantFate(b.T, other, true, 0)
	})
}

func TestSizeFlushesBeforeTheDeadline(t *testing.T) {
	text := `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed TO copies INHERIT ALL FLUSH EACH 1h MAX BATCH SIZE 1KiB ON MESSAGE ERROR IGNORE;`
	run(t, 1, text, func(b *bench) {
		copies := b.Reader("copies")
		for range 10 {
			b.Publish("readings", bedA, nil, strings.Repeat("x", 200)+"|1|1")
			b.pass(time.Millisecond)
		}
		seen := copies.Seen()
		if len(seen) != 2 || len(seen[0].Rows) != 5 || len(seen[1].Rows) != 5 {
			b.T.Fatalf("%d batches", len(seen))
		}
		if o := b.j.Observe(); o.Sent[0].Batches != 2 || o.Sent[0].Rows != 10 {
			b.T.Fatalf("%+v", o)
		}
	})
}

func TestRowsInAJunctionsBufferAreAlive(t *testing.T) {
	text := `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed TO copies INHERIT ALL FLUSH EACH 10s MAX BATCH SIZE 1MiB ON MESSAGE ERROR IGNORE;`
	run(t, 2, text, func(b *bench) {
		b.Reader("copies")
		f := b.Publish("readings", bedA, nil, "x|1|1")
		b.pass(0)
		last := f.Alive()
		for range 9 {
			b.pass(time.Second)
			if f.Alive() <= last {
				b.T.Fatal("no sign of life for a second")
			}
			last = f.Alive()
		}
		if !b.j.Node().Busy() {
			b.T.Fatal("rows in a route are work")
		}
		b.pass(time.Second)
		wantFate(b.T, f, true)
	})
}

func TestTTLReleasesRelayAndJunction(t *testing.T) {
	// req: R-050
	text := `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed TO copies INHERIT ALL FLUSH EACH 90s MAX BATCH SIZE 1MiB ON MESSAGE ERROR IGNORE;`
	run(t, 2, text, func(b *bench) {
		copies := b.Reader("copies")
		b.Publish("readings", bedA, nil, "x|1|1")
		b.pass(50 * time.Second)
		b.Publish("readings", bedB, nil, "y|1|1")
		exists := func(relay, bed string) bool { return b.Relays[nameOf(relay)].Exists(`{"bed":"` + bed + `"}`) }
		b.pass(9900 * time.Millisecond)
		if !exists("readings", "a") || !exists("readings", "b") || b.j.Observe().Branches != 2 {
			b.T.Fatal("released before the TTL was over")
		}
		b.pass(200 * time.Millisecond)
		if exists("readings", "a") || !exists("readings", "b") {
			b.T.Fatal("the relay keeps a branch beyond its TTL")
		}
		if b.j.Observe().Branches != 2 {
			b.T.Fatal("the junction forgot a branch that still holds rows")
		}
		b.pass(30 * time.Second) // 90 s: the row leaves its buffer
		if len(copies.Rows()) != 1 || !exists("copies", "a") || b.j.Observe().Branches != 1 {
			b.T.Fatalf("rows %q, %d branches", copies.Rows(), b.j.Observe().Branches)
		}
		b.pass(60 * time.Second)
		if o := b.j.Observe(); len(copies.Rows()) != 2 || exists("copies", "a") || o.Branches != 0 {
			b.T.Fatalf("rows %q, %d branches", copies.Rows(), o.Branches)
		}
		b.Publish("readings", bedA, nil, "x|2|2")
		b.pass(90 * time.Second)
		if rows := copies.Rows(); len(rows) != 3 || rows[2] != "x|2|2" {
			b.T.Fatalf("a branch that comes back: %q", rows)
		}
	})
}

func TestDetachedJunction(t *testing.T) {
	text := strings.Replace(failing("LOG"), "CREATE JUNCTION", "CREATE DETACHED JUNCTION", 1)
	run(t, 2, text, func(b *bench) {
		alarms, copies := b.Reader("alarms"), b.Reader("copies")
		alarms.Keep()
		copies.Judge = func(nodetest.Seen) error { return errors.New("lost") }
		f := b.Publish("readings", bedA, nil, "x|1|0", "y|1|5")
		wantFate(b.T, f, true) // answered at fan-out
		b.pass(time.Millisecond)
		wantRows(b.T, "alarms", alarms.Rows(), "y|2")
		if alarms.Seen()[0].Tracked || b.Logs.Count("operation=set") != 1 {
			b.T.Fatal("a detached junction works and reports all the same")
		}
		alarms.Let(nil)
		wantFate(b.T, f, true)
	})
}

func TestFullRelayHoldsTheJunctionBack(t *testing.T) {
	run(t, 2, `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed`+toCopies+";", func(b *bench) {
		copies := b.Reader("copies")
		copies.Stall()
		var fates []*nodetest.Fate
		var want []string
		for i := range 40 {
			row := "x|" + string(rune('0'+i%10)) + "|" + string(rune('0'+i/10))
			fates = append(fates, b.Publish("readings", bedA, nil, row))
			want = append(want, row)
			b.pass(time.Millisecond)
		}
		// Four in the relay behind, one that waits for it; one batch waiting in the branch counts in the relay before, which holds four.
		admitted := 0
		for _, f := range fates {
			if f.Admitted() {
				admitted++
			}
		}
		if admitted != 4+1+4 || b.Relays["copies"].Observe().Waiting != 1 || b.Relays["readings"].Observe().Depth != 4 || !b.j.Node().Busy() {
			b.T.Fatalf("%d batches admitted, behind %+v, before %+v", admitted, b.Relays["copies"].Observe(), b.Relays["readings"].Observe())
		}
		copies.Go()
		b.pass(time.Second)
		wantRows(b.T, "order", copies.Rows(), want...)
		for _, f := range fates {
			wantFate(b.T, f, true)
		}
		if b.j.Node().Busy() {
			b.T.Fatal("busy with nothing")
		}
	})
}

func TestAbandonFailsWhatIsHeld(t *testing.T) {
	text := `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed TO copies INHERIT ALL FLUSH EACH 1h MAX BATCH SIZE 1MiB ON MESSAGE ERROR IGNORE
	  TO alarms SET bed = branch.bed, level = 1 FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE;`
	run(t, 2, text, func(b *bench) {
		b.Reader("copies")
		alarms := b.Reader("alarms")
		alarms.Stall()
		var fates []*nodetest.Fate
		for range 12 {
			fates = append(fates, b.Publish("readings", bedA, nil, "x|1|1"))
			b.pass(time.Millisecond)
		}
		b.j.Node().Close(errEnd)
		b.j.Node().Abandon(errEnd)
		for _, r := range b.Relays {
			r.Close()
		}
		alarms.Go()
		b.pass(3 * time.Hour)
		for i, f := range fates {
			wantFate(b.T, f, true, 0)
			if why := f.Failed()[0]; i < 4 && !strings.Contains(why, errEnd.Error()) {
				b.T.Fatalf("batch %d: %s", i, why)
			}
		}
	})
}

func TestMissingClockFailsTheBatch(t *testing.T) {
	run(t, 2, `CREATE JUNCTION watch FROM readings BRANCHED BY by_bed`+toCopies+";", func(b *bench) {
		copies := b.Reader("copies")
		b.Clock.End()
		f := b.Publish("readings", bedA, nil, "x|1|1")
		b.pass(time.Millisecond)
		wantFate(b.T, f, true, 0)
		if len(copies.Rows()) != 0 {
			b.T.Fatal("worked without a clock")
		}
	})
}
