// SPDX-License-Identifier: Apache-2.0

package fileconn_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
)

// follower does what an ingestor does with a followed source whose deliveries settle at once.
type follower struct {
	world
	plan connector.SourcePlan // where it is to be opened next
	src  *conformance.Source
	// identity and position are durable.
	identity, position []byte
}

func (w world) follow(name string) *follower {
	w.Helper()
	f := &follower{world: w, plan: w.followPlan(name)}
	f.open()
	w.Cleanup(func() { f.src.Close() })
	return f
}

// open opens the source where it is to go on.
func (f *follower) open() connector.SourceStatus {
	f.Helper()
	f.src = f.world.open(f.plan)
	st := f.src.State(connector.Open)
	f.plan.Identity = st.Identity
	if st.Restarted {
		f.plan.Position = nil
	}
	return st
}

// took takes these lines; all of them are durable then.
func (f *follower) took(want ...string) {
	f.Helper()
	rows := f.world.took(f.src, want...)
	f.plan.Position = []byte(rows[len(rows)-1].Position)
	f.src.Session.Acknowledge(rows[len(rows)-1].Epoch, f.plan.Position)
	f.identity, f.position = f.plan.Identity, f.plan.Position
}

// turn waits for the end of the present part, with these lines before it, and opens the next.
func (f *follower) turn(rest ...string) connector.SourceStatus {
	f.Helper()
	f.src.State(connector.Finished)
	return f.next(rest...)
}

// next is turn after the end was told.
func (f *follower) next(rest ...string) connector.SourceStatus {
	f.Helper()
	old := f.src
	if len(rest) > 0 {
		f.took(rest...)
	}
	defer old.Close()
	return f.open()
}

// quietTurn is turn to another file, without a warning.
func (f *follower) quietTurn(rest ...string) {
	f.Helper()
	if st := f.turn(rest...); !st.Restarted || st.Detail != "" {
		f.Fatalf("%+v", st)
	}
}

// kill loses the connector, all it knew, and what is not durable.
func (f *follower) kill() {
	f.Helper()
	f.src.Close()
	f.plan.Identity, f.plan.Position = f.identity, f.position
	f.world.host = newHost(f.T, f.root)
}

// rotate renames `a` as logrotate does, keeping n older ones.
func (f *follower) rotate(n int) {
	f.Helper()
	for i := n; i > 0; i-- {
		from := fmt.Sprintf("a.%d", i-1)
		if i == 1 {
			from = "a"
		}
		if err := os.Rename(f.path(from), f.path(fmt.Sprintf("a.%d", i))); err != nil && !os.IsNotExist(err) {
			f.Fatal(err)
		}
	}
}

func TestFollowRotation(t *testing.T) {
	w := newWorld(t)
	w.write("a", "one\n")
	f := w.follow("a")
	f.took("one")
	for i := range 5 {
		f.write(fmt.Sprintf("new%d", i), fmt.Sprintf("first of %d\n", i))
		f.say(f.log("a"), fmt.Sprintf("last of %d\n", i))
		f.rotate(3)
		f.rename(fmt.Sprintf("new%d", i), "a")
		f.closeLogs()
		f.quietTurn(fmt.Sprintf("last of %d", i))
		f.took(fmt.Sprintf("first of %d", i))
	}
	f.say(f.log("a"), "end\n")
	f.took("end")
}

// TestFollowLateLines: a renamed file that is still written is read to its end while the new one already grows. What is left without an end when the
// writer lets go is the last line.
func TestFollowLateLines(t *testing.T) {
	w := newWorld(t)
	var clock atomic.Int64 // stands still until the writer has let go: nobody counts the old file as complete before
	w.host = hostOf(t, w.root, fileconn.ConnectorAt(func() vtime.Mono { return vtime.MonoFromNS(clock.Load()) }))
	old := w.log("a")
	f := w.follow("a")
	w.say(old, "one\n")
	f.took("one")
	f.rotate(1)
	fresh := w.log("a")
	w.say(fresh, "new one\n")
	for i := range 20 {
		w.say(old, fmt.Sprintf("late %d\n", i))
		f.took(fmt.Sprintf("late %d", i))
		w.say(fresh, "new\n")
	}
	w.say(old, "without an end")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	clock.Add(int64(time.Hour))
	f.quietTurn("without an end")
	f.took("new one", "new")
}

// TestFollowMissingPath: while the path is missing the renamed file is awaited.
func TestFollowMissingPath(t *testing.T) {
	w := newWorld(t)
	old := w.log("a")
	w.say(old, "one\n")
	f := w.follow("a")
	f.took("one")
	f.rotate(1)
	w.say(old, "two\n")
	_ = old.Close()
	f.took("two")
	f.kill()
	if st := f.open(); st.Restarted { // the path is still missing
		t.Fatalf("%+v", st)
	}
	w.write("a", "three\n")
	f.quietTurn()
	f.took("three")
}

// TestFollowRotationWhileAway: whatever was rotated while nobody looked is read in its order; names that are none of rotation and blank
// files are left out.
func TestFollowRotationWhileAway(t *testing.T) {
	w := newWorld(t)
	w.write("a", "1\n2\n3\n")
	f := w.follow("a")
	f.took("1", "2")
	f.kill()
	f.rotate(9)
	w.write("a", "4\n5\n")
	f.rotate(9)
	w.write("a", "") // rotated without a line
	f.rotate(9)
	w.write("a.gz", "no line\n")
	w.write("a.2.gz", "no line\n")
	w.write("a-errors", "of another stream\n")
	w.write("a", "\n\n")
	f.rotate(9)
	w.write("a", "6\n")
	f.rotate(9)
	w.write("a", "7\n")
	if st := f.open(); st.Restarted {
		t.Fatalf("%+v", st)
	}
	f.quietTurn("3")
	f.quietTurn("4", "5")
	f.kill()
	if st := f.open(); !st.Restarted || st.Detail != "" { // between the end of one file and the first position of the next
		t.Fatalf("%+v", st)
	}
	f.quietTurn("6")
	f.took("7")
	w.say(w.log("a"), "8\n")
	f.took("8")
}

// TestFollowDeletedFile: a file that is gone is no loss when it had been read to its end, and a warning otherwise.
func TestFollowDeletedFile(t *testing.T) {
	w := newWorld(t)
	for _, kill := range []bool{false, true} {
		w.write("a", "one\n")
		f := w.follow("a")
		f.took("one")
		if kill {
			f.kill()
		}
		w.write("b", "two\n")
		w.rename("b", "a") // the only name the first had
		if !kill {
			f.quietTurn()
		} else if st := f.open(); !st.Restarted || !strings.Contains(st.Detail, "the one that was read is gone") {
			t.Errorf("%+v", st)
		}
		f.took("two")
	}
}

// awaitTick waits until the clock of the file system, which stands still for some milliseconds, is past the times of a file: what is made then is
// younger.
func (w world) awaitTick(name string) {
	w.Helper()
	modified := func(name string) time.Time {
		info, err := os.Stat(w.path(name))
		if err != nil {
			w.Fatal(err)
		}
		return info.ModTime()
	}
	for w.write("probe", "x"); !modified("probe").After(modified(name)); {
		w.write("probe", "x")
	}
}

// TestFollowInodeOfAnother: a new file with the inode of the old one is another.
func TestFollowInodeOfAnother(t *testing.T) {
	w := newWorld(t)
	w.write("a", "")
	f := w.follow("a")
	w.say(w.log("a"), "one\ntwo\n")
	f.took("one", "two")
	w.closeLogs()
	f.kill()
	w.awaitTick("a")
	if err := os.Remove(w.path("a")); err != nil {
		t.Fatal(err)
	}
	w.write("a", "uno\ndos\ntres\n") // most file systems give the inode that has become free
	if st := f.open(); !st.Restarted || st.Detail == "" {
		t.Errorf("%+v", st)
	}
	f.took("uno", "dos", "tres")
}

// TestFollowTruncation: a file that became shorter, or another text, is read from its beginning, with a warning.
func TestFollowTruncation(t *testing.T) {
	for _, text := range []string{"short\n", "another text that is longer\nthan the one before\n"} {
		w := newWorld(t)
		w.write("a", "one\ntwo\nthr")
		f := w.follow("a")
		f.took("one", "two")
		w.write("a", text)
		if st := f.turn(); !st.Restarted || st.Detail == "" {
			t.Errorf("%q: %+v", text, st)
		}
		f.took(strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		w.say(w.log("a"), "more\n")
		f.took("more")
		if err := os.Truncate(w.path("a"), 0); err != nil {
			t.Fatal(err)
		}
		f.turn()
		w.say(w.log("a"), "again\n")
		f.took("again")
	}
}

// TestFollowSameTextAgain: a file that is cut and gets the same lines again gives them again.
func TestFollowSameTextAgain(t *testing.T) {
	w := newWorld(t)
	w.write("a", "one\ntwo\n")
	f := w.follow("a")
	for range 3 {
		f.took("one", "two")
		if err := os.Truncate(w.path("a"), 0); err != nil {
			t.Fatal(err)
		}
		f.src.State(connector.Finished)
		w.say(w.log("a"), "one\ntwo\n") // before the source is opened again
		if st := f.next(); !st.Restarted || st.Detail == "" {
			t.Fatalf("%+v", st)
		}
	}
	f.took("one", "two")
}

// TestFollowCopytruncate: what was not read before the file was cut is read from the copy.
func TestFollowCopytruncate(t *testing.T) {
	for _, away := range []bool{false, true} {
		w := newWorld(t)
		w.write("a", "one\ntwo\nthree\n")
		f := w.follow("a")
		f.took("one", "two", "three")
		rows := []string{"five"}
		if away {
			f.kill()
		}
		w.say(w.log("a"), "four\n")
		if !away {
			f.took("four")
		}
		text, err := os.ReadFile(w.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		w.write("a.1", string(text)+"five\n") // lines that came while it was copied
		if err := os.Truncate(w.path("a"), 0); err != nil {
			t.Fatal(err)
		}
		w.say(w.log("a"), "six\n")
		var st connector.SourceStatus
		if away {
			st = f.open()
			rows = []string{"four", "five"}
		} else {
			st = f.turn()
		}
		if st.Restarted {
			t.Fatalf("away %v: %+v", away, st)
		}
		f.quietTurn(rows...)
		f.took("six")
	}
}

// TestFollowKnowsMoreOfItsFile: once the file has its first 1 KiB its identity covers all of it.
func TestFollowKnowsMoreOfItsFile(t *testing.T) {
	w := newWorld(t)
	w.write("a", "")
	f := w.follow("a")
	first := f.plan.Identity
	long := strings.Repeat("x", 2000)
	w.say(w.log("a"), long+"\n")
	f.world.took(f.src, long)
	for range 10 { // nothing is settled, so there is no end yet
		w.say(w.log("a"), "another\n")
		f.world.took(f.src, "another")
	}
	w.say(w.log("a"), "settled\n")
	f.took("settled")
	if st := f.turn(); st.Restarted || string(st.Identity) == string(first) {
		t.Fatalf("%+v", st)
	}
	w.say(w.log("a"), "more\n")
	f.took("more")
	f.kill()
	w.write("a", strings.Repeat("y", 3000)+"\n"+"next\n") // cut and grown again while nobody looked
	if st := f.open(); !st.Restarted || st.Detail == "" {
		t.Fatalf("%+v", st)
	}
	f.took(strings.Repeat("y", 3000), "next")
}
