// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/conformance"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// built holds the faulty connector under each of its names.
var built string

var kinds = []string{"faulty", "chatty", "dies", "liar", "ancient", "swapped", "silent", "quits", "vanishes", "pretends"}

func TestMain(m *testing.M) {
	if dir := os.Getenv("SUPERVISE_TEST_HOST"); dir != "" {
		beHost(dir)
		return
	}
	dir, err := os.MkdirTemp("", "conn")
	if err != nil {
		panic(err)
	}
	built = dir
	build := exec.Command("go", "build", "-o", filepath.Join(dir, kinds[0]), "./testdata/faulty")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	for _, k := range kinds {
		path := filepath.Join(dir, k)
		if k != kinds[0] {
			if err := os.Link(filepath.Join(dir, kinds[0]), path); err != nil {
				panic(err)
			}
		}
		d, err := exec.Command(path, "--descriptor").Output()
		if err != nil {
			panic(err)
		}
		if k == "swapped" {
			d = bytes.Replace(d, []byte(`"sha256": "`), []byte(`"sha256": "0000`), 1)
			d = append(d[:len(d)-8], d[len(d)-4:]...)
		}
		if err := os.WriteFile(path+".json", d, 0o600); err != nil {
			panic(err)
		}
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	if code == 0 {
		err := goleak.Find()
		for range 60 { // connections and processes take their time to end on a slow machine
			if err == nil {
				break
			}
			err = goleak.Find()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// logBook keeps the log of a host for tests that ask what it says.
type logBook struct {
	mu sync.Mutex
	b  bytes.Buffer
	t  io.Writer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.t.Write(p[:min(len(p), 400)])
	return l.b.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBook) await(t *testing.T, parts ...string) {
	t.Helper()
	for range 2400 { // a minute: machines that run tests are slow at times
		ok := true
		for _, p := range parts {
			ok = ok && strings.Contains(l.String(), p)
		}
		if ok {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Fatalf("the log does not say %q", parts)
}

func (l *logBook) awaitMatch(t *testing.T, re *regexp.Regexp) {
	t.Helper()
	for range 600 {
		if re.MatchString(l.String()) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("nothing in the log matches %s", re)
}

func newHost(t *testing.T) (*supervise.Host, *logBook) {
	t.Helper()
	return hostWith(t, func(o supervise.Options) supervise.Options { return o })
}

func newHostPinging(t *testing.T) (*supervise.Host, *logBook) {
	t.Helper()
	return hostWith(t, supervise.QuickPings)
}

func hostWith(t *testing.T, change func(supervise.Options) supervise.Options) (*supervise.Host, *logBook) {
	t.Helper()
	installed, problems := supervise.Discover(built)
	if len(problems) != 0 || len(installed) != len(kinds) {
		t.Fatalf("%d kinds, %v", len(installed), problems)
	}
	book := &logBook{t: t.Output()}
	h := supervise.New(change(supervise.Options{Connectors: installed, Log: slog.New(slog.NewTextHandler(book, nil))}))
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h, book
}

func statusOf(h *supervise.Host, kind string) supervise.Status {
	for _, s := range h.Status() {
		if s.Kind == kind {
			return s
		}
	}
	return supervise.Status{}
}

func plan(kind, mode string, once string) connector.SourcePlan {
	p := connector.SourcePlan{Ingestor: ident.Ref{Domain: "d", Kind: ident.KindIngestor, Name: "i"}, Kind: kind, Options: map[string]string{"mode": mode}}
	if once != "" {
		p.Options["once"] = once
	}
	return p
}

func sinkPlan(mode, once string) connector.SinkPlan {
	p := connector.SinkPlan{Emitter: ident.Ref{Domain: "d", Kind: ident.KindEmitter, Name: "e"}, Kind: "faulty", Options: map[string]string{"mode": mode}}
	if once != "" {
		p.Options["once"] = once
	}
	return p
}

func open(t *testing.T, h *supervise.Host, p connector.SourcePlan) *conformance.Source {
	t.Helper()
	s, err := conformance.OpenSource(t, h, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until takes rows until the number n came in the given epoch or a later one.
func until(src *conformance.Source, epoch uint64, n string) {
	for {
		for _, r := range src.Take(1) {
			if r.Epoch >= epoch && r.Payload == n {
				return
			}
		}
	}
}

func TestSourceDiesAtEveryCall(t *testing.T) {
	// req: P-007
	for _, how := range []string{"exit", "panic", "error"} {
		for _, call := range []string{"open", "read", "reject", "ack"} {
			t.Run(how+"_"+call, func(t *testing.T) {
				h, _ := newHost(t)
				src := open(t, h, plan("faulty", how+"_"+call, filepath.Join(t.TempDir(), "once")))
				defer src.Close()
				before := uint64(1)
				if call == "open" {
					before = 0 // the first attempt never became an epoch
				} else {
					src.State(connector.Open)
				}
				if call == "reject" || call == "ack" {
					row := src.Take(1)[0]
					src.Session.Acknowledge(1, []byte(row.Position))
					src.Session.Reject(1, []byte(row.Position))
				}
				lost := src.State(connector.Lost)
				if lost.Detail == "" {
					t.Error("no reason")
				}
				if st := src.State(connector.Open); st.Epoch != before+1 {
					t.Errorf("epoch %d", st.Epoch)
				}
				until(src, before+1, "1000")
				if st := statusOf(h, "faulty"); st.State != "running" || (how == "error") != (st.Restarts == 0) {
					t.Errorf("%+v", st)
				}
			})
		}
	}
}

func TestSinkDiesAtEveryCall(t *testing.T) {
	// req: P-007
	for _, how := range []string{"exit", "panic", "error"} {
		t.Run(how+"_open", func(t *testing.T) {
			h, _ := newHost(t)
			sink := conformance.OpenSink(t, h, sinkPlan(how+"_open", filepath.Join(t.TempDir(), "once")))
			defer sink.Close()
			sink.State(connector.Lost)
			sink.State(connector.Open)
			sink.Write("a")
		})
		t.Run(how+"_publish", func(t *testing.T) {
			h, _ := newHost(t)
			sink := conformance.OpenSink(t, h, sinkPlan(how+"_publish", filepath.Join(t.TempDir(), "once")))
			defer sink.Close()
			sink.State(connector.Open)
			sink.Offer("a", "b")
			if how == "error" {
				if a := sink.Answer(); a.Failure == nil || len(a.Answers) != 0 {
					t.Fatalf("%+v", a)
				}
			} else {
				sink.State(connector.Lost) // judges nothing: no answer came
				sink.State(connector.Open)
			}
			sink.Write("a", "b")
		})
	}
}

func TestSinkLeavesPayloadsUnanswered(t *testing.T) {
	// req: P-039 half: the retry is the emitter's
	h, _ := newHost(t)
	sink := conformance.OpenSink(t, h, sinkPlan("mute", ""))
	defer sink.Close()
	sink.State(connector.Open)
	sink.Offer("a")
	if a := sink.Answer(); a.Failure != nil || len(a.Answers) != 0 {
		t.Fatalf("%+v", a)
	}
}

func TestPanicText(t *testing.T) {
	// req: B04
	for mode, text := range map[string]string{
		"panic_open":      "told to panic in open",
		"background_open": "told to panic in the background",
		"panic_read":      "told to panic in read",
	} {
		t.Run(mode, func(t *testing.T) {
			h, book := newHost(t)
			src := open(t, h, plan("faulty", mode, filepath.Join(t.TempDir(), "once")))
			defer src.Close()
			if st := src.State(connector.Lost); !strings.Contains(st.Detail, text) && !strings.Contains(st.Detail, "ended during a call") {
				t.Errorf("the reason is %q", st.Detail)
			}
			src.State(connector.Open)
			book.await(t, "level=ERROR", "connector panicked", "panic: "+text, "goroutine ", "main.go:")
			if st := statusOf(h, "faulty"); !strings.Contains(strings.Join(st.LastLines, "\n"), "goroutine ") || st.Restarts != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestOutputCannotHarm(t *testing.T) {
	// req: P-009
	began := osclock.Mono()
	h, book := newHost(t)
	src := open(t, h, plan("chatty", "flood_open", ""))
	src.State(connector.Open)
	until(src, 1, "1000")
	src.State(connector.Finished)
	// The bucket holds 400 lines, each noise is two: a logged number of four digits says that lines were dropped before it.
	book.awaitMatch(t, regexp.MustCompile(`line="noise \d{4,}"`))
	src.Close()
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	book.await(t, "starting up", "lines were dropped")
	// 400 lines and 100 a second are let through, each cut to 4 KiB; the host itself says little.
	lines := 500 + 100*int(osclock.Mono().Sub(began).Seconds()+1)
	if n := len(book.String()); n > lines*(5<<10) {
		t.Errorf("%d bytes of log", n)
	}
}

func TestViolationsAreCutOff(t *testing.T) {
	// req: P-012
	for mode, text := range map[string]string{
		"overdraw_read": "without credit", "huge_read": "the limit is", "stranger_read": "does not exist", "garbage_read": "reserved bytes", "unasked_read": "kind 5",
	} {
		t.Run(mode, func(t *testing.T) {
			h, book := newHost(t)
			src := open(t, h, plan("faulty", mode, filepath.Join(t.TempDir(), "once")))
			defer src.Close()
			src.State(connector.Lost)
			src.State(connector.Open)
			until(src, 2, "1000")
			book.await(t, "connector is cut off", text)
			if st := statusOf(h, "faulty"); st.Restarts != 1 {
				t.Errorf("%+v", st)
			}
		})
	}
}

func TestWrongAnswersFailTheAttempt(t *testing.T) {
	// req: P-038
	for _, mode := range []string{"twice_publish", "foreign_publish", "unasked_publish"} {
		t.Run(mode, func(t *testing.T) {
			h, book := newHost(t)
			sink := conformance.OpenSink(t, h, sinkPlan(mode, filepath.Join(t.TempDir(), "once")))
			defer sink.Close()
			sink.State(connector.Open)
			sink.Offer("a", "b", "c")
			if a := sink.Answer(); !fault.Has(a.Failure, fault.PluginViolation) || len(a.Answers) != 0 {
				t.Fatalf("%+v", a)
			}
			sink.State(connector.Open)
			sink.Write("a", "b", "c")
			book.await(t, "connector is cut off")
		})
	}
}

func TestOtherProtocolsAreRefused(t *testing.T) {
	// req: P-004
	h, book := newHost(t)
	if _, err := conformance.OpenSource(t, h, plan("ancient", "", "")); !fault.Has(err, fault.PluginProtocol) || !strings.Contains(err.Error(), "0..0") {
		t.Errorf("%v", err)
	}
	if _, err := conformance.OpenSource(t, h, plan("liar", "", "")); !fault.Has(err, fault.PluginProtocol) {
		t.Errorf("%v", err)
	}
	book.await(t, "another plugin protocol")
}
