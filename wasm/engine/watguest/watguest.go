// SPDX-License-Identifier: Apache-2.0

// Package watguest writes guest modules as WebAssembly text, for tests and measurements of the engine. The plain guest answers a batch
// with the same bytes; single exports can be replaced, removed or mistyped to get a hostile one.
package watguest

import "strings"

// Guest describes a module. The zero value is the plain guest.
type Guest struct {
	// Bodies replaces the bodies of exports; parameters are $0, $1.
	Bodies map[string]string
	// Types replaces the parameter and result text of exports.
	Types map[string]string
	// Omit leaves exports out. `memory` is one too.
	Omit []string
	// Memory is the text of the first memory's limits; empty: 2 pages. Memories are further fields.
	Memory, Memories string
	// Imports replaces the imports; Extra are further fields of the module (globals, functions, start, data).
	Imports, Extra string
	// Errors adds the global-error channel: its text lies at $error, with $errlen bytes.
	Errors bool
}

type function struct{ name, typ, body string }

// The plain guest's buffer begins at 1024; $ptr moves only if a body says so. $emit is what the next read_emit answers.
var functions = []function{
	{"nervix_buffer_ptr", "(result i32)", "global.get $ptr"},
	{"nervix_buffer_len", "(result i32)", "global.get $emit"},
	{"nervix_buffer_capacity", "(result i32)", "i32.const 65536"},
	{"nervix_alloc", "(param i32) (result i32)", "global.get $ptr"},
	{"nervix_init", "(param i32 i32) (result i32)", "i32.const 0"},
	{"nervix_current_domain_time_nanos", "(result i64)", "i64.const 0"},
	{"nervix_process_batch", "(param i32 i32) (result i32)", "(global.set $ptr (local.get 0)) (global.set $emit (local.get 1)) i32.const 0"},
	{"nervix_on_timeout", "(param i64) (result i32)", "i32.const 0"},
	{"nervix_flush", "(result i32)", "i32.const 0"},
	{"nervix_read_emit", "(result i32)", "global.get $emit (global.set $emit (i32.const 0))"},
	{"nervix_dump_state", "(result i32)", "i32.const 0"},
	{"nervix_load_state", "(param i32 i32) (result i32)", "i32.const 0"},
	{"nervix_reset_state", "(result i32)", "i32.const 0"},
}

var errorFunctions = []function{
	{"nervix_global_error_ptr", "(result i32)", "global.get $error"},
	{"nervix_global_error_len", "(result i32)", "global.get $errlen"},
	{"nervix_clear_global_error", "(result i32)", "(global.set $errlen (i32.const 0)) (global.set $cleared (i32.add (global.get $cleared) (i32.const 1))) i32.const 0"},
}

// HostImports are the three functions the host offers, as $now, $after and $reset.
const HostImports = `
  (import "env" "nervix_domain_time_nanos" (func $now (result i64)))
  (import "env" "nervix_timeout_after_nanos" (func $after (param i64) (result i64)))
  (import "env" "nervix_request_state_reset" (func $reset (result i32)))`

// Exports are the names of the thirteen required functions.
func Exports() []string {
	var names []string
	for _, f := range functions {
		names = append(names, f.name)
	}
	return names
}

// Text is the module.
func (g Guest) Text() string {
	var b strings.Builder
	imports := g.Imports
	if imports == "" {
		imports = HostImports
	}
	memory := g.Memory
	if memory == "" {
		memory = "2"
	}
	omitted := map[string]bool{}
	for _, name := range g.Omit {
		omitted[name] = true
	}
	export := `(export "memory") `
	if omitted["memory"] {
		export = ""
	}
	b.WriteString("(module" + imports + "\n  (memory $m " + export + memory + ")" + g.Memories)
	b.WriteString("\n  (global $ptr (mut i32) (i32.const 1024)) (global $emit (mut i32) (i32.const 0))")
	b.WriteString("\n  (global $error (mut i32) (i32.const 128)) (global $errlen (mut i32) (i32.const 0)) (global $cleared (mut i32) (i32.const 0))\n")
	all := functions
	if g.Errors {
		all = append(append([]function(nil), functions...), errorFunctions...)
	}
	for _, f := range all {
		if omitted[f.name] {
			continue
		}
		if t, ok := g.Types[f.name]; ok {
			f.typ = t
		}
		if body, ok := g.Bodies[f.name]; ok {
			f.body = body
		}
		b.WriteString(`  (func (export "` + f.name + `") ` + f.typ + " " + f.body + ")\n")
	}
	b.WriteString(g.Extra + ")\n")
	return b.String()
}

// With replaces one body.
func With(name, body string) Guest { return Guest{Bodies: map[string]string{name: body}} }
