// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"
)

// gates let one operation on a domain happen at a time, from the decision to make it until its reply was taken in. So a detach and a
// restoration of one clock never cross: who comes second waits, and then looks whether the clock is still followed.
type gates struct {
	mu   sync.Mutex
	open map[string]*gate
}

type gate struct {
	place chan struct{} // capacity 1
	users int           // inside or waiting
}

func (g *gates) init() { g.open = map[string]*gate{} }

// enter waits for the domain's gate, or until ctx or a session ends; false says that one did.
func (g *gates) enter(ctx context.Context, domain string, ended <-chan struct{}) bool {
	g.mu.Lock()
	one := g.open[domain]
	if one == nil {
		one = &gate{place: make(chan struct{}, 1)}
		g.open[domain] = one
	}
	one.users++
	g.mu.Unlock()
	select {
	case one.place <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-ended:
	}
	g.quit(domain, one)
	return false
}

func (g *gates) leave(domain string) {
	g.mu.Lock()
	one := g.open[domain]
	g.mu.Unlock()
	<-one.place
	g.quit(domain, one)
}

func (g *gates) quit(domain string, one *gate) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(g.open, domain)
	}
}
