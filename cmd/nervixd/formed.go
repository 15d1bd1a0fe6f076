// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// checkFormed refuses a folder that has lost a part of what it held. It is called before any of the parts is opened, because each of them would be
// made anew when it is missing. It returns the revision that the log must reach.
func (n *node) checkFormed() (ident.Revision, error) {
	revision, formed, err := n.dir.Formed()
	if err != nil || !formed {
		return 0, err
	}
	names := []string{"raft", "state", "admin.json"}
	if len(n.dir.Lost("context.json")) == 0 {
		names = append(names, "tls") // clients were told of this authority
	}
	if lost := n.dir.Lost(names...); len(lost) > 0 {
		return 0, damage(n.dir.Path(), "has lost "+strings.Join(lost, ", ")+" (missing or empty)", nil)
	}
	return revision, nil
}

// checkReplayed refuses a log that ends before what was applied already.
func (n *node) checkReplayed(ctx context.Context, reached ident.Revision) error {
	if err := n.raft.WaitLeader(ctx); err != nil {
		return err
	}
	if now := n.raft.State().Revision; now < reached {
		return damage(n.dir.Path(), fmt.Sprintf("has lost definitions: the log in folder raft ends at revision %d, and %d was applied", now, reached), nil)
	}
	return nil
}

func damage(path, what string, cause error) error {
	return fault.New(fault.DaemonDamaged, "nervixd", ident.Ref{}, "data folder "+path+" "+what, cause)
}

// revisionKeeper writes the highest applied revision into the data folder. It writes beside the way of a command: what it holds may be behind, and
// never ahead.
type revisionKeeper struct {
	n      *node
	latest atomic.Uint64
	wake   chan struct{}
	stop   func()
	done   sync.WaitGroup
}

// keepRevision starts the keeper. The first revision is durable when it returns.
func (n *node) keepRevision() (*revisionKeeper, error) {
	if err := n.dir.SetFormed(n.raft.State().Revision); err != nil {
		return nil, err
	}
	k := &revisionKeeper{n: n, wake: make(chan struct{}, 1)}
	unwatch := n.raft.Watch(func(s *registry.State) {
		k.latest.Store(uint64(s.Revision))
		select {
		case k.wake <- struct{}{}:
		default:
		}
	})
	k.stop = sync.OnceFunc(func() {
		unwatch()
		close(k.wake)
		k.done.Wait()
	})
	k.done.Go(k.run)
	return k, nil
}

func (k *revisionKeeper) run() {
	written := uint64(0)
	for range k.wake {
		now := k.latest.Load()
		if now == written {
			continue
		}
		if err := k.n.dir.SetFormed(ident.Revision(now)); err != nil {
			k.n.options.log.Warn("the applied revision could not be noted in the data folder", "error", err)
			continue
		}
		written = now
	}
}
