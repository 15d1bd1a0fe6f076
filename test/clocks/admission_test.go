// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// stage is a domain with one source of rows {n, at} and the files its relays go to. The relay `good` keeps rows with what SET makes of them, `bad` the
// error records.
type stage struct {
	*session
	at string
}

// stageOptions say what differs.
type stageOptions struct {
	// pace is the text behind PACED DOMAIN and its name; empty for an unpaced domain.
	pace string
	// timestamp is the clause of the ingestor.
	timestamp string
	// routes are the routes of the ingestor.
	routes string
	// follow makes the source wait for more.
	follow bool
	rows   []string
}

const (
	toGood  = "TO good INHERIT ALL SET id = 'x', seen = now(), again = now() UNBRANCHED FLUSH IMMEDIATE "
	sendBad = "ON MESSAGE ERROR SEND TO bad SET line = metadata.line, code = error.code, operation = error.operation, why = error.message, at = error.occurred_at "
)

func (w *world) stage(t *testing.T, domain string, o stageOptions) *stage {
	t.Helper()
	s := &stage{session: w.session(t, domain), at: w.root + "/" + domain}
	nodes.WriteFile(t, s.at+"/in.ndjson", []byte(strings.Join(append(slices.Clone(o.rows), ""), "\n")))
	what := "UNPACED DOMAIN " + domain
	if o.pace != "" {
		what = "PACED DOMAIN " + domain + " " + o.pace
	}
	follow := ""
	if o.follow {
		follow = " FOLLOW"
	}
	s.Do(fmt.Sprintf(`CREATE %s;
USE %s;
CREATE SCHEMA item (n I64, at DATETIME OPTIONAL);
CREATE SCHEMA good (n I64, at DATETIME OPTIONAL, id STRING, seen DATETIME, again DATETIME);
CREATE SCHEMA bad (line I64, code STRING, operation STRING, why STRING, at DATETIME);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (n INTEGER, at STRING OPTIONAL);
CREATE WIRE JSON SCHEMA good_wire MODE STRICT (n INTEGER, at STRING OPTIONAL, id STRING, seen STRING, again STRING);
CREATE WIRE JSON SCHEMA bad_wire MODE STRICT (line INTEGER, code STRING, operation STRING, why STRING, at STRING);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item ENCODE at AS RFC3339;
CREATE CODEC good_codec FROM WIRE JSON SCHEMA good_wire TO SCHEMA good ENCODE at AS RFC3339, seen AS RFC3339, again AS RFC3339;
CREATE CODEC bad_codec FROM WIRE JSON SCHEMA bad_wire TO SCHEMA bad ENCODE at AS RFC3339;
CREATE RELAY good SCHEMA good UNBRANCHED CAPACITY 8;
CREATE RELAY bad SCHEMA bad UNBRANCHED CAPACITY 8;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '%s' };
CREATE INGESTOR feed FROM FILE files PATH 'in.ndjson'%s
  MODE ACK PARALLEL MAX 1000 ACK TIMEOUT 60s RETRY POLICY BACKOFF 20ms MAX 100ms ON QUIESCE SUSPEND
  DECODE USING item_codec %s
  %s ON GENERAL ERROR LOG;`, what, domain, s.at, follow, o.timestamp, o.routes))
	for _, out := range []string{"good", "bad"} {
		s.Do(fmt.Sprintf(`CREATE EMITTER %[1]s_file FROM %[1]s TO FILE files PATH '%[1]s.ndjson' MODE ACK RETRY POLICY BACKOFF 20ms MAX 100ms
  ENCODE USING %[1]s_codec INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;`, out))
	}
	return s
}

// append adds rows to the source.
func (s *stage) append(rows ...string) {
	s.t.Helper()
	f, err := os.OpenFile(s.at+"/in.ndjson", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(append(rows, ""), "\n")); err != nil {
		s.t.Fatal(err)
	}
}

// row is a line of the source; an empty instant is null.
func row(n int, at string) string {
	if at == "" {
		return fmt.Sprintf(`{"n":%d}`, n)
	}
	return fmt.Sprintf(`{"n":%d,"at":%q}`, n, at)
}

// good and bad are what came out.
type good struct {
	N               int
	At              string
	ID, Seen, Again string
}

type bad struct {
	Line                     int
	Code, Operation, Why, At string
}

func lines[T any](t *testing.T, path string) []T {
	t.Helper()
	var all []T
	text := string(nodes.ReadFile(t, path))
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}

func (s *stage) good() []good { s.t.Helper(); return lines[good](s.t, s.at+"/good.ndjson") }
func (s *stage) bad() []bad   { s.t.Helper(); return lines[bad](s.t, s.at+"/bad.ndjson") }

// numbers are the rows that passed, ascending.
func (s *stage) numbers() []int {
	s.t.Helper()
	var all []int
	for _, g := range s.good() {
		all = append(all, g.N)
	}
	slices.Sort(all)
	return all
}

// description is what DESCRIBE INGESTOR has of refusals.
type description struct {
	Status     string
	Timestamp  string
	Unresolved int
	Position   struct{ Line int64 }
	Rejected   int
	RejectedBy map[string]int `json:"rejected_by"`
	Transient  string         `json:"transient_error"`
	Blocked    *struct {
		Line, Attempt int
		Reason        string
	}
}

func (s *stage) source() (d description) {
	s.t.Helper()
	s.describe("INGESTOR feed", &d)
	return d
}

// settled waits until so many rows were read and nothing is on its way.
func (s *stage) settled(rows int64) description {
	s.t.Helper()
	var d description
	nodes.Eventually(s.t, "every row is acknowledged", func() bool {
		d = s.source()
		return d.Unresolved == 0 && d.Position.Line == rows
	})
	return d
}

// still is a rate at which no nanosecond of domain time passes while a test runs.
const still = " TIME RATE 1e-300"

// edges: where time stands still at the origin, the window is the origin and SKEW around it.
func edges(t *testing.T, w *world) {
	// req: C-125 half: time and window of one row agree
	// req: C-127
	// req: C-128 half: the centre that comes next is not eligible
	// req: C-131
	// req: C-143 half: FLUSH IMMEDIATE is physical
	// req: I05 half: late rows are routed, and counted
	// req: I07 half: what no instant can hold is a row error, and the rows around it pass
	s := w.stage(t, "edges", stageOptions{pace: "WITH PERIOD 1h SKEW 10m", timestamp: "TIMESTAMP AT at", routes: toGood + sendBad, rows: []string{
		row(1, "2012-01-01T00:00:00Z"), row(2, "2012-01-01T00:10:00Z"), row(3, "2012-01-01T00:10:00.000000001Z"),
		row(4, "2011-12-31T23:50:00Z"), row(5, "2011-12-31T23:49:59.999999999Z"), row(6, "2012-01-01T01:00:00Z"), row(7, "2012-01-01T00:50:00Z"),
		row(8, "1677-09-21T00:12:43.145224192Z"), row(9, "2262-04-11T23:47:16.854775807Z"), row(10, ""), row(11, "2012-01-01T02:05:00+02:00"),
		row(12, "2300-01-01T00:00:00Z"), row(13, "2011-12-31T23:50:00.000000001Z"),
	}})
	s.Do("START AT '2012-01-01T00:00:00Z'" + still)
	got := s.settled(13)
	if diff := cmp.Diff([]int{1, 2, 4, 11, 13}, s.numbers()); diff != "" {
		t.Error(diff)
	}
	for _, g := range s.good() {
		if g.Seen != "2012-01-01T00:00:00+00:00" || g.Again != g.Seen { // req: C-113 half: now() twice
			t.Errorf("%+v", g)
		}
	}
	reasons := map[int]string{3: "lies after 2012-01-01T00:10:00Z", 5: "lies before 2011-12-31T23:50:00Z", 6: "lies after", 7: "lies after", 8: "lies before", 9: "lies after", 10: "is null", 12: ""}
	for _, b := range s.bad() {
		why, ok := reasons[b.Line]
		operation := "admit"
		if b.Line == 12 {
			operation = "decode"
		}
		if !ok || b.Code != "validation" || b.Operation != operation || !strings.Contains(b.Why, why) || b.At != "2012-01-01T00:00:00+00:00" {
			t.Errorf("%+v", b)
		}
		if strings.Contains(b.Why, "00:10:00.000000001") {
			t.Errorf("a payload is told: %+v", b)
		}
		delete(reasons, b.Line)
	}
	if len(reasons) > 0 {
		t.Errorf("not reported: %v", reasons)
	}
	decode := got.Rejected - got.RejectedBy["late"] - got.RejectedBy["early"] - got.RejectedBy["timestamp"] - got.RejectedBy["between"]
	if got.Rejected != 8 || got.RejectedBy["late"] != 2 || got.RejectedBy["early"] != 4 || got.RejectedBy["timestamp"] != 1 || decode != 1 || got.Timestamp != "AT at" {
		t.Errorf("%+v", got)
	}
	s.Do("STOP")
}

// movingWindow: centres that were reached are eligible, those between two are not, and the oldest fall out after 256.
func movingWindow(t *testing.T, w *world) {
	// req: C-126 half: the oldest centre falls out
	// req: C-127 half: between two centres
	// req: C-129 half: AT
	// req: C-018 half: PERIOD and SKEW at a rate that is not one
	slow := w.stage(t, "hours", stageOptions{pace: "WITH PERIOD 1h SKEW 10m", timestamp: "TIMESTAMP AT at", routes: toGood + sendBad, follow: true})
	slow.Do("START AT '2012-01-01T00:00:00Z' TIME RATE 3600.0") // a second an hour: 256 s until the origin falls out
	quick := w.stage(t, "milliseconds", stageOptions{pace: "WITH PERIOD 1ms SKEW 0s", timestamp: "TIMESTAMP AT at", routes: toGood + sendBad, follow: true})
	quick.Do("START AT '2012-01-01T00:00:00Z'")

	w.jsonl(t, "hours").sees("the second tick", ticked(1, 2))
	slow.append(row(1, "2012-01-01T00:10:00Z"), row(2, "2012-01-01T00:10:00.000000001Z"), row(3, "2012-01-01T00:30:00Z"), row(4, "2012-01-01T00:49:59.999999999Z"),
		row(5, "2012-01-01T00:50:00Z"), row(6, "2012-01-01T01:00:00Z"), row(7, "2011-12-31T23:49:59.999999999Z"), row(8, "2050-01-01T00:00:00Z"))
	got := slow.settled(8)
	if diff := cmp.Diff([]int{1, 5, 6}, slow.numbers()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"between": 3, "late": 1, "early": 1}, got.RejectedBy); diff != "" || got.Rejected != 5 {
		t.Errorf("%+v %s", got, diff)
	}
	for _, b := range slow.bad() {
		if b.Line <= 4 && !strings.Contains(b.Why, "lies between two ticks") {
			t.Errorf("%+v", b)
		}
	}
	for _, g := range slow.good() {
		if want := strings.Replace(map[int]string{1: "2012-01-01T00:10:00Z", 5: "2012-01-01T00:50:00Z", 6: "2012-01-01T01:00:00Z"}[g.N], "Z", "+00:00", 1); g.At != want {
			t.Errorf("%+v, want %s", g, want)
		}
	}

	w.jsonl(t, "milliseconds").sees("more ticks than a window holds", ticked(1, 258))
	quick.append(row(1, "2012-01-01T00:00:00Z"), row(2, "2012-01-01T00:00:00.001Z"))
	if got := quick.settled(2); got.RejectedBy["late"] != 2 || len(quick.numbers()) != 0 {
		t.Errorf("%+v %v", got, quick.numbers())
	}
	slow.Do("STOP")
	quick.Do("STOP")
}

// policies: each route does with a refused row what it says, whatever the others do.
func policies(t *testing.T, w *world) {
	// req: C-131
	// req: C-134 half: a source of files
	// req: C-018 half: retries are physical
	// req: I05
	const early, fits = "2012-01-01T02:00:00Z", "2012-01-01T00:00:00Z"
	rows := []string{row(1, fits), row(2, early), row(3, fits), row(4, ""), row(5, fits)}
	ignored := w.stage(t, "ignored", stageOptions{pace: "WITH PERIOD 1h SKEW 0s", timestamp: "TIMESTAMP AT at", rows: rows,
		routes: toGood + "ON MESSAGE ERROR IGNORE " + strings.Replace(toGood, "'x'", "'y'", 1) + sendBad})
	logged := w.stage(t, "logged", stageOptions{pace: "WITH PERIOD 1h SKEW 0s", timestamp: "TIMESTAMP AT at", rows: rows, routes: toGood + "ON MESSAGE ERROR LOG "})
	// Too early by an hour, which passes: tried again, the row is in time.
	waits := w.stage(t, "waits", stageOptions{pace: "WITH PERIOD 1h SKEW 0s", timestamp: "TIMESTAMP AT at", rows: rows[:2], routes: toGood + "ON MESSAGE ERROR LOG "})
	ignored.Do("START AT '2012-01-01T00:00:00Z'" + still)
	logged.Do("START AT '2012-01-01T00:00:00Z'" + still)
	waits.Do("START AT '2012-01-01T00:00:00Z' TIME RATE 3600.0")

	if got := ignored.settled(5); got.Rejected != 2 || got.RejectedBy["early"] != 1 || got.RejectedBy["timestamp"] != 1 || got.Status != "finished" {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]int{1, 1, 3, 3, 5, 5}, ignored.numbers()); diff != "" {
		t.Error(diff)
	}
	if bad := ignored.bad(); len(bad) != 2 || bad[0].Line != 2 || bad[1].Line != 4 {
		t.Errorf("%+v", bad)
	}

	var got description
	nodes.Eventually(t, "the source is blocked and its oldest row is tried again", func() bool {
		got = logged.source()
		return got.Status == "blocked" && got.Blocked.Attempt >= 5 && got.Unresolved == 2
	})
	if got.Blocked.Line != 2 || !strings.Contains(got.Blocked.Reason, "lies after 2012-01-01T00:00:00Z") || got.Rejected != 2 {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff([]int{1, 3, 5}, logged.numbers()); diff != "" {
		t.Error(diff)
	}

	waits.settled(2)
	if diff := cmp.Diff([]int{1, 2}, waits.numbers()); diff != "" {
		t.Error(diff)
	}
	for _, s := range []*stage{ignored, logged, waits} {
		s.Do("STOP")
	}
}
