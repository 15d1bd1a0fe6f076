// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Recycling says when an instance is replaced because it holds far more linear memory than it began with: WebAssembly gives no page back (A07,
// docs/adr/0008-recycling.md). The successor is restored from the checkpoint that the callback just committed, so nothing is lost that a guest saves.
// A guest that holds inputs or waits for a timeout is left alone. The zero value means the defaults.
type Recycling struct {
	// Floor is the linear memory in bytes below which no instance is replaced. Default 4 MiB; math.MaxUint64 turns recycling off.
	Floor uint64
	// After is how many checkpoints an instance lives at least. Default 1,024. The number doubles, up to 1,048,576, each time that a successor needs its
	// memory again within it: such a guest is large because its work is.
	After uint64
}

const (
	recycleFloor = 4 << 20
	recycleAfter = 1 << 10
	recycleMost  = 1 << 20
	// recycleTimes is how many times the memory that the instance began with it must have: below that there is not much to gain.
	recycleTimes = 4
)

func (r Recycling) rules(maxMemory uint64) recycleRules {
	x := recycleRules{floor: r.Floor, after: r.After, press: maxMemory - maxMemory/4}
	if x.floor == 0 {
		x.floor = recycleFloor
	}
	if x.after == 0 {
		x.after = recycleAfter
	}
	return x
}

// recycleRules are fixed; without any, nothing is replaced. press is the memory from which an instance need not live longer than after: it comes near MAX MEMORY, where a
// callback fails.
type recycleRules struct{ floor, after, press uint64 }

// recycling judges the memory of one branch's instances. It is pure.
type recycling struct {
	rules recycleRules
	wait  uint64 // checkpoints that the instance lives at least
	age   uint64 // checkpoints that it has lived
	born  uint64 // memory that it began with
	large bool   // it was seen to be large
	soon  bool   // and that within wait
	// barred says that no successor came to life from its state; it is not tried again with this instance.
	barred bool
}

// begin is told an instance that is no successor.
func (r *recycling) begin(memory uint64) {
	*r = recycling{rules: r.rules, wait: r.rules.after, born: memory}
}

// due is told each checkpoint, and says whether the memory of the instance is reason to replace it.
func (r *recycling) due(memory uint64) bool {
	r.age++
	if r.rules.after == 0 || memory < r.rules.floor || memory/recycleTimes < r.born {
		return false
	}
	if !r.large {
		r.large, r.soon = true, r.age <= r.wait
	}
	return !r.barred && (r.age >= r.wait || r.age >= r.rules.after && memory >= r.rules.press)
}

// replaced is told a successor.
func (r *recycling) replaced(memory uint64) {
	wait := r.rules.after
	if r.soon {
		wait = min(2*r.wait, max(r.rules.after, recycleMost))
	}
	*r = recycling{rules: r.rules, wait: wait, born: memory}
}

// kept is told that the instance goes on: for good, or because the node had no room for two.
func (r *recycling) kept(forGood bool) {
	r.age, r.barred = 0, forGood
	r.wait = min(2*r.wait, max(r.rules.after, recycleMost))
}

// rest is what follows a committed checkpoint.
func (m *machine) rest(e event) effects {
	if m.recycling.due(e.memory) && m.sound && !e.bound {
		m.phase = renewing
		return doRenew
	}
	m.phase = idle
	return doFinish
}

// renewed goes on with the successor, or with the instance as if nothing had been tried. That a state cannot be restored is worth a report before
// it has to be.
func (m *machine) renewed(e event) effects {
	m.phase = idle
	if e.outcome == fine {
		m.recycling.replaced(e.memory)
		return doFinish
	}
	m.recycling.kept(e.outcome == lost)
	if e.outcome == lost && m.log {
		return doReport | doFinish
	}
	return doFinish
}

// recycle makes the successor of an instance, and only when it lives ends the instance. What was committed is what the guest saved last. The successor is
// asked to flush if the instance would have been: what acknowledged inputs left in its state may be due then.
func (s *state) recycle(l *lanes.Lane) event {
	s.first = 0 // the batch is through
	next, memory, out := s.instance(l, Saved{State: s.dump, Revision: s.figures.committed.Load()})
	if out != fine {
		return event{kind: evRenewed, outcome: out}
	}
	s.guest.Close()
	s.guest, s.ledger = next, protocol.NewLedger(s.ledger.Next())
	s.p.recycled.Add(1)
	return event{kind: evRenewed, memory: memory}
}
