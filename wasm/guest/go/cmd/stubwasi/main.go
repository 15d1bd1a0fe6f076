// SPDX-License-Identifier: Apache-2.0

// Command stubwasi turns a module of the standard Go toolchain into a guest: it answers WASI inside the module, so that nothing but the three
// functions of the host is imported.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags='-s -w' -o raw.wasm .
//	go run github.com/nervix-go/nervix/wasm/guest/go/cmd/stubwasi -o guest.wasm raw.wasm
//
// What the runtime is told: no arguments, no files, and GOGC as its environment (50, unless -gogc says otherwise); the wall clock is domain time;
// the monotonic clock counts its readings, and what waits for it waits no time;
// random numbers are the same in every instance, so that equal calls cost equal fuel. Output is swallowed, but what was written to standard
// error before the runtime gave up is the reason that the host shows.
package main

import (
	"flag"
	"fmt"
	"os"
)

// GOGC of a module; the runtime collects when its heap has grown by that many percent, but not below 4 MiB times the same.
const (
	defaultGOGC = 50
	maxGOGC     = 1000
)

func main() {
	out := flag.String("o", "", "where the module goes")
	gogc := flag.Int("gogc", defaultGOGC, "GOGC of the module")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: stubwasi [-gogc PERCENT] -o OUT.wasm IN.wasm") }
	flag.Parse()
	if flag.NArg() != 1 || *out == "" || *gogc < 1 || *gogc > maxGOGC {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out, *gogc); err != nil {
		fmt.Fprintln(os.Stderr, "stubwasi:", err)
		os.Exit(1)
	}
}

func run(in, out string, gogc int) error {
	wasm, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	stubbed, err := stub(wasm, gogc)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return os.WriteFile(out, stubbed, 0o644)
}
