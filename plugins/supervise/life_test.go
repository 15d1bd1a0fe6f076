// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// gone says whether a process has ended; a zombie that nobody reaps has.
func gone(pid int) bool {
	s := processState(pid)
	return s == 0 || s == 'Z' || s == 'X'
}

// processState is the letter the kernel shows for a process, 0 if there is none.
func processState(pid int) byte {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	return b[strings.LastIndexByte(string(b), ')')+2]
}

// freeze stops a process and waits until it stands still.
func freeze(t *testing.T, pid int) {
	t.Helper()
	if !freezes(t, pid) {
		t.Fatal("it has ended")
	}
}

// freezes does that and says whether there was such a process.
func freezes(t *testing.T, pid int) bool {
	t.Helper()
	if pid == 0 || unix.Kill(pid, unix.SIGSTOP) != nil {
		return false
	}
	for range 6000 {
		switch {
		case processState(pid) == 'T':
			return true
		case gone(pid):
			return false
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it does not stop")
	return false
}

func awaitGone(t *testing.T, what string, pid int) {
	t.Helper()
	for range 6000 { // a minute; the bound of P-008 is 5 s on an idle machine
		if gone(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s %d is still there", what, pid)
}

// beHost is a host that a test kills: it opens a source and prints its connector's process.
func beHost(dir string) {
	installed, _ := supervise.Discover(dir)
	h := supervise.New(supervise.Options{Connectors: installed, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
	_, err := h.OpenSource(context.Background(), plan("faulty", "child_open", ""), nothing{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("connector", statusOf(h, "faulty").PID)
	select {}
}

func TestHostKilled(t *testing.T) {
	// req: P-008
	// req: B01
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SUPERVISE_TEST_HOST="+built)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	child := 0
	for in := bufio.NewScanner(logs); child == 0 && in.Scan(); {
		if i := strings.Index(in.Text(), "child "); i >= 0 {
			_, _ = fmt.Sscanf(in.Text()[i:], "child %d", &child)
		}
	}
	var pid int
	if _, err := fmt.Fscanf(out, "connector %d", &pid); err != nil || child == 0 {
		t.Fatalf("child %d: %v", child, err)
	}
	if gone(pid) || gone(child) {
		t.Fatal("the connector does not run")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	awaitGone(t, "connector", pid)
	awaitGone(t, "its child", child)
}

type nothing struct{}

func (nothing) SourceBatch(_ uint64, b arrow.RecordBatch, _ int64) { b.Release() }

func (nothing) SourceState(connector.SourceStatus) {}

func TestStubbornConnectorIsKilled(t *testing.T) {
	// req: P-008
	h, book := newHost(t)
	src := open(t, h, plan("faulty", "", ""))
	src.State(connector.Open)
	pid := statusOf(h, "faulty").PID
	freeze(t, pid) // hears neither the request nor TERM
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if !gone(pid) {
		t.Error("it survived")
	}
	if st := statusOf(h, "faulty"); st.State != "stopped" {
		t.Errorf("%+v", st)
	}
	book.await(t, "connector stopped", "signal: killed")
	src.Close()
}

func TestHangingSourceHoldsNobodyUp(t *testing.T) {
	// req: P-008
	h, _ := newHost(t)
	src := open(t, h, plan("faulty", "hang_close", ""))
	src.State(connector.Open)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := src.Session.Close(ctx); err == nil {
		t.Error("the close of a source that hangs succeeded")
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOrderlyStopTakesChildrenAlong(t *testing.T) {
	// req: P-008
	h, book := hostWith(t, supervise.LongGrace)
	src := open(t, h, plan("faulty", "child_open", ""))
	src.State(connector.Open)
	book.await(t, "child ")
	var child int
	log := book.String()
	if _, err := fmt.Sscanf(log[strings.Index(log, "child "):], "child %d", &child); err != nil {
		t.Fatal(err)
	}
	src.Close()
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, "child", child)
	book.await(t, "exit status 0")
}

func TestNoSecretsInArgumentsOrEnvironment(t *testing.T) {
	// req: P-011
	t.Setenv("HOST_ONLY", "hunter2")
	h, book := newHost(t)
	p := plan("faulty", "", "")
	p.Options["secret"] = "swordfish"
	src := open(t, h, p)
	defer src.Close()
	src.State(connector.Open)
	proc := filepath.Join("/proc", strconv.Itoa(statusOf(h, "faulty").PID))
	for _, f := range []string{"environ", "cmdline"} {
		b, err := os.ReadFile(filepath.Join(proc, f))
		if err != nil || len(b) == 0 {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "hunter2") || strings.Contains(string(b), "swordfish") {
			t.Errorf("a secret is in %s", f)
		}
	}
	if strings.Contains(book.String(), "swordfish") {
		t.Error("a secret is in the log")
	}
}

func TestLongTemporaryDirectory(t *testing.T) {
	// req: B06, B08
	long := filepath.Join(t.TempDir(), strings.Repeat("d", 150))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	h, _ := newHost(t)
	src := open(t, h, plan("faulty", "", ""))
	defer src.Close()
	src.State(connector.Open)
}

func TestStoppedConnectorIsNoticed(t *testing.T) {
	// req: P-007
	h, book := newHostPinging(t)
	src := open(t, h, plan("faulty", "", ""))
	defer src.Close()
	for frozen := false; !frozen; { // a slow machine may have it ended for a late answer before
		src.State(connector.Open)
		frozen = freezes(t, statusOf(h, "faulty").PID)
	}
	src.State(connector.Lost)
	src.State(connector.Open)
	book.await(t, "no answer to a ping")
}

func TestStopDuringStart(t *testing.T) {
	// req: P-008
	h, _ := newHost(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := h.OpenSource(ctx, plan("silent", "", ""), nothing{}); !fault.Has(err, fault.PluginHung) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	awaitState(t, h, "silent", "starting")
	ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
	if st := statusOf(h, "silent"); st.State != "stopped" {
		t.Errorf("%+v", st)
	}
}
