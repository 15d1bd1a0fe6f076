// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/nervix-go/nervix/host/node/runtime"
)

// maxDetails bounds the branches an observation describes one by one (gaps 1.7.18).
const maxDetails = 128

// Stage is how far the newest checkpoint of a branch got (W-216).
type Stage uint32

// The stages. StageFailed leaves the committed revision as it was.
const (
	StageEmpty Stage = iota
	StageCaptured
	StageLocallyDurable
	StageReplicaConfirmed
	StageFailed
)

func (s Stage) String() string {
	return [...]string{"EMPTY", "CAPTURED", "LOCALLY_DURABLE", "REPLICA_CONFIRMED", "FAILED"}[s%5]
}

// figures are what a branch publishes about itself: its lane writes, anybody reads.
type figures struct {
	instance, callbacks, fuel, memory, held, committed, latest atomic.Uint64
	stage                                                      atomic.Uint32
}

func put(a *atomic.Uint64, v uint64) {
	if a.Load() != v { // a load is cheaper than a store that others have to see
		a.Store(v)
	}
}

// BranchObservation is a copy of what one branch published. It names the branch by fingerprint only (W-219).
type BranchObservation struct {
	// Fingerprint is empty when unbranched.
	Fingerprint string
	// Generation is the lifetime of the state (W-130).
	Generation uint64
	// Instance counts the instances of the branch on this node, the live one included; Callbacks those of all of them.
	Instance, Callbacks uint64
	// FuelUsed is what the last callback used, MemoryBytes the linear memory of the instance, 0 when there is none.
	FuelUsed, MemoryBytes uint64
	// HeldRows are inputs that the guest has and has not decided.
	HeldRows uint64
	// Committed and Latest are revisions; 0 means that there is none.
	Committed, Latest uint64
	Stage             Stage
}

// Rows counts what became of the rows that were handed to guests.
type Rows struct {
	// Given are rows of inputs after WHERE and FILTER, Acked those that a guest dropped as done, Nacked those that it or a failure refused, and Failed
	// its message errors.
	Given, Acked, Nacked, Failed uint64
}

// Observation is a copy of what a processor knows about itself.
type Observation struct {
	// Received counts what each input brought, Sent what each route published.
	Received, Sent []runtime.Passed
	// Rejected counts failed rows by class, as in every node.
	Rejected map[string]uint64
	Rows     Rows
	// Branches is the number of live branches, Details describes at most 128 of them, in the order of fingerprints, and Omitted is the rest.
	Branches int
	Details  []BranchObservation
	Omitted  int
	// Instances is the number of live instances; Made, Lost and Recycled how many were made, discarded after a failure and replaced for their memory
	// so far (A07); and LongCalls the guest calls that run for longer than a lane waits.
	Instances, Made, Lost, Recycled uint64
	LongCalls                       int
	// Errors are the newest runtime errors, newest first, and ErrorsTotal all so far.
	Errors      []RuntimeError
	ErrorsTotal uint64
}

// Observe copies the state. It may be called from anywhere and makes no guest call (W-209).
func (p *Processor) Observe() Observation {
	o := Observation{LongCalls: p.gate.Away()}
	for i := range p.received {
		o.Received = append(o.Received, p.received[i].Passed())
	}
	for _, r := range p.routes {
		o.Sent = append(o.Sent, r.relay.Sent.Passed())
	}
	o.Rows = Rows{Given: p.rows.given.Load(), Acked: p.rows.acked.Load(), Nacked: p.rows.nacked.Load(), Failed: p.rows.failed.Load()}
	o.Instances, o.Made, o.Lost, o.Recycled = p.instances.Load(), p.made.Load(), p.lost.Load(), p.recycled.Load()
	o.Errors, o.ErrorsTotal = p.errors.list()
	p.mu.Lock()
	o.Rejected = maps.Clone(p.mu.rejected)
	p.mu.Unlock()
	first, total := p.live.first(maxDetails)
	for _, s := range first {
		o.Details = append(o.Details, s.observe())
	}
	o.Branches, o.Omitted = total, total-len(first)
	return o
}

// roll is the set of live branches. It has a lock of its own, because reading it takes a while when there are many.
type roll struct {
	mu  sync.Mutex
	set map[*state]struct{}
}

func (r *roll) add(s *state) {
	r.mu.Lock()
	r.set[s] = struct{}{}
	r.mu.Unlock()
}

func (r *roll) remove(s *state) {
	r.mu.Lock()
	delete(r.set, s)
	r.mu.Unlock()
}

// first are the n branches with the lowest fingerprints; total is the number of all.
func (r *roll) first(n int) (first []*state, total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.set {
		if len(first) == n && s.print > first[n-1].print {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, s.print, func(x *state, print string) int { return cmp.Compare(x.print, print) })
		if len(first) == n {
			first = first[:n-1]
		}
		first = slices.Insert(first, at, s)
	}
	return first, len(r.set)
}

func (s *state) observe() BranchObservation {
	f := &s.figures
	return BranchObservation{
		Fingerprint: s.print, Generation: firstGeneration, Instance: f.instance.Load(), Callbacks: f.callbacks.Load(), FuelUsed: f.fuel.Load(),
		MemoryBytes: f.memory.Load(), HeldRows: f.held.Load(), Committed: f.committed.Load(), Latest: f.latest.Load(), Stage: Stage(f.stage.Load()),
	}
}
