// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// isolated are the options of nervixd: the compiler is another process.
func isolated() Options {
	return Options{Open: shim.Open, Profile: engine.ProfileGuard, Limits: Limits(),
		Compiler: shim.Options{}.Isolated(engine.ProfileGuard, Limits(), "/proc/self/exe", compileArgument)}
}

// tool runs `guest verify`.
func tool(o Options, format, schemas, file string) (exit int, out, told string) {
	var stdout, stderr bytes.Buffer
	exit = Tool{Format: format, SchemasFile: schemas, Options: o, Out: &stdout, Err: &stderr}.Run(context.Background(), file)
	return exit, stdout.String(), stderr.String()
}

func data(name string) string { return filepath.Join(guests, "testdata", name) }

func TestToolFormats(t *testing.T) {
	exit, out, told := tool(isolated(), "text", "", data("c_reference.wasm"))
	if exit != ExitHolds || told != data("c_reference.wasm")+": 39 hold, 0 fail, 0 not applicable\n" {
		t.Errorf("exit %d: %s", exit, told)
	}
	if n := strings.Count(out, "\n"); n != len(checks()) {
		t.Errorf("%d lines, %d checks:\n%s", n, len(checks()), out)
	}
	for line := range strings.Lines(out) {
		if !strings.HasPrefix(line, "ok    ") {
			t.Errorf("line %q", line)
		}
	}
	exit, out, told = tool(options(), "jsonl", "", data("c_counter.wasm"))
	if exit != ExitFails || !strings.HasSuffix(told, " 1 fail, 35 not applicable\n") {
		t.Errorf("exit %d: %s", exit, told)
	}
	var names []string
	for line := range strings.Lines(out) {
		var f Finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Check)
		if f.Check == "init.accepted" && (f.Outcome != Fails || !strings.Contains(f.Detail, "--schemas") || !strings.Contains(f.Detail, "has no field location")) {
			t.Errorf("%+v", f)
		}
	}
	if len(names) != len(checks()) {
		t.Errorf("%d objects, %d checks", len(names), len(checks()))
	}
	if exit, _, told = tool(options(), "jsonl", filepath.Join(guests, "c", "counter.nspl"), data("c_counter.wasm")); exit != ExitHolds {
		t.Errorf("with its schemas: exit %d: %s", exit, told)
	}
}

func TestToolRefusals(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	right := data("c_reference.wasm")
	for _, c := range []struct{ name, format, schemas, file, told string }{
		{"no file", "text", "", filepath.Join(dir, "none.wasm"), "no such file"},
		{"a folder", "text", "", dir, "is a directory"},
		{"no module", "text", "", file("text.wasm", "hello"), "does not begin like a WebAssembly module"},
		{"broken code", "text", "", file("cut.wasm", "\x00asm\x01\x00\x00\x00\x01"), "damaged"},
		{"another format", "xml", "", right, `format "xml" is not one of text, jsonl`},
		{"no schemas", "text", filepath.Join(dir, "none.nspl"), right, "no such file"},
		{"other statements", "text", file("a.nspl", "CREATE DOMAIN d;"), right, "only CREATE SCHEMA"},
		{"no input", "text", file("b.nspl", "CREATE SCHEMA out (a I64);"), right, "a schema named `input` is needed"},
		{"no output", "text", file("c.nspl", "CREATE SCHEMA input (a I64);"), right, "one named like each relay"},
		{"twice", "text", file("d.nspl", "CREATE SCHEMA input (a I64); CREATE SCHEMA o (a I64); CREATE SCHEMA o (a I64);"), right, "schema o is declared twice"},
		{"field twice", "text", file("e.nspl", "CREATE SCHEMA input (a I64, a I64); CREATE SCHEMA o (a I64);"), right, "field a of schema input is declared twice"},
		{"syntax", "text", file("f.nspl", "CREATE SCHEMA input (a NUMBER);"), right, "expected a type"},
	} {
		exit, out, told := tool(options(), c.format, c.schemas, c.file)
		if exit != ExitUnreadable || out != "" || !strings.Contains(told, c.told) || strings.Count(told, "\n") != 1 {
			t.Errorf("%s: exit %d, output %q: %s", c.name, exit, out, told)
		}
	}
}

func TestSwappedExports(t *testing.T) {
	wasm := module(t, "c_reference.wasm")
	if !has(wasm, job) || has(wasm, "nervix_reference_job_2") || has(wasm, "memory") {
		t.Error("the exports are read wrongly")
	}
	there := swapped(wasm, "nervix_flush", "nervix_buffer_capacity")
	if bytes.Equal(there, wasm) {
		t.Error("nothing is exchanged")
	}
	_, _, before := split(wasm)
	_, _, after := split(there)
	for i, e := range before {
		want := map[string]string{"nervix_flush": "nervix_buffer_capacity", "nervix_buffer_capacity": "nervix_flush"}[e.name]
		if want == "" {
			want = e.name
		}
		if after[i] != (export{want, e.kind, e.index}) {
			t.Errorf("%v became %v", e, after[i])
		}
	}
	back := swapped(there, "nervix_flush", "nervix_buffer_capacity")
	if _, _, again := split(back); len(again) != len(before) || again[0] != before[0] {
		t.Error("exchanged twice it is not what it was")
	}
}
