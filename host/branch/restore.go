// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Restore puts an expired entry back as the oldest one, with its last use unchanged: its owner could not let it go yet.
func (t *Table[V]) Restore(e *Entry[V]) {
	if t.byText[text(e.Key)] != nil {
		return
	}
	t.byText[text(e.Key)] = e
	e.older, e.newer = nil, t.oldest
	if t.oldest != nil {
		t.oldest.older = e
	} else {
		t.newest = e
	}
	t.oldest = e
}

// TTL is the idle time after which branches expire; 0 means never.
func (t *Table[V]) TTL() time.Duration { return t.ttl }

// Idle says whether the entry's idle time is over at now.
func (e *Entry[V]) Idle(now vtime.Logical, ttl time.Duration) bool {
	idle, err := now.Sub(e.lastUsed)
	return err == nil && idle >= ttl
}
