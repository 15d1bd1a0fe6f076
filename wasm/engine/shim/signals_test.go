// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
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
	// pains: A14
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

const crashVariable = "NERVIX_TEST_CRASH"

// crash is what the child process of TestHostCrash does.
func crash(profile engine.Profile) {
	e, err := engine.New(engine.Config{Profile: profile}, shim.Open)
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
	// pains: A15 half: the core file is the system's
	for _, profile := range []string{"guard", "dense"} {
		c := exec.Command("/proc/self/exe", "-test.run=^$")
		c.Env = append(os.Environ(), crashVariable+"="+profile)
		out, err := c.CombinedOutput()
		text := string(out)
		if err == nil || c.ProcessState.ExitCode() != 2 {
			t.Errorf("%s: %v", profile, err)
		}
		for _, part := range []string{"guest: wasm.trap", "recovered: runtime error: invalid memory address", "unexpected fault address", "signals_test.go:"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in\n%s", profile, part, text)
			}
		}
	}
}
