// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"maps"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Node is a member of the cluster as its last committed start announced it.
type Node struct {
	ID          ident.Node
	Incarnation ident.Incarnation
	Logical     string // `n<id>.node`; the transport resolves it
	Session     string // where clients reach it
}

// User is somebody who may log in. PHC is the argon2id hash text; the password is nowhere.
type User struct {
	Name ident.Name
	PHC  string
}

// State is one committed revision of the control plane. It is immutable: readers may not change what its maps hold.
type State struct {
	Cluster  string // empty until Bootstrap
	Revision ident.Revision
	// Now is the greatest time any command carried. Retention is judged by it.
	Now vtime.UTC
	// FenceMilli refuses every reference whose own time (Unix milliseconds) is not after it. It only moves forward.
	FenceMilli int64
	Limits     Limits
	Nodes      map[ident.Node]Node
	Domains    map[ident.Domain]*Domain
	Users      map[ident.Name]User

	executions   *byReference[*Execution]
	transactions *byReference[*Transaction]
	openCount    int    // transactions OPEN or COMMITTING; follows from transactions
	openBytes    uint64 // their text; follows from transactions
	sweptMinute  int64  // the minute of Now at which retention was last enforced
}

// NewState is the empty state before the first entry.
func NewState() *State {
	return &State{
		Limits:       DefaultLimits(),
		Nodes:        map[ident.Node]Node{},
		Domains:      map[ident.Domain]*Domain{},
		Users:        map[ident.Name]User{},
		executions:   &byReference[*Execution]{},
		transactions: &byReference[*Transaction]{},
	}
}

// Execution finds the kept outcome of a reference.
func (s *State) Execution(r ident.Reference) (*Execution, bool) { return s.executions.get(r) }

// Executions is the number of kept outcomes.
func (s *State) Executions() int { return s.executions.size }

// PendingExecutions lists the executions that have no final outcome yet, ascending by reference.
func (s *State) PendingExecutions() []*Execution {
	var found []*Execution
	for e := range s.executions.all {
		if e.Pending {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b *Execution) int { return compareReferences(a.Reference, b.Reference) })
	return found
}

// Transaction finds a transaction or its tombstone.
func (s *State) Transaction(id ident.Reference) (*Transaction, bool) { return s.transactions.get(id) }

// Transactions lists all transactions and tombstones, ascending by id, that is by the time of their BEGIN.
func (s *State) Transactions() []*Transaction {
	list := make([]*Transaction, 0, s.transactions.size)
	for t := range s.transactions.all {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *Transaction) int { return compareReferences(a.ID, b.ID) })
	return list
}

// OpenTransactions counts those that are OPEN or COMMITTING.
func (s *State) OpenTransactions() int { return s.openCount }

// DomainNames lists the domains in ascending order.
func (s *State) DomainNames() []ident.Domain { return slices.Sorted(maps.Keys(s.Domains)) }

// NodeIDs lists the nodes in ascending order.
func (s *State) NodeIDs() []ident.Node { return slices.Sorted(maps.Keys(s.Nodes)) }

// definitionBytes is the text of all definitions.
func (s *State) definitionBytes() uint64 {
	total := uint64(0)
	for _, d := range s.Domains {
		for _, def := range d.Definitions {
			total += uint64(len(def.Text))
		}
	}
	return total
}

// withDomain gives a state in which the domain of d's name is d. The maps of s stay as they are.
func (s *State) withDomain(d *Domain) *State {
	next := *s
	next.Domains = maps.Clone(s.Domains)
	next.Domains[d.Name] = d
	return &next
}
