// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

const secret = "tulip"

func good(n int) string { return fmt.Sprintf(`{"bed":"%s","wet":%d}`, secret, n) }
func row(n int) string  { return fmt.Sprintf("%s|%s|%d|%s", secret, nodetest.Null, n, nodetest.Null) }
func goods(n int) []string {
	var out []string
	for i := range n {
		out = append(out, good(i+1))
	}
	return out
}

func goodRows(n int) []string {
	var out []string
	for i := range n {
		out = append(out, row(i+1))
	}
	return out
}

func TestGroupsAreBoundedAndOneBurstIsOneBatch(t *testing.T) {
	// req: R-026
	text := source(wide, "TO readings INHERIT ALL UNBRANCHED FLUSH EACH 1s MAX BATCH SIZE 1MiB"+ignore+general)
	run(t, text, goods(2500), func(b *bench) {
		r := b.Reader("readings")
		b.src.Size, b.src.End = 2500, true
		b.start()
		if o := b.in.Observe(); o.Batches != 3 || o.Read != 2500 || len(r.Seen()) != 0 {
			b.T.Fatalf("%d groups, %d read, %d batches before the flush", o.Batches, o.Read, len(r.Seen()))
		}
		b.pass(time.Second)
		if seen := r.Seen(); len(seen) != 1 || len(seen[0].Rows) != 2500 || seen[0].Rows[2499] != row(2500) || !seen[0].Tracked {
			b.T.Fatalf("%d batches", len(seen))
		}
		b.want(2500, 0, ingestor.Finished)
		if o := b.in.Observe(); o.Sent[0].Batches != 1 || o.Sent[0].Rows != 2500 || o.Skipped != 2 || !o.Ready {
			b.T.Fatalf("%+v", o)
		}
	})
}

func TestBadPayloadDropsItsOwnRow(t *testing.T) {
	// req: P-020
	lines := []string{good(1), `{"bed":"` + secret + `","wet":"x"}`, good(3), `{`, good(5), good(6)}
	run(t, source(wide, toReadings+ignore+general), lines, func(b *bench) {
		r := b.Reader("readings")
		b.src.Size, b.src.End, b.src.Faulty = 6, true, map[int]string{5: "the line is longer than the limit"}
		b.start()
		wantRows(b.T, "rows", r.Rows(), row(1), row(3), row(6))
		b.want(6, 0, ingestor.Finished)
		o := b.in.Observe()
		total := uint64(0)
		for _, n := range o.Rejected {
			total += n
		}
		if total != 3 || o.Rejected["source"] != 1 || len(b.src.Rejects()) != 0 {
			b.T.Fatalf("rejected %v, asked again for %v", o.Rejected, b.src.Rejects())
		}
	})
}

func TestLineTheSourceCannotRead(t *testing.T) {
	run(t, source(wide, toReadings+log+general), goods(3), func(b *bench) {
		r := b.Reader("readings")
		b.src.Faulty = map[int]string{2: "the line is longer than the limit"}
		b.start()
		wantRows(b.T, "rows", r.Rows(), row(1), row(3))
		b.want(1, 1, ingestor.Running)
		if b.Logs.Count("longer than the limit", "line 2, offset 20") != 1 {
			b.T.Fatal(b.Logs)
		}
	})
}

// A failure in one route is that route's affair, and it is about the right delivery although rows before it were left out on the way.
func TestFailureBelongsToItsRouteAndDelivery(t *testing.T) {
	lines := []string{`{"bed":"z","wet":2}`, "?", `{"bed":"a","wet":3,"n":0}`, good(4), `{"bed":"b","wet":5,"n":5}`}
	text := source(wide, "FILTER WHERE input.wet != 2.0"+
		" TO readings INHERIT ALL EXCEPT n SET n = 10 / coalesce(input.n, 1) UNBRANCHED FLUSH IMMEDIATE "+log+
		" TO copies INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "+ignore+
		" TO beds INHERIT ALL EXCEPT n SET n = 10 / coalesce(input.n, 1) BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE "+sendFlaws+general)
	run(t, text, lines, func(b *bench) {
		r, copies, flaws := b.Reader("readings"), b.Reader("copies"), b.Reader("flaws")
		b.Reader("beds")
		b.src.Size = 5
		b.start()
		b.when(150 * time.Millisecond)
		if got := b.src.Rejects(); !slices.Equal(got, []int{2, 3}) {
			b.T.Fatalf("asked again for %v", got)
		}
		if o := b.in.Observe(); o.Filtered != 1 || len(copies.Rows()) != 4 || b.Logs.Count("not acknowledged", "operation=set") != 1 { // the attempt after it is not told again
			b.T.Fatalf("%+v, copies %q\n%s", o, copies.Rows(), b.Logs)
		}
		wantRows(b.T, "rows", r.Rows(), secret+"|"+nodetest.Null+"|4|10", "b|"+nodetest.Null+"|5|2")
		set, decode := 0, 0
		for _, row := range flaws.Rows() {
			switch f := strings.Split(row, "|"); {
			case f[2] == "set" && f[4] == "3" && f[5] == "a" && f[6] == "3":
				set++
			case f[2] == "decode" && f[4] == "2":
				decode++
			default:
				b.T.Fatalf("record %q", row)
			}
		}
		if set != 2 || decode != 2 {
			b.T.Fatalf("%q", flaws.Rows())
		}
	})
}

func TestKeysThatCannotBeBuilt(t *testing.T) {
	lines := []string{`{"bed":"a","wet":1,"n":5}`, `{"bed":"b","wet":1,"n":0}`, `{"bed":"c","wet":-1,"n":0}`, `{"bed":"d","wet":1,"n":2}`}
	text := source(wide, "TO numbers INHERIT ALL WHERE wet > 0.0 BRANCHED BY by_n SET n = 10 / message.n FLUSH IMMEDIATE "+sendFlaws+general)
	run(t, text, lines, func(b *bench) {
		numbers, flaws := b.Reader("numbers"), b.Reader("flaws")
		b.start()
		keys := map[string][]string{}
		for _, s := range numbers.Seen() {
			keys[s.Key] = s.Rows
		}
		if len(keys) != 2 || len(keys[`{"n":2}`]) != 1 || len(keys[`{"n":5}`]) != 1 {
			b.T.Fatalf("%v", keys)
		}
		// Line 3 was dropped by WHERE, so nobody wanted its key.
		if got := flaws.Rows(); len(got) != 1 || strings.Split(got[0], "|")[2] != "branch" || strings.Split(got[0], "|")[4] != "2" {
			b.T.Fatalf("%q", got)
		}
		b.want(4, 0, ingestor.Running)
	})
}

// Of two error records one cannot be built: its line is read again, and the other record carries its own line.
func TestErrorRecordThatFails(t *testing.T) {
	policy := " ON MESSAGE ERROR SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, line = 10 / (metadata.line - 2) "
	run(t, source(wide, toReadings+policy+general), []string{good(1), "?", "?", good(4)}, func(b *bench) {
		b.Reader("readings")
		flaws := b.Reader("flaws")
		flaws.Judge = func(nodetest.Seen) error { return errors.New("lost") }
		b.start()
		b.want(1, 2, ingestor.Running)
		if got := flaws.Rows(); len(got) != 1 || strings.Split(got[0], "|")[4] != "10" || !strings.Contains(got[0], "line 3") {
			b.T.Fatalf("%q", got)
		}
		flaws.Do(func() { flaws.Judge = nil })
		b.when(150 * time.Millisecond)
		if got := b.src.Rejects(); !slices.Equal(got, []int{2, 3}) {
			b.T.Fatalf("asked again for %v", got)
		}
		b.want(1, 1, ingestor.Running)
		b.src.Mend(2, good(2))
		b.pass(time.Second)
		b.want(4, 0, ingestor.Running)
	})
}

// A failure counts when it is told, not when everybody else is through.
func TestFailureIsToldAtOnce(t *testing.T) {
	run(t, source(wide, toReadings+ignore+" TO copies INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "+ignore+general), goods(1), func(b *bench) {
		slow, other := b.Reader("readings"), b.Reader("readings")
		b.Reader("copies")
		slow.Keep()
		fail := true
		other.Judge = func(nodetest.Seen) error {
			if fail {
				return errors.New("lost")
			}
			return nil
		}
		b.start()
		other.Do(func() { fail = false })
		b.when(99 * time.Millisecond)
		b.want(0, 1, ingestor.Running)
		if len(b.src.Rejects()) != 0 {
			b.T.Fatal("too early")
		}
		b.when(102 * time.Millisecond)
		if got := b.src.Rejects(); !slices.Equal(got, []int{1}) {
			b.T.Fatalf("asked again for %v", got)
		}
		slow.Let(nil)
		b.pass(time.Millisecond)
		b.want(1, 0, ingestor.Running)
	})
}

// The ingestor forgets branches that hold nothing when it knows many, and only those.
func TestManyBranches(t *testing.T) {
	const many = 5000
	lines := nodetest.Lines(`{"bed":"k%d","wet":1}`, 0, many)
	lines = append(lines, lines[:10]...)
	text := source(wide, "TO beds INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH EACH 1s MAX BATCH SIZE 1MiB"+ignore+general)
	run(t, text, lines, func(b *bench) {
		beds := b.Reader("beds")
		b.src.Size = 1000
		b.start()
		b.pass(2 * time.Second)
		seen := beds.Seen()
		if len(seen) != many {
			b.T.Fatalf("%d batches of %d branches", len(seen), many)
		}
		b.want(many+10, 0, ingestor.Running)
		b.src.Add(lines[:many]...)
		b.pass(2 * time.Second)
		if got := beds.Seen(); len(got) != 2*many {
			b.T.Fatalf("%d batches", len(got))
		}
	})
}

func TestErrorRecordCarriesTheAcknowledgement(t *testing.T) {
	// req: P-021 half: rows and error records of one payload; payloads that unfold into several messages come with their codecs
	// req: K02 half: the position moves after the last consumer's answer; the sink's side is in the emitter
	lines := []string{good(1), `{"bed":"` + secret + `"}`, good(3), good(4)}
	run(t, source(wide, toReadings+sendFlaws+general), lines, func(b *bench) {
		r, flaws := b.Reader("readings"), b.Reader("flaws")
		flaws.Keep()
		b.src.Size, b.src.End, b.src.Faulty = 4, true, map[int]string{4: "the line is longer than the limit"}
		b.start()
		b.pass(time.Second)
		wantRows(b.T, "rows", r.Rows(), row(1), row(3))
		b.want(1, 2, ingestor.Finished)
		seen := flaws.Rows()
		if len(seen) != 2 {
			b.T.Fatalf("error records %q", seen)
		}
		for i, line := range []string{"2", "4"} {
			f := strings.Split(seen[i], "|")
			if f[1] != "validation" || f[2] != "decode" || f[4] != line || f[5] != nodetest.Null || f[6] != nodetest.Null {
				b.T.Fatalf("record %q", seen[i])
			}
			if place := "line " + line + ", offset " + line + "0: "; !strings.Contains(f[3], place) || !strings.HasPrefix(f[3], "INGESTOR probes: decode: ") ||
				strings.Contains(f[3], secret) {
				b.T.Fatalf("message %q", f[3])
			}
		}
		if seen[0][:36] == seen[1][:36] {
			b.T.Fatal("two failures share a reference")
		}
		snapshot, _ := b.Clock.Snapshot()
		for _, mark := range flaws.Seen()[0].Low {
			if now := snapshot.Now.NS(); mark > now || mark < now-int64(10*time.Second) {
				b.T.Fatalf("watermark %d of an undecodable line, now %d", mark, now)
			}
		}
		flaws.Let(nil)
		b.pass(0)
		b.want(4, 0, ingestor.Finished)
	})
}

func TestErrorRecordsOfSinkThatFails(t *testing.T) {
	// req: K07 half: a row whose error record was not delivered is read again
	for _, detached := range []bool{false, true} {
		run(t, source(wide, toReadings+sendFlaws+general), []string{good(1), "?", good(3)}, func(b *bench) {
			b.Reader("readings")
			if detached { // somebody reads it, but nobody whose outcome counts
				b.Detached("flaws")
			}
			b.start()
			if detached {
				b.want(3, 0, ingestor.Running)
				return
			}
			// Nothing reads the relay: the row fails, by name, and is read again.
			b.want(1, 1, ingestor.Running)
			b.when(99 * time.Millisecond)
			if n := len(b.src.Rejects()); n != 0 {
				b.T.Fatalf("asked again %d times before the backoff was over", n)
			}
			flaws := b.Reader("flaws")
			fail := true
			flaws.Do(func() {
				flaws.Judge = func(nodetest.Seen) error {
					if fail {
						return errors.New("the sink of flaws is gone")
					}
					return nil
				}
			})
			b.when(110 * time.Millisecond)
			b.want(1, 1, ingestor.Running)
			flaws.Do(func() { fail = false })
			b.pass(200 * time.Millisecond)
			b.want(3, 0, ingestor.Running)
			if got := b.src.Rejects(); !slices.Equal(got, []int{2, 2}) || b.in.Observe().Redelivered != 2 {
				b.T.Fatalf("asked again for %v", got)
			}
		})
	}
}

func TestLoggedLineBlocksTheSource(t *testing.T) {
	// req: P-023 half: the host's policy; keeping a rejection over a broken connection is the session's
	// req: K07
	run(t, source(wide, toReadings+log+general), []string{good(1), `{"bed":"` + secret + `"}`, good(3)}, func(b *bench) {
		r := b.Reader("readings")
		b.src.End = true
		b.start()
		b.want(1, 1, ingestor.Finished)
		b.when(299 * time.Millisecond) // two attempts failed
		b.want(1, 1, ingestor.Finished)
		b.when(301 * time.Millisecond) // the third
		b.want(1, 1, ingestor.Blocked)
		o := b.in.Observe()
		if nodetest.LineAt(o.BlockedAt) != 2 || o.BlockedAttempts != 3 || !strings.Contains(o.BlockedWhy, "line 2, offset 20: ") || strings.Contains(o.BlockedWhy, secret) {
			b.T.Fatalf("%+v", o)
		}
		b.pass(300 * time.Millisecond) // it keeps trying, at the greatest backoff
		b.want(1, 1, ingestor.Blocked)
		if got := b.src.Rejects(); !slices.Equal(got, []int{2, 2, 2}) || b.in.Observe().BlockedAttempts != 4 {
			b.T.Fatalf("asked again for %v", got)
		}
		if n := b.Logs.Count("not acknowledged", "operation=decode", "reason=\"line 2, offset 20: "); n != 1 || strings.Contains(b.Logs.String(), secret) {
			b.T.Fatalf("%d lines in the log\n%s", n, b.Logs)
		}
		if o := b.in.Observe(); b.Logs.Count("the source is blocked", "line 2, offset 20: ") != 1 || o.Rejected["missing"] != 1 {
			b.T.Fatalf("told and counted once: %v\n%s", o.Rejected, b.Logs)
		}
		b.src.Mend(2, good(2))
		b.pass(300 * time.Millisecond)
		b.want(3, 0, ingestor.Finished)
		if o := b.in.Observe(); o.BlockedWhy != "" || o.BlockedAt != nil {
			b.T.Fatalf("%+v", o)
		}
		wantRows(b.T, "rows", r.Rows(), row(1), row(3), row(2))
	})
}

func TestNullTimestampIsAFailedAdmission(t *testing.T) {
	lines := []string{
		`{"bed":"a","seen":"2020-01-02T03:04:05Z","wet":1}`, `{"bed":"b","wet":2}`, `{"bed":"c","seen":"1999-01-01T00:00:00.000000001Z","wet":3}`, `{"bed":"d","wet":4}`,
	}
	text := source(wide, "TIMESTAMP AT seen"+toReadings+sendFlaws+" TO copies INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "+ignore+general)
	run(t, text, lines, func(b *bench) {
		r, copies, flaws := b.Reader("readings"), b.Reader("copies"), b.Reader("flaws")
		b.start()
		if seen := r.Seen(); len(seen) != 1 || !slices.Equal(seen[0].Low, []int64{1577934245e9, 915148800e9 + 1}) || !slices.Equal(seen[0].Low, seen[0].High) {
			b.T.Fatalf("%+v", seen)
		}
		wantRows(b.T, "second route", copies.Rows(), r.Rows()...)
		snapshot, _ := b.Clock.Snapshot()
		seen := flaws.Seen()
		if len(seen) != 1 || len(seen[0].Rows) != 2 {
			b.T.Fatalf("%+v", seen)
		}
		for i, bed := range []string{"b", "d"} {
			f := strings.Split(seen[0].Rows[i], "|")
			if f[1] != "validation" || f[2] != "admit" || f[5] != bed || !strings.Contains(f[3], "`seen` is null") {
				b.T.Fatalf("record %q", f)
			}
			if now := snapshot.Now.NS(); seen[0].Low[i] > now || seen[0].Low[i] < now-int64(time.Second) {
				b.T.Fatalf("an error record without event time has watermark %d", seen[0].Low[i])
			}
		}
		b.want(4, 0, ingestor.Running)
		if o := b.in.Observe(); o.Rejected["timestamp"] != 2 || o.Filtered != 0 {
			b.T.Fatalf("%+v", o)
		}
	})
}

func TestTimestampNowIsTheSnapshot(t *testing.T) {
	run(t, source(wide, "TIMESTAMP NOW"+toReadings+ignore+general), goods(2), func(b *bench) {
		r := b.Reader("readings")
		snapshot, _ := b.Clock.Snapshot() // time stands still in the bubble until the start waits
		b.start()
		now := snapshot.Now.NS()
		if seen := r.Seen(); len(seen) != 1 || !slices.Equal(seen[0].Low, []int64{now, now}) || !slices.Equal(seen[0].High, seen[0].Low) {
			b.T.Fatalf("%+v", seen)
		}
	})
}

func TestFilterAndItsFailures(t *testing.T) {
	lines := []string{
		`{"bed":"a","wet":1,"n":5}`, `{"bed":"b","wet":1,"n":0}`, `{"bed":"c","wet":1,"n":50}`, `{"bed":"d","wet":1}`, `{"bed":"e","wet":1,"n":1}`,
	}
	text := source(wide, "FILTER WHERE 10 / input.n >= 2 AND metadata.line < 5"+toReadings+sendFlaws+" TO copies INHERIT ALL UNBRANCHED FLUSH IMMEDIATE "+log+general)
	run(t, text, lines, func(b *bench) {
		r, flaws := b.Reader("readings"), b.Reader("flaws")
		b.Reader("copies")
		b.src.Size = 5
		b.start()
		wantRows(b.T, "rows", r.Rows(), "a|"+nodetest.Null+"|1|5")
		f := strings.Split(strings.Join(flaws.Rows(), ""), "|")
		if len(flaws.Rows()) != 1 || f[1] != "evaluation" || f[2] != "filter_where" || f[4] != "2" || f[5] != "b" {
			b.T.Fatalf("%q", flaws.Rows())
		}
		// The second route logs the same failure, so its delivery is read again.
		b.want(1, 1, ingestor.Running)
		if o := b.in.Observe(); o.Filtered != 3 || len(o.Rejected) != 1 {
			b.T.Fatalf("filtered %d, rejected %v", o.Filtered, o.Rejected)
		}
		for _, n := range b.in.Observe().Rejected {
			if n != 1 {
				b.T.Fatal("one failed row counts once, however many routes report it")
			}
		}
	})
}

func TestBranchKeysByRow(t *testing.T) {
	// req: R-009
	// req: R-010 half: the key a record gets; that it keeps it over hops shows in the junction
	lines := []string{
		`{"bed":"b","wet":1,"n":1}`, `{"bed":"a","wet":2}`, `{"bed":"b","wet":3}`, `{"bed":"b","wet":4,"n":1}`, `{"bed":"a","wet":5}`, `{"bed":"c","wet":-6}`,
	}
	text := source(wide, "TO beds INHERIT ALL WHERE wet > 0.0 BRANCHED BY by_bed SET bed = message.bed FLUSH EACH 1s MAX BATCH SIZE 1MiB"+ignore+
		"TO numbers INHERIT ALL BRANCHED BY by_n SET n = message.n FLUSH EACH 1s MAX BATCH SIZE 1MiB"+ignore+general)
	run(t, text, lines, func(b *bench) {
		beds, numbers := b.Reader("beds"), b.Reader("numbers")
		b.src.Size = 3
		b.start()
		b.pass(time.Second)
		got := map[string][]string{}
		for _, s := range beds.Seen() {
			if got[s.Key] != nil {
				b.T.Fatalf("branch %s came in two batches", s.Key)
			}
			got[s.Key] = s.Rows
		}
		if len(got) != 2 {
			b.T.Fatalf("branches %v", got)
		}
		n := nodetest.Null
		wantRows(b.T, "b", got[`{"bed":"b"}`], "b|"+n+"|1|1", "b|"+n+"|3|"+n, "b|"+n+"|4|1")
		wantRows(b.T, "a", got[`{"bed":"a"}`], "a|"+n+"|2|"+n, "a|"+n+"|5|"+n)
		odd := map[string]int{}
		for _, s := range numbers.Seen() {
			odd[s.Key] += len(s.Rows)
		}
		if len(odd) != 2 || odd[`{"n":1}`] != 2 || odd[`{"n":null}`] != 4 {
			b.T.Fatalf("a null is a key value like any other: %v", odd)
		}
		if b.Relays["beds"].Exists(`{"bed":"c"}`) || !b.Relays["beds"].Exists(`{"bed":"a"}`) {
			b.T.Fatal("a branch exists exactly when a record of its key was accepted")
		}
		b.want(6, 0, ingestor.Running)
	})
}

func TestDeliverySettlesWithTheLastRoute(t *testing.T) {
	text := source(wide, toReadings+ignore+" TO copies INHERIT ALL WHERE wet > 1.0 UNBRANCHED FLUSH IMMEDIATE "+ignore+general)
	run(t, text, goods(3), func(b *bench) {
		b.Reader("readings")
		copies := b.Reader("copies")
		copies.Keep()
		b.start()
		b.want(1, 2, ingestor.Running) // line 1 went one way only
		copies.Let(errors.New("lost"))
		b.pass(0)
		b.want(1, 2, ingestor.Running)
		b.pass(101 * time.Millisecond)
		b.want(3, 0, ingestor.Running)
		if got := b.src.Rejects(); !slices.Equal(got, []int{2, 3}) {
			b.T.Fatalf("asked again for %v", got)
		}
	})
}
