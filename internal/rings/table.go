// SPDX-License-Identifier: Apache-2.0

package rings

// ring gives the ring of host packages; the longest matching path counts, so a package below a listed one shares its ring. A package that
// nothing here covers is in ring 3, the strictest place to be imported from.
var ring = map[string]int{
	"host/kernel": 0, "host/wire": 0, "host/arrowipc": 0,
	"host/nspl": 1, "host/expr": 1, "host/codec": 1, "host/model": 1,
	"host/schedule": 2, "host/clock": 2, "host/ack": 2, "host/branch": 2, "host/registry": 2,
	"host": 3,
	// The decisions of the timekeeper are pure, so that host/sim drives them with clocks of its own.
	"host/timekeeper/authority": 2, "host/timekeeper/cadence": 2,
	// The guest contract is as pure as host/wire; who runs guests must speak it (ADR 0005).
	"wasm/protocol": 1,
	"host/engine":   4, "host/sim": 4,
}

// edge is an allowed import inside one ring. A path stands for the packages below it too.
type edge struct{ from, to, why string }

var edges = []edge{
	// Ring 0.
	{"host/kernel/fault", "host/kernel/ident", "a fault names its subject"},
	{"host/kernel/types", "host/kernel/ident", "fields and schemas have names"},
	{"host/kernel/vtime", "host/kernel/ident", "an execution snapshot names domain and generation"},
	{"host/kernel/batch", "host/kernel/lineage", "a batch carries the lineage of its rows"},
	{"host/kernel/batch", "host/kernel/ident", "a key names its branch declaration"},
	{"host/kernel/batch", "host/kernel/types", "the canonical text of a key follows its schema"},
	{"host/arrowipc", "host/kernel", "refusals are faults"},
	{"host/wire", "host/kernel", "frames carry references and faults"},
	{"host/wire", "host/wire/gen", "the only importer of generated code"},
	{"host/wire", "host/wire/verify", "bytes are verified before they are read"},
	{"host/wire/gen", "host/wire/verify", "generated tables are data of the verifier"},
	{"host/wire/tablegen", "host/wire/verify", "the generator writes the verifier's tables"},
	// Ring 1.
	{"host/nspl/parse", "host/nspl/lex", "tokens"},
	{"host/nspl/parse", "host/nspl/ast", "the tree it builds"},
	{"host/nspl/print", "host/nspl/ast", "the tree it prints"},
	{"host/nspl/print", "host/nspl/lex", "which names need quotes is the lexer's knowledge"},
	{"host/expr", "host/nspl/ast", "expressions are compiled from the tree"},
	{"host/expr", "host/expr", "column loops, text scans and construction are its parts"},
	{"host/codec", "host/codec", "each format implements the codec port"},
	{"host/model", "host/nspl/ast", "definitions are checked from the tree"},
	{"host/model", "host/expr", "expressions of definitions are checked and compiled"},
	{"host/model", "host/codec", "wire schemas are bound to formats"},
	// Ring 2.
	{"host/registry", "host/clock", "clock mappings are committed as values"},
	{"host/registry", "host/registry", "its parts"},
	{"host/timekeeper/authority", "host/clock", "producers and progress are arithmetic of the clock"},
	// Ring 3.
	{"host", "host/osclock", "the only reader of the clock serves every driver"},
	{"host/node", "host/node/runtime", "all kinds stand on the runtime"},
	{"host/node", "host/node/connector", "the ports to sources and sinks"},
	{"host/node", "host/lanes", "branches are worked on lanes"},
	{"host/relay", "host/relay", "owner, fan-out, tap and materialized state share their ports"},
	{"host/session", "host/session", "transport, lanes, commands and subscriptions of one session"},
	{"host/edge", "host/edge", "endpoints share their listener"},
	{"host/control", "host/control", "its parts"},
}

// kits are packages of test helpers: they may import anything, and only tests and other kits import them.
var kits = map[string]string{
	"host/node/nodetest":  "a relay graph for tests of node kinds",
	"host/nspl/nspltest":  "the language's own test language",
	"host/control/memlog": "a replicated log in memory, for tests of the control plane",
	"plugins/inproc":      "a connector in the test's own process",
	"plugins/conformance": "one suite for all connectors",
	"host/wire/tablegen":  "a generator that runs at development time",
	"internal":            "checks of the repository itself",
	"bench":               "benchmarks construct what they measure",
	"test":                "end-to-end tests construct what they test",
}

// adapters implement ports of host; nothing in host imports them.
var adapters = []string{"dragon", "wasm", "plugins", "connectors"}

// clientMay is what the client library is built from, so that it stays small and free of the host.
var clientMay = []string{"client", "host/kernel", "host/wire", "host/clock", "host/nspl"}

// impure are imports that a package of rings 0 to 2 must not have, with the reason.
var impure = map[string]string{
	"os": "files and environment", "os/exec": "processes", "os/signal": "signals", "io/ioutil": "files", "net": "sockets", "net/http": "sockets",
	"syscall": "the operating system", "golang.org/x/sys": "the operating system", "sync": "locks: one owner calls a pure package",
	"context": "waiting", "math/rand": "global random", "math/rand/v2": "global random", "crypto/rand": "global random",
	"testing/synctest": "tests only",
}

// pureMay excepts single packages from impure.
var pureMay = map[string]string{
	"host/kernel/lineage sync/atomic": "", "host/ack sync/atomic": "", "host/clock sync/atomic": "",
	"host/wire/tablegen os": "a generator reads and writes files",
}

// timeReads are the functions of package time that read or wait for the clock.
var timeReads = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "Tick": true, "NewTimer": true, "NewTicker": true,
}

// timeMay excepts packages that are not part of a node, or that do not matter to the order of its events.
var timeMay = map[string]string{
	"host/osclock": "the reader",
}
