// SPDX-License-Identifier: Apache-2.0

package fileconn_test

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
)

func (w world) sinkPlan(name string) connector.SinkPlan {
	return connector.SinkPlan{
		Emitter: ident.Ref{Domain: "d", Kind: ident.KindEmitter, Name: "e"}, Kind: fileconn.Kind,
		Client: map[string]string{"root": w.root}, Options: map[string]string{"path": name},
	}
}

func (w world) openSink(name string) *conformance.Sink {
	w.Helper()
	s := conformance.OpenSink(w.T, w.host, w.sinkPlan(name))
	s.State(connector.Open)
	return s
}

func (w world) want(name, text string) {
	w.Helper()
	b, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	if string(b) != text {
		w.Errorf("%s holds %.80q (%d bytes), want %.80q", name, b, len(b), text)
	}
}

// A line is whole or absent: what a killed writer left of its last line is cut off on open.
func TestUnterminatedLineIsCutOff(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		"":                "",
		"whole\n":         "whole\n",
		"whole\nhal":      "whole\n",
		"half":            "",
		"a\n" + long('x'): "a\n",
		long('y'):         "",
	} {
		w.write("out", text)
		s := w.openSink("out")
		w.want("out", want)
		s.Write("next")
		s.Close()
		w.want("out", want+"next\n")
	}
}

func long(b byte) string { return strings.Repeat(string(b), 200_000) }

// A full disk fails the attempt, leaves no part of it, and a later attempt succeeds.
func TestFullDisk(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	w := newWorld(t)
	s := w.openSink("out")
	defer s.Close()
	s.Write("before")

	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 100_000, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	s.Offer("small", long('x'))
	a := s.Answer()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if a.Failure == nil || len(a.Answers) != 0 || !strings.Contains(a.Failure.Error(), w.path("out")+": file too large") {
		t.Errorf("%+v", a)
	}
	w.want("out", "before\n")
	s.Write("small", long('x'))
	w.want("out", "before\nsmall\n"+long('x')+"\n")
}

// The lock of an orphan is waited for; the successor begins when it goes.
func TestLockOfAnOrphan(t *testing.T) {
	w := newWorld(t)
	w.write("out", "")
	f, err := os.OpenFile(w.path("out"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	s := conformance.OpenSink(t, w.host, w.sinkPlan("out"))
	defer s.Close()
	s.Offer("too early")
	if a := s.Answer(); a.Failure == nil {
		t.Fatalf("%+v", a)
	}
	_ = f.Close()
	s.State(connector.Open)
	s.Write("now")
	w.want("out", "too early\nnow\n"[len("too early\n"):])
}

func TestUnwritable(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(w.path("dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write("file", "x\n")
	for name, part := range map[string]string{"dir": w.path("dir"), "file/below": w.path("file/below")} {
		s := conformance.OpenSink(t, w.host, w.sinkPlan(name))
		st := s.State(connector.Failed)
		if !strings.Contains(st.Detail, part) {
			t.Errorf("%+v", st)
		}
		s.Close()
	}
}

// A file that is moved, removed or emptied under its writer takes no lines along: what is confirmed is found under the path, or in the moved file.
func TestOutputFileThatLeavesItsPath(t *testing.T) {
	// req: K02 half: a file that somebody takes away; a full disk has its own test
	w := newWorld(t)
	s := w.openSink("out")
	defer s.Close()
	s.Write("a")
	if err := os.Rename(w.path("out"), w.path("moved")); err != nil {
		t.Fatal(err)
	}
	s.Write("b")
	w.want("moved", "a\n")
	w.want("out", "b\n")
	if err := os.Remove(w.path("out")); err != nil {
		t.Fatal(err)
	}
	s.Write("c")
	w.want("out", "c\n")
	if err := os.Truncate(w.path("out"), 0); err != nil {
		t.Fatal(err)
	}
	s.Write("d")
	w.want("out", "d\n")
}
