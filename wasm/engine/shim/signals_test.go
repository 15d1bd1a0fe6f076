// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// Traps arrive as signals on whatever thread runs the guest, between migrations and the profiler's own signals.
func TestTrapsAcrossThreads(t *testing.T) {
	// req: A14
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	leakVariants(t, func(w world) {
		bodies := []string{"unreachable", "(drop (i32.load (i32.const 131073))) i32.const 0", "(drop (i32.div_u (i32.const 1) (i32.const 0))) i32.const 0"}
		var modules []*engine.Module
		for _, b := range bodies {
			modules = append(modules, w.module(watguest.With("nervix_process_batch", b)))
		}
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				for k := range soak(400, 62_500) {
					if k%16 == 0 {
						runtime.LockOSThread()
					} else if k%16 == 8 {
						runtime.UnlockOSThread()
					}
					i, err := modules[(g+k)%len(modules)].Instantiate(plain, now)
					if err != nil {
						t.Error(err)
						return
					}
					runtime.Gosched()
					if _, err := w.batch(i, "x"); fault.CodeOf(err) != fault.WasmTrap {
						t.Error(err)
					}
					if err := i.Close(); err != nil {
						t.Error(err)
					}
				}
				runtime.UnlockOSThread()
			})
		}
		all.Wait()
	})
}

// childVariable tells a test binary what to do instead of testing: the name of a child and a profile.
const childVariable = "NERVIX_TEST_CHILD"

var children = map[string]func(engine.Profile, *engine.Module){"crash": crash, "limit": limit}

// child runs one of children over a module whose batches read outside the memory.
func child(text string) {
	name, profileText, _ := strings.Cut(text, " ")
	profile, err := engine.ParseProfile(profileText)
	if err != nil {
		panic(err)
	}
	e, err := engine.New(engine.Config{Profile: profile, Limits: engine.Limits{Stores: 20_000}}, shim.Open)
	if err != nil {
		panic(err)
	}
	b, err := shim.ModuleText(watguest.With("nervix_process_batch", "(drop (i32.load (i32.const 131073))) i32.const 0").Text())
	if err != nil {
		panic(err)
	}
	m, err := e.Acquire(context.Background(), b)
	if err != nil {
		panic(err)
	}
	children[name](profile, m)
}

// runChild gives what the child printed and how it ended.
func runChild(t *testing.T, name, profile string) (string, int) {
	t.Helper()
	c := exec.Command("/proc/self/exe", "-test.run=^$")
	c.Env = append(os.Environ(), childVariable+"="+name+" "+profile)
	out, err := c.CombinedOutput()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// limit takes most of the address space away, makes stores until one is refused, and works on.
func limit(_ engine.Profile, m *engine.Module) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		panic(err)
	}
	var pages uint64
	if _, err := fmt.Sscan(string(statm), &pages); err != nil {
		panic(err)
	}
	most := pages*uint64(os.Getpagesize()) + 16<<30
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}); err != nil {
		panic(err)
	}
	made := 0
	for ; made < 10_000; made++ {
		if _, err = m.Instantiate(plain, now); err != nil {
			break
		}
	}
	keep := make([][]byte, 0, 64)
	for range 64 { // the rest of the process is unharmed
		keep = append(keep, make([]byte, 1<<20))
	}
	fmt.Printf("made %d, then %q, %d", made, fault.CodeOf(err), len(keep))
	os.Exit(0)
}

// A small address space ends in a coded refusal of a store in the guard profile, and holds 10,000 stores in the dense one.
func TestAddressSpaceLimit(t *testing.T) {
	// req: A17
	for profile, text := range map[string]string{"guard": `made 3, then "wasm.budget", 64`, "dense": `made 10000, then "", 64`} {
		if out, code := runChild(t, "limit", profile); code != 0 || out != text {
			t.Errorf("%s: %q, exit %d", profile, out, code)
		}
	}
}

// crash traps a guest, recovers a panic, and then faults.
func crash(_ engine.Profile, m *engine.Module) {
	i, err := m.Instantiate(plain, now)
	if err != nil {
		panic(err)
	}
	i.Begin(engine.OpBatch, now)
	_, err = i.Deliver(engine.ProcessBatch, nil)
	os.Stderr.WriteString("guest: " + string(fault.CodeOf(err)) + "\n")
	func() { // a Go panic from a signal is still one
		defer func() { os.Stderr.WriteString("recovered: " + recover().(error).Error() + "\n") }()
		var p *int
		*p = 1
	}()
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		panic(err)
	}
	page[7]++ // a genuine fault of the host
}

// The library's signal handlers take their own traps and nothing else: a fault of the host still ends with Go's report.
func TestHostCrash(t *testing.T) {
	// req: A15 half: the core file is the system's
	for _, profile := range []string{"guard", "dense"} {
		text, code := runChild(t, "crash", profile)
		if code != 2 {
			t.Errorf("%s: exit %d", profile, code)
		}
		for _, part := range []string{"guest: wasm.trap", "recovered: runtime error: invalid memory address", "unexpected fault address", "signals_test.go:"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in\n%s", profile, part, text)
			}
		}
	}
}
