// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/bench/guests"
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

// meters are the ways to bound a guest whose price is compared; the first has none.
var meters = []struct {
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

// priced is a piece of guest work under every meter.
type priced struct {
	name string
	ways []contender
}

// pricedWork opens three guests made with the C header and the tight loops; shut closes all.
func pricedWork() (all []priced, shut func()) {
	w, err := guests.NewWorld()
	fail(err)
	var floors []floor
	for _, m := range meters {
		floors = append(floors, openFloor(m.profile, m.o, 100))
	}
	for _, g := range [][2]string{{"numbering", "numbering, 1,024 rows"}, {"counting", "running mean, 1,024 rows"}, {"heating", "filter and convert, 1,024 rows"}} {
		p := priced{name: g[1]}
		for k, m := range meters {
			d, err := guests.NewDirect(w, floors[k], g[0], 1024)
			fail(err)
			p.ways = append(p.ways, here(m.name, d.Work))
		}
		all = append(all, p)
	}
	for _, load := range workloads {
		g := watguest.With("nervix_flush", load.body)
		g.Memory = "20"
		p := priced{name: load.name}
		for k, m := range meters {
			i := instance(module(floors[k].engine, g))
			p.ways = append(p.ways, here(m.name, func(n int) { flush(i, n) }))
		}
		all = append(all, p)
	}
	return all, func() {
		for _, f := range floors {
			fail(f.engine.Close(context.Background()))
		}
		fail(w.Close())
	}
}

func flush(i *engine.Instance, n int) {
	for range n {
		i.Begin(engine.OpFlush, snapshot)
		_, err := i.Flush()
		fail(err)
	}
}

// metering: the same code with and without fuel and epoch, in both profiles, as multiples of guard without either.
func metering() {
	head := "\n| workload |"
	for _, m := range meters {
		head += " " + m.name + " |"
	}
	fmt.Println(head + "\n|---|" + strings.Repeat("---|", len(meters)))
	all, shut := pricedWork()
	var prices []string
	for _, p := range all {
		figures := compare(21, p.ways)
		prices = append(prices, fmt.Sprintf("%s %.2f / %.2f", p.name, figures[3].times(figures[0]), figures[5].times(figures[4])))
		row := "| " + p.name + " | " + us(figures[0].ns) + " us |"
		for _, f := range figures[1:] {
			row += fmt.Sprintf(" %.2f |", f.times(figures[0]))
		}
		fmt.Println(row)
	}
	note("metering", "%s", strings.Join(prices[:3], "; "))
	shut()
}
