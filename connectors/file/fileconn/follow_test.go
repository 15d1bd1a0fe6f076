// SPDX-License-Identifier: Apache-2.0

package fileconn_test

import (
	"os"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
)

func (w world) followPlan(name string) connector.SourcePlan {
	plan := w.sourcePlan(name)
	plan.Options["follow"] = "true"
	return plan
}

// log is a file that a test writes to.
func (w world) log(name string) *os.File {
	w.Helper()
	f, err := os.OpenFile(w.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = f.Close() })
	*w.logs = append(*w.logs, f)
	return f
}

// closeLogs closes everything that log opened.
func (w world) closeLogs() {
	for _, f := range *w.logs {
		_ = f.Close()
	}
}

func (w world) say(f *os.File, text string) {
	w.Helper()
	if _, err := f.WriteString(text); err != nil {
		w.Fatal(err)
	}
}

func (w world) rename(from, to string) {
	w.Helper()
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		w.Fatal(err)
	}
}

// took takes the lines named and compares them with the payloads, in order.
func (w world) took(src *conformance.Source, want ...string) []conformance.Row {
	w.Helper()
	rows := src.Take(len(want))
	for i, r := range rows {
		if r.Payload != want[i] {
			w.Fatalf("row %d is %q (%s), want %q", i, r.Payload, r.Error, want[i])
		}
	}
	return rows
}

// TestFollowGrowth: a followed source waits at the end of its file, for the whole of a line.
func TestFollowGrowth(t *testing.T) {
	// req: N02
	w := newWorld(t)
	f := w.log("a")
	src := w.open(w.followPlan("a"))
	defer src.Close()
	w.say(f, "\ufeffone\ntw")
	w.took(src, "one")
	w.say(f, "o")
	w.say(f, "\r")
	w.say(f, "\n\n\nthree\n")
	rows := w.took(src, "two", "three")
	if r := rows[1]; r.Line != 5 || r.Offset != int64(len("\ufeffone\ntwo\r\n\n\n")) {
		t.Errorf("%+v", r)
	}
	src.Session.Reject(1, []byte(rows[0].Position))
	if again := src.Take(1)[0]; again != rows[0] {
		t.Errorf("%+v, want %+v", again, rows[0])
	}
	w.say(f, "four\n")
	w.took(src, "four")
}

// TestFollowLongLine: a line above the limit that grows bit by bit is one error, and the next line is whole.
func TestFollowLongLine(t *testing.T) {
	// req: N01
	w := newWorld(t)
	f := w.log("a")
	plan := w.followPlan("a")
	plan.Client["max_line_bytes"] = "10"
	src := w.open(plan)
	defer src.Close()
	w.say(f, "ok\n")
	w.took(src, "ok")
	for range 5 {
		w.say(f, strings.Repeat("x", 20))
	}
	w.say(f, "\nfine\n")
	rows := src.Take(2)
	if r := rows[0]; !strings.Contains(r.Error, "line 2 at offset 3 is longer") || rows[1].Payload != "fine" || rows[1].Line != 3 || rows[1].Offset != 104 {
		t.Fatalf("%+v", rows)
	}
	src.Session.Reject(1, []byte(rows[0].Position))
	if again := src.Take(1)[0]; again != rows[0] {
		t.Errorf("%+v, want %+v", again, rows[0])
	}
}

// TestFollowResume: a followed source goes on where it was, without the part of a line that was there.
func TestFollowResume(t *testing.T) {
	w := newWorld(t)
	f := w.log("a")
	w.say(f, "one\ntwo\nthr")
	src := w.open(w.followPlan("a"))
	id := src.State(connector.Open).Identity
	last := w.took(src, "one", "two")[1]
	src.Close()
	w.say(f, "ee\nfour")
	plan := w.followPlan("a")
	plan.Identity, plan.Position = id, []byte(last.Position)
	src = w.open(plan)
	defer src.Close()
	if st := src.State(connector.Open); st.Restarted {
		t.Errorf("%+v", st)
	}
	w.took(src, "three")
	w.say(f, "\n")
	w.took(src, "four")
}

// TestFollowStartsWithItsFile: a missing file is refused with its absolute path, followed or not.
func TestFollowStartsWithItsFile(t *testing.T) {
	w := newWorld(t)
	w.refused(w.followPlan("nothing"), w.path("nothing")+": no such file")
	if fileconn.Connector().Descriptor.Check() != nil {
		t.Error("the descriptor is not sound")
	}
}
