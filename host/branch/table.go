// SPDX-License-Identifier: Apache-2.0

// Package branch holds the pure table of live concrete branches: presence, TTL and LRU (R-004, R-046..R-052). Time comes in as
// domain time; the owner of a table decides when to scan.
package branch

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Reason says why a branch ended.
type Reason string

// The reasons; they are label values of nervix_branch_evictions_total.
const (
	Expired Reason = "ttl"
	Evicted Reason = "lru"
)

// Entry is one live branch with a value of the table's owner.
type Entry[V any] struct {
	Key   *batch.Key
	Value V

	lastUsed     vtime.Logical
	newer, older *Entry[V]
}

// LastUsed is the domain time of the last accepted input.
func (e *Entry[V]) LastUsed() vtime.Logical { return e.lastUsed }

// Table is the set of live branches of one owner. It is not safe for concurrent use; its owner is.
type Table[V any] struct {
	ttl    time.Duration
	max    uint64
	byText map[string]*Entry[V]
	newest *Entry[V]
	oldest *Entry[V]
	// disordered is set while last uses do not rise with recency, because domain time went backwards.
	disordered bool
}

// NewTable makes an empty table. ttl 0 means that branches never expire (unbranched roots have no TTL, R-046); max 0 means no limit.
func NewTable[V any](ttl time.Duration, max uint64) *Table[V] {
	return &Table[V]{ttl: ttl, max: max, byText: make(map[string]*Entry[V])}
}

// Len is the number of live branches.
func (t *Table[V]) Len() int { return len(t.byText) }

// Find gives the entry of a key without touching it; nil if the branch does not exist.
func (t *Table[V]) Find(key *batch.Key) *Entry[V] { return t.byText[text(key)] }

// FindText is Find by canonical key text.
func (t *Table[V]) FindText(text string) *Entry[V] { return t.byText[text] }

// Accept records an accepted input of a branch. A new key makes a new entry; if that exceeds the limit, the least recently used other
// branch is removed and returned.
func (t *Table[V]) Accept(key *batch.Key, now vtime.Logical) (entry *Entry[V], created bool, evicted *Entry[V]) {
	e := t.byText[text(key)]
	if e == nil {
		e = &Entry[V]{Key: key}
		t.byText[text(key)] = e
		created = true
		if t.max > 0 && uint64(len(t.byText)) > t.max {
			evicted = t.oldest
			t.remove(evicted)
		}
	} else {
		t.unlink(e)
	}
	e.lastUsed = now
	t.disordered = t.disordered || t.newest != nil && now.Before(t.newest.lastUsed)
	t.pushNewest(e)
	return e, created, evicted
}

// TTL is the idle time after which branches expire; 0 means never.
func (t *Table[V]) TTL() time.Duration { return t.ttl }

// Over says whether the idle time of an entry has reached TTL at now. An idle time beyond the range of a duration is over, unless it is negative.
func (t *Table[V]) Over(e *Entry[V], now vtime.Logical) bool {
	if t.ttl <= 0 || now.Before(e.lastUsed) {
		return false
	}
	idle, err := now.Sub(e.lastUsed)
	return err != nil || idle >= t.ttl
}

// Overdue lists every branch whose idle time has reached TTL at now, least recently used first, for owners that must ask before they let one
// go. Entries are ordered by last use, so a scan costs what it finds; only after domain time went backwards it looks at every entry,
// until they are in order again.
func (t *Table[V]) Overdue(now vtime.Logical) []*Entry[V] {
	if t.ttl <= 0 {
		return nil
	}
	var out []*Entry[V]
	disordered := false
	for e := t.oldest; e != nil; e = e.newer {
		disordered = disordered || e.older != nil && e.lastUsed.Before(e.older.lastUsed)
		if t.Over(e, now) {
			out = append(out, e)
		} else if !t.disordered {
			return out
		}
	}
	t.disordered = disordered
	return out
}

// Expire removes and returns what is overdue.
func (t *Table[V]) Expire(now vtime.Logical) []*Entry[V] {
	out := t.Overdue(now)
	for _, e := range out {
		t.remove(e)
	}
	return out
}

// Remove ends a branch.
func (t *Table[V]) Remove(e *Entry[V]) {
	if t.byText[text(e.Key)] == e {
		t.remove(e)
	}
}

// All calls visit with each live branch, most recently used first.
func (t *Table[V]) All(visit func(*Entry[V])) {
	for e := t.newest; e != nil; {
		next := e.older
		visit(e)
		e = next
	}
}

func (t *Table[V]) remove(e *Entry[V]) {
	t.unlink(e)
	delete(t.byText, text(e.Key))
}

func (t *Table[V]) pushNewest(e *Entry[V]) {
	e.newer, e.older = nil, t.newest
	if t.newest != nil {
		t.newest.newer = e
	} else {
		t.oldest = e
	}
	t.newest = e
}

func (t *Table[V]) unlink(e *Entry[V]) {
	if e.newer != nil {
		e.newer.older = e.older
	} else if t.newest == e {
		t.newest = e.older
	}
	if e.older != nil {
		e.older.newer = e.newer
	} else if t.oldest == e {
		t.oldest = e.newer
	}
	e.newer, e.older = nil, nil
}

func text(key *batch.Key) string {
	if key == nil {
		return ""
	}
	return key.Text
}
