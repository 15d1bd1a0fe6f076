// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// compileArgument makes the test binary a compiling process.
const compileArgument = "-nervix-compile-guest"

// bomb is valid, has 500 KB, and keeps the compiler busy for minutes: 100,000 branches to one place.
func bomb(t *testing.T) []byte {
	body := strings.Repeat("block ", 1000) + strings.Repeat("i32.const 0 br_if 500 ", 100_000) + strings.Repeat("end ", 1000) + "i32.const 0"
	return wasm(t, watguest.With("nervix_flush", body))
}

func isolated(t *testing.T, profile engine.Profile, lim engine.Limits, dir string) world {
	c := engine.Config{Profile: profile, Limits: lim, CacheDir: dir, Compiler: shim.Options{}.Isolated(profile, lim, "/proc/self/exe", compileArgument)}
	return open(t, c, shim.Open)
}

// Code from another process is the code this one would have made, and errors come over with their text.
func TestIsolatedCompiler(t *testing.T) {
	for _, profile := range []engine.Profile{engine.ProfileGuard, engine.ProfileDense} {
		dir := t.TempDir()
		for range 2 { // compiled, then from the cache
			w := isolated(t, profile, engine.Limits{}, dir)
			if out, err := w.batch(w.instance(watguest.Guest{}, plain), "over there"); err != nil || out != "over there" {
				t.Errorf("%s: %q, %v", profile, out, err)
			}
			w.refused("invalid code", damaged(t), fault.WasmModule, "type mismatch: expected i32, found i64")
		}
	}
}

// A module that would compile for minutes is given up in time, delays nobody's shutdown, and leaves no process.
func TestCompileBomb(t *testing.T) {
	// req: A09
	dir := t.TempDir()
	isolated(t, engine.ProfileGuard, engine.Limits{}, dir).module(watguest.Guest{}) // for the cache
	w := isolated(t, engine.ProfileGuard, engine.Limits{CompileTime: 300 * time.Millisecond}, dir)
	b := bomb(t)
	w.refused("bomb", b, fault.WasmModule, "does not compile within 300ms")
	if _, err := w.batch(w.instance(watguest.Guest{}, plain), "x"); err != nil {
		t.Error(err)
	}
	e, err := engine.New(engine.Config{Compiler: shim.Options{}.Isolated(engine.ProfileGuard, engine.Limits{}, "/proc/self/exe", compileArgument)}, shim.Open)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := e.Acquire(context.Background(), b)
		ended <- err
	}()
	for e.Modules() == 0 {
		if err := osclock.Wait(context.Background(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(context.Background()); err != nil {
		t.Error(err)
	}
	want(t, <-ended, fault.WasmStopped)
}

func compileChild() {
	if err := shim.CompileMain(os.Args[2:], os.Stdin, os.Stdout); err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}
