// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// The workloads stand for tight guest loops: sequential reads, dependent reads and writes at random places, and a sort.
var workloads = []struct{ name, body string }{
	{"sum of 128 Ki words", `(local $p i32) (local $s i64)
	  (loop $l (local.set $s (i64.add (local.get $s) (i64.load (local.get $p))))
	    (br_if $l (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 8))) (i32.const 1048576))))
	  (i64.store (i32.const 0) (local.get $s)) i32.const 0`},
	{"the same, 8 words a round", `(local $p i32) (local $s i64)
	  (loop $l (local.set $s (i64.add (local.get $s) (i64.add
	      (i64.add (i64.add (i64.load (local.get $p)) (i64.load offset=8 (local.get $p))) (i64.add (i64.load offset=16 (local.get $p)) (i64.load offset=24 (local.get $p))))
	      (i64.add (i64.add (i64.load offset=32 (local.get $p)) (i64.load offset=40 (local.get $p))) (i64.add (i64.load offset=48 (local.get $p)) (i64.load offset=56 (local.get $p)))))))
	    (br_if $l (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 64))) (i32.const 1048576))))
	  (i64.store (i32.const 0) (local.get $s)) i32.const 0`},
	{"histogram of 1 MiB", `(local $p i32) (local $b i32)
	  (loop $l (local.set $b (i32.add (i32.const 1048576) (i32.shl (i32.load8_u (local.get $p)) (i32.const 2))))
	    (i32.store (local.get $b) (i32.add (i32.load (local.get $b)) (i32.const 1)))
	    (br_if $l (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 1))) (i32.const 1048576)))) i32.const 0`},
	{"shell sort of 16 Ki words", `(local $gap i32) (local $i i32) (local $j i32) (local $x i32) (local $r i32)
	  (local.set $r (i32.const 12345))
	  (loop $f (i32.store (local.get $i) (local.tee $r (i32.add (i32.mul (local.get $r) (i32.const 1103515245)) (i32.const 12345))))
	    (br_if $f (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 65536))))
	  (local.set $gap (i32.const 32768))
	  (loop $g
	    (local.set $i (local.get $gap))
	    (loop $o
	      (local.set $x (i32.load (local.get $i))) (local.set $j (local.get $i))
	      (block $done (loop $in
	        (br_if $done (i32.lt_u (local.get $j) (local.get $gap)))
	        (br_if $done (i32.le_u (i32.load (i32.sub (local.get $j) (local.get $gap))) (local.get $x)))
	        (i32.store (local.get $j) (i32.load (i32.sub (local.get $j) (local.get $gap))))
	        (local.set $j (i32.sub (local.get $j) (local.get $gap))) (br $in)))
	      (i32.store (local.get $j) (local.get $x))
	      (br_if $o (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 65536))))
	    (local.set $gap (i32.and (i32.shr_u (local.get $gap) (i32.const 1)) (i32.const -4)))
	    (br_if $g (local.get $gap))) i32.const 0`},
}

// metering: the same code with and without fuel and epoch, in both profiles, as multiples of guard without either.
func metering() {
	options := []struct {
		name    string
		profile engine.Profile
		o       shim.Options
	}{
		{"guard, none", engine.ProfileGuard, shim.Options{WithoutFuel: true, WithoutEpoch: true}},
		{"guard, epoch", engine.ProfileGuard, shim.Options{WithoutFuel: true}},
		{"guard, fuel", engine.ProfileGuard, shim.Options{WithoutEpoch: true}},
		{"guard, both", engine.ProfileGuard, shim.Options{}},
		{"dense, none", engine.ProfileDense, shim.Options{WithoutFuel: true, WithoutEpoch: true}},
		{"dense, both", engine.ProfileDense, shim.Options{}},
		{"dense, both, trusted", engine.ProfileDense, shim.Options{Trusted: true}},
	}
	head := "\n| workload |"
	for _, o := range options {
		head += " " + o.name + " |"
	}
	fmt.Println(head + "\n|---|" + strings.Repeat("---|", len(options)))
	for _, w := range workloads {
		g := watguest.With("nervix_flush", w.body)
		g.Memory = "20"
		var engines []*engine.Engine
		var guests []*engine.Instance
		for _, o := range options {
			e := openEngine(setup{o.name, o.profile, o.o.Open}, 10)
			engines, guests = append(engines, e), append(guests, instance(module(e, g)))
		}
		row := "| " + w.name + " |"
		for k, ns := range interleaved(guests) {
			if k == 0 {
				row += fmt.Sprintf(" %.0f us |", ns[0]/1000)
			} else {
				row += fmt.Sprintf(" %.2f |", ns[1])
			}
		}
		fmt.Println(row)
		for _, e := range engines {
			fail(e.Close(context.Background()))
		}
	}
}

// interleaved flushes all guests in turn, 41 rounds of five calls, and gives for each the median time of a call and the median of its
// multiple of the first guest's time in the same round, so that a busy machine slows all alike.
func interleaved(guests []*engine.Instance) [][2]float64 {
	const rounds = 41
	times, ratios := make([][]float64, len(guests)), make([][]float64, len(guests))
	for range rounds {
		var base float64
		for k, i := range guests {
			best := 0.0
			for range 5 {
				began := osclock.Mono()
				i.Begin(engine.OpFlush, snapshot)
				_, err := i.Flush()
				fail(err)
				if took := float64(osclock.Mono().Sub(began).Nanoseconds()); best == 0 || took < best {
					best = took
				}
			}
			if k == 0 {
				base = best
			}
			times[k], ratios[k] = append(times[k], best), append(ratios[k], best/base)
		}
	}
	out := make([][2]float64, len(guests))
	for k := range guests {
		slices.Sort(times[k])
		slices.Sort(ratios[k])
		out[k] = [2]float64{times[k][rounds/2], ratios[k][rounds/2]}
	}
	return out
}
