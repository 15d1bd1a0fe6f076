// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/osclock"
)

// A node is told to end while STOP gives up a stuck sink: its drain has nothing to wait for once the execution has ended.
func TestDrainOfAnExecutionThatEnds(t *testing.T) {
	bubble(t, func(n *node) {
		n.sink.Respond = func(nodetest.Attempt) nodetest.Answer {
			return nodetest.Answer{Failure: errors.New("no space left on device")}
		}
		src := n.source("probes", item("a", 1))
		n.define(short)
		n.must(n.startDomain(false))
		for i := range 3 { // one is held, one waits for its turn, the others in the relay
			pass(time.Second)
			src.Add(item("a", 2+i))
		}
		pass(time.Second)
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			n.stopDomain()
		}()
		pass(time.Second)
		began := osclock.Mono()
		ctx, cancel := osclock.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		left := n.e.Drain(ctx)
		if took := osclock.Mono().Sub(began); took > stopDrain || !slices.Equal(left, []ident.Domain{nodetest.Domain}) {
			n.t.Errorf("drained for %v, %v did not settle", took, left)
		}
		<-stopped
		if len(src.Acks()) != 0 {
			n.t.Errorf("acknowledged %v", src.Acks())
		}
	})
}
