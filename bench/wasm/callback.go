// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/bench/guests"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// callback: what a node needs for a whole callback with one row, over the real guest and over its recorded answers. The latter is the host without
// guest and crossings: intake, message, validation, tokens, route, dispatch, checkpoint, acknowledgement.
func callback() {
	x := openWays()
	fmt.Println("\n| callback with one row | us | 10 % to 90 % | allocations | bytes allocated |\n|---|---|---|---|---|")
	for _, plan := range [][2]string{{"copying", "copy"}, {"numbering", "number"}} {
		all := x.of(plan[0], plan[1], 1)
		all = slices.DeleteFunc(all, func(c contender) bool {
			return !strings.Contains(c.name, "guard") && !strings.Contains(c.name, "recorded")
		})
		for _, f := range compare(41, all) {
			if plan[0] == "copying" && f.name == hostAlone {
				note("callback", "%s us, %.0f allocations", us(f.ns), f.allocs)
			}
			fmt.Printf("| %s: %s | %s | %s to %s | %.1f | %.0f |\n", plan[0], f.name, us(f.ns), us(f.low), us(f.high), f.allocs, f.bytes)
		}
		x.end()
	}
	x.shut()
}

// copies: what passes the boundary for one batch, and what the host copies beside it.
func copies() {
	w, err := guests.NewWorld()
	fail(err)
	f := openFloor(engine.ProfileGuard, shim.Options{}, 100)
	fmt.Println("\n| a batch of the numbering guest | 64 rows | 1,024 rows | 8,192 rows |\n|---|---|---|---|")
	names := []string{
		"bytes of the input columns", "bytes written into the guest, once (message with columns and tokens)", "bytes copied out of the guest, once (message with tokens and column)",
		"bytes of state saved", "input columns of the output that are the memory of the input", "generated columns that are the memory of the guest's message",
		"columns copied by the host", "logical operations", "crossings into C",
	}
	rows := make([][]string, len(names))
	for _, n := range []int{64, 1024, 8192} {
		for i, v := range boundary(w, f.Modules, n) {
			rows[i] = append(rows[i], fmt.Sprint(v))
		}
	}
	for i, name := range names {
		fmt.Printf("| %s | %s | %s | %s |\n", name, rows[i][0], rows[i][1], rows[i][2])
	}
	fail(w.Close())
	fail(f.engine.Close(context.Background()))
}

// boundary counts a batch of n rows after some others.
func boundary(w *guests.World, m wasmproc.Modules, n int) []int64 {
	counted := &guests.Counted{Modules: m}
	p, err := w.NewProcessor("numbering", counted)
	fail(err)
	p.Prepare([]*batch.Key{w.Key(0)}, n)
	p.Work(9)
	before := counted.Counts
	var shared, lent, copied int64
	p.Sink.See = func(out *batch.Batch) {
		for i, c := range out.Record.Columns() {
			switch {
			case i < len(p.Input().Columns()) && guests.Same(c, p.Input().Column(i)):
				shared++
			case guests.Within(c, counted.Last):
				lent++
			default:
				copied++
			}
		}
	}
	p.Work(1)
	c := counted.Counts
	messages, emits, dumps := c.Messages-before.Messages, c.Emits-before.Emits, c.Dumps-before.Dumps
	out := []int64{
		int64(guests.Bytes(p.Input())), c.In - before.In, c.Out - before.Out, c.Saved - before.Saved, shared, lent, copied, int64(c.Operations - before.Operations),
		int64(2*messages + emits + dumps),
	}
	fail(p.Close())
	return out
}
