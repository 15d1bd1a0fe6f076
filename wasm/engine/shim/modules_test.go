// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bytecodealliance/wasmtime-go/v44"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// refused checks a module that must not get in, before or by the compiler.
func (w world) refused(name string, module []byte, code fault.Code, part string) {
	w.Helper()
	m, err := w.Acquire(context.Background(), module)
	if err == nil {
		m.Release()
		w.Errorf("%s: got in", name)
		return
	}
	if f := want(w, err, code); f.Stage != protocol.StageCompilation || f.Export != engine.NoExport || !strings.Contains(f.Error(), part) {
		w.Errorf("%s: %v", name, f)
	}
}

// Files that are no guest are refused with the cause.
func TestRefusedFiles(t *testing.T) {
	// req: W-001, W-251 half: the processor and resource are the caller's words
	// req: A09
	w := open(t, engine.Config{Limits: engine.Limits{ModuleBytes: 100_000, FunctionBytes: 20_000}}, shim.Open)
	good := wasm(t, watguest.Guest{})
	elf, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	w.refused("empty", nil, fault.WasmModule, "empty")
	w.refused("text", []byte("(module)"), fault.WasmModule, "does not begin like a WebAssembly module")
	w.refused("ELF", elf[:4096], fault.WasmModule, "ELF")
	w.refused("component", append([]byte("\x00asm\x0d\x00\x01\x00"), good[8:]...), fault.WasmModule, "component")
	w.refused("version 2", append([]byte("\x00asm\x02\x00\x00\x00"), good[8:]...), fault.WasmModule, "version 2")
	w.refused("too large", append(slices.Clone(good), make([]byte, 100_000)...), fault.WasmModule, "more than the limit of 100000")
	w.refused("huge section", append(slices.Clone(good), 0, 0xff, 0xff, 0xff, 0xff, 0x0f), fault.WasmModule, "larger than what is left")
	for n := range good {
		if m, err := w.Acquire(context.Background(), good[:n]); err == nil {
			if good[n] != 0 { // a custom section at the end may be missing
				t.Errorf("the first %d of %d bytes got in", n, len(good))
			}
			m.Release()
		} else if code := fault.CodeOf(err); code != fault.WasmModule && code != fault.WasmExport {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	w.refused("large function", wasm(t, watguest.With("nervix_flush", strings.Repeat("nop ", 20_001)+"i32.const 0")), fault.WasmModule, "20005 bytes of code")
	w.refused("invalid code", damaged(t), fault.WasmModule, "does not compile")
}

// damaged is a module whose structure holds and whose code does not.
func damaged(t *testing.T) []byte {
	b := wasm(t, watguest.With("nervix_flush", "i64.const 77 i32.wrap_i64"))
	k := strings.Index(string(b), "\x42\xcd\x00\xa7")
	if k < 0 {
		t.Fatal("the code is not where it was expected")
	}
	b[k+3] = 0x45 // i32.eqz of an i64
	return b
}

func TestImports(t *testing.T) {
	// req: W-034
	// req: W-101 half: that the host acknowledges instead is in host/node/wasmproc
	w := open(t, engine.Config{}, shim.Open)
	bad := map[string]string{
		"an ack":         `(import "env" "nervix_ack" (func (param i64) (result i32)))`,
		"a nack":         `(import "env" "nervix_nack" (func (param i64 i32 i32) (result i32)))`,
		"wasi":           `(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))`,
		"unknown name":   `(import "env" "nervix_wall_time" (func (result i64)))`,
		"other module":   `(import "host" "nervix_domain_time_nanos" (func (result i64)))`,
		"other type":     `(import "env" "nervix_domain_time_nanos" (func (result i32)))`,
		"more parameter": `(import "env" "nervix_timeout_after_nanos" (func (param i64 i64) (result i64)))`,
		"no result":      `(import "env" "nervix_request_state_reset" (func))`,
		"a global":       `(import "env" "nervix_domain_time_nanos" (global i64))`,
		"a memory":       `(import "env" "memory" (memory 1))`,
		"a table":        `(import "env" "table" (table 1 funcref))`,
	}
	for name, text := range bad {
		w.refused(name, wasm(t, watguest.Guest{Imports: text}), fault.WasmImport, "imports")
	}
	for _, text := range []string{" ", `(import "env" "nervix_domain_time_nanos" (func (result i64)))`, watguest.HostImports + `(import "env" "nervix_request_state_reset" (func (result i32)))`} {
		if _, err := w.batch(w.instance(watguest.Guest{Imports: text}, plain), "x"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Each export, once missing, once with another type, once as another kind of thing.
func TestExports(t *testing.T) {
	// req: W-035, W-036, W-095
	w := open(t, engine.Config{}, shim.Open)
	for _, name := range watguest.Exports() {
		text := "missing required export " + name
		w.refused("without "+name, wasm(t, watguest.Guest{Omit: []string{name}}), fault.WasmExport, text)
		typ := watguest.Guest{Types: map[string]string{name: "(param f32) (result i32)"}, Bodies: map[string]string{name: "unreachable"}}
		w.refused("other "+name, wasm(t, typ), fault.WasmExport, text)
		more := watguest.Guest{Types: map[string]string{name: "(param i32 i32 i64) (result i32 i32)"}, Bodies: map[string]string{name: "unreachable"}}
		w.refused("more "+name, wasm(t, more), fault.WasmExport, text)
		kind := watguest.Guest{Omit: []string{name}, Extra: `(global (export "` + name + `") i32 (i32.const 0))`}
		w.refused("global "+name, wasm(t, kind), fault.WasmExport, text)
	}
	w.refused("no memory", wasm(t, watguest.Guest{Omit: []string{"memory"}}), fault.WasmExport, "missing required export memory")
	w.refused("memory of another kind", wasm(t, watguest.Guest{Omit: []string{"memory"}, Extra: `(func (export "memory"))`}), fault.WasmExport, "missing required export memory")
	channel := []string{"nervix_global_error_ptr", "nervix_global_error_len", "nervix_clear_global_error"}
	for set := range 8 {
		g := watguest.Guest{Errors: true}
		for k, name := range channel {
			if set>>k&1 == 0 {
				g.Omit = append(g.Omit, name)
			}
		}
		if set == 0 || set == 7 {
			w.module(g)
		} else {
			w.refused(fmt.Sprint("channel ", set), wasm(t, g), fault.WasmExport, "missing required export nervix_")
		}
	}
	for _, name := range channel {
		g := watguest.Guest{Errors: true, Types: map[string]string{name: "(result i64)"}, Bodies: map[string]string{name: "i64.const 0"}}
		w.refused("other "+name, wasm(t, g), fault.WasmExport, "missing required export "+name)
	}
	i := w.instance(watguest.Guest{Extra: `(func (export "_initialize") (param i32) unreachable) (func (export "more") unreachable)`}, plain)
	if _, err := w.batch(i, "x"); err != nil {
		t.Error(err)
	}
}

// Proposals that stay off are refused by the compiler with its words.
func TestProposals(t *testing.T) {
	w := open(t, engine.Config{}, shim.Open)
	for name, g := range map[string]watguest.Guest{
		"tail calls":   {Extra: "(func $t (result i32) (return_call $t))"},
		"relaxed SIMD": {Extra: "(func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1)))"},
		"externref":    {Extra: "(table 3 externref)"},
		"atomics":      {Extra: "(func (drop (i32.atomic.load (i32.const 0))))"},
	} {
		w.refused(name, wasm(t, g), fault.WasmModule, "does not compile")
	}
	w.refused("five memories", wasm(t, watguest.Guest{Memories: "(memory 1) (memory 1) (memory 1) (memory 1)"}), fault.WasmModule, "5 memories")
	w.refused("five tables", wasm(t, watguest.Guest{Extra: strings.Repeat("(table 1 funcref)", 5)}), fault.WasmModule, "5 tables")
	w.refused("large table", wasm(t, watguest.Guest{Extra: "(table 1 1 funcref) (table 65537 funcref)"}), fault.WasmModule, "65537 elements")
	w.module(watguest.Guest{Memories: "(memory 1) (memory 1) (memory 1)", Extra: strings.Repeat("(table 65536 65536 funcref)", 4)})
	w.refused("memory64", wasm(t, watguest.Guest{Memories: "(memory $b i64 1)"}), fault.WasmModule, "64-bit")
	w.refused("shared memory", wasm(t, watguest.Guest{Memories: "(memory $b 1 1 shared)"}), fault.WasmModule, "shared")
	for name, text := range map[string]string{
		"SIMD":    "(func (param v128) (result v128) (i32x4.add (local.get 0) (local.get 0)))",
		"bulk":    "(func (memory.fill (i32.const 0) (i32.const 0) (i32.const 1)))",
		"funcref": "(table 3 funcref) (func (result i32) (table.size 0))",
	} {
		if _, err := w.batch(w.instance(watguest.Guest{Extra: text}, plain), "x"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What Inspect accepts and the compiler accepts is the same module: the checks here and the library's own view of the types agree.
// Mutated modules harm nobody: each is refused with a code, or runs within its limits.
func TestMutatedModules(t *testing.T) {
	// req: A09
	for _, v := range variants[:2] {
		t.Run(v.name, func(t *testing.T) {
			w := open(t, engine.Config{Profile: v.profile}, v.open)
			seeds := [][]byte{wasm(t, watguest.Guest{Errors: true, Extra: `(data (i32.const 9) "some data") (table 4 funcref) (elem (i32.const 0) 1 2)`}),
				wasm(t, watguest.With("nervix_process_batch", spin(100)+"(drop (memory.grow (i32.const 1))) (memory.copy (local.get 0) (local.get 1) (i32.const 3)) i32.const 0"))}
			random := rand.New(rand.NewPCG(3, 20))
			lim := w.Limits()
			ran := 0
			n := soak(1_000, 10_000)
			for k := range n {
				b := mutate(random, seeds[k%2])
				ins, err := engine.Inspect(b, &lim)
				if err != nil {
					continue
				}
				m, err := w.Acquire(context.Background(), b)
				if err != nil {
					if code := fault.CodeOf(err); code != fault.WasmModule || !strings.Contains(err.Error(), "does not compile") {
						t.Fatalf("mutation %d: %v", k, err)
					}
					if strings.Contains(err.Error(), "required export") || strings.Contains(err.Error(), "does not provide") {
						t.Fatalf("mutation %d: the library sees other types than Inspect: %v", k, err)
					}
					continue
				}
				if log := w.life(m, engine.Spec{Fuel: 100_000, Memory: 8 << 20}); len(log) == 0 {
					t.Fatal("no life")
				}
				if i, err := m.Instantiate(engine.Spec{Fuel: 100_000, Memory: 1 << 40}, now); err == nil {
					if i.MemoryBytes() < ins.MemoryBytes {
						t.Errorf("mutation %d: %d bytes of memory, Inspect saw %d", k, i.MemoryBytes(), ins.MemoryBytes)
					}
					_ = i.Close()
				}
				m.Release()
				ran++
			}
			if ran < n/50 {
				t.Errorf("only %d of %d mutations ran", ran, n)
			}
			t.Logf("%d of %d mutations were modules", ran, n)
			if u := w.Usage(); u.Stores != 0 || u.LinearBytes != 0 {
				t.Errorf("left: %+v", u)
			}
		})
	}
}

func mutate(r *rand.Rand, seed []byte) []byte {
	b := slices.Clone(seed)
	for range 1 + r.IntN(2) {
		k := 8 + r.IntN(len(b)-8)
		switch r.IntN(8) {
		case 0, 1, 2, 3:
			b[k] = byte(r.IntN(256))
		case 4, 5:
			b[k] ^= 1 << r.IntN(8)
		case 6:
			b = slices.Delete(b, k, k+1)
		default:
			b = slices.Insert(b, k, byte(r.IntN(256)))
		}
	}
	return b
}

// One compilation serves everybody; the code goes with its last holder.
func TestCompiledOnce(t *testing.T) {
	// req: W-004, W-005 half: who holds it is the schedule's decision
	var mu sync.Mutex
	var events []engine.Event
	w := open(t, engine.Config{CacheDir: t.TempDir(), Observe: func(e engine.Event) {
		mu.Lock()
		defer mu.Unlock()
		events = append(events, e)
	}}, shim.Open)
	b := wasm(t, watguest.Guest{})
	var all sync.WaitGroup
	modules := make([]*engine.Module, 20)
	for k := range modules {
		all.Go(func() {
			m, err := w.Acquire(context.Background(), b)
			if err != nil {
				t.Error(err)
			}
			modules[k] = m
		})
	}
	all.Wait()
	for range 100 {
		i, err := modules[0].Instantiate(plain, now)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = i.Close() }()
	}
	if w.Modules() != 1 {
		t.Errorf("%d modules", w.Modules())
	}
	for _, m := range modules {
		m.Release()
	}
	mu.Lock()
	defer mu.Unlock()
	if len(events) != 1 || events[0].FromCache || events[0].Cause != "not in the cache" {
		t.Errorf("events %+v", events)
	}
	if w.Modules() != 1 {
		t.Error("the instances hold the module no more")
	}
}

// The cache is believed only as a whole: damage anywhere, another profile and another version are misses, and never a crash.
func TestCache(t *testing.T) {
	// req: A18
	dir := t.TempDir()
	b := wasm(t, watguest.Guest{})
	get := func(profile engine.Profile, backend opener) engine.Event {
		t.Helper()
		var got engine.Event
		e, err := engine.New(engine.Config{Profile: profile, CacheDir: dir, Observe: func(x engine.Event) { got = x }}, backend)
		if err != nil {
			t.Fatal(err)
		}
		m, err := e.Acquire(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		i, err := m.Instantiate(plain, now)
		if err != nil {
			t.Fatal(err)
		}
		i.Begin(engine.OpBatch, now)
		if a, err := i.Deliver(engine.ProcessBatch, []byte("ping")); err != nil || string(a.Output.Bytes()) != "ping" {
			t.Fatal(err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		return got
	}
	if e := get(engine.ProfileGuard, shim.Open); e.FromCache {
		t.Error("an empty cache answered")
	}
	if e := get(engine.ProfileGuard, shim.Open); !e.FromCache {
		t.Errorf("missed: %s", e.Cause)
	}
	if e := get(engine.ProfileDense, shim.Open); e.FromCache || e.Cause != "not in the cache" {
		t.Errorf("another profile: %+v", e)
	}
	if e := get(engine.ProfileGuard, shim.Options{Trusted: true}.Open); e.FromCache {
		t.Errorf("another setting: %+v", e)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*guard-wasmtime44.0.0s*.code"))
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) })
	if len(files) != 2 {
		t.Fatalf("files %v", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 7, 8, 20, 47, 48, len(whole) / 2, len(whole) - 1} {
		bad := slices.Clone(whole)
		bad[at] ^= 4
		write(t, files[0], bad)
		if e := get(engine.ProfileGuard, shim.Open); e.FromCache || e.Cause == "" {
			t.Errorf("byte %d: %+v", at, e)
		}
		if e := get(engine.ProfileGuard, shim.Open); !e.FromCache {
			t.Errorf("byte %d: the damaged file was not replaced: %s", at, e.Cause)
		}
	}
	for _, n := range []int{0, 30, 48, len(whole) - 1} {
		write(t, files[0], whole[:n])
		if e := get(engine.ProfileGuard, shim.Open); e.FromCache {
			t.Errorf("%d bytes were believed", n)
		}
	}
	// Code of another profile under this one's name: the checksum covers the name.
	dense, _ := filepath.Glob(filepath.Join(dir, "*dense*.code"))
	other, err := os.ReadFile(dense[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, files[0], other)
	if e := get(engine.ProfileGuard, shim.Open); e.FromCache {
		t.Error("code of another profile was believed")
	}
}

func write(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The declarations of wasmtime_abi.h are those of the library that is linked.
func TestDeclarations(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}} {{.Dir}}", "github.com/bytecodealliance/wasmtime-go/v44").Output()
	if err != nil {
		t.Fatal(err)
	}
	version, dir, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if version != "v"+shim.LibraryVersion {
		t.Fatalf("wasmtime_abi.h declares %s, linked is %s", shim.LibraryVersion, version)
	}
	var _ = wasmtime.NewConfig
	own, err := os.ReadFile("wasmtime_abi.h")
	if err != nil {
		t.Fatal(err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	c := filepath.Join(t.TempDir(), "layout.c")
	write(t, c, []byte(layoutProgram(string(own))))
	if text, err := exec.Command(cc, "-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I"+filepath.Join(dir, "build", "include"), c).CombinedOutput(); err != nil {
		t.Errorf("%s", text)
	}
}

// layoutProgram compiles against the library's headers with our types renamed, and asserts that both agree.
func layoutProgram(own string) string {
	var b strings.Builder
	b.WriteString("#include <wasmtime.h>\n#include <stddef.h>\n")
	// Prototypes first: the same names with the library's own types.
	for _, line := range prototypes(own) {
		b.WriteString(line + "\n")
	}
	// Then our types under other names.
	types := own[strings.Index(own, "typedef struct wasm_byte_vec_t"):strings.Index(own, "typedef uint8_t *(*wasmtime_memory_get_callback_t)")]
	for _, name := range []string{"wasm_byte_vec", "wasm_valtype_vec", "wasm_importtype_vec", "wasm_exporttype_vec", "wasmtime_func", "wasmtime_memory", "wasmtime_instance", "wasmtime_extern", "wasmtime_val_raw"} {
		types = strings.ReplaceAll(types, name+"_t", "own_"+name+"_t")
		types = strings.ReplaceAll(types, name+" ", "own_"+name+" ")
		types = strings.ReplaceAll(types, name+"_union", "own_"+name+"_union")
	}
	b.WriteString(types)
	for _, name := range []string{"wasm_byte_vec_t", "wasm_valtype_vec_t", "wasm_importtype_vec_t", "wasmtime_func_t", "wasmtime_memory_t", "wasmtime_instance_t", "wasmtime_extern_t", "wasmtime_val_raw_t"} {
		fmt.Fprintf(&b, "_Static_assert(sizeof(%s) == sizeof(own_%s), \"size of %s\");\n", name, name, name)
		fmt.Fprintf(&b, "_Static_assert(_Alignof(%s) == _Alignof(own_%s), \"alignment of %s\");\n", name, name, name)
	}
	b.WriteString("_Static_assert(offsetof(wasmtime_extern_t, of) == offsetof(own_wasmtime_extern_t, of), \"extern\");\n")
	for field, n := range map[string]string{"WASMTIME_EXTERN_FUNC": "0", "WASMTIME_EXTERN_MEMORY": "3", "WASM_EXTERN_FUNC": "0", "WASM_EXTERN_MEMORY": "3",
		"WASM_I32": "0", "WASM_I64": "1", "WASMTIME_OPT_LEVEL_SPEED": "1", "WASMTIME_TRAP_CODE_INTERRUPT": "10", "WASMTIME_TRAP_CODE_OUT_OF_FUEL": "11"} {
		fmt.Fprintf(&b, "_Static_assert(%s == %s, \"%s\");\n", field, n, field)
	}
	return b.String()
}

// prototypes are the function and callback declarations; a second declaration that differs does not compile.
func prototypes(own string) []string {
	begin := strings.Index(own, "typedef uint8_t *(*wasmtime_memory_get_callback_t)")
	rest := own[begin:strings.Index(own, "#endif\n")]
	rest = rest[strings.Index(rest, "wasm_config_t *wasm_config_new"):]
	return []string{rest[:strings.LastIndex(rest, ";")+1]}
}
