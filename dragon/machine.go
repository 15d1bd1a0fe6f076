// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/lni/dragonboat/v4/statemachine"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// machine is the replicated state machine: registry.Apply behind Dragonboat's interface. Dragonboat calls Update and RecoverFromSnapshot
// one after another; everything else may run beside them.
type machine struct {
	state atomic.Pointer[registry.State]
	fatal func(reason string, err error)
	mu    struct {
		sync.Mutex
		watchers map[int]func(*registry.State)
		next     int
	}
}

func newMachine(fatal func(string, error)) *machine {
	m := &machine{fatal: fatal}
	m.state.Store(registry.NewState())
	m.mu.watchers = map[int]func(*registry.State){}
	return m
}

// Update applies committed entries. A corrupt entry ends the process: a replica that went on would differ from the others.
func (m *machine) Update(entries []statemachine.Entry) ([]statemachine.Entry, error) {
	state := m.state.Load()
	for i, e := range entries {
		next, res, err := registry.ApplyBytes(state, ident.Revision(e.Index), e.Cmd)
		if err != nil {
			m.fatal("a committed entry cannot be applied", err)
			return nil, err
		}
		state = next
		entries[i].Result = statemachine.Result{Value: uint64(res.Verdict), Data: registry.EncodeResult(res)}
	}
	m.publish(state)
	return entries, nil
}

// publish makes a revision visible and tells the watchers, in order of revisions.
func (m *machine) publish(s *registry.State) {
	m.state.Store(s)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range m.mu.watchers {
		f(s)
	}
}

// watch calls f with the current state and then with every later one that is published.
func (m *machine) watch(f func(*registry.State)) (stop func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := m.mu.next
	m.mu.next++
	m.mu.watchers[id] = f
	f(m.state.Load())
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.mu.watchers, id)
	}
}

// Lookup gives the committed state.
func (m *machine) Lookup(any) (any, error) { return m.state.Load(), nil }

// PrepareSnapshot pins a revision; it costs nothing, because states are immutable.
func (m *machine) PrepareSnapshot() (any, error) { return m.state.Load(), nil }

// SaveSnapshot writes the pinned revision.
func (m *machine) SaveSnapshot(pinned any, w io.Writer, _ statemachine.ISnapshotFileCollection, _ <-chan struct{}) error {
	_, err := w.Write(registry.EncodeSnapshot(pinned.(*registry.State)))
	return err
}

// RecoverFromSnapshot replaces the state.
func (m *machine) RecoverFromSnapshot(r io.Reader, _ []statemachine.SnapshotFile, _ <-chan struct{}) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	state, err := registry.DecodeSnapshot(b)
	if err != nil {
		m.fatal("the snapshot of the control plane cannot be read", err)
		return err
	}
	m.publish(state)
	return nil
}

// Close has nothing to release.
func (m *machine) Close() error { return nil }
