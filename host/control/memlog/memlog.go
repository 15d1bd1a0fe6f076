// SPDX-License-Identifier: Apache-2.0

// Package memlog is a log of the control plane in memory, for tests: one replica, nothing durable, with faults on demand. It satisfies the
// Log port of host/control. Closing a Control and opening another on the same Log is a restart that lost nothing.
package memlog

import (
	"context"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// Fault is what happens to one proposal.
type Fault uint8

// The faults. Refuse: nothing is stored, `control.unavailable`. LoseReply: the entry takes effect and the answer is `control.uncertain`.
// Hang: nothing is stored before ctx ends.
const (
	None Fault = iota
	Refuse
	LoseReply
	Hang
)

// Log is the log. It is safe for concurrent use.
type Log struct {
	mu struct {
		sync.Mutex
		state    *registry.State
		watchers map[int]func(*registry.State)
		next     int
		judge    func(*registry.Command) Fault
	}
}

// New is an empty log.
func New() *Log {
	l := &Log{}
	l.mu.state = registry.NewState()
	l.mu.watchers = map[int]func(*registry.State){}
	return l
}

// Judge asks f about every proposal from now on; nil ends that. f may propose nothing.
func (l *Log) Judge(f func(*registry.Command) Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.judge = f
}

// Propose applies the entry at once.
func (l *Log) Propose(ctx context.Context, entry []byte) (registry.Result, error) {
	cmd, err := registry.DecodeCommand(entry)
	if err != nil {
		return registry.Result{}, err
	}
	l.mu.Lock()
	judge := l.mu.judge
	l.mu.Unlock()
	verdict := None
	if judge != nil {
		verdict = judge(cmd)
	}
	switch verdict {
	case Refuse:
		return registry.Result{}, failure(fault.ControlUnavailable)
	case Hang:
		<-ctx.Done()
		return registry.Result{}, failure(fault.ControlUncertain)
	default:
	}
	res, err := l.apply(cmd)
	if err == nil && verdict == LoseReply {
		return registry.Result{}, failure(fault.ControlUncertain)
	}
	return res, err
}

func failure(code fault.Code) error {
	return fault.New(code, "memlog.Propose", ident.Ref{}, "", nil)
}

// apply also sends the result through its stored form, as the real log does.
func (l *Log) apply(cmd *registry.Command) (registry.Result, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, res, err := registry.Apply(l.mu.state, l.mu.state.Revision+1, cmd)
	if err != nil {
		return res, err
	}
	l.mu.state = next
	for _, f := range l.mu.watchers {
		f(next)
	}
	return registry.DecodeResult(registry.EncodeResult(res))
}

// State is the newest state.
func (l *Log) State() *registry.State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.state
}

// Watch calls f with every state, under the lock of the log.
func (l *Log) Watch(f func(*registry.State)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := l.mu.next
	l.mu.next++
	l.mu.watchers[id] = f
	f(l.mu.state)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.mu.watchers, id)
	}
}

// WaitLeader returns at once.
func (*Log) WaitLeader(context.Context) error { return nil }
