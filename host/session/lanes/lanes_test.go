// SPDX-License-Identifier: Apache-2.0

package lanes_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/wire"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is handler and sender of one session under random load, in virtual time.
type world struct {
	mu       sync.Mutex
	random   *rand.Rand
	replies  map[uint64][]wire.ServerBody
	ran      map[string]bool // texts that took effect
	running  int
	ended    int
	afterEnd int
	over     bool
}

func (w *world) pause() {
	w.mu.Lock()
	d := time.Duration(w.random.IntN(20)) * time.Millisecond
	w.mu.Unlock()
	_ = osclock.Wait(context.Background(), d)
}

func (w *world) Command(ctx context.Context, r wire.CommandRequest, admit func() bool) wire.ServerBody {
	w.mu.Lock()
	w.running++
	if w.running > 1 || w.ended > 0 {
		panic("two commands at once, or a command after End")
	}
	w.mu.Unlock()
	w.pause()
	admitted := admit()
	w.pause()
	if admitted && ctx.Err() != nil {
		panic("the context of an admitted command ended")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--
	if !admitted {
		return wire.RequestCancelled{}
	}
	w.ran[r.Text] = true
	return wire.CommandOutcome{Disposition: wire.DispositionCompleted, Reference: r.Reference, Text: r.Text}
}

func (w *world) ListDomains(context.Context) wire.ServerBody { w.pause(); return wire.DomainList{} }

func (w *world) Status(context.Context) wire.ServerBody {
	w.pause()
	return wire.StatusReport{Node: "n", Role: "leader"}
}

func (w *world) End(context.Context) { w.mu.Lock(); defer w.mu.Unlock(); w.ended++ }

func (w *world) InTransaction() bool { return false }

func (w *world) Send(_ lanes.Lane, f wire.ServerFrame) bool {
	w.pause() // a client that is slow to read
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		w.afterEnd++
	}
	w.replies[f.RequestID] = append(w.replies[f.RequestID], f.Body)
	return true
}

// TestOneTerminalReply: under random load each request has exactly one, a cancelled command never takes effect, and after the end there
// is none.
func TestOneTerminalReply(t *testing.T) {
	// req: X-041
	for seed := range uint64(60) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { load(t, seed) })
		})
	}
}

func load(t *testing.T, seed uint64) {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), replies: map[uint64][]wire.ServerBody{}, ran: map[string]bool{}}
	r := rand.New(rand.NewPCG(seed, 2))
	s := lanes.New(t.Context(), w, w, lanes.Options{InFlight: 8})
	texts := map[uint64]string{}
	receive := func(lane lanes.Lane, id uint64, body wire.ClientBody) {
		if err := s.Receive(lane, wire.ClientFrame{RequestID: id, Body: body}); err != nil {
			t.Error(err)
		}
	}
	const requests = 120
	for id := uint64(1); id <= requests; id++ {
		switch r.IntN(5) {
		case 0:
			receive(lanes.Control, id, wire.StatusRequest{})
		case 1:
			receive(lanes.Ordered, id, wire.CancelRequest{Target: 1 + r.Uint64N(id)})
		case 2:
			receive(lanes.Control, id, wire.CancelRequest{Target: max(1, id-1)})
		default:
			texts[id] = fmt.Sprint("text ", id)
			receive(lanes.Ordered, id, wire.CommandRequest{Reference: "r", Text: texts[id], Format: wire.FormatText})
		}
		if r.IntN(3) == 0 {
			_ = osclock.Wait(t.Context(), time.Duration(r.IntN(30))*time.Millisecond)
		}
	}
	cut := seed%3 == 0
	if cut { // the connection is lost with work under way
		w.mu.Lock()
		w.over = true
		w.mu.Unlock()
		s.End()
	} else {
		s.Drain()
		<-s.Idle()
		s.End()
	}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for id := uint64(1); id <= requests; id++ {
		got := w.replies[id]
		if len(got) > 1 || (len(got) == 0 && !cut) {
			t.Errorf("request %d has %d replies: %v", id, len(got), got)
		}
		if len(got) == 1 && texts[id] != "" {
			_, completed := got[0].(wire.CommandOutcome)
			if completed != w.ran[texts[id]] {
				t.Errorf("request %d: reply %T, took effect %v", id, got[0], w.ran[texts[id]])
			}
		}
	}
	if w.ended != 1 {
		t.Errorf("End was called %d times", w.ended)
	}
	if w.afterEnd > 2 { // replies may be inside Send when the session ends; a real sender drops them
		t.Errorf("%d replies were sent after the end", w.afterEnd)
	}
}

func TestASecondHelloIsAViolation(t *testing.T) {
	w := &world{random: rand.New(rand.NewPCG(1, 1)), replies: map[uint64][]wire.ServerBody{}, ran: map[string]bool{}}
	s := lanes.New(t.Context(), w, w, lanes.Options{})
	if err := s.Receive(lanes.Ordered, wire.ClientFrame{Body: wire.Hello{}}); err == nil {
		t.Error("accepted")
	}
	s.Abort()
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
}
