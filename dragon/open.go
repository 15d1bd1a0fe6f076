// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"syscall"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/statemachine"
	"github.com/zeebo/xxh3"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// Config says which node opens which log.
type Config struct {
	// Dir is the folder of the log; it is created when it is missing. The caller holds the lock of the data folder around it: a second Log
	// on one folder in the same process would panic.
	Dir string
	// Cluster is the identity of the cluster, not empty. A folder of another cluster is refused.
	Cluster string
	// Node is the number of this node, not zero. It gives the logical address `n<id>.node`.
	Node ident.Node
	// Logger receives what Raft and its store say. Nil is slog.Default().
	Logger *slog.Logger
	// Fatal is called once when the log can no longer be stored or applied; it must end the process. Nil logs one line and exits 1.
	Fatal func(reason string, err error)
	// SnapshotEntries is how many entries lie between snapshots; zero is 10,000.
	SnapshotEntries uint64
}

func (c Config) address() string { return c.Node.String() + ".node" }

// Log is an open replicated log with the state it leads to. Its methods may be called concurrently.
type Log struct {
	host    *dragonboat.NodeHost
	machine *machine
	closed  sync.Once
	done    chan struct{}
}

// settings are files that Dragonboat reads from the working directory before main runs. They change what is stored.
var settings = []string{"dragonboat-hard-settings.json", "dragonboat-soft-settings.json"}

// Open opens or creates the log and replays it. It returns before a leader is known; WaitLeader waits for that.
func Open(c Config) (*Log, error) {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.SnapshotEntries == 0 {
		c.SnapshotEntries = 10_000
	}
	if c.Node == 0 || c.Cluster == "" {
		return nil, failure("the node and the cluster must have an identity", nil)
	}
	for _, name := range settings {
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, failure("the working directory holds "+name+", which would change the stored format; remove it", nil)
		}
	}
	fatal := once(c)
	captureLogs(c.Logger, fatal)
	host, err := openHost(c)
	if err != nil {
		return nil, err
	}
	l := &Log{host: host, machine: newMachine(fatal), done: make(chan struct{})}
	create := func(uint64, uint64) statemachine.IConcurrentStateMachine { return l.machine }
	members := map[uint64]dragonboat.Target{replicaID: c.address()}
	if err := host.StartConcurrentReplica(members, false, create, shardConfig(c.SnapshotEntries)); err != nil {
		host.Close()
		return nil, failure("the replica in "+c.Dir+" cannot be started", err)
	}
	return l, nil
}

// openHost prepares the folder and opens or creates what Dragonboat keeps in it.
func openHost(c Config) (*dragonboat.NodeHost, error) {
	if err := detachHostName(c.Dir); err != nil {
		return nil, unusable("the folder "+c.Dir+" cannot be prepared", err)
	}
	host, err := newHost(c)
	if err != nil {
		return nil, unusable("the log in "+c.Dir+" cannot be opened", err)
	}
	if err := markOpened(c.Dir); err != nil {
		host.Close()
		return nil, unusable("the folder "+c.Dir+" cannot be prepared", err)
	}
	return host, nil
}

// newHost guards the two ways in which NewNodeHost fails without an error: (nil, nil), and a panic that carries one.
func newHost(c Config) (host *dragonboat.NodeHost, err error) {
	defer func() {
		if p := recover(); p != nil {
			host = nil
			if cause, ok := p.(error); ok {
				err = cause
			} else {
				err = fmt.Errorf("%v", p)
			}
		}
	}()
	host, err = dragonboat.NewNodeHost(hostConfig(c, c.Dir))
	if err == nil && host == nil {
		err = errors.New("it ended without a reason; see the log lines before")
	}
	return host, err
}

// once gives the function that ends the process: the first reason is logged, later ones are consequences.
func once(c Config) func(string, error) {
	var guard sync.Once
	return func(reason string, err error) {
		guard.Do(func() {
			if c.Fatal != nil {
				c.Fatal(reason, err)
				return
			}
			code := fault.ControlStorage
			if fault.Has(err, fault.ControlFormat) {
				code = fault.ControlFormat // another version wrote the folder; nothing is broken
			}
			c.Logger.Error(reason, "code", code, "error", err)
			os.Exit(1)
		})
	}
}

// deployment is Dragonboat's number of the cluster; never zero.
func deployment(cluster string) uint64 { return xxh3.HashString(cluster) | 1 }

func failure(detail string, err error) error {
	return fault.New(fault.ControlStorage, "dragon.Open", ident.Ref{}, detail, err)
}

// unusable tells a folder whose content is not what was written from a system that refuses a call, which says so by number.
func unusable(detail string, err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return failure(detail, err)
	}
	return fault.New(fault.DaemonDamaged, "dragon.Open", ident.Ref{}, detail, err)
}

// State is the newest committed state. It is immutable.
func (l *Log) State() *registry.State { return l.machine.state.Load() }

// Watch calls f with the current state and then with each newer one, in order; several entries may be covered by one call (G-010). f runs
// on the goroutine that applies the log: it must not block and must not call the Log.
func (l *Log) Watch(f func(*registry.State)) (stop func()) { return l.machine.watch(f) }

// Leader says whether a leader of the shard is known here.
func (l *Log) Leader() bool {
	select {
	case <-l.done:
		return false
	default:
	}
	_, _, known, err := l.host.GetLeaderID(shardID)
	return err == nil && known
}

// Term is Raft's term of the leader that is known here; 0 when none is.
func (l *Log) Term() uint64 {
	select {
	case <-l.done:
		return 0
	default:
	}
	_, term, known, err := l.host.GetLeaderID(shardID)
	if err != nil || !known {
		return 0
	}
	return term
}

// WaitLeader waits until a leader is known and everything stored is applied: a linearizable read succeeds.
func (l *Log) WaitLeader(ctx context.Context) error {
	for {
		try, cancel := osclock.WithTimeout(ctx, attempt)
		_, err := l.host.SyncRead(try, shardID, nil)
		cancel()
		if err == nil {
			return nil
		}
		if errors.Is(err, dragonboat.ErrClosed) || errors.Is(err, dragonboat.ErrShardClosed) {
			return closedError()
		}
		if osclock.Wait(ctx, pause) != nil {
			return fault.New(fault.ControlUnavailable, "dragon.WaitLeader", ident.Ref{}, "no leader was elected in time", err)
		}
	}
}

// Close stops the replica and the host. Everything answered is stored already. It may be called more than once.
func (l *Log) Close() error {
	l.closed.Do(func() {
		close(l.done)
		l.host.Close()
	})
	return nil
}
