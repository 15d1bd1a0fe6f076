// SPDX-License-Identifier: Apache-2.0

package emitter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestRejectedPayloads(t *testing.T) {
	// req: P-042 half: sinks that judge single records; payloads of several members come with BATCH
	refuse := judging(func(p string) string {
		if strings.Contains(p, "bad") {
			return "the record is too large"
		}
		return ""
	}, nil)
	for policy, failed := range map[string][]int{"IGNORE": {}, "LOG": {1, 3}} {
		run(t, text("readings", all, immediate, policy), &nodetest.Sink{Respond: refuse}, func(b *bench) {
			f := b.put(rows("a", "bad secret", "c", "bad d")...)
			b.pass(time.Millisecond)
			wantFate(b.T, f, true, failed...)
			o := b.e.Observe()
			if len(o.Rejected) != 1 || o.Rejected["rejected by the sink"] != 2 || o.Status != "OK" || o.Attempts != 1 {
				b.T.Fatalf("%+v", o)
			}
			if n := b.Logs.Count("operation=publish", "code=external", "record is too large"); (n > 0) != (policy == "LOG") || strings.Contains(b.Logs.String(), "secret") {
				b.T.Fatal(b.Logs)
			}
		})
	}
	for _, lost := range []error{nil, errors.New("lost")} {
		policy := "SEND TO bed_flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, bed = input.bed, key = branch.bed"
		run(t, text("beds", all+" WHERE wet > 0.0", immediate, policy), &nodetest.Sink{Respond: refuse}, func(b *bench) {
			flaws := b.Reader("bed_flaws")
			flaws.Keep()
			x := b.putBed("x", []int64{10, 20, 30}, "a|-1|1", "bad b|1|1", "c|1|1")
			y := b.putBed("x", []int64{40, 50}, rows("d", "bad e")...)
			b.pass(time.Millisecond)
			wantFate(b.T, x, false)
			wantFate(b.T, y, false)
			seen := flaws.Seen()
			if len(seen) != 1 || len(seen[0].Rows) != 2 || seen[0].Key != `{"bed":"x"}` || !slices.Equal(seen[0].Low, []int64{20, 50}) {
				b.T.Fatalf("%+v", seen)
			}
			for i, bed := range []string{"bad b", "bad e"} {
				r := strings.Split(seen[0].Rows[i], "|")
				if r[1] != "external" || r[2] != "publish" || r[4] != bed || r[5] != "x" || r[3] != "EMITTER sink: publish: the record is too large" {
					b.T.Fatalf("%q", seen[0].Rows[i])
				}
			}
			flaws.Let(lost)
			b.pass(0)
			if lost == nil {
				wantFate(b.T, x, true)
				wantFate(b.T, y, true)
			} else {
				wantFate(b.T, x, true, 1)
				wantFate(b.T, y, true, 1)
			}
		})
	}
}

func TestPayloadsThatCannotBeEncoded(t *testing.T) {
	// req: N06 half: JSON, policy error; other codecs come later
	for policy, failed := range map[string][]int{"IGNORE": {}, "LOG": {1, 2}, sendFlaws: {}} {
		run(t, text("readings", all, immediate, policy), &nodetest.Sink{}, func(b *bench) {
			flaws := b.Reader("flaws")
			f := b.put(append(rows("a"), "b|NaN|1", "c|Inf|2", "d|1|"+nodetest.Null)...)
			only := b.put("e|NaN|1")
			b.pass(time.Millisecond)
			b.attempts(lines("a", "d"))
			wantFate(b.T, f, true, failed...)
			if policy == "LOG" {
				wantFate(b.T, only, true, 0)
			} else {
				wantFate(b.T, only, true)
			}
			if policy != sendFlaws {
				return
			}
			got := flaws.Rows()
			if len(got) != 3 {
				b.T.Fatalf("%q", got)
			}
			for i, bed := range []string{"b", "c", "e"} {
				if r := strings.Split(got[i], "|"); r[1] != "validation" || r[2] != "encode" || r[4] != bed {
					b.T.Fatalf("%q", got[i])
				}
			}
		})
	}
}

// Error records of several branches leave in their own, on the emitter's flush or when somebody forces it, and they are work until then.
func TestErrorRecordsOfSeveralBranches(t *testing.T) {
	policy := "SEND TO bed_flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, bed = input.bed, key = branch.bed"
	for _, force := range []bool{false, true} {
		run(t, text("beds WHERE 10 / n > 0", "INHERIT ALL EXCEPT n SET n = 10 / (input.n - 1)", "FLUSH EACH 1m MAX BATCH SIZE 1MiB", policy), &nodetest.Sink{}, func(b *bench) {
			flaws := b.Reader("bed_flaws")
			var fates []*nodetest.Fate
			for _, bed := range []string{"x", "y", "x"} {
				fates = append(fates, b.putBed(bed, nil, "encode|NaN|2", "where|1|0", "set|1|1"))
				b.pass(time.Millisecond)
			}
			if len(flaws.Seen()) != 0 || !b.e.Busy() || b.e.Observe().Held != 0 {
				b.T.Fatalf("%d batches of error records before the flush, busy %v", len(flaws.Seen()), b.e.Busy())
			}
			wantFate(b.T, fates[0], false)
			if force {
				b.e.Flush()
				b.pass(0)
			} else {
				b.pass(time.Minute)
			}
			byKey := map[string]int{}
			for _, s := range flaws.Seen() {
				if _, twice := byKey[s.Key]; twice {
					b.T.Fatalf("two batches of %s", s.Key)
				}
				byKey[s.Key] = len(s.Rows)
				for _, row := range s.Rows {
					if want := `{"bed":"` + row[strings.LastIndex(row, "|")+1:] + `"}`; s.Key != want {
						b.T.Fatalf("%s in branch %s", row, s.Key)
					}
				}
			}
			if byKey[`{"bed":"x"}`] != 6 || byKey[`{"bed":"y"}`] != 3 {
				b.T.Fatalf("%v", byKey)
			}
			for _, f := range fates {
				wantFate(b.T, f, true)
			}
			if b.e.Busy() {
				b.T.Fatal("busy with nothing")
			}
		})
	}
}

func TestFailuresBeforeEncoding(t *testing.T) {
	construct := "INHERIT ALL EXCEPT n SET n = 10 / coalesce(input.n, 1)"
	for policy, failed := range map[string][]int{"IGNORE": {}, "LOG": {1, 2}, sendFlaws: {}} {
		run(t, text("readings WHERE 10 / n > 0", construct, immediate, policy), &nodetest.Sink{}, func(b *bench) {
			flaws := b.Reader("flaws")
			f := b.put("a|1|5", "b|1|0", "c|1|0", "d|1|100")
			b.pass(time.Millisecond)
			b.attempts(`{"bed":"a","wet":1,"n":2}`)
			wantFate(b.T, f, true, failed...)
			if policy == sendFlaws {
				got := flaws.Rows()
				if len(got) != 2 || !strings.HasSuffix(got[0], "|b|"+nodetest.Null) || strings.Split(got[1], "|")[2] != "source_where" {
					b.T.Fatalf("%q", got)
				}
			}
		})
		run(t, text("readings", construct, immediate, policy), &nodetest.Sink{}, func(b *bench) {
			flaws := b.Reader("flaws")
			f := b.put("a|1|5", "b|1|0", "c|1|0", "d|1|10")
			b.pass(time.Millisecond)
			b.attempts(`{"bed":"a","wet":1,"n":2} {"bed":"d","wet":1,"n":1}`)
			wantFate(b.T, f, true, failed...)
			if policy == sendFlaws {
				if got := flaws.Rows(); len(got) != 2 || strings.Split(got[1], "|")[2] != "set" || strings.Split(got[1], "|")[4] != "c" {
					b.T.Fatalf("%q", got)
				}
			}
		})
	}
}
