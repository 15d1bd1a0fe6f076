// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Command is one entry of the replicated log. Everything that is not a function of the state is in it.
type Command struct {
	UTC vtime.UTC // observed by the proposer
	// Reference is the execution reference; zero for steps of the system itself, whose bodies are safe to repeat.
	Reference ident.Reference
	User      ident.Name
	Domain    ident.Domain // the selected domain, part of the command's identity
	Digest    Digest
	Text      string // what the client is told when the command applies
	Pending   bool   // the outcome is not final: a Conclusion follows when the effect is usable
	Step      *Step
	Concludes *Conclusion // settled together with the effect
	Body      Body
}

// Step ties an effect to the progress of a committing transaction; both become durable in one write.
type Step struct {
	Transaction ident.Reference
	Through     uint32 // the operation number the effect completes
}

// Conclusion is the final outcome of a pending execution.
type Conclusion struct {
	Reference ident.Reference
	Outcome   Outcome
}

// Body is what a command does. The bodies are the types of this file.
type Body interface{ body() }

// Bootstrap sets up an empty state once; repeated with the same cluster it changes nothing.
type Bootstrap struct {
	Cluster string
	Limits  Limits
	Users   []User
}

// NodeStarted announces one start of a node. Its incarnation must be greater than any before.
type NodeStarted struct{ Node Node }

// CreateDomain creates a stopped domain. Pacing is set for a paced one and zero for an unpaced one.
type CreateDomain struct {
	Name        ident.Domain
	Text        string
	Grammar     uint32
	Pace        Pace
	Pacing      clock.Pace
	Placement   Placement
	IfNotExists bool
}

// DropDomain removes a stopped domain and everything in it.
type DropDomain struct{ Name ident.Domain }

// Put stores one definition, new or in place of the one with its key.
type Put struct {
	Key          Key
	Text         string
	Grammar      uint32
	Dependencies []Key
	// CapacityOnly says that the proposer found no other difference to the stored definition than the capacity of a relay. Only such puts
	// may change a running domain (Q54).
	CapacityOnly bool
}

// Assignment places one runtime node.
type Assignment struct {
	Key  Key
	Node ident.Node
}

// MutateModels changes the definitions of a domain as one candidate, planned against revision Base of its models. Drops come first. A
// dropped key loses its assignment; Assign adds or moves assignments. Binds are the versions of resources that the puts name: a mutation that
// binds a version which is not completed is refused, and one whose LATEST is no longer the latest is stale.
type MutateModels struct {
	Domain ident.Domain
	Base   ident.Revision
	Drops  []Key
	Puts   []Put
	Assign []Assignment
	Binds  []Binding
}

// Binding is a version of a resource that a definition names. Latest says that the proposer resolved VERSION LATEST to it, and wants to
// know when a later one was completed meanwhile.
type Binding struct {
	Resource ident.Name
	Version  uint64
	Latest   bool
}

// Start runs a stopped domain. Base is the revision of the models the schedule in Assign was computed for. The other members are those of
// Opening: a START has one kind of transition, whether it stands alone or is a step of a transaction (C-201).
type Start struct {
	Domain           ident.Domain
	Base             ident.Revision
	RestartPositions bool
	Mapping          clock.Mapping
	Authority        clock.Authority
	Assign           []Assignment
}

// Opening is what a START decided about the generation it begins (C-019..C-022).
type Opening struct {
	// RestartPositions is START AT NOW: domain-owned source positions begin anew.
	RestartPositions bool
	// Mapping and Authority are set for a paced domain and zero for an unpaced one (C-023).
	Mapping   clock.Mapping
	Authority clock.Authority
}

// Start is the transition that carries the decision out.
func (o Opening) Start(domain ident.Domain, base ident.Revision, assign []Assignment) *Start {
	return &Start{Domain: domain, Base: base, RestartPositions: o.RestartPositions, Mapping: o.Mapping, Authority: o.Authority, Assign: assign}
}

// Stop stops a running domain. With a Generation it stops only that one: the end of a start that failed.
type Stop struct {
	Domain     ident.Domain
	Generation ident.Generation
}

// PutUser creates a user, or with Alter changes the password of an existing one.
type PutUser struct {
	User        User
	Alter       bool
	IfNotExists bool
}

// DropUser removes a user; not the one who asks, and not the last.
type DropUser struct{ Name ident.Name }

// BeginTransaction opens a transaction bound to the command's domain. Its id is the command's reference.
type BeginTransaction struct{}

// AppendStatement queues an operation. Position is the number it must get, from 1.
type AppendStatement struct {
	Transaction ident.Reference
	Position    uint32
	Text        string
	Grammar     uint32
}

// SetTransactionState moves a transaction along the table of the package comment. FailedOperation and Failure go with FAILED, Frozen with
// COMMITTING.
type SetTransactionState struct {
	Transaction     ident.Reference
	To              TransactionState
	FailedOperation uint32
	Failure         Outcome
	Frozen          []Frozen
}

// AdmitVersion gives the next version of a resource its number. The command's user owns the upload. Repeated with an upload identity that has
// a version, it changes nothing; one whose version failed gets another.
type AdmitVersion struct {
	Domain   ident.Domain
	Resource ident.Name
	Upload   ident.Reference
	Node     ident.Node // receives the upload; its next start fails what it did not complete
}

// CompleteVersion says that the files of an admitted version are installed.
type CompleteVersion struct {
	Domain   ident.Domain
	Resource ident.Name
	Upload   ident.Reference
	Version  uint64
	Content  Content
}

// FailVersion gives an admitted version up; its number stays a gap.
type FailVersion struct {
	Domain   ident.Domain
	Resource ident.Name
	Upload   ident.Reference
	Version  uint64
}

// ReconcileAuthority moves the tick authority of a running paced domain when generation and fence are still the expected ones (C-040). A zero
// Authority revokes. Anything else is stale and has no effect.
type ReconcileAuthority struct {
	Domain     ident.Domain
	Generation ident.Generation
	Expected   clock.Fence
	Authority  clock.Authority
}

// Conclude has no effect of its own; the command's Concludes has.
type Conclude struct{}

func (*Bootstrap) body()           {}
func (*NodeStarted) body()         {}
func (*CreateDomain) body()        {}
func (*DropDomain) body()          {}
func (*MutateModels) body()        {}
func (*Start) body()               {}
func (*Stop) body()                {}
func (*PutUser) body()             {}
func (*DropUser) body()            {}
func (*BeginTransaction) body()    {}
func (*AppendStatement) body()     {}
func (*SetTransactionState) body() {}
func (*Conclude) body()            {}
func (*AdmitVersion) body()        {}
func (*CompleteVersion) body()     {}
func (*FailVersion) body()         {}
func (*ReconcileAuthority) body()  {}
