// SPDX-License-Identifier: Apache-2.0

// Command stubwasi turns a module of the standard Go toolchain into a guest: it answers WASI inside the module, so that nothing but the three
// functions of the host is imported.
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags='-s -w' -o raw.wasm .
//	go run github.com/nervix-go/nervix/wasm/guest/go/cmd/stubwasi -o guest.wasm raw.wasm
//
// What the runtime is told: no arguments, no environment, no files; the wall clock is domain time; the monotonic clock counts its readings;
// random numbers are the same in every instance, so that equal calls cost equal fuel. Output is swallowed, but what was written to standard
// error before the runtime gave up is the reason that the host shows.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("o", "", "where the module goes")
	flag.Usage = func() { fmt.Fprintln(os.Stderr, "usage: stubwasi -o OUT.wasm IN.wasm") }
	flag.Parse()
	if flag.NArg() != 1 || *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "stubwasi:", err)
		os.Exit(1)
	}
}

func run(in, out string) error {
	wasm, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	stubbed, err := stub(wasm)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return os.WriteFile(out, stubbed, 0o644)
}
