// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
	"github.com/nervix-go/nervix/plugins/supervise"
)

func awaitState(t *testing.T, h *supervise.Host, kind, state string) supervise.Status {
	t.Helper()
	for range 2400 {
		if st := statusOf(h, kind); st.State == state {
			return st
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("%s is not %s: %+v", kind, state, statusOf(h, kind))
	return supervise.Status{}
}

// refusedToStart opens a source of a connector that does not start, and checks the error, what is left, and the status.
func refusedToStart(t *testing.T, h *supervise.Host, kind string, code fault.Code, parts ...string) {
	t.Helper()
	_, err := conformance.OpenSource(t, h, plan(kind, "", ""))
	if fault.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	st := awaitState(t, h, kind, "failed")
	for _, p := range append(parts, string(code)) {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%v does not mention %q", err, p)
		}
		if p != "INGESTOR i" && !strings.Contains(st.Reason, p) {
			t.Errorf("the status does not mention %q: %+v", p, st)
		}
	}
	if st.PID != 0 || len(processesOf(kind)) != 0 {
		t.Errorf("something is left: %+v %v", st, processesOf(kind))
	}
	t.Log(err)
}

// processesOf lists what runs of the binary of a kind.
func processesOf(kind string) (found []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range all {
		if path, err := os.Readlink(exe); err == nil && path == filepath.Join(built, kind) {
			found = append(found, exe)
		}
	}
	return found
}

func TestConnectorThatCannotStartRefusesSources(t *testing.T) {
	// req: P-005 half: the checksum is in the descriptor file, not in the node's configuration
	// req: P-017 half: one instance
	// req: B04
	for _, c := range []struct {
		kind  string
		code  fault.Code
		parts []string
	}{
		{"swapped", fault.PluginChecksum, []string{filepath.Join(built, "swapped")}},
		{"liar", fault.PluginProtocol, []string{"another plugin protocol"}},
		{"pretends", fault.PluginDescriptor, []string{"other capabilities"}},
		{"dies", fault.PluginStart, []string{"panic: cannot even start", "exit status 2"}},
		{"quits", fault.PluginStart, []string{"exit status 3", "first words", "no licence was found"}},
		{"vanishes", fault.PluginStart, []string{"exit status 9", "that was all"}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			h, _ := newHost(t)
			refusedToStart(t, h, c.kind, c.code, append(c.parts, "INGESTOR i")...)
			refusedToStart(t, h, c.kind, c.code, c.parts...) // the next source asks anew
			if st := statusOf(h, c.kind); st.Restarts != 1 {
				t.Errorf("nobody waited, and yet it was started again: %+v", st)
			}
			if c.kind == "quits" && strings.Join(statusOf(h, c.kind).LastLines, "|") != "first words|no licence was found" {
				t.Errorf("%+v", statusOf(h, c.kind))
			}
		})
	}
}

// A binary that is gone or altered after the host had read its descriptor; once it is back the next source opens.
func TestBinaryChangesUnderTheHost(t *testing.T) {
	h, _, binary, install := ownBinary(t)
	// A sink is no reason to fail: it says Lost and goes on trying (nspl 18.2).
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	sink := conformance.OpenSink(t, h, sinkPlan("", ""))
	defer sink.Close()
	if st := sink.State(connector.Lost); !strings.Contains(st.Detail, "no such file") {
		t.Errorf("%+v", st)
	}
	if _, err := conformance.OpenSource(t, h, plan("faulty", "", "")); !fault.Has(err, fault.PluginStart) || !strings.Contains(err.Error(), binary+": no such file") {
		t.Errorf("%v", err)
	}
	if st := statusOf(h, "faulty"); st.State != "retrying" && st.State != "starting" || !strings.Contains(st.Reason, "no such file") {
		t.Errorf("%+v", st)
	}
	install(0)
	for { // an attempt may still have met the missing file
		_, err := conformance.OpenSource(t, h, plan("faulty", "", ""))
		if fault.Has(err, fault.PluginChecksum) {
			break
		}
		if !fault.Has(err, fault.PluginStart) {
			t.Fatal(err)
		}
	}
	install()
	sink.State(connector.Open) // it went on trying
	src := open(t, h, plan("faulty", "", ""))
	defer src.Close()
	until(src, 1, "1000")
}

// ownBinary is a host with a copy of the faulty connector that a test may damage; install puts it right again, or
// there with further bytes at its end.
func ownBinary(t *testing.T) (h *supervise.Host, book *logBook, binary string, install func(further ...byte)) {
	t.Helper()
	dir := t.TempDir()
	install = func(further ...byte) {
		t.Helper()
		copyFile(t, filepath.Join(built, "faulty.json"), filepath.Join(dir, "faulty.json"), nil)
		copyFile(t, filepath.Join(built, "faulty"), filepath.Join(dir, "faulty"), further)
	}
	install()
	installed, problems := supervise.Discover(dir)
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	book = &logBook{t: t.Output()}
	h = supervise.New(supervise.Options{Connectors: installed, Log: slog.New(slog.NewTextHandler(book, nil))})
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h, book, filepath.Join(dir, "faulty"), install
}

// copyFile replaces a file whole: one that runs cannot be written, and a host must not see half of it.
func copyFile(t *testing.T, from, to string, further []byte) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.OpenFile(to+".new", os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, io.MultiReader(in, bytes.NewReader(further))); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(out.Close(), os.Rename(to+".new", to)); err != nil {
		t.Fatal(err)
	}
}

// A connector that dies of the first attempt gets another; one that dies of each refuses the source.
func TestConnectorThatDiesOfEveryOpen(t *testing.T) {
	// req: P-017 half: one instance
	h, _ := newHost(t)
	_, err := conformance.OpenSource(t, h, plan("faulty", "exit_open", ""))
	if !fault.Has(err, fault.PluginExited) || !strings.Contains(err.Error(), "each of 3 attempts") || !strings.Contains(err.Error(), "exit status 7") {
		t.Fatal(err)
	}
	if st := awaitState(t, h, "faulty", "idle"); st.Restarts != 2 || !strings.Contains(st.Reason, "exit status 7") {
		t.Errorf("%+v", st)
	}
	src := open(t, h, plan("faulty", "", ""))
	defer src.Close()
	until(src, 1, "1000")
}

// A connector that dies after it had served: a start that fails then is a loss, not a refusal, and the session outlives it.
func TestFailedRestartIsALoss(t *testing.T) {
	// req: P-007
	h, book, binary, install := ownBinary(t)
	src := open(t, h, plan("faulty", "exit_read", filepath.Join(t.TempDir(), "once")))
	defer src.Close()
	src.State(connector.Open)
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	src.Take(400) // their credit lets it read on, and die
	book.await(t, "could not be started", "no such file")
	install()
	if st := src.State(connector.Open); st.Epoch != 2 {
		t.Errorf("%+v", st)
	}
	until(src, 2, "1000")
}

func TestCloseWhileASourceWaits(t *testing.T) {
	// req: P-008
	h, _ := newHost(t)
	opened := make(chan error, 1)
	go func() {
		_, err := h.OpenSource(context.Background(), plan("silent", "", ""), nothing{})
		opened <- err
	}()
	awaitState(t, h, "silent", "starting")
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-opened; !fault.Has(err, fault.PluginStopped) {
		t.Errorf("%v", err)
	}
}
