// SPDX-License-Identifier: Apache-2.0

// Command wasm measures what guests cost: operations and callbacks without guest work, the same job in guests, junctions, Go and another engine,
// copies, the price of metering, instances, idle branches, and a soak. It runs in the root of the repository, takes two to three minutes, and
// prints Markdown; docs/adr/0007 holds a run.
//
//	go run ./bench/wasm              everything
//	go run ./bench/wasm PART...      some parts: job callback operations copies metering instances idle branches soak
//	go run ./bench/wasm gate         fails if metering costs a tenth more than prices.txt accepts
//	go run ./bench/wasm prices       prints a new prices.txt
//
// Each measurement runs in a process of its own with one core, so that none sees the memory of another and rows a second are rows a second and core.
package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

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

// parts run in a process of their own. Those that are not listed in order run only when they are named.
var parts = map[string]func(){
	"job": job, "callback": callback, "operations": operations, "copies": copies, "metering": metering, "instances": instances, "soak": soak,
	"gate": gate, "prices": printPrices,
}

var order = []string{"job", "callback", "operations", "copies", "metering", "instances", "idle", "branches", "soak"}

func main() {
	args := os.Args[1:]
	if len(args) > 1 && args[0] == "-in" {
		one(args[1:])
		return
	}
	if len(args) == 0 {
		machine()
		all()
		return
	}
	run(args)
}

// all measures everything and ends with the goals.
func all() {
	f, err := os.CreateTemp("", "nervix-bench-")
	fail(err)
	fail(f.Close())
	fail(os.Setenv(resultsFile, f.Name()))
	run(order)
	goals(results(f.Name()))
	fail(os.Remove(f.Name()))
}

func run(args []string) {
	for _, part := range args {
		switch part {
		case "idle":
			fmt.Println("\n| idle stores | engine | RSS a store | virtual a store | maps a store | us a store |\n|---|---|---|---|---|---|")
			many(part)
		case "branches":
			fmt.Println("\n| idle branches | engine | RSS a branch | of it Go heap | linear memory | maps a branch | us a branch |\n|---|---|---|---|---|---|---|")
			many(part)
		default:
			child(part)
		}
	}
}

// many measures 1,000, 10,000 and 100,000 of something.
func many(part string) {
	for _, n := range []string{"1000", "10000", "100000"} {
		for k, s := range setups {
			switch {
			case n == "100000" && s.name != "shim dense": // maps allow no more than some ten thousand
			case part == "branches" && s.name == "reference": // its stores are in the other table
			default:
				child(part, fmt.Sprint(k), n)
			}
		}
	}
}

// machine says where this runs.
func machine() {
	model := "unknown processor"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range bytes.Lines(text) {
			if name, value, _ := strings.Cut(string(line), ":"); strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
			}
		}
	}
	load := "?"
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load = strings.Fields(string(text))[0]
	}
	fmt.Printf("%s, %d cores, %s %s/%s, load %s at the start. Times are processor time of one core, medians, unless a column says otherwise.\n",
		model, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, load)
}

func child(args ...string) {
	c := exec.Command(os.Args[0], append([]string{"-in"}, args...)...)
	c.Env = append(os.Environ(), "GOMAXPROCS=1")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		fmt.Fprintln(os.Stderr, args, err)
		os.Exit(1)
	}
}

func one(args []string) {
	run := parts[args[0]]
	switch {
	case args[0] == "idle" && len(args) == 3:
		idle(args[1], args[2])
	case args[0] == "branches" && len(args) == 3:
		branches(args[1], args[2])
	case run != nil:
		run()
	default:
		fmt.Fprintf(os.Stderr, "no measurement %s; there are %s\n", args[0], strings.Join(append(slices.Clone(order), "gate", "prices"), " "))
		os.Exit(2)
	}
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
