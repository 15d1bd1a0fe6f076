// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// Subject is one way to run the FILE connector below a file root. Crash kills its process or what stands for it.
type Subject struct {
	Host  *supervise.Host
	Root  string
	Crash func()
}

// Run runs the suite; start makes a fresh subject.
func Run(t *testing.T, start func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"ReadsAll":             readsAll,
		"RowCredit":            rowCredit,
		"BatchCredit":          batchCredit,
		"Reject":               reject,
		"ResumesAfterPosition": resumesAfterPosition,
		"CrashOfSource":        crashOfSource,
		"CrashOfSink":          crashOfSink,
		"CrashesUnderLoad":     crashesUnderLoad,
		"Refusals":             refusals,
		"SinkWrites":           sinkWrites,
		"SinkRejects":          sinkRejects,
		"SharedProcess":        sharedProcess,
	} {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

// SourcePlan reads a file of the subject.
func (s Subject) SourcePlan(path string) connector.SourcePlan {
	return connector.SourcePlan{
		Ingestor: ident.Ref{Domain: "d", Kind: ident.KindIngestor, Name: "i"}, Kind: "file",
		Client: map[string]string{"root": s.Root}, Options: map[string]string{"path": path},
	}
}

// SinkPlan writes a file of the subject.
func (s Subject) SinkPlan(path string) connector.SinkPlan {
	return connector.SinkPlan{
		Emitter: ident.Ref{Domain: "d", Kind: ident.KindEmitter, Name: "e"}, Kind: "file",
		Client: map[string]string{"root": s.Root}, Options: map[string]string{"path": path},
	}
}

func (s Subject) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.Root, path), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s Subject) read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (s Subject) open(t *testing.T, plan connector.SourcePlan) *Source {
	t.Helper()
	src, err := OpenSource(t, s.Host, plan)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func wantLines(t *testing.T, rows []Row, from int) {
	t.Helper()
	for i, r := range rows {
		if want := fmt.Sprintf("line %d", from+i); r.Payload != want || r.Line != int64(from+i) || r.Error != "" {
			t.Fatalf("row %d is %+v, want %s", i, r, want)
		}
	}
}

func readsAll(t *testing.T, s Subject) {
	// req: P-016 half: suspend and resume are the host's credit, polls come later
	s.write(t, "a.txt", numbered(10_000)+"\n\n")
	src := s.open(t, s.SourcePlan("a.txt"))
	defer src.Close()
	if st := src.State(connector.Open); st.Epoch != 1 || len(st.Identity) == 0 || st.Restarted {
		t.Fatalf("%+v", st)
	}
	rows := src.Take(10_000)
	wantLines(t, rows, 1)
	if rows[1].Path != filepath.Join(s.Root, "a.txt") || rows[1].Offset != 7 {
		t.Fatalf("metadata %+v", rows[1])
	}
	if st := src.State(connector.Finished); st.Skipped != 2 {
		t.Fatalf("%+v", st)
	}
}

func rowCredit(t *testing.T, s Subject) {
	s.write(t, "a.txt", numbered(1000))
	plan := s.SourcePlan("a.txt")
	plan.CreditRows = 7
	src := s.open(t, plan)
	defer src.Close()
	src.Hold = true
	rows := src.Take(7)
	// What lies beyond the durable position is bounded; a rejected row comes again without using any of it.
	src.Session.Reject(1, []byte(rows[2].Position))
	src.Session.Grant(1, 4, 1<<20, 0)
	again := src.Take(1)
	if len(rows) != 7 || again[0] != rows[2] {
		t.Fatalf("%d rows, again %+v", len(rows), again)
	}
	src.Session.Grant(1, 0, 0, 7)
	if more := src.Take(7); len(more) != 7 || more[0].Line != 8 {
		t.Fatalf("%+v", more)
	}
}

func batchCredit(t *testing.T, s Subject) {
	s.write(t, "a.txt", numbered(100_000))
	plan := s.SourcePlan("a.txt")
	plan.CreditBatches, plan.CreditBytes = 2, 1<<20
	src := s.open(t, plan)
	defer src.Close()
	src.Hold = true
	first := (<-src.batches).rows
	second := (<-src.batches).rows
	// Without credit nothing comes; with credit for one batch the rejected row comes first, so nothing else was on its way.
	src.Session.Reject(1, []byte(first[0].Position))
	src.Session.Grant(1, 1, 1<<20, 0)
	if third := (<-src.batches).rows; len(third) != 1 || third[0] != first[0] {
		t.Fatalf("%d rows, first %+v", len(third), third[0])
	}
	src.Session.Grant(1, 2, 1<<20, 0)
	if fourth := (<-src.batches).rows; fourth[0].Line != int64(len(first)+len(second))+1 {
		t.Fatalf("%+v", fourth[0])
	}
}

func reject(t *testing.T, s Subject) {
	// req: P-023 half: the host's backoff before a rejection is the ingestor's
	s.write(t, "a.txt", numbered(10))
	src := s.open(t, s.SourcePlan("a.txt"))
	defer src.Close()
	rows := src.Take(10)
	src.State(connector.Finished)
	src.Session.Reject(1, []byte(rows[4].Position))
	if again := src.Take(1); again[0] != rows[4] {
		t.Fatalf("%+v, want %+v", again[0], rows[4])
	}
	src.State(connector.Finished)
	src.Session.Reject(99, []byte(rows[4].Position)) // of another epoch: ignored
	// A rejection that cannot be served loses the epoch; the source comes back at the committed position.
	src.Session.Acknowledge(1, []byte(rows[7].Position))
	src.Session.Reject(1, []byte("not a position"))
	src.State(connector.Lost)
	if st := src.State(connector.Open); st.Epoch != 2 || st.Restarted {
		t.Fatalf("%+v", st)
	}
	rows = src.Take(2)
	wantLines(t, rows, 9)
	src.State(connector.Finished)
}

func resumesAfterPosition(t *testing.T, s Subject) {
	// req: P-010
	s.write(t, "a.txt", numbered(20))
	src := s.open(t, s.SourcePlan("a.txt"))
	id := src.State(connector.Open).Identity
	rows := src.Take(20)
	src.Close()

	plan := s.SourcePlan("a.txt")
	plan.Identity, plan.Position = id, []byte(rows[11].Position)
	src = s.open(t, plan)
	wantLines(t, src.Take(8), 13)
	src.State(connector.Finished)
	src.Close()

	s.write(t, "a.txt", "short\n")
	src = s.open(t, plan)
	defer src.Close()
	if st := src.State(connector.Open); !st.Restarted || !strings.Contains(st.Detail, "a.txt") {
		t.Fatalf("%+v", st)
	}
	if rows := src.Take(1); rows[0].Payload != "short" {
		t.Fatalf("%+v", rows)
	}
}

func crashOfSource(t *testing.T, s Subject) {
	// req: P-007 half: crashes inside single calls are in supervise's tests
	s.write(t, "a.txt", numbered(50_000))
	plan := s.SourcePlan("a.txt")
	plan.CreditRows = 5000
	src := s.open(t, plan)
	defer src.Close()
	src.Hold = true
	src.State(connector.Open)
	rows := src.Take(5000)
	src.Session.Acknowledge(1, []byte(rows[999].Position))
	src.Session.Reject(1, []byte(rows[0].Position)) // answered after the acknowledgement was noted
	s.Crash()
	src.State(connector.Lost)
	st := src.State(connector.Open)
	if st.Epoch != 2 || st.Restarted {
		t.Fatalf("%+v", st)
	}
	src.Hold = false
	for {
		rows = src.Take(1)
		if rows[0].Epoch == 2 {
			break
		}
	}
	wantLines(t, rows, 1001)
	rows = append(rows, src.Take(49_000-len(rows))...)
	wantLines(t, rows, 1001)
	src.State(connector.Finished)
}

func crashOfSink(t *testing.T, s Subject) {
	sink := OpenSink(t, s.Host, s.SinkPlan("out.txt"))
	defer sink.Close()
	sink.State(connector.Open)
	sink.Write("one", "two")
	s.Crash()
	sink.State(connector.Lost)
	if st := sink.State(connector.Open); st.Epoch != 2 {
		t.Fatalf("%+v", st)
	}
	sink.Write("three")
	if got := s.read(t, "out.txt"); got != "one\ntwo\nthree\n" {
		t.Fatalf("%q", got)
	}
}

// Every line comes, first occurrences in order, and nothing below the acknowledged position comes again.
func crashesUnderLoad(t *testing.T, s Subject) {
	// req: P-010
	const lines, crashes = 40_000, 4
	s.write(t, "a.txt", numbered(lines))
	plan := s.SourcePlan("a.txt")
	plan.CreditRows = 3000
	src := s.open(t, plan)
	defer src.Close()
	seen, acked, epoch, left, begun := int64(0), int64(0), uint64(1), crashes, true
	for seen < lines {
		row := src.Take(1)[0]
		if row.Epoch < epoch {
			continue // dropped with its epoch
		}
		if !begun && row.Line != acked+1 {
			t.Fatalf("epoch %d begins at line %d, acknowledged was %d", epoch, row.Line, acked)
		}
		begun = true
		if row.Line > seen+1 || row.Payload != fmt.Sprintf("line %d", row.Line) {
			t.Fatalf("%+v after line %d", row, seen)
		}
		seen = max(seen, row.Line)
		if row.Line%1000 == 0 && row.Line > acked {
			src.Session.Acknowledge(epoch, []byte(row.Position))
			acked = row.Line
		}
		if seen == int64(crashes+1-left)*7777 && left > 0 {
			left--
			src.Session.Reject(epoch, []byte(row.Position)) // behind it the acknowledgement is known to have arrived
			s.Crash()
			src.State(connector.Lost)
			epoch, begun = src.State(connector.Open).Epoch, false
		}
	}
	if epoch != crashes+1 {
		t.Errorf("%d epochs", epoch)
	}
}

func refusals(t *testing.T, s Subject) {
	refused := func(plan connector.SourcePlan, code fault.Code, parts ...string) {
		t.Helper()
		_, err := OpenSource(t, s.Host, plan)
		if fault.CodeOf(err) != code {
			t.Fatalf("got %v, want %s", err, code)
		}
		for _, p := range parts {
			if !strings.Contains(err.Error(), p) {
				t.Errorf("%v does not mention %q", err, p)
			}
		}
	}
	refused(s.SourcePlan("missing.txt"), fault.PluginRefused, filepath.Join(s.Root, "missing.txt"))
	refused(s.SourcePlan("../x"), fault.PluginRefused, "leaves its root")
	plan := s.SourcePlan("a")
	plan.Options = nil
	refused(plan, fault.PluginOption, "path is required")
	plan = s.SourcePlan("a")
	plan.Client["colour"] = "red"
	refused(plan, fault.PluginOption, "colour is not known")
	plan = s.SourcePlan("a")
	plan.Client["root"] = "/"
	refused(plan, fault.PluginRefused, "file root")
	plan = s.SourcePlan("a")
	plan.Kind = "nosuch"
	refused(plan, fault.PluginUnknown, "nosuch", "file")
}

func sinkWrites(t *testing.T, s Subject) {
	sink := OpenSink(t, s.Host, s.SinkPlan("deep/er/out.txt"))
	sink.State(connector.Open)
	sink.Write("a", "", "c")
	big := strings.Repeat("x", 3<<20)
	sink.Write(big)
	sink.Close()
	if got := s.read(t, "deep/er/out.txt"); got != "a\n\nc\n"+big+"\n" {
		t.Fatalf("%d bytes", len(got))
	}
	info, err := os.Stat(filepath.Join(s.Root, "deep/er/out.txt"))
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Fatalf("%v %v", info.Mode(), err)
	}
}

func sinkRejects(t *testing.T, s Subject) {
	sink := OpenSink(t, s.Host, s.SinkPlan("out.txt"))
	defer sink.Close()
	sink.State(connector.Open)
	sink.Offer("good", "two\nlines", "good too")
	a := sink.Answer()
	if a.Failure != nil || len(a.Answers) != 3 || a.Answers[0].Rejected != "" || a.Answers[1].Rejected == "" || a.Answers[2].LastID != 2 {
		t.Fatalf("%+v", a)
	}
	// A second writer of the same path stays outside.
	other := OpenSink(t, s.Host, s.SinkPlan("out.txt"))
	if st := other.State(connector.Lost); !strings.Contains(st.Detail, "locked") {
		t.Fatalf("%+v", st)
	}
	other.Close()
	sink.Offer()
	if a := sink.Answer(); a.Failure == nil {
		t.Fatalf("%+v", a)
	}
}

func sharedProcess(t *testing.T, s Subject) {
	s.write(t, "a.txt", numbered(5000))
	one, two := s.open(t, s.SourcePlan("a.txt")), s.open(t, s.SourcePlan("a.txt"))
	defer one.Close()
	sink := OpenSink(t, s.Host, s.SinkPlan("out.txt"))
	defer sink.Close()
	sink.State(connector.Open)
	wantLines(t, two.Take(5000), 1)
	two.Close()
	sink.Write("x")
	wantLines(t, one.Take(5000), 1)
	if st := s.Host.Status(); len(st) != 1 || st[0].State != "running" || st[0].Restarts != 0 {
		t.Fatalf("%+v", st)
	}
}
