// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Config is what a keeper is built from.
type Config struct {
	// UTC observes UTC; nil means the machine's clock. host/sim gives a clock of its own.
	UTC func() vtime.UTC
}

// Keeper is domain time on one node.
type Keeper struct {
	utc func() vtime.UTC

	// order makes installations happen one after the other; it guards the fields below.
	order      sync.Mutex
	graph      ident.Revision    // the newest revision that Install brought
	followed   []clock.Lifecycle // what InstallFences brought last
	followedAt ident.Revision
	observers  []Observer

	mu struct {
		sync.Mutex
		cells      map[ident.Domain]*cell // written under order too, so that who holds order may read without mu
		installed  chan struct{}          // closed by the first Install
		first      bool                   // it is closed
		advertised ident.Revision
	}
}

// Observer is told about what was installed and what the node advertises, in order, each after it became visible. It is called by the installer: it must
// be short and must not install.
type Observer interface {
	// Installed tells the lifecycle that a domain holds now, and the committed revision it is of.
	Installed(l clock.Lifecycle, revision ident.Revision)
	// Removed tells that the domain is gone.
	Removed(domain ident.Domain)
	// Advertised tells that the node's clocks equal those of a revision (C-061).
	Advertised(revision ident.Revision)
}

// New makes a keeper that holds no domain.
func New(c Config) *Keeper {
	k := &Keeper{utc: c.UTC}
	k.mu.cells = make(map[ident.Domain]*cell)
	k.mu.installed = make(chan struct{})
	return k
}

// Observe adds an observer and tells it what is installed already.
func (k *Keeper) Observe(o Observer) {
	k.order.Lock()
	defer k.order.Unlock()
	k.observers = append(k.observers, o)
	for _, d := range slices.Sorted(maps.Keys(k.mu.cells)) {
		c := k.mu.cells[d]
		c.mu.Lock()
		l, revision := c.current.Load().lifecycle, c.mu.revision
		c.mu.Unlock()
		o.Installed(l, revision)
	}
	if r := k.Advertised(); r != 0 {
		o.Advertised(r)
	}
}

// Install brings every domain of a committed revision, each once, as the first step of its graph installation: a task of the revision never finds a clock that is not
// there (C-024, C-050, C-081). Domains that all lacks are removed: they read as missing before anything of them is discarded (C-082). Revisions
// come in ascending order; an older or repeated one changes nothing that is newer (C-051). A change of authority that InstallFences has brought, or that it
// could not bring before this lifecycle was installed, wins over the older one of this revision.
func (k *Keeper) Install(all []clock.Lifecycle, revision ident.Revision) {
	k.order.Lock()
	defer k.order.Unlock()
	if revision < k.graph {
		return
	}
	k.graph = revision
	for _, d := range k.gone(all) {
		k.remove(d, revision)
	}
	ahead := k.ahead(revision)
	for _, l := range all {
		at := revision
		if f, ok := ahead[l.Domain]; ok && l.OnlyFenceDiffers(f) {
			l, at = f, k.followedAt
		}
		k.install(l, at)
	}
	if ahead != nil && k.equals(k.followed) {
		k.advertise(k.followedAt)
	} else if k.equals(all) {
		k.advertise(revision)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.mu.first {
		k.mu.first = true
		close(k.mu.installed)
	}
}

// InstallFences follows a committed revision ahead of its graph installation (C-049). Where an installed clock differs from the committed one in nothing
// but its fence, the committed fence is installed at once; every other difference waits for Install. Revisions come in ascending order. The keeper keeps
// all; nobody may write it any more.
func (k *Keeper) InstallFences(all []clock.Lifecycle, revision ident.Revision) {
	k.order.Lock()
	defer k.order.Unlock()
	if revision < k.followedAt {
		return
	}
	k.followed, k.followedAt = all, revision
	for _, l := range all {
		if c := k.mu.cells[l.Domain]; c != nil {
			if held := c.current.Load().lifecycle; held == l || held.OnlyFenceDiffers(l) {
				k.install(l, revision)
			}
		}
	}
	if k.equals(all) {
		k.advertise(revision)
	}
}

// ahead is what InstallFences has brought of a later revision, by domain; nil if there is none. k.order is held.
func (k *Keeper) ahead(revision ident.Revision) map[ident.Domain]clock.Lifecycle {
	if k.followedAt <= revision {
		return nil
	}
	m := make(map[ident.Domain]clock.Lifecycle, len(k.followed))
	for _, l := range k.followed {
		m[l.Domain] = l
	}
	return m
}

// install brings one domain; k.order is held.
func (k *Keeper) install(l clock.Lifecycle, revision ident.Revision) {
	c := k.mu.cells[l.Domain]
	if c == nil {
		c = newCell(k.utc)
		c.install(l, revision)
		k.mu.Lock()
		k.mu.cells[l.Domain] = c
		k.mu.Unlock()
	} else if !c.install(l, revision) {
		return
	}
	for _, o := range k.observers {
		o.Installed(l, revision)
	}
}

// remove takes a domain away; k.order is held.
func (k *Keeper) remove(d ident.Domain, revision ident.Revision) {
	k.mu.cells[d].remove(revision)
	k.mu.Lock()
	delete(k.mu.cells, d)
	k.mu.Unlock()
	for _, o := range k.observers {
		o.Removed(d)
	}
}

// advertise raises the advertised revision: every clock the node holds equals that revision, fences included (C-061). k.order is held.
func (k *Keeper) advertise(revision ident.Revision) {
	k.mu.Lock()
	newer := revision > k.mu.advertised
	if newer {
		k.mu.advertised = revision
	}
	k.mu.Unlock()
	if newer {
		for _, o := range k.observers {
			o.Advertised(revision)
		}
	}
}

// equals says that the node holds exactly the clocks of a committed revision. k.order is held.
func (k *Keeper) equals(committed []clock.Lifecycle) bool {
	if len(committed) != len(k.mu.cells) {
		return false
	}
	for _, l := range committed {
		if c := k.mu.cells[l.Domain]; c == nil || c.current.Load().lifecycle != l {
			return false
		}
	}
	return true
}

// gone are the installed domains that a revision no longer has, also those that it has again under the same name, ascending. k.order is held.
func (k *Keeper) gone(all []clock.Lifecycle) (names []ident.Domain) {
	stay := 0
	for _, l := range all {
		if c := k.mu.cells[l.Domain]; c != nil && c.current.Load().lifecycle.Created == l.Created {
			stay++
		}
	}
	if stay == len(k.mu.cells) {
		return nil
	}
	created := make(map[ident.Domain]ident.Revision, len(all))
	for _, l := range all {
		created[l.Domain] = l.Created
	}
	for d, c := range k.mu.cells {
		if at, still := created[d]; !still || c.current.Load().lifecycle.Created != at {
			names = append(names, d)
		}
	}
	slices.Sort(names)
	return names
}

// Advertised is the newest revision that all clocks of the node matched at once; 0 before the first.
func (k *Keeper) Advertised() ident.Revision {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.advertised
}

// Installed waits until the node has installed the committed domains once since it started (C-090). Its error is the cause of ctx.
func (k *Keeper) Installed(ctx context.Context) error {
	select {
	case <-k.mu.installed:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Pause withholds the intake of an installed generation, or ends that: a flag of the publication beside mapping and authority, which stay (C-030,
// C-073). It is false if that generation does not run here.
func (k *Keeper) Pause(domain ident.Domain, generation ident.Generation, on bool) bool {
	c := k.cell(domain)
	return c != nil && c.pause(generation, on)
}

// Receive judges a tick reported by a node, which the authenticated connection names, and keeps it if it is newer. The error says why a report is
// not of the present authority; the reporter is not told. A report never creates a domain and never moves time (C-004, C-069).
func (k *Keeper) Receive(from ident.Node, p clock.Progress) error {
	if c := k.cell(p.Domain); c != nil {
		return c.accept(from, p)
	}
	return clock.Accepts(clock.Lifecycle{}, from, p)
}

// Bind gives the handle of a generation that can be read now; otherwise the error says why not (C-075).
func (k *Keeper) Bind(domain ident.Domain, generation ident.Generation) (*Handle, error) {
	h := k.Retain(domain, generation)
	if in := h.cell.current.Load(); !h.may(in) {
		return nil, h.refuse("clock.Bind", in)
	}
	return h, nil
}

// Retain gives the handle of a generation whatever its state, for a graph that is built passive or while the clock has no authority: reading it
// fails until, and unless, that generation can be read (C-076).
func (k *Keeper) Retain(domain ident.Domain, generation ident.Generation) *Handle {
	return newHandle(k.lookup(domain), domain, generation)
}

// Current gives a handle that reads whatever generation is installed at the time, for readers that outlive a generation, such as filtered
// subscriptions (C-072).
func (k *Keeper) Current(domain ident.Domain) *Handle {
	h := newHandle(k.lookup(domain), domain, 0)
	h.any = true
	return h
}

// lookup is the cell of a domain, or one that stays missing.
func (k *Keeper) lookup(domain ident.Domain) *cell {
	if c := k.cell(domain); c != nil {
		return c
	}
	return newCell(k.utc)
}

func (k *Keeper) cell(domain ident.Domain) *cell {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.mu.cells[domain]
}
