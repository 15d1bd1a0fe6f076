// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// GrammarVersion is stored with every text; it grows when the grammar reads an old text differently.
const GrammarVersion = 1

// Config has the ports and identities of a Control. Everything without a stated default is required.
type Config struct {
	Log       Log
	Checker   Checker
	Installer Installer
	Inspector Inspector
	Hasher    PasswordHasher
	// Scheduler places runtime nodes. Nil places all of them on Node.
	Scheduler Scheduler
	// Modules judges guest modules before they are bound. Nil binds without a check.
	Modules Modules
	// Clocks reads the domain time that a plain START continues from. Nil reads none: START begins at the sampled UTC.
	Clocks Clocks
	// Voters gives the live voter incarnations, out of which the authority of a paced domain is chosen (C-036). It must not block; tell a change
	// with Control.Reconcile. Nil is the announced incarnation of Node.
	Voters func() []clock.Authority
	// Leads says whether this node leads the cluster and so reconciles authorities. It must not block. Nil is always.
	Leads func() bool
	// UTC samples the physical anchor, exactly once for a START (C-019). Nil is osclock.UTC.
	UTC func() vtime.UTC
	// ListDomains renders LIST DOMAINS. Nil is one line a domain, without data.
	ListDomains func(*registry.State) Inspection
	// Cluster is the identity of the cluster and Users its first users, by PHC text; both are used when the state is empty.
	Cluster string
	Users   []registry.User
	// Limits are stored when the state is empty. Zero is registry.DefaultLimits.
	Limits registry.Limits
	// Node announces this start: its incarnation was synced before.
	Node registry.Node
	// Logger defaults to slog.Default().
	Logger *slog.Logger
}

// Control executes requests. Its methods may be called concurrently.
type Control struct {
	cfg     Config
	ctx     context.Context // the lifetime of everything Control starts
	cancel  context.CancelCauseFunc
	unwatch func()
	group   sync.WaitGroup
	states  *signal[*registry.State] // committed
	done    *signal[*registry.State] // installed
	parsed  texts
	// candidates wakes the reconciliation; it holds at most one token.
	candidates chan struct{}
	mu         struct {
		sync.Mutex
		closed  bool
		running map[ident.Reference]*execution
		busy    map[ident.Domain]bool
		bound   map[ident.Reference]bool // transactions of live sessions
	}
}

func (cfg Config) withDefaults() Config {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Limits == (registry.Limits{}) {
		cfg.Limits = registry.DefaultLimits()
	}
	if cfg.Scheduler == nil {
		cfg.Scheduler = onNode(cfg.Node.ID)
	}
	if cfg.Voters == nil {
		self := []clock.Authority{{Node: cfg.Node.ID, Incarnation: cfg.Node.Incarnation}}
		cfg.Voters = func() []clock.Authority { return self }
	}
	if cfg.Leads == nil {
		cfg.Leads = func() bool { return true }
	}
	if cfg.UTC == nil {
		cfg.UTC = osclock.UTC
	}
	return cfg
}

// Open brings the node into the cluster state: it waits for a leader, sets up an empty state, announces this start, installs the committed
// revision (domains that run in it resume), and continues what an earlier process left behind. ctx bounds the opening only.
func Open(ctx context.Context, cfg Config) (*Control, error) {
	cfg = cfg.withDefaults()
	c := &Control{
		cfg: cfg, states: newSignal(registry.NewState()), done: newSignal(registry.NewState()), candidates: make(chan struct{}, 1),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.mu.running = map[ident.Reference]*execution{}
	c.mu.busy = map[ident.Domain]bool{}
	c.mu.bound = map[ident.Reference]bool{}
	c.unwatch = cfg.Log.Watch(c.states.set)
	if err := c.join(ctx); err != nil {
		c.Close()
		return nil, err
	}
	c.spawn(c.reconcile)
	c.spawn(c.install)
	if err := c.done.wait(ctx, reached(c.cfg.Log.State().Revision)); err != nil {
		c.Close()
		return nil, fault.New(fault.ControlClosed, "control.Open", ident.Ref{}, "the committed revision could not be installed in time", err)
	}
	c.resume()
	c.spawn(c.expireIdle)
	return c, nil
}

// join makes this start part of the committed state.
func (c *Control) join(ctx context.Context) error {
	if err := c.cfg.Log.WaitLeader(ctx); err != nil {
		return err
	}
	for _, b := range []registry.Body{
		&registry.Bootstrap{Cluster: c.cfg.Cluster, Limits: c.cfg.Limits, Users: c.cfg.Users}, &registry.NodeStarted{Node: c.cfg.Node},
	} {
		res, err := c.propose(ctx, &registry.Command{Body: b})
		if err != nil {
			return err
		}
		if res.Outcome.Failed() {
			return fault.New(res.Outcome.Code, "control.Open", ident.Ref{}, res.Outcome.Text, nil)
		}
	}
	return nil
}

// Close ends the waits of all callers with `control.uncertain`, stops every goroutine of Control and waits for them. Committed work is
// continued by the next Open. It does not close the log.
func (c *Control) Close() {
	c.mu.Lock()
	c.mu.closed = true
	c.mu.Unlock()
	c.cancel(fault.New(fault.ControlClosed, "control.Close", ident.Ref{}, "", nil))
	c.group.Wait()
	c.unwatch()
}

// State is the newest committed state.
func (c *Control) State() *registry.State { return c.cfg.Log.State() }

// Installed is the newest state that the Installer took over.
func (c *Control) Installed() *registry.State { return c.done.get() }

// spawn runs f as a goroutine that Close awaits. It reports false, and runs nothing, after Close.
func (c *Control) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.closed {
		return false
	}
	c.group.Go(f)
	return true
}

// lock takes the alteration lock of a domain (nspl 2.6).
func (c *Control) lock(d ident.Domain) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.busy[d] {
		return false
	}
	c.mu.busy[d] = true
	return true
}

func (c *Control) unlock(d ident.Domain) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.mu.busy, d)
}

// newReference makes a reference for a request that brought none.
func newReference() ident.Reference {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails
	return ident.NewReference(osclock.UTC().UnixMilli(), random)
}

// propose completes and stores a command. The entry is decoded before it is proposed, because a replica halts on one it cannot read.
func (c *Control) propose(ctx context.Context, cmd *registry.Command) (registry.Result, error) {
	cmd.UTC = osclock.UTC()
	entry := registry.EncodeCommand(cmd)
	if _, err := registry.DecodeCommand(entry); err != nil {
		return registry.Result{}, fault.New(fault.ControlCorrupt, "control.propose", ident.Ref{}, "the command cannot be stored", err)
	}
	return c.cfg.Log.Propose(ctx, entry)
}

// onNode is the Scheduler of a cluster of one.
type onNode ident.Node

// Schedule places every node on this one.
func (n onNode) Schedule(_ *registry.State, _ ident.Domain, nodes []registry.Key) []registry.Assignment {
	list := make([]registry.Assignment, len(nodes))
	for i, k := range nodes {
		list[i] = registry.Assignment{Key: k, Node: ident.Node(n)}
	}
	return list
}

// housekeeping is how often idle transactions are looked for.
const housekeeping = time.Minute
