// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

const writers = 4

// promises holds, for each writer, the last sequence that was issued and the last that was reported durable.
type promises [writers]struct{ issued, durable atomic.Uint64 }

// writeOn puts positions of one writer until its store fails or stop is closed; most are not waited for, as an ingestor would do it.
func writeOn(s *Store, p *promises, w int, r *rand.Rand, stop <-chan struct{}) {
	for n := p[w].issued.Load() + 1; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		p[w].issued.Store(n)
		k := s.PutPosition(key(w, 1, 0), position(n))
		durable := func(err error) {
			if err == nil && p[w].durable.Load() < n {
				p[w].durable.Store(n)
			}
		}
		if r.IntN(4) > 0 {
			k.Notify(durable)
			continue
		}
		err := k.Wait(context.Background())
		durable(err)
		if err != nil {
			return
		}
	}
}

// check holds what a reopened store knows against the promises made before the crash.
func (p *promises) check(t *testing.T, s *Store, durable [writers]uint64) {
	t.Helper()
	for w := range p {
		got, found, err := s.GetPosition(key(w, 1, 0))
		if err != nil || !found && durable[w] > 0 {
			t.Fatalf("writer %d: durable %d, found %v %v", w, durable[w], found, err)
		}
		if got.Sequence < durable[w] || got.Sequence > p[w].issued.Load() {
			t.Fatalf("writer %d: stored %d, durable %d, issued %d", w, got.Sequence, durable[w], p[w].issued.Load())
		}
		if found {
			if d := cmp.Diff(position(got.Sequence), got); d != "" {
				t.Fatalf("writer %d: %s", w, d)
			}
		}
	}
}

func (p *promises) durable() (n [writers]uint64) {
	for w := range p {
		n[w] = p[w].durable.Load()
	}
	return n
}

// Power loss at random moments of a busy store, with none, some or all of the unsynchronized data surviving: whatever was reported
// durable is there, and what is there is whole. Each generation goes on from the clone.
func TestPowerLoss(t *testing.T) {
	// req: D05
	// req: D07
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			fs := vfs.NewCrashableMem()
			for range 3 {
				fs = crashOnce(t, fs, r)
			}
		})
	}
}

func crashOnce(t *testing.T, fs *vfs.MemFS, r *rand.Rand) *vfs.MemFS {
	var p promises
	// The crash comes at a random file operation, seen from below the store.
	var clone *vfs.MemFS
	var durable [writers]uint64
	left := int64(r.IntN(400))
	percent := []int{0, 30, 100}[r.IntN(3)]
	crashed := make(chan struct{})
	var ops atomic.Int64
	cloneRand := rand.New(rand.NewPCG(r.Uint64(), 2))
	s := mustOpen(t, errorfs.Wrap(fs, errorfs.InjectorFunc(func(errorfs.Op) error {
		if ops.Add(1) == left+60 { // some 60 operations are the opening
			durable = p.durable()
			clone = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: cloneRand})
			close(crashed)
		}
		return nil
	})))
	for w := range p {
		if old, _, _ := s.GetPosition(key(w, 1, 0)); old.Sequence > 0 {
			p[w].issued.Store(old.Sequence)
			p[w].durable.Store(old.Sequence)
		}
	}
	var group sync.WaitGroup
	for w := range writers {
		wr := rand.New(rand.NewPCG(r.Uint64(), uint64(w)))
		group.Go(func() { writeOn(s, &p, w, wr, crashed) })
	}
	group.Wait()
	mustClose(t, s)
	again := mustOpen(t, clone)
	p.check(t, again, durable)
	mustClose(t, again)
	return clone
}

// A power loss in the midst of creation leaves nothing that cannot be opened.
func TestPowerLossWhileCreating(t *testing.T) {
	for at := int64(1); ; at++ {
		fs := vfs.NewCrashableMem()
		var clones []*vfs.MemFS
		var ops atomic.Int64
		s := mustOpen(t, errorfs.Wrap(fs, errorfs.InjectorFunc(func(errorfs.Op) error {
			if ops.Add(1) == at {
				for _, percent := range []int{0, 20, 50, 50, 50, 80, 100} {
					clones = append(clones, fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(at), 3))}))
				}
			}
			return nil
		})))
		mustClose(t, s)
		for i, c := range clones {
			s, err := Open(storeDir, options(c))
			if err != nil {
				t.Fatalf("operation %d, clone %d: %v", at, i, err)
			}
			mustClose(t, s)
		}
		if clones == nil {
			return
		}
	}
}

// Any write or synchronization may fail once, at any point of a store's life. Then the store is failed for good, nothing is reported
// durable that is not there after a power loss, and it opens again.
func TestInjectedErrors(t *testing.T) {
	// req: D03 half: 100 seeds a run, not 1,000
	// req: D04
	failures := 0
	for seed := range uint64(100) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 4))
			fs := vfs.NewCrashableMem()
			var ops atomic.Int64
			at := int64(1 + r.IntN([]int{60, 250}[r.IntN(2)]))
			fault_ := []error{errorfs.ErrInjected, syscall.ENOSPC, syscall.EIO}[r.IntN(3)]
			s, err := Open(storeDir, options(errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && op.Kind != errorfs.OpFileClose && ops.Add(1) == at {
					return fault_
				}
				return nil
			}))))
			var p promises
			if err != nil {
				if fault.CodeOf(err) != fault.StateFailed && fault.CodeOf(err) != fault.DaemonDamaged {
					t.Fatal(err)
				}
			} else {
				run(t, s, &p, r)
				if s.Err() != nil {
					failures++
				}
			}
			durable := p.durable()
			clone := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: r.IntN(100), RNG: r})
			again := mustOpen(t, clone)
			p.check(t, again, durable)
			mustClose(t, again)
		})
	}
	if failures < 30 {
		t.Errorf("only %d of the stores failed: the test does not test", failures)
	}
}

// run writes until the store fails or enough was written, and closes it.
func run(t *testing.T, s *Store, p *promises, r *rand.Rand) {
	stop := make(chan struct{})
	var group sync.WaitGroup
	for w := range writers {
		wr := rand.New(rand.NewPCG(r.Uint64(), uint64(w)))
		group.Go(func() { writeOn(s, p, w, wr, stop) })
	}
	go func() {
		for n := 0; n < 60 && s.Barrier().Wait(context.Background()) == nil; n++ {
			for i := range Instance(20) { // enough bytes to fill memtables, so that logs are rotated and tables written
				big := position(uint64(n + 1))
				big.Identity = make([]byte, MaxIdentityBytes)
				s.PutPosition(key(9, 1, i), big)
			}
		}
		close(stop)
	}()
	group.Wait()
	<-stop
	failed := s.Err()
	if failed != nil {
		if err := s.PutPosition(key(1, 9, 0), position(1)).Wait(t.Context()); !fault.Has(err, fault.StateFailed) {
			t.Errorf("after a failure: %v", err)
		}
	}
	if err := s.Close(); failed != nil && !fault.Has(err, fault.StateFailed) {
		t.Errorf("closing a failed store: %v", err)
	}
}

// A failing synchronization latches the store although every later one would succeed; the message says why.
func TestFailedSyncLatches(t *testing.T) {
	// req: G-007 half: the orderly end of the process is the engine's
	// req: D01 half: the message; exit code and metric are the engine's
	fs := vfs.NewCrashableMem()
	var on errorfs.Toggle
	var log strings.Builder
	on.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo) {
			return syscall.ENOSPC
		}
		return nil
	})
	o := options(errorfs.Wrap(fs, &on))
	o.Logger = textLogger(&log)
	s, err := Open(storeDir, o)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, s.PutPosition(key(1, 1, 0), position(1)))
	on.On()
	refused := make(chan error, 1)
	k := s.PutPosition(key(1, 1, 0), position(2))
	k.Notify(func(err error) { refused <- err })
	if err := k.Wait(t.Context()); !fault.Has(err, fault.StateFailed) || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), storeDir) {
		t.Error(err)
	}
	if err := <-refused; !fault.Has(err, fault.StateFailed) {
		t.Error(err)
	}
	on.Off()
	<-s.Failed()
	for _, err := range []error{
		s.PutPosition(key(2, 1, 0), position(1)).Wait(t.Context()), s.DeleteDomain("shop").Wait(t.Context()), s.Barrier().Wait(t.Context()), s.Err(), s.Close(),
	} {
		if !fault.Has(err, fault.StateFailed) {
			t.Errorf("after the failure: %v", err)
		}
	}
	if _, _, err := s.GetPosition(key(1, 1, 0)); !fault.Has(err, fault.StateFailed) {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "durable store failed"); n != 1 {
		t.Errorf("the failure is logged %d times", n)
	}
	again := mustOpen(t, fs.CrashClone(vfs.CrashCloneCfg{}))
	defer mustClose(t, again)
	if p, _, _ := again.GetPosition(key(1, 1, 0)); p.Sequence != 1 {
		t.Errorf("stored %d", p.Sequence)
	}
}

// Pebble answers a log that cannot be made with a panic nobody can recover; here it is a failure like any other, and closing works.
func TestFailedLogRotation(t *testing.T) {
	// req: G-007 half: the orderly end of the process is the engine's
	// req: D04
	fs := vfs.NewCrashableMem()
	var on errorfs.Toggle
	on.Injector = errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite) {
			return syscall.EIO
		}
		return nil
	})
	s := mustOpen(t, errorfs.Wrap(fs, &on))
	on.On()
	last := uint64(0)
	for n := uint64(1); ; n++ {
		big := position(n)
		big.Identity = make([]byte, MaxIdentityBytes)
		if err := s.PutPosition(key(0, 1, 0), big).Wait(t.Context()); err != nil {
			if !fault.Has(err, fault.StateFailed) {
				t.Fatal(err)
			}
			break
		}
		last = n
	}
	if err := s.Close(); !fault.Has(err, fault.StateFailed) {
		t.Error(err)
	}
	again := mustOpen(t, fs.CrashClone(vfs.CrashCloneCfg{}))
	defer mustClose(t, again)
	if p, _, _ := again.GetPosition(key(0, 1, 0)); p.Sequence < last || last < 100 {
		t.Errorf("stored %d, durable %d", p.Sequence, last)
	}
}

// One synchronization covers every ticket issued before it.
func TestGroupCommit(t *testing.T) {
	var syncs atomic.Int64
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	var holding atomic.Bool
	s := mustOpen(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && holding.Load() {
			syncs.Add(1)
			held <- struct{}{}
			<-hold
		}
		return nil
	})))
	holding.Store(true)
	firstTicket := s.PutPosition(key(0, 1, 0), position(1))
	<-held
	var order []int
	for n := range 500 { // 50 keys, ten writes each
		s.PutPosition(key(n%50, 1, 1), position(uint64(1+n/50))).Notify(func(err error) {
			if err == nil {
				order = append(order, n)
			}
		})
	}
	last := s.Barrier()
	s.mu.Lock()
	gathered := len(s.mu.open.ops)
	s.mu.Unlock()
	close(hold)
	wait(t, firstTicket)
	wait(t, last)
	holding.Store(false)
	mustClose(t, s)
	if syncs.Load() != 2 || len(order) != 500 || order[0] != 0 || order[499] != 499 || gathered != 50 {
		t.Errorf("%d synchronizations, %d tickets, %d writes gathered", syncs.Load(), len(order), gathered)
	}
}

// Writes and deletions that gather in one round keep their order.
func TestOrderInOneRound(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{}, 100)
	var holding atomic.Bool
	fs := vfs.NewCrashableMem()
	s := mustOpen(t, errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".log") && (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && holding.Load() {
			held <- struct{}{}
			<-hold
		}
		return nil
	})))
	holding.Store(true)
	s.PutPosition(key(0, 1, 0), position(1))
	<-held
	s.PutPosition(key(1, 1, 0), position(5))
	s.PutPosition(key(2, 1, 0), position(5))
	s.DeleteDomain("shop")
	s.PutPosition(key(1, 1, 0), position(3))
	s.PutPosition(key(2, 1, 0), position(3))
	s.PutPosition(key(1, 2, 0), position(1))
	last := s.PutPosition(key(1, 2, 0), position(2))
	close(hold)
	wait(t, last)
	again := mustOpen(t, fs.CrashClone(vfs.CrashCloneCfg{}))
	for _, c := range []struct {
		k    PositionKey
		want uint64
	}{{key(0, 1, 0), 0}, {key(1, 1, 0), 0}, {key(1, 2, 0), 2}, {key(2, 1, 0), 3}} {
		if p, _, err := again.GetPosition(c.k); err != nil || p.Sequence != c.want {
			t.Errorf("%v: %d, want %d (%v)", c.k, p.Sequence, c.want, err)
		}
	}
	mustClose(t, again)
	mustClose(t, s)
}

// A ticket's context bounds the waiting only.
func TestWaitContext(t *testing.T) {
	hold := make(chan struct{})
	var holding atomic.Bool
	s := mustOpen(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && holding.Load() {
			<-hold
		}
		return nil
	})))
	holding.Store(true)
	k := s.PutPosition(key(0, 1, 0), position(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.Wait(ctx); err != context.Canceled {
		t.Error(err)
	}
	holding.Store(false)
	close(hold)
	wait(t, k)
	mustClose(t, s)
}
