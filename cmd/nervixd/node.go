// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/engine"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/resource"
	"github.com/nervix-go/nervix/host/session/uploads"
	"github.com/nervix-go/nervix/host/state"
	"github.com/nervix-go/nervix/host/timekeeper"
	"github.com/nervix-go/nervix/host/users"
	"github.com/nervix-go/nervix/plugins/supervise"
	guestengine "github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/instances"
)

// startTimeout bounds the opening of a node: leader, replay, installation of the committed revision.
const startTimeout = 60 * time.Second

// closeTimeout bounds each closing step after the drain.
const closeTimeout = 5 * time.Second

// nodeOptions are what both commands start a node with.
type nodeOptions struct {
	data       string
	connectors string
	fileRoot   string
	session    string // the address clients are told
	guests     guestOptions
	log        *slog.Logger
}

// node is everything a host runs except its listeners.
type node struct {
	options   nodeOptions
	dir       *datadir.Dir
	admin     datadir.Credentials
	store     *state.Store
	resources *resource.Store
	uploads   *uploads.Uploads
	failed    failedUploads
	plugins   *supervise.Host
	guests    *guestengine.Engine
	modules   *instances.Modules
	clocks    *timekeeper.Keeper
	ticks     *timekeeper.Production
	unfence   func()
	engine    *engine.Engine
	raft      *dragon.Log
	control   *control.Control
	keeper    *revisionKeeper
	opened    atomic.Bool
}

// openNode opens the data folder and everything above it, in the order in which each part needs the one before.
func openNode(ctx context.Context, o nodeOptions) (n *node, err error) {
	n = &node{options: o}
	defer func() {
		if err != nil {
			n.close()
			n = nil
		}
	}()
	ctx, cancel := osclock.WithTimeout(ctx, startTimeout)
	defer cancel()

	// 1. The data folder: lock, identity, incarnation, the first user.
	if n.dir, err = datadir.Open(o.data, osclock.UTC()); err != nil {
		return n, err
	}
	reached, err := n.checkFormed()
	if err != nil {
		return n, err
	}
	if n.admin, err = n.dir.Admin(users.GeneratePassword); err != nil {
		return n, err
	}
	phc, err := users.Hash(n.admin.Password)
	if err != nil {
		return n, err
	}
	identity := n.dir.Identity()

	// 2. The node-local store, and the files of uploaded versions.
	path, err := n.dir.Sub("state")
	if err != nil {
		return n, err
	}
	if n.store, err = state.Open(path, state.Options{Node: identity.Node, Folder: identity.Cluster, Logger: o.log}); err != nil {
		return n, err
	}
	if err = n.openResources(); err != nil {
		return n, err
	}

	// 3. Connectors, and the engine on top of them.
	if err = n.openPlugins(); err != nil {
		return n, err
	}
	if err = n.openGuests(); err != nil {
		return n, err
	}
	n.openClocks(clock.Authority{Node: identity.Node, Incarnation: n.dir.Incarnation()})
	n.engine = engine.New(engine.Config{
		Node: identity.Node, Sources: n.plugins, Sinks: n.plugins, Store: n.store, Log: o.log, Clocks: n.clocks, Modules: n.modules, StopGuests: n.guests.Stop,
		PositionFields: n.positionFields, Term: n.term,
	})

	// 4. The control plane: the committed revision is installed when Open returns, and running domains have resumed.
	if path, err = n.dir.Sub("raft"); err != nil {
		return n, err
	}
	if n.raft, err = dragon.Open(dragon.Config{Dir: path, Cluster: identity.Cluster.String(), Node: identity.Node, Logger: o.log, Fatal: n.raftFailed}); err != nil {
		return n, err
	}
	if err = n.checkReplayed(ctx, reached); err != nil {
		return n, err
	}
	n.followFences()
	n.control, err = control.Open(ctx, control.Config{
		Log: n.raft, Checker: checker{plugins: n.plugins, fileRoot: o.fileRoot, state: n.raft.State}, Installer: n.engine, Inspector: inspector{n}, Hasher: hasher{},
		Modules: moduleJudge{n.modules}, Clocks: domainTime{n.clocks}, ListDomains: engine.ListDomains,
		Cluster: identity.Cluster.String(), Users: []registry.User{{Name: datadir.AdminUser, PHC: phc}},
		Node:   registry.Node{ID: identity.Node, Incarnation: n.dir.Incarnation(), Logical: identity.Node.String() + ".node", Session: o.session},
		Logger: o.log,
	})
	if err != nil {
		return n, err
	}
	n.serveUploads()
	n.opened.Store(true)
	n.keeper, err = n.keepRevision()
	return n, err
}

// raftFailed ends the process: the log of the control plane can no longer be stored or applied. While the node opens it is the folder that is
// damaged, unless the system refused a call.
func (n *node) raftFailed(reason string, err error) {
	code, exit := fault.ControlStorage, exitFailure
	if errno := syscall.Errno(0); !n.opened.Load() && !errors.As(err, &errno) {
		code, exit = fault.DaemonDamaged, exitData
		if fault.Has(err, fault.ControlFormat) {
			code = fault.ControlFormat // the folder is whole, only of another version
		}
	}
	n.options.log.Error(reason, "folder", n.dir.Path(), "code", code, "error", err)
	os.Exit(exit)
}

func (n *node) openPlugins() error {
	folder := n.options.connectors
	if folder == "" {
		self, err := os.Executable()
		if err != nil {
			return fmt.Errorf("the folder of the connectors cannot be found, use --connectors: %w", err)
		}
		folder = filepath.Join(filepath.Dir(self), "connectors")
	}
	installed, problems := supervise.Discover(folder)
	for _, p := range problems {
		n.options.log.Warn("a connector cannot be used", "folder", folder, "error", p)
	}
	run, err := n.runFolder()
	if err != nil {
		return err
	}
	n.plugins = supervise.New(supervise.Options{
		Connectors: installed, FileRoot: n.options.fileRoot, Log: n.options.log, Launcher: supervise.GoPlugin{RunDir: run, Log: n.options.log},
	})
	return nil
}

// maxRunFolder is the longest path that leaves room for a socket's name: the system bounds the whole at 108 bytes.
const maxRunFolder = 60

// runFolder is where the sockets of connectors live. A killed host leaves some there, so it is emptied at each start. A data folder with a long
// path has them in the system's temporary folder.
func (n *node) runFolder() (string, error) {
	path := filepath.Join(n.dir.Path(), "run")
	if len(path) > maxRunFolder {
		return "", nil
	}
	if err := os.RemoveAll(path); err != nil {
		return "", err
	}
	return path, os.Mkdir(path, 0o700)
}

func (n *node) positionFields(kind string) []string {
	d, ok := n.plugins.Descriptor(kind)
	if !ok || d.Source == nil {
		return nil
	}
	return d.Source.Position
}

// term is Raft's term; the log opens after the engine.
func (n *node) term() uint64 {
	if n.raft == nil {
		return 0
	}
	return n.raft.Term()
}

// drain stops intake and lets admitted work settle. Positions that settled are durable when it returns.
func (n *node) drain(timeout time.Duration) {
	ctx, cancel := osclock.WithTimeout(context.Background(), timeout)
	defer cancel()
	for _, domain := range n.engine.Drain(ctx) {
		n.options.log.Warn("the drain ran out of time; what had not settled is read again after the next start", "domain", domain)
	}
}

// close ends everything in the opposite order.
func (n *node) close() error {
	var errs []error
	bounded := func(f func(context.Context) error) {
		ctx, cancel := osclock.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		errs = append(errs, f(ctx))
	}
	if n.uploads != nil {
		bounded(n.uploads.Wait)
	}
	if n.control != nil {
		n.control.Close()
	}
	if n.unfence != nil {
		n.unfence()
	}
	if n.ticks != nil {
		n.ticks.Close()
	}
	if n.engine != nil {
		bounded(n.engine.Close)
	}
	if n.guests != nil {
		bounded(n.guests.Close)
	}
	if n.plugins != nil {
		bounded(n.plugins.Close)
	}
	if n.keeper != nil {
		n.keeper.stop()
	}
	if n.raft != nil {
		errs = append(errs, n.raft.Close())
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.dir != nil {
		errs = append(errs, n.dir.Close())
	}
	return errors.Join(errs...)
}

// hasher hashes passwords before they are proposed.
type hasher struct{}

// Hash implements control.PasswordHasher.
func (hasher) Hash(password string) (string, error) { return users.Hash(password) }

// passwords reads hashes from the committed state.
type passwords struct{ control *control.Control }

// userName is the stored form of a name that a client brings: names are case-insensitive (nspl 1.3).
func userName(name string) ident.Name { return ident.Name(strings.ToLower(name)) }

// caseless judges users by the stored form of their names, so that pacing counts all spellings of one together.
type caseless struct{ judge *users.Judge }

// Authenticate implements transport.Authenticator.
func (c caseless) Authenticate(ctx context.Context, user, password string) error {
	return c.judge.Authenticate(ctx, string(userName(user)), password)
}

// PasswordHash implements users.Store.
func (p passwords) PasswordHash(_ context.Context, user string) (string, bool, error) {
	u, ok := p.control.State().Users[userName(user)]
	return u.PHC, ok, nil
}
