// SPDX-License-Identifier: Apache-2.0

package wasmproc

import "sync"

// Memory is a store of checkpoints that lives as long as the process: state survives its instance, and the eviction of its branch, and nothing else.
// Every checkpoint is complete at once. It may be used from any goroutine.
type Memory struct {
	mu     sync.Mutex
	places map[Place]*kept
}

// kept is the committed state of a place. revision is the last one handed out; it stays when a checkpoint is given up.
type kept struct {
	saved    Saved
	revision uint64
}

var _ Checkpoints = (*Memory)(nil)

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{places: make(map[Place]*kept)} }

// Open implements Checkpoints.
func (m *Memory) Open(p Place) Slot { return &slot{m: m, place: p} }

// Len is the number of branches with a checkpoint.
func (m *Memory) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.places)
}

// Forget drops every place that match names: the processor or its domain was dropped.
func (m *Memory) Forget(match func(Place) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for p := range m.places {
		if match(p) {
			delete(m.places, p)
		}
	}
}

type slot struct {
	m     *Memory
	place Place
	kept  *kept // of the place, once there is one
	next  Saved // captured
}

// Load implements Slot.
func (s *slot) Load(func(Saved, error)) (Saved, bool, error) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.kept = s.m.places[s.place]; s.kept == nil {
		return Saved{}, false, nil
	}
	return s.kept.saved, false, nil
}

// Begin implements Slot.
func (s *slot) Begin() error { return nil }

// Capture implements Slot.
func (s *slot) Capture(state []byte) (revision uint64) {
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	if s.kept == nil {
		if s.kept = s.m.places[s.place]; s.kept == nil {
			s.kept = &kept{}
			s.m.places[s.place] = s.kept
		}
	}
	s.kept.revision++
	s.next = Saved{State: state, Revision: s.kept.revision}
	return s.next.Revision
}

// Persist implements Slot.
func (s *slot) Persist(func(error)) (bool, error) { return false, nil }

// Commit implements Slot.
func (s *slot) Commit() {
	s.m.mu.Lock()
	s.kept.saved = s.next
	s.m.mu.Unlock()
	s.next = Saved{}
}

// Abort implements Slot.
func (s *slot) Abort() { s.next = Saved{} }

// Close implements Slot.
func (s *slot) Close() {}
