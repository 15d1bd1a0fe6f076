// SPDX-License-Identifier: Apache-2.0

// Command wasm measures what the guest engine costs without guest work: operations, instances, idle stores, and the price of metering.
// Each measurement runs in a process of its own, so that none sees the memory of another. It prints Markdown; docs/adr holds a run.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/reference"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

type opener func(engine.BackendOptions) (engine.Backend, error)

// setup is one engine to measure.
type setup struct {
	name    string
	profile engine.Profile
	open    opener
}

var setups = []setup{
	{"shim guard", engine.ProfileGuard, shim.Open},
	{"shim dense", engine.ProfileDense, shim.Open},
	{"reference", engine.ProfileGuard, reference.Open},
}

var parts = []struct {
	name string
	run  func()
}{
	{"operations", operations},
	{"instances", instances},
	{"metering", metering},
}

func main() {
	if len(os.Args) > 1 {
		one(os.Args[1:])
		return
	}
	for _, p := range parts {
		child(p.name)
	}
	fmt.Println("\n| idle stores | engine | RSS a store | virtual a store | maps a store | us a store |\n|---|---|---|---|---|---|")
	for _, n := range []string{"1000", "10000", "100000"} {
		for k, s := range setups {
			if n == "100000" && s.name != "shim dense" {
				continue
			}
			child("idle", fmt.Sprint(k), n)
		}
	}
}

func child(args ...string) {
	c := exec.Command(os.Args[0], args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, args, err)
		os.Exit(1)
	}
}

func one(args []string) {
	if args[0] == "idle" {
		idle(args[1], args[2])
		return
	}
	for _, p := range parts {
		if p.name == args[0] {
			p.run()
			return
		}
	}
	fmt.Fprintf(os.Stderr, "no measurement %s\n", args[0])
	os.Exit(2)
}

// perOp gives the median and the least nanoseconds and the allocations of f over rounds of n calls, after one round to warm up.
func perOp(rounds, n int, f func()) (ns, least, allocs float64) {
	all := make([]float64, 0, rounds)
	var before, after runtime.MemStats
	for r := range rounds + 1 {
		runtime.GC()
		runtime.ReadMemStats(&before)
		began := osclock.Mono()
		for range n {
			f()
		}
		took := osclock.Mono().Sub(began)
		runtime.ReadMemStats(&after)
		if r > 0 {
			all = append(all, float64(took.Nanoseconds())/float64(n))
			allocs = float64(after.Mallocs-before.Mallocs) / float64(n)
		}
	}
	slices.Sort(all)
	return all[len(all)/2], all[0], allocs
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
