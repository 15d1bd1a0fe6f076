// SPDX-License-Identifier: Apache-2.0

// Command wazero runs a Nervix guest in wazero, for comparison with the product's engine: the calls of one batch with messages that are ready.
// It is told what to do on standard input and answers each line with one line, so that its caller can take turns between contenders.
//
//	load NAME interrupt|free MODULE.wasm INIT BATCH    compiles, instantiates and initialises; answers "ok"
//	work NAME N                                        works the batch N times; answers "ok" with the bytes of the output, and what it needed: nanoseconds of
//	                                                   processor time, allocations, and bytes allocated
//
// One batch is nervix_alloc, a copy of the message into the memory, nervix_process_batch, nervix_read_emit until it answers 0, and a copy of each
// output out of the memory. Nothing is encoded, decoded or judged. With `interrupt` a call can be ended by a context, which is what wazero has
// for a bound on time; there is no bound on instructions.
package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func main() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	guests := map[string]*guest{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := do(ctx, guests, strings.Fields(lines.Text()))
		if err != nil {
			answer = "error " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(answer)
	}
}

func do(ctx context.Context, guests map[string]*guest, words []string) (string, error) {
	switch {
	case len(words) == 6 && words[0] == "load":
		g, err := load(ctx, words[2] == "interrupt", words[3], words[4], words[5])
		guests[words[1]] = g
		return "ok", err
	case len(words) == 3 && words[0] == "work" && guests[words[1]] != nil:
		n, err := strconv.Atoi(words[2])
		if err != nil {
			return "", err
		}
		before := used()
		if err := guests[words[1]].work(n); err != nil {
			return "", err
		}
		after := used()
		return fmt.Sprint("ok ", len(guests[words[1]].output), after[0]-before[0], after[1]-before[1], after[2]-before[2]), nil
	default:
		return "", fmt.Errorf("unknown words %q", words)
	}
}

// used is what the process has used so far: processor time, allocations and bytes.
func used() [3]int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return [3]int64{r.Utime.Nano() + r.Stime.Nano(), int64(m.Mallocs), int64(m.TotalAlloc)}
}

// guest is one instance with one message.
type guest struct {
	ctx    context.Context
	memory api.Memory
	input  []byte
	output []byte
	stack  [2]uint64

	alloc, init, batch, emit, buffer api.Function
}

func load(ctx context.Context, interrupt bool, module, init, batch string) (*guest, error) {
	code, err := os.ReadFile(module)
	if err != nil {
		return nil, err
	}
	payload, err := os.ReadFile(init)
	if err != nil {
		return nil, err
	}
	g := &guest{ctx: ctx}
	if g.input, err = os.ReadFile(batch); err != nil {
		return nil, err
	}
	r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler().WithCloseOnContextDone(interrupt))
	env := r.NewHostModuleBuilder("env")
	env = env.NewFunctionBuilder().WithFunc(func() int64 { return 1_700_000_000_000_000_000 }).Export("nervix_domain_time_nanos")
	env = env.NewFunctionBuilder().WithFunc(func(int64) int64 { return 1 }).Export("nervix_timeout_after_nanos")
	env = env.NewFunctionBuilder().WithFunc(func() int32 { return -1 }).Export("nervix_request_state_reset")
	if _, err := env.Instantiate(ctx); err != nil {
		return nil, err
	}
	m, err := r.InstantiateWithConfig(ctx, code, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		return nil, err
	}
	g.memory = m.Memory()
	for name, f := range map[string]*api.Function{
		"nervix_alloc": &g.alloc, "nervix_init": &g.init, "nervix_process_batch": &g.batch, "nervix_read_emit": &g.emit, "nervix_buffer_ptr": &g.buffer,
	} {
		if *f = m.ExportedFunction(name); *f == nil {
			return nil, fmt.Errorf("no export %s", name)
		}
	}
	return g, g.send(g.init, payload)
}

// call gives the i32 result of a function.
func (g *guest) call(f api.Function, args ...uint64) (int32, error) {
	copy(g.stack[:], args)
	err := f.CallWithStack(g.ctx, g.stack[:])
	return api.DecodeI32(g.stack[0]), err
}

// send writes a message into the guest and calls f with it.
func (g *guest) send(f api.Function, message []byte) error {
	at, err := g.call(g.alloc, api.EncodeI32(int32(len(message))))
	if err != nil {
		return err
	}
	if at <= 0 || !g.memory.Write(uint32(at), message) {
		return fmt.Errorf("nervix_alloc answered %d", at)
	}
	code, err := g.call(f, api.EncodeI32(at), api.EncodeI32(int32(len(message))))
	if err == nil && code != 0 {
		err = fmt.Errorf("the guest answered %d", code)
	}
	return err
}

func (g *guest) work(n int) error {
	for range n {
		if err := g.send(g.batch, g.input); err != nil {
			return err
		}
		for {
			size, err := g.call(g.emit)
			if err != nil {
				return err
			}
			if size <= 0 {
				break
			}
			at, err := g.call(g.buffer)
			if err != nil {
				return err
			}
			view, ok := g.memory.Read(uint32(at), uint32(size))
			if !ok {
				return fmt.Errorf("an output of %d bytes at %d", size, at)
			}
			g.output = bytes.Clone(view)
		}
	}
	return nil
}
