// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/inproc"
	"github.com/nervix-go/nervix/plugins/sdk"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// broker is a connector with numbered lines, over real sessions. It writes down, in order, what it is asked to do.
type broker struct {
	crash func()

	mu    sync.Mutex
	lines []string
	diary []string
	// onReject is asked at every rejection; an error, or the end of the connector, is a rejection that fails.
	onReject func(line int) error
	down     bool // opening fails
}

func (b *broker) note(format string, args ...any) {
	b.diary = append(b.diary, time.Now().UTC().Format("05.000 ")+fmt.Sprintf(format, args...))
}

func (b *broker) do(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// wrote gives the diary without its times.
func (b *broker) wrote() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]string, len(b.diary))
	for i, line := range b.diary {
		_, out[i], _ = strings.Cut(line, " ")
	}
	return out
}

// text is the diary with its times.
func (b *broker) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.diary, "\n")
}

// stream is one open source of the broker.
type stream struct {
	b    *broker
	next int
}

func lineOf(position []byte) int {
	if len(position) == 0 {
		return 0
	}
	return int(binary.LittleEndian.Uint64(position))
}

func (s *stream) Open(_ context.Context, r sdk.SourceRequest) (sdk.SourceOpened, error) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.b.down {
		s.b.note("down")
		return sdk.SourceOpened{}, errors.New("the broker is down")
	}
	s.next = lineOf(r.Position)
	s.b.note("open after %d", s.next)
	return sdk.SourceOpened{Identity: []byte("topic")}, nil
}

func (s *stream) append(line int, to *sdk.Batch) {
	to.Append([]byte(s.b.lines[line-1]), binary.LittleEndian.AppendUint64(nil, uint64(line)))
}

func (s *stream) Read(_ context.Context, to *sdk.Batch) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	for s.next < len(s.b.lines) && !to.Full() {
		s.next++
		s.append(s.next, to)
		s.b.note("send %d", s.next)
	}
	if s.next == len(s.b.lines) {
		return io.EOF
	}
	return nil
}

func (s *stream) Reject(_ context.Context, position []byte, to *sdk.Batch) error {
	line := lineOf(position)
	s.b.mu.Lock()
	s.b.note("reject %d", line)
	judge := s.b.onReject
	s.b.mu.Unlock()
	if judge != nil {
		if err := judge(line); err != nil {
			return err
		}
	}
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.append(line, to)
	s.b.note("again %d", line)
	return nil
}

func (s *stream) Acknowledge(_ context.Context, position []byte) error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	s.b.note("commit %d", lineOf(position))
	return nil
}

func (s *stream) Close() error { return nil }

// kit is an ingestor over a real host of connectors.
type kit struct {
	*nodetest.World
	b  *broker
	at *counted
	in *ingestor.Ingestor
}

// counted is a durable position whose lines are this broker's.
type counted struct {
	mu                 sync.Mutex
	identity, position []byte
}

func (p *counted) Load() (identity, position []byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.identity, p.position, nil
}

func (p *counted) Save(identity, position []byte, durable func(error)) {
	p.mu.Lock()
	p.identity, p.position = identity, position
	p.mu.Unlock()
	go durable(nil)
}

func (p *counted) line() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return lineOf(p.position)
}

// overSessions runs an ingestor of a text over a broker that is reached as every connector is.
func overSessions(t *testing.T, text string, lines []string, use func(k *kit)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &broker{lines: lines}
		launcher, installed := inproc.New(nil, sdk.Connector{
			Descriptor: descriptor.Descriptor{
				Kind: "file", Protocol: descriptor.Range{Min: descriptor.Protocol, Max: descriptor.Protocol},
				Client: []descriptor.Option{{Name: "root", Type: "path"}},
				Source: &descriptor.Source{
					Options: []descriptor.Option{{Name: "path", Type: "path"}}, Position: []string{"line"}, Finite: true,
					Metadata: []descriptor.Column{{Name: "path", Type: descriptor.ColumnString}, {Name: "line", Type: "I64"}, {Name: "offset", Type: "I64"}},
				},
			},
			Source: func() sdk.Source { return &stream{b: b} },
		})
		b.crash = func() { launcher.Crash("file") }
		host := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, BatchRows: 2, Log: slog.New(slog.DiscardHandler)})
		w := nodetest.New(t, text, 2)
		k := &kit{World: w, b: b, at: &counted{}}
		plan := w.Graph.Ingestors[0]
		targets := make([]ingestor.Target, len(plan.Routes))
		for i, r := range plan.Routes {
			targets[i] = ingestor.Target{Relay: w.Target(r.Relay), Error: w.Target(r.Policy.Relay)}
		}
		k.in = ingestor.New(ingestor.Config{
			Plan: plan, Targets: targets, Sources: host, Positions: k.at, Clock: w.Clock, Lanes: w.Exec, Benches: w.Benches, Alloc: w.Heap, Log: w.Log,
		})
		stop := w.Upkeep()
		defer func() {
			if err := k.in.StopIntake(context.Background()); err != nil {
				t.Error(err)
			}
			k.in.Close()
			stop()
			if err := host.Close(context.Background()); err != nil {
				t.Error(err)
			}
			w.Close()
		}()
		use(k)
	})
}

func (k *kit) start() {
	k.T.Helper()
	if err := k.in.Start(context.Background()); err != nil {
		k.T.Fatal(err)
	}
	k.pass(time.Millisecond)
}

func (k *kit) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// noCommitPasses checks that nothing at or beyond a line was committed so far.
func (k *kit) noCommitPasses(line int) {
	k.T.Helper()
	for _, entry := range k.b.wrote() {
		var n int
		if _, err := fmt.Sscanf(entry, "commit %d", &n); err == nil && n >= line {
			k.T.Fatalf("line %d was passed:\n%s", line, k.b.text())
		}
	}
	if k.at.line() >= line {
		k.T.Fatalf("the durable position is line %d", k.at.line())
	}
}

func (k *kit) count(entry string) (n int) {
	for _, e := range k.b.wrote() {
		if e == entry {
			n++
		}
	}
	return n
}

// A row that fails, and one nobody answers for, are both asked for again by position, at the source's backoff, while later rows pass and no commit does.
func TestFailedAndTimedOutRowsAreRejected(t *testing.T) {
	// req: P-023
	for _, how := range []string{"failed", "timed out"} {
		overSessions(t, source(wide, toReadings+ignore+general), goods(4), func(k *kit) {
			r := k.Reader("readings")
			held := 3
			r.Judge = func(s nodetest.Seen) error {
				if held > 0 && slices.Contains(s.Rows, row(2)) {
					held--
					return errors.New("not this one")
				}
				return nil
			}
			if how == "timed out" {
				r.Judge = nil
				r.Keep()
			}
			k.start()
			if how == "timed out" {
				k.pass(4900 * time.Millisecond) // ACK TIMEOUT is 5 s
				if n := k.count("reject 2"); n != 0 {
					k.T.Fatalf("rejected before ACK TIMEOUT:\n%s", k.b.text())
				}
				k.pass(1500 * time.Millisecond)
				if n := k.count("reject 2"); n != 1 || k.count("reject 4") != 1 {
					k.T.Fatalf("\n%s", k.b.text())
				}
				k.noCommitPasses(1)
				r.Let(nil)
				k.pass(time.Minute)
			} else {
				// BACKOFF 100ms MAX 300ms: after 100, 200 and 300 ms.
				for i, at := range []time.Duration{100, 200, 300} {
					k.pass(at*time.Millisecond - 2*time.Millisecond)
					if n := k.count("reject 2"); n != i {
						k.T.Fatalf("%d rejections before backoff %d", n, i)
					}
					k.noCommitPasses(2)
					k.pass(2 * time.Millisecond)
					if n := k.count("reject 2"); n != i+1 {
						k.T.Fatalf("%d rejections after backoff %d", n, i)
					}
				}
			}
			k.pass(time.Second)
			if k.at.line() != 4 || k.in.Observe().Unresolved != 0 || k.count("commit 4") != 1 {
				k.T.Fatalf("durable line %d, %+v\n%s", k.at.line(), k.in.Observe(), k.b.text())
			}
		})
	}
}

// The rejection itself fails: the connector refuses it, or dies of it. The source is suspended and opened again, and the delivery is there again before
// any commit passes it, however often that happens.
func TestRejectionThatFails(t *testing.T) {
	// req: P-023
	for _, how := range []string{"refused", "died", "down"} {
		t.Run(how, func(t *testing.T) {
			overSessions(t, source(wide, toReadings+log+general), []string{good(1), "?", good(3), good(4)}, func(k *kit) {
				r := k.Reader("readings")
				var failures atomic.Int64
				k.b.onReject = func(int) error {
					if failures.Add(1) > 3 {
						return nil
					}
					if how == "refused" {
						return errors.New("the broker does not answer")
					}
					if how == "down" {
						k.b.do(func() { k.b.down = true })
					}
					k.b.crash()
					return errors.New("cut off")
				}
				k.start()
				if k.at.line() != 1 {
					t.Fatalf("durable line %d", k.at.line())
				}
				for range 300 { // longer than three restarts with their backoff take
					k.pass(100 * time.Millisecond)
					k.noCommitPasses(2)
					if how == "down" && k.count("down") >= 3 {
						// Nothing is asked, sent or committed while the broker cannot be reached.
						wrote := k.b.wrote()
						if last := wrote[len(wrote)-3:]; !slices.Equal(last, []string{"down", "down", "down"}) {
							t.Fatalf("while the broker is down: %q", last)
						}
						if o := k.in.Observe(); o.Ready || o.Transient == "" {
							t.Fatalf("%+v", o)
						}
						k.b.do(func() { k.b.down, k.b.diary = false, nil })
					}
					if failures.Load() > 3 {
						break
					}
				}
				if failures.Load() <= 3 {
					t.Fatalf("asked %d times\n%s", failures.Load(), k.b.text())
				}
				// Each time the source was opened again, the line was the first thing it sent.
				wrote := k.b.wrote()
				for i, entry := range wrote {
					if strings.HasPrefix(entry, "open after") && entry != "open after 0" && (entry != "open after 1" || wrote[i+1] != "send 2") {
						t.Fatalf("%s\n%s", entry, k.b.text())
					}
				}
				k.b.do(func() { k.b.lines[1] = good(2) })
				k.pass(time.Minute)
				if k.at.line() != 4 || k.in.Observe().Unresolved != 0 || k.count("again 2") == 0 {
					t.Fatalf("durable line %d, %+v\n%s", k.at.line(), k.in.Observe(), k.b.text())
				}
				rows := r.Rows()
				for i := range 4 {
					if !slices.Contains(rows, row(i+1)) {
						t.Fatalf("row %d never came: %q", i+1, rows)
					}
				}
			})
		})
	}
}
