// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/control/memlog"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// TestEachReferenceTakesEffectOnce lets workers define while replies get lost, proposals are refused and the control plane restarts. A
// worker repeats a command under its reference until the answer is final. A second effect would answer that the object exists.
func TestEachReferenceTakesEffectOnce(t *testing.T) {
	// req: G-005
	// req: G-002 half: in memory, so durability is dragon's test
	const workers, commands, lives = 3, 40, 4
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := world(t)
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	s.log.Judge(func(c *registry.Command) memlog.Fault {
		mu.Lock()
		defer mu.Unlock()
		switch n := rng.IntN(10); {
		case n < 2 && !c.Reference.IsZero():
			return memlog.LoseReply
		case n < 4 && !c.Reference.IsZero():
			return memlog.Refuse
		default:
			return memlog.None
		}
	})
	todo := make(chan int, workers*commands)
	for i := range workers * commands {
		todo <- i
	}
	close(todo)
	var current struct {
		sync.RWMutex
		c *control.Control
	}
	current.c = s.control
	execute := func(req control.Request) control.Outcome {
		current.RLock()
		c := current.c
		current.RUnlock()
		return c.Execute(t.Context(), req)
	}
	var group sync.WaitGroup
	progress := make(chan struct{}, workers*commands)
	for range workers {
		group.Go(func() {
			for i := range todo {
				req := in(fmt.Sprintf("CREATE SCHEMA s%d (x I64)", i))
				req.Reference = ident.NewReference(osclock.UTC().UnixMilli(), [10]byte{8: byte(i >> 8), 9: byte(i)})
				settle(t, execute, req)
				progress <- struct{}{}
			}
		})
	}
	for range lives {
		for range workers * commands / (lives + 1) {
			<-progress
		}
		old := s.control
		current.Lock()
		old.Close()
		s.open(t)
		current.c = s.control
		current.Unlock()
	}
	group.Wait()
	s.log.Judge(nil)
	if got := len(s.log.State().Domains["d"].Definitions); got != workers*commands {
		t.Errorf("%d definitions after %d answered commands", got, workers*commands)
	}
}

// settle repeats a request until its outcome is final.
func settle(t *testing.T, execute func(control.Request) control.Outcome, req control.Request) {
	for {
		out := execute(req)
		switch {
		case out.Disposition == control.Completed:
			return
		case out.Disposition == control.Unknown:
		case out.Code() == fault.DomainBusy, out.Code() == fault.ControlUnavailable, out.Code() == fault.ControlClosed:
		default:
			t.Errorf("%s: %v", req.Text, out.Diagnostics)
			return
		}
	}
}
