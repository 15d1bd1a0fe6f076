// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"

	"github.com/nervix-go/nervix/bench/guests"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// branches: whole branches of a processor that have worked one batch of eight rows and wait: instance, tokens, checkpoint, and the node's own state. Keys
// are not counted, since relays and nodes share them.
func branches(which, count string) {
	k, err := strconv.Atoi(which)
	fail(err)
	n, err := strconv.Atoi(count)
	fail(err)
	s := setups[k]
	f := openFloor(s.profile, shim.Options{}, n+1)
	w, err := guests.NewWorld()
	fail(err)
	p, err := w.NewProcessor("numbering", f)
	fail(err)
	keys := make([]*batch.Key, n+1)
	for i := range keys {
		keys[i] = w.Key(i)
	}
	p.Prepare(keys[n:], 8)
	p.Work(1)
	p.Prepare(keys[:n], 8)
	r0, _ := memory()
	h0 := heap()
	maps := engine.MapCount()
	began := osclock.Mono()
	p.Work(n)
	took := osclock.Mono().Sub(began)
	r1, _ := memory()
	h1 := heap()
	fail(p.Check(int64(n)+1, 8*(int64(n)+1)))
	note("branch "+count, "%.1f KiB, of which Go's heap %.1f", float64(r1-r0)/float64(n)/1024, float64(h1-h0)/float64(n)/1024)
	fmt.Printf("| %d | %s | %.1f KiB | %.1f KiB | %.0f KiB | %.2f | %.1f |\n", n, s.name, float64(r1-r0)/float64(n)/1024, float64(h1-h0)/float64(n)/1024,
		float64(f.engine.Usage().LinearBytes)/float64(n)/1024, float64(engine.MapCount()-maps)/float64(n), took.Seconds()*1e6/float64(n))
	runtime.KeepAlive(keys)
	fail(p.Close())
	fail(w.Close())
	fail(f.engine.Close(context.Background()))
}

// heap is what lives on Go's heap.
func heap() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
