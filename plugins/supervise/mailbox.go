// SPDX-License-Identifier: Apache-2.0

package supervise

import "sync"

// mailbox takes messages without blocking the sender; one goroutine takes them out in order. What bounds it is named at each user.
type mailbox[T any] struct {
	mu     sync.Mutex
	list   []T
	closed bool
	notice chan struct{}
}

func newMailbox[T any]() *mailbox[T] {
	return &mailbox[T]{notice: make(chan struct{}, 1)}
}

// put adds a message; false after close.
func (m *mailbox[T]) put(v T) bool {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return false
	}
	m.list = append(m.list, v)
	m.mu.Unlock()
	select {
	case m.notice <- struct{}{}:
	default:
	}
	return true
}

// take gives everything that waits and keeps spare for reuse.
func (m *mailbox[T]) take(spare []T) []T {
	clear(spare)
	m.mu.Lock()
	defer m.mu.Unlock()
	out := m.list
	m.list = spare[:0]
	return out
}

// close refuses further messages and gives what was left.
func (m *mailbox[T]) close() []T {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	out := m.list
	m.list = nil
	return out
}
