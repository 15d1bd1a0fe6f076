// SPDX-License-Identifier: Apache-2.0

package rings

import (
	"fmt"
	"slices"
	"strings"
)

// Package is one package of the module; paths are relative to it, imports from outside are complete.
type Package struct {
	Path    string
	Imports []string // without those of tests
	Cgo     bool
	// Reads are uses of the clock, Starts are go statements, as `file:line`.
	Reads, Starts []string
}

// Check lists every violation with its reason.
func Check(module string, packages []Package) []string {
	var out []string
	for _, p := range packages {
		report := func(format string, args ...any) { out = append(out, p.Path+": "+fmt.Sprintf(format, args...)) }
		for _, full := range p.Imports {
			if path, own := strings.CutPrefix(full, module+"/"); own {
				checkOwn(p, path, report)
			} else {
				checkForeign(p, full, report)
			}
		}
		if p.Cgo && !below(p.Path, "wasm/engine/shim") && !below(p.Path, "capi") {
			report("uses cgo; only wasm/engine/shim and capi may, so that the rest builds with CGO_ENABLED=0")
		}
		if isKit(p.Path) {
			continue
		}
		if timeMay[p.Path] == "" {
			for _, at := range p.Reads {
				report("reads or waits for the clock at %s; take it from host/osclock, or as an argument", at)
			}
		}
		if pure(p.Path) {
			for _, at := range p.Starts {
				report("starts a goroutine at %s; rings 0 to 2 are pure", at)
			}
		}
	}
	slices.Sort(out)
	return out
}

func checkOwn(p Package, to string, report func(string, ...any)) {
	from := p.Path
	if below(to, "host/wire/gen") && from != "host/wire" && !below(from, "host/wire/gen") && !isKit(from) {
		report("imports %s; only host/wire reads generated code, so that nothing unverified is read", to)
	}
	if below(from, "client") && !slices.ContainsFunc(clientMay, func(m string) bool { return below(to, m) }) {
		report("imports %s; the client is built from host/kernel, host/wire, host/clock and host/nspl only", to)
	}
	if isKit(from) {
		return
	}
	if isKit(to) {
		report("imports %s, which is for tests (%s)", to, kitReason(to))
		return
	}
	if isAdapter(from) {
		if below(to, "host/engine") || below(to, "host/sim") {
			report("imports %s; an adapter knows the package that declares its port, and what lies below", to)
		}
		return
	}
	if !below(from, "host") {
		return
	}
	if isAdapter(to) || below(to, "cmd") || below(to, "client") || below(to, "capi") {
		report("imports %s; nothing in host imports an adapter or a program", to)
		return
	}
	a, b := ringOf(from), ringOf(to)
	switch {
	case b > a:
		report("(ring %d) imports %s (ring %d); imports go to lower rings", a, to, b)
	case a == b && a < 4 && !slices.ContainsFunc(edges, func(e edge) bool { return below(from, e.from) && below(to, e.to) }):
		report("imports %s of its own ring %d; no such edge is listed in internal/rings/table.go", to, a)
	}
}

func checkForeign(p Package, path string, report func(string, ...any)) {
	if isKit(p.Path) {
		return
	}
	const arrow = "github.com/apache/arrow-go/v18"
	switch {
	case below(path, arrow+"/arrow/ipc"):
		if !slices.ContainsFunc([]string{"plugins", "wasm", "host/link", "host/session", "client", "capi"}, func(m string) bool { return below(p.Path, m) }) {
			report("imports %s; Arrow IPC is read and written at borders only, behind host/arrowipc", path)
		}
	case below(path, arrow):
		if slices.ContainsFunc([]string{"host/kernel/ident", "host/kernel/vtime", "host/kernel/lineage", "host/kernel/fault", "host/wire", "host/nspl"}, func(m string) bool { return below(p.Path, m) }) {
			report("imports %s; Arrow begins at batch and types", path)
		}
	}
	if !pure(p.Path) {
		return
	}
	if _, may := pureMay[p.Path+" "+path]; may {
		return
	}
	if path == "sync/atomic" {
		report("imports sync/atomic; in rings 0 to 2 only lineage, ack and clock reads need it")
		return
	}
	for bad, why := range impure {
		if path == bad || strings.HasPrefix(path, bad+"/") && (bad == "net" && path != "net/netip" && path != "net/url" || bad == "golang.org/x/sys") {
			report("imports %s (%s); rings 0 to 2 are pure", path, why)
			return
		}
	}
}

// below says whether path is root or lies below it.
func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func pure(path string) bool { return below(path, "host") && ringOf(path) <= 2 && !isKit(path) }

func ringOf(path string) int {
	for p := path; ; {
		if r, ok := ring[p]; ok {
			return r
		}
		cut := strings.LastIndexByte(p, '/')
		if cut < 0 {
			return 3
		}
		p = p[:cut]
	}
}

func isAdapter(path string) bool {
	return !below(path, "wasm/protocol") && slices.ContainsFunc(adapters, func(a string) bool { return below(path, a) })
}

func isKit(path string) bool { return kitReason(path) != "" }

func kitReason(path string) string {
	for k, why := range kits {
		if below(path, k) {
			return why
		}
	}
	return ""
}
