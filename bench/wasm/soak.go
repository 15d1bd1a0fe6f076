// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/nervix-go/nervix/bench/guests"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// soak: a million batches through two processors, in 16 branches each and with sizes that change from batch to batch. Memory of guests must not grow once
// every branch has seen every size, and that of the process must stay where it was (A07); a guest must have grown no more often than its
// batches did (A16).
func soak() {
	const (
		million = 1_000_000
		tenth   = million / 10
	)
	sizes := []int{55, 144, 21, 1, 8, 34}
	f := openFloor(engine.ProfileGuard, shim.Options{}, 100)
	w, err := guests.NewWorld()
	fail(err)
	var keys []*batch.Key
	for i := range 16 {
		keys = append(keys, w.Key(i))
	}
	var ps [2]*guests.Processor
	var counts [2]*guests.Counted
	for i, name := range []string{"numbering", "counting"} {
		counts[i] = &guests.Counted{Modules: f}
		ps[i], err = w.NewProcessor(name, counts[i])
		fail(err)
		ps[i].Prepare(keys, sizes...)
	}
	fmt.Println("\n| batches | linear memory of 32 guests | growths of it | buffers asked for | RSS | Go heap | us a batch |\n|---|---|---|---|---|---|---|")
	var linear, resident [11]int64
	for k := 1; k <= 10; k++ {
		began := osclock.Mono()
		for _, p := range ps {
			p.Work(tenth / 2)
		}
		took := osclock.Mono().Sub(began)
		linear[k] = int64(f.engine.Usage().LinearBytes)
		resident[k], _ = memory()
		fmt.Printf("| %d | %d KiB | %d | %d | %.1f MiB | %.1f MiB | %.1f |\n", k*tenth, linear[k]>>10, counts[0].Grew+counts[1].Grew, counts[0].Messages+counts[1].Messages,
			float64(resident[k])/(1<<20), float64(heap())/(1<<20), took.Seconds()*1e6/tenth)
	}
	grew, foreseen := counts[0].Grew+counts[1].Grew, counts[0].SizeGrew+counts[1].SizeGrew
	fmt.Printf("\nGuests grew %d times; their messages reached a new size %d times. The largest message had %d bytes.\n", grew, foreseen, max(counts[0].Largest, counts[1].Largest))
	note("soak", "linear memory %d KiB after a tenth and %d KiB at the end, RSS %.1f and %.1f MiB", linear[1]>>10, linear[10]>>10, float64(resident[1])/(1<<20), float64(resident[10])/(1<<20))
	note("growths", "%d growths of linear memory, %d growths of a guest's batches, in 1,000,000 batches", grew, foreseen)
	if linear[10] > linear[1] || grew > foreseen || resident[10] > resident[1]+resident[1]/20 {
		fmt.Fprintln(os.Stderr, "memory is not flat")
		os.Exit(1)
	}
	for _, p := range ps {
		fail(p.Close())
	}
	fail(w.Close())
	fail(f.engine.Close(context.Background()))
}
