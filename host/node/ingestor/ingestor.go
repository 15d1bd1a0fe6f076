// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// Credit is what may be under way from a source to its ingestor at once, besides the rows that PARALLEL MAX bounds.
const (
	creditBatches = 4
	creditBytes   = 4 << 20
)

// leastSilence is the shortest ACK TIMEOUT that can be told from life: what waits is reported alive every 100 ms, and a busy node is late with
// that. A shorter one counts as this.
const leastSilence = 500 * time.Millisecond

// Positions is the durable position of the ingestor; host/state is behind it.
type Positions interface {
	// Load gives the stored position; both are empty if there is none.
	Load() (identity, position []byte, err error)
	// Save stores a position and calls durable once it would survive a crash, or with the reason why it does not. durable is called on
	// another goroutine.
	Save(identity, position []byte, durable func(error))
}

// Target is where one route leads: its relay, and the relay of its error records (nil unless the policy is SEND TO).
type Target struct {
	Relay runtime.Target
	Error runtime.Target
}

// Config is what an ingestor is built from. Nothing in it changes while it runs (P-003).
type Config struct {
	Plan      *model.Ingestor
	Targets   []Target // one a route
	Sources   connector.Sources
	Positions Positions
	Clock     Clock
	Lanes     *lanes.Executor
	Benches   runtime.Benches
	Alloc     memory.Allocator
	Log       *slog.Logger
}

// Ingestor is a running ingestor.
type Ingestor struct {
	plan    *model.Ingestor
	config  Config
	lane    *lanes.Lane
	session connector.SourceSession
	stats   stats

	// Told by holders of blocks, from any lane.
	told struct {
		sync.Mutex
		settled []*ack.Block
		failed  []*ack.Block
		posted  bool
	}

	// Lane only.
	window   *ack.Window
	epoch    uint64
	identity []byte
	part     uint64 // of the source: one more whenever reading begins anew
	position []byte // durable, in this part
	next     turning
	queue    []intake
	parked   int
	working  bool // a work task is posted
	stopping bool // StopIntake came: no session is taken any more
	closed   bool
	alive    runtime.Alive
	routes   []*route
	group    group
	commit   commit
	retry    lanes.Timer
	check    lanes.Timer
}

type intake struct {
	epoch uint64
	batch arrow.RecordBatch
	bytes int64
	next  int // first row not taken up
}

// New builds an ingestor that does nothing yet.
func New(c Config) *Ingestor {
	mode := c.Plan.Mode
	i := &Ingestor{
		plan:   c.Plan,
		config: c,
		lane:   c.Lanes.For(xxh3.HashString(c.Plan.Ref.String())),
		window: ack.NewWindow(max(mode.AckTimeout, leastSilence), mode.Retry.Backoff, mode.Retry.MaxBackoff),
	}
	i.stats.init()
	i.openRoutes()
	i.group.init(i)
	return i
}

// Start opens the source at the stored position. A definitive refusal, such as a missing file, is the error; no session exists then, and Start may
// be called again.
func (i *Ingestor) Start(ctx context.Context) error {
	identity, position, err := i.config.Positions.Load()
	if err != nil {
		return err
	}
	i.stats.setPosition(identity, position)
	opened := make(chan struct{})
	i.lane.Post(lanes.Func(func(l *lanes.Lane) {
		i.identity, i.position, i.commit.stored = identity, position, identity
		i.armCheck(l)
		close(opened)
	}))
	<-opened
	session, err := i.config.Sources.OpenSource(ctx, i.sourcePlan(identity, position), events{i: i})
	if err != nil {
		i.stats.setTransient(err.Error())
		var named *fault.Error
		if errors.As(err, &named) && named.Subject == i.plan.Ref {
			return err
		}
		return fault.New(fault.NodeFailed, "ingestor.Start", i.plan.Ref, "the source cannot be opened", err)
	}
	late, begun := false, chan struct{}(nil)
	i.onLane(func(l *lanes.Lane) {
		if late = i.stopping; late {
			return
		}
		i.session, begun = session, i.commit.begun
		i.schedule(l)
		i.turn(l)
	})
	if late {
		_ = session.Close(ctx)
		return fault.New(fault.NodeFailed, "ingestor.Start", i.plan.Ref, "the ingestor was stopped while its source was opened", errEnded)
	}
	if begun != nil { // what a START began is what the next one goes on with
		select {
		case <-begun:
		case <-ctx.Done():
		}
	}
	return nil
}

func (i *Ingestor) sourcePlan(identity, position []byte) connector.SourcePlan {
	return connector.SourcePlan{
		Ingestor: i.plan.Ref, Kind: i.plan.Source.Kind, Client: i.plan.Client.Config, Options: i.plan.Source.Options,
		Identity: identity, Position: position,
		CreditBatches: creditBatches, CreditBytes: creditBytes, CreditRows: i.rowCredit(),
	}
}

func (i *Ingestor) rowCredit() int64 {
	if i.plan.Mode.Max == 0 {
		return 1
	}
	return int64(min(i.plan.Mode.Max, 1<<31))
}

// onLane runs f on the lane and waits for it. It must not be called on a lane.
func (i *Ingestor) onLane(f func(*lanes.Lane)) {
	done := make(chan struct{})
	i.lane.Post(lanes.Func(func(l *lanes.Lane) {
		f(l)
		close(done)
	}))
	<-done
}

// StopIntake ends the source session; what was admitted goes on. Payloads not yet taken up are dropped unjudged: they stay at the source.
func (i *Ingestor) StopIntake(ctx context.Context) error {
	var session connector.SourceSession
	i.onLane(func(*lanes.Lane) {
		session, i.session = i.session, nil
		i.stopping = true
		i.dropQueue()
		i.stats.setStatus(Stopped)
	})
	err := i.stopTurning(ctx)
	if session != nil {
		err = session.Close(ctx)
	}
	i.onLane(func(*lanes.Lane) { i.dropQueue() })
	return err
}

// Close fails what is still held and ends the ingestor. StopIntake comes first.
func (i *Ingestor) Close() {
	_ = i.stopTurning(context.Background())
	i.onLane(func(l *lanes.Lane) { i.close(l) })
}

func (i *Ingestor) close(l *lanes.Lane) {
	i.closed = true
	i.dropQueue()
	l.Disarm(&i.retry)
	l.Disarm(&i.check)
	i.alive.Each(func(o *runtime.Outlet) { o.Drop(l, errEnded, func([]uint64) {}) })
	i.window.Reset()
	i.marked()
	i.stats.setStatus(Stopped)
}

// Flush publishes what the routes hold.
func (i *Ingestor) Flush() {
	i.lane.Post(lanes.Func(func(l *lanes.Lane) {
		i.alive.Each(func(o *runtime.Outlet) { o.Flush(l) })
	}))
}

func (i *Ingestor) dropQueue() {
	for _, in := range i.queue {
		in.batch.Release()
	}
	i.queue = nil
}

// Park implements runtime.Holder: a publication waits, so nothing more is taken up.
func (i *Ingestor) Park() { i.parked++ }

// Unpark implements runtime.Holder.
func (i *Ingestor) Unpark(l *lanes.Lane) {
	i.parked--
	if i.parked == 0 {
		i.schedule(l)
	}
}

// BlockSettled implements ack.Owner.
func (i *Ingestor) BlockSettled(b *ack.Block) { i.tell(b, false) }

// BlockFailed implements ack.Owner.
func (i *Ingestor) BlockFailed(b *ack.Block) { i.tell(b, true) }

func (i *Ingestor) tell(b *ack.Block, failed bool) {
	i.told.Lock()
	if failed {
		i.told.failed = append(i.told.failed, b)
	} else {
		i.told.settled = append(i.told.settled, b)
	}
	post := !i.told.posted
	i.told.posted = true
	i.told.Unlock()
	if post {
		i.lane.Post(lanes.Func(i.takeTold))
	}
}

// takeTold moves what holders reported into the window, and the position on.
func (i *Ingestor) takeTold(l *lanes.Lane) {
	i.told.Lock()
	settled, failed := i.told.settled, i.told.failed
	i.told.settled, i.told.failed, i.told.posted = nil, nil, false
	i.told.Unlock()
	if i.closed {
		return
	}
	now := osclock.Mono()
	for _, b := range failed {
		i.window.Failed(b, now)
	}
	for _, b := range settled {
		i.window.Settled(b, now)
	}
	i.advance(l)
}

// track makes the block of a flushed ingest batch.
func (i *Ingestor) track(deliveries []uint64) lineage.Lineage {
	b := ack.NewBlock(i, deliveries, i.lane.Now().NS())
	i.window.Begin(b)
	return lineage.Of(b, len(deliveries))
}

// armCheck looks for silent blocks a few times within each ACK TIMEOUT.
func (i *Ingestor) armCheck(l *lanes.Lane) {
	every := max(i.plan.Mode.AckTimeout/4, 5*time.Millisecond)
	l.Arm(&i.check, every, lanes.Func(func(l *lanes.Lane) {
		if i.closed {
			return
		}
		n := i.window.Silent(osclock.Mono(), func(silence time.Duration) error {
			return fault.New(fault.AckTimeout, "ingestor", i.plan.Ref, "no sign of life for "+silence.Round(time.Millisecond).String(), nil)
		})
		if n > 0 {
			i.config.Log.Warn("deliveries timed out and are read again", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "batches", n)
			i.advance(l)
		}
		i.armCheck(l)
	}))
}
