// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// Log is the replicated log with the state it leads to. dragon.Log and memlog.Log satisfy it.
type Log interface {
	// Propose stores an encoded registry.Command and gives its result once a quorum stored it and this node applied it. Errors:
	// `control.unavailable` (nothing stored), `control.closed`, `control.uncertain` (the same entry may be proposed again).
	Propose(ctx context.Context, entry []byte) (registry.Result, error)
	// State is the newest committed state of this node.
	State() *registry.State
	// Watch calls f with the current state and with each newer one, in order; revisions may be skipped (G-010). f must not block.
	Watch(f func(*registry.State)) (stop func())
	// WaitLeader returns when a leader is known and this node has applied everything committed.
	WaitLeader(ctx context.Context) error
}

// Checker judges a model run against a base. host/model is behind ModelChecker. It is pure.
type Checker interface {
	// Check applies changes to base in written order and validates the result as one graph. Checked.At has the index of the change each
	// diagnostic is told at; spans count bytes of the text that change was parsed from.
	Check(domain ident.Domain, base []ast.Definition, changes []ast.Statement) (Checked, fault.Diagnostics)
}

// Checked is the outcome of a check. Puts and Drops are set only when there is no diagnostic.
type Checked struct {
	Puts  []CheckedPut
	Drops []registry.Key
	// Existed tells for each change whether it was an IF NOT EXISTS that found its object, Notices what to say about it.
	Existed []bool
	Notices []string
	At      []int
}

// CheckedPut is a definition to store.
type CheckedPut struct {
	Definition   ast.Definition
	Dependencies []registry.Key
	CapacityOnly bool
}

// Installer brings the node to a committed revision.
type Installer interface {
	// Install is called from one goroutine with ascending revisions. prev is the last state that was installed without error, nil for the
	// first call of the process: domains that run in it resume, and what they lack then is a transient error (Q57). After an error it is
	// called again with the same prev and the newest state. It must not wait for sources or listeners to become ready.
	Install(ctx context.Context, prev, next *registry.State) error
	// Ready waits until the domain runs in this generation with every listener and source ready, or has failed to. nil is ready. The
	// generation is installed before the call; ctx ends when it is superseded.
	Ready(ctx context.Context, domain ident.Domain, generation ident.Generation) error
}

// Inspection is the answer of a read in both forms.
type Inspection struct {
	Text string
	// JSON is the data of the answer when the statement asked for FORMAT JSON; nil otherwise.
	JSON []byte
}

// Inspector answers SHOW INGESTORS, SHOW CLUSTER STATUS and DESCRIBE. domain is empty where the statement needs none.
type Inspector interface {
	Inspect(ctx context.Context, state *registry.State, domain ident.Domain, stmt ast.Statement) (Inspection, error)
}

// PasswordHasher turns a password into a PHC text. It may take long; it is called on the goroutine of the execution.
type PasswordHasher interface {
	Hash(password string) (phc string, err error)
}

// Scheduler places the runtime nodes of a domain. It is pure; the proposer stores its answer with the change.
type Scheduler interface {
	Schedule(state *registry.State, domain ident.Domain, nodes []registry.Key) []registry.Assignment
}

// Modules judges the guest modules that definitions bind, before they are committed.
type Modules interface {
	// Prepare finds the file in the installed version and compiles it. It may take a minute. An error refuses the statement and is its
	// diagnostic, with code and whole text. ctx ends when the node stops.
	Prepare(ctx context.Context, m ModuleBinding) error
}

// ModuleBinding is a module as a WASM processor binds it.
type ModuleBinding struct {
	Processor ident.Ref
	Resource  ident.Name
	Version   uint64
	Digest    [32]byte // of the version's archive
	File      string   // path inside the version
	MaxMemory uint64   // bytes
	MaxFuel   uint64   // of one guest operation
}

// Clocks reads domain time on this node.
type Clocks interface {
	// Read gives the domain time of a generation that is readable now, and its time rate; false when it is not, as in a stopped domain.
	Read(domain ident.Domain, generation ident.Generation) (now vtime.Logical, rate float64, ok bool)
}
