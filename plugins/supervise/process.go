// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	pluginv1 "github.com/nervix-go/nervix/plugins/proto/v1"
)

// Bounds of the host's patience.
const (
	startTimeout = 20 * time.Second
	callTimeout  = 10 * time.Second
	pingEvery    = 5 * time.Second
)

// process drives the machine of one connector kind. Its run goroutine is the only one that steps the machine.
type process struct {
	kind      Installed
	launcher  Launcher
	configure *pluginv1.ConfigureRequest
	maxBody   int
	pingEvery time.Duration
	pingLimit time.Duration
	stopGrace time.Duration
	log       *slog.Logger

	events *mailbox[occurrence]
	done   chan struct{}

	// owned by run
	m        machine
	link     *link
	alarm    *osclock.Alarm
	armed    bool
	aborting context.CancelFunc // of the launch under way
	workers  sync.WaitGroup

	mu struct {
		sync.Mutex
		up       *link
		ended    bool
		sessions map[attached]struct{}
		status   Status
	}
}

// attached is what a session hears of its process; calls do not block.
type attached interface {
	up(*link)
	// down says that an incarnation is gone. notStarted is the reason when there was none: its start failed.
	down(l *link, reason string, notStarted error)
	// ended says that there will be no further incarnation.
	ended()
}

type occurrence struct {
	e      event
	link   *link  // evStarted; evExited and evCut: whose
	reason string // evStartFailed, evExited, evCut
	err    error  // evStartFailed
}

// Status is one connector for `nervix status`.
type Status struct {
	Kind     string
	PID      int
	State    string
	Restarts int
	// Reason is the last failure and LastLines the last output of the incarnation that failed, or failed to start. The State `retrying`
	// says that the last start failed and is tried again; `failed` that no session waits for another, so that the next one tries at once.
	Reason    string
	LastLines []string
}

func newProcess(c Installed, o Options) *process {
	p := &process{
		kind: c, launcher: o.Launcher, maxBody: o.MaxBodyBytes, pingEvery: o.pingEvery, pingLimit: o.pingTimeout,
		stopGrace: o.stopGrace, m: machine{grace: o.stopGrace}, log: o.Log.With("connector", c.Descriptor.Kind),
		configure: &pluginv1.ConfigureRequest{
			FileRoot: o.FileRoot, MaxBodyBytes: uint64(o.MaxBodyBytes), BatchBytes: uint64(o.BatchBytes), BatchRows: uint32(o.BatchRows),
		},
		events: newMailbox[occurrence](), done: make(chan struct{}), alarm: osclock.NewAlarm(time.Hour),
	}
	p.alarm.Stop()
	p.mu.sessions = make(map[attached]struct{})
	p.mu.status = Status{Kind: c.Descriptor.Kind, State: idle.String()}
	return p
}

func (p *process) post(o occurrence) { p.events.put(o) }

// attach adds a session and wakes the process.
func (p *process) attach(s attached) {
	if p.join(s) {
		p.post(occurrence{e: evWanted})
	}
}

// join tells the session what is up under the lock: after it the end of that incarnation might be told first.
func (p *process) join(s attached) (lives bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.sessions[s] = struct{}{}
	if p.mu.ended {
		s.ended()
		return false
	}
	if p.mu.up != nil {
		s.up(p.mu.up)
	}
	return true
}

func (p *process) detach(s attached) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.sessions, s)
}

func (p *process) wanted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.sessions) > 0
}

func (p *process) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.mu.status
	s.LastLines = append([]string(nil), s.LastLines...)
	return s
}

// run steps the machine until it ended.
func (p *process) run() {
	defer close(p.done)
	var spare []occurrence
	for p.m.state != stopped {
		select {
		case <-p.events.notice:
			batch := p.events.take(spare)
			for _, o := range batch {
				p.handle(o)
			}
			spare = batch
		case <-p.alarm.C():
			if p.armed {
				p.armed = false
				p.handle(occurrence{e: evTimer})
			}
		}
	}
	p.events.close()
	p.alarm.Stop()
	p.workers.Wait()
}

func (p *process) handle(o occurrence) {
	if (o.e == evExited || o.e == evCut) && o.link != p.link {
		return // of an incarnation that is over
	}
	if o.e == evTimer && (p.m.state == waiting || p.m.state == retrying) && !p.wanted() {
		o.e = evUnwanted
	}
	effects, ok := p.m.step(o.e)
	if !ok {
		p.log.Error("connector supervision: unexpected event", "state", p.m.state.String(), "event", o.e.String())
		return
	}
	if o.e == evStarted {
		p.link = o.link
	}
	p.note(o)
	for _, fx := range effects {
		p.perform(fx, o)
	}
}

// note keeps the status and logs changes.
func (p *process) note(o occurrence) {
	p.mu.Lock()
	s := &p.mu.status
	s.State, s.Restarts = p.m.state.String(), p.m.restarts
	switch o.e {
	case evStarted:
		s.PID = o.link.running.PID()
	case evStartFailed:
		s.Reason, s.PID, s.LastLines = o.reason, 0, saidBefore(o.err)
	case evCut:
		s.Reason = o.reason
	case evExited:
		s.Reason, s.PID, s.LastLines = o.reason, 0, p.link.running.LastLines()
	}
	p.mu.Unlock()
	switch o.e {
	case evStarted:
		p.log.Info("connector started", "pid", o.link.running.PID())
	case evStartFailed:
		p.log.Error("connector could not be started", "reason", o.reason, "last_lines", saidBefore(o.err))
	case evCut:
		p.log.Error("connector is cut off", "reason", o.reason)
	case evExited:
		if p.m.state == stopped {
			p.log.Info("connector stopped", "reason", o.reason)
		} else {
			p.log.Error("connector ended", "reason", o.reason, "last_lines", p.link.running.LastLines())
		}
	}
}

func (p *process) perform(fx effect, o occurrence) {
	switch fx {
	case fxStart:
		p.launch()
	case fxUp:
		p.announceUp()
	case fxDown:
		p.announceDown(o)
	case fxArm:
		p.alarm.Reset(p.m.timer)
		p.armed = true
	case fxDisarm:
		p.alarm.Stop()
		p.armed = false
	case fxAsk:
		p.ask()
	case fxTerm:
		p.link.running.Terminate()
	case fxKill:
		if p.link != nil {
			p.link.running.Kill()
		} else if p.aborting != nil {
			p.aborting()
		}
	case fxEnded:
		p.announceEnd()
	}
}

// launch runs on its own goroutine, bounded by startTimeout, and reports.
func (p *process) launch() {
	ctx, cancel := osclock.WithTimeout(context.Background(), startTimeout)
	p.aborting = cancel
	p.link = nil
	p.workers.Go(func() {
		defer cancel()
		r, err := p.launcher.Launch(ctx, p.kind)
		if err != nil {
			p.post(occurrence{e: evStartFailed, reason: err.Error(), err: err})
			return
		}
		var l *link
		l = newLink(r, p.maxBody, func(reason string) { p.post(occurrence{e: evCut, link: l, reason: reason}) })
		p.workers.Go(l.read)
		if err := p.configureLink(ctx, l); err != nil {
			r.Kill()
			p.bury(l)
			err = p.configureFault(r, err)
			p.post(occurrence{e: evStartFailed, reason: err.Error(), err: err})
			return
		}
		p.post(occurrence{e: evStarted, link: l})
		p.workers.Go(func() { p.ping(l) })
		p.bury(l)
		p.post(occurrence{e: evExited, link: l, reason: r.Reason()})
	})
}

// bury waits for the end of an incarnation and of its reading goroutine.
func (p *process) bury(l *link) {
	<-l.running.Exited()
	_ = l.conn.Close()
	<-l.done
	l.running.Release()
}

// configureLink makes the first call and compares capabilities with the descriptor (P-004).
func (p *process) configureLink(ctx context.Context, l *link) error {
	reply, err := l.control.Configure(ctx, p.configure)
	if err != nil {
		return err
	}
	d := p.kind.Descriptor
	if reply.GetKind() != d.Kind || reply.GetSource() != (d.Source != nil) || reply.GetSink() != (d.Sink != nil) {
		return fault.New(fault.PluginDescriptor, "supervise.configure", ident.Ref{}, "connector "+d.Kind+" has other capabilities than its descriptor", nil)
	}
	return nil
}

// configureFault explains why a process that had shaken hands is not used; it is called after its end.
func (p *process) configureFault(r Running, err error) error {
	if fault.CodeOf(err) != "" {
		return err
	}
	if broken(err) { // it had ended by itself
		err = withOutput(fmt.Errorf("it ended right after its start (%s)", r.Reason()), r.LastLines())
	}
	return fault.New(fault.PluginStart, "supervise.configure", ident.Ref{}, "connector "+p.kind.Descriptor.Kind+": "+p.kind.Path, err)
}

// ping notices a process that hangs (P-007).
func (p *process) ping(l *link) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	p.workers.Go(func() {
		select {
		case <-l.running.Exited():
			cancel()
		case <-stop:
		}
	})
	osclock.Every(ctx, p.pingEvery, func() {
		call, done := osclock.WithTimeout(ctx, p.pingLimit)
		defer done()
		if _, err := l.control.Ping(call, &pluginv1.PingRequest{}); err != nil && ctx.Err() == nil {
			l.cut("no answer to a ping within " + p.pingLimit.String())
			cancel()
		}
	})
}

// kill is for a host that cannot wait any longer; the machine hears of it as the end of the process.
func (p *process) kill() {
	p.mu.Lock()
	up := p.mu.up
	p.mu.Unlock()
	if up != nil {
		up.running.Kill()
	}
}

// ask requests the orderly end; the machine's timers bound it.
func (p *process) ask() {
	l := p.link
	p.workers.Go(func() {
		ctx, cancel := osclock.WithTimeout(context.Background(), p.stopGrace)
		defer cancel()
		_, _ = l.control.Stop(ctx, &pluginv1.StopRequest{})
		_ = l.conn.Close() // the SDK exits when the data socket ends
	})
}

func (p *process) announceUp() {
	p.mu.Lock()
	p.mu.up = p.link
	list := p.listLocked()
	p.mu.Unlock()
	for _, s := range list {
		s.up(p.link)
	}
}

func (p *process) announceDown(o occurrence) {
	p.mu.Lock()
	p.mu.up = nil
	list := p.listLocked()
	p.mu.Unlock()
	if p.m.state == stopped {
		o.err = nil // the start was given up; that everything ended is told next
	}
	for _, s := range list {
		s.down(p.link, o.reason, o.err)
	}
}

func (p *process) announceEnd() {
	p.mu.Lock()
	p.mu.ended = true
	list := p.listLocked()
	p.mu.Unlock()
	for _, s := range list {
		s.ended()
	}
}

func (p *process) listLocked() []attached {
	list := make([]attached, 0, len(p.mu.sessions))
	for s := range p.mu.sessions {
		list = append(list, s)
	}
	return list
}
