// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"errors"
	"log/slog"
	"sort"
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/wire"
)

// Options configure a Host; they do not change while it lives.
type Options struct {
	// Connectors is what is installed, by kind: see Discover.
	Connectors map[string]Installed
	// Launcher starts them. Nil: GoPlugin with the system's temporary directory.
	Launcher Launcher
	// FileRoot is the absolute directory below which file connectors stay; empty: no files.
	FileRoot string
	// MaxBodyBytes bounds a data frame. Zero: wire.DefaultMaxBody.
	MaxBodyBytes int
	// BatchBytes and BatchRows are what a source aims at for a batch. Zero: 256 KiB and 4,096 rows.
	BatchBytes, BatchRows int
	// Log receives what connectors say and what happens to them. Nil: nothing is logged.
	Log *slog.Logger

	// pingEvery and pingTimeout are shorter in tests.
	pingEvery, pingTimeout time.Duration
	// stopGrace is longer in tests.
	stopGrace time.Duration
}

// ensureDefaults fills in zero values.
func (o *Options) ensureDefaults() {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Launcher == nil {
		o.Launcher = GoPlugin{Log: o.Log}
	}
	if o.MaxBodyBytes <= 0 {
		o.MaxBodyBytes = wire.DefaultMaxBody
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = 256 << 10
	}
	if o.BatchRows <= 0 {
		o.BatchRows = 4096
	}
	if o.pingEvery <= 0 {
		o.pingEvery, o.pingTimeout = pingEvery, callTimeout
	}
	if o.stopGrace <= 0 {
		o.stopGrace = stopGrace
	}
}

// Host runs the connectors of one node. It implements connector.Sources and connector.Sinks. A process is started when its first
// session opens and then kept. One that ended while no session was open is started again for the next.
type Host struct {
	o Options

	mu struct {
		sync.Mutex
		processes map[string]*process
		closed    bool
	}
}

var (
	_ connector.Sources = (*Host)(nil)
	_ connector.Sinks   = (*Host)(nil)
)

// New makes a host; nothing is started yet.
func New(o Options) *Host {
	o.ensureDefaults()
	h := &Host{o: o}
	h.mu.processes = make(map[string]*process)
	return h
}

// Descriptor gives the descriptor of an installed kind, for the checks at CREATE.
func (h *Host) Descriptor(kind string) (descriptor.Descriptor, bool) {
	c, ok := h.o.Connectors[kind]
	return c.Descriptor, ok
}

// Status lists the installed connectors by kind.
func (h *Host) Status() []Status {
	out := make([]Status, 0, len(h.o.Connectors))
	h.mu.Lock()
	defer h.mu.Unlock()
	for kind := range h.o.Connectors {
		if p := h.mu.processes[kind]; p != nil {
			out = append(out, p.status())
		} else {
			out = append(out, Status{Kind: kind, State: idle.String()})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Kind < out[j].Kind })
	return out
}

// Close stops every connector: ask, grace, TERM, KILL, about 3 s at most, or at once when ctx ends. Sessions should be closed before;
// those that are not report Lost and stay so.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	h.mu.closed = true
	all := make([]*process, 0, len(h.mu.processes))
	for _, p := range h.mu.processes {
		all = append(all, p)
	}
	h.mu.Unlock()
	for _, p := range all {
		p.post(occurrence{e: evStop})
	}
	var err error
	for _, p := range all {
		select {
		case <-p.done:
		case <-ctx.Done():
			err = context.Cause(ctx)
			p.kill()
			<-p.done
		}
	}
	return err
}

// process gives the running supervision of a kind.
func (h *Host) process(kind string, subject ident.Ref) (*process, error) {
	c, ok := h.o.Connectors[kind]
	if !ok {
		return nil, fault.New(fault.PluginUnknown, "supervise.Open", subject, "connector "+kind+" is not installed (installed: "+kindsOf(h.o.Connectors)+")", nil)
	}
	if !c.Descriptor.Speaks() {
		return nil, fault.New(fault.PluginProtocol, "supervise.Open", subject, protocolText(c.Descriptor), nil)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.closed {
		return nil, fault.New(fault.PluginStopped, "supervise.Open", subject, "", nil)
	}
	p := h.mu.processes[kind]
	if p == nil {
		p = newProcess(c, h.o)
		h.mu.processes[kind] = p
		go p.run()
	}
	return p, nil
}

// checked verifies CONFIG and options against the descriptor and fills in defaults.
func checked(subject ident.Ref, schemaClient, schemaOptions []descriptor.Option, client, options map[string]string) (c, o map[string]string, err error) {
	c, err1 := descriptor.CheckOptions(schemaClient, client)
	o, err2 := descriptor.CheckOptions(schemaOptions, options)
	if err := errors.Join(err1, err2); err != nil {
		return nil, nil, fault.New(fault.PluginOption, "supervise.Open", subject, "", err)
	}
	return c, o, nil
}

// OpenSource implements connector.Sources. It waits until the source is open or the connector gave an answer. The error is a definitive
// refusal, a process that could not be started (plugin.checksum, plugin.protocol, plugin.descriptor, plugin.start), one that ended in each
// of openAttempts attempts, or the end of ctx.
func (h *Host) OpenSource(ctx context.Context, plan connector.SourcePlan, events connector.SourceEvents) (connector.SourceSession, error) {
	p, err := h.process(plan.Kind, plan.Ingestor)
	if err != nil {
		return nil, err
	}
	d := p.kind.Descriptor
	if d.Source == nil {
		return nil, fault.New(fault.PluginRefused, "supervise.OpenSource", plan.Ingestor, "connector "+plan.Kind+" is no source", nil)
	}
	if plan.Client, plan.Options, err = checked(plan.Ingestor, d.Client, d.Source.Options, plan.Client, plan.Options); err != nil {
		return nil, err
	}
	s := newSourceSession(p, plan, events)
	go s.run()
	p.attach(s)
	select {
	case err = <-s.first:
	case <-ctx.Done():
		return nil, s.giveUp(ctx)
	}
	if err != nil {
		<-s.done
		return nil, err
	}
	return s, nil
}

// OpenSink implements connector.Sinks.
func (h *Host) OpenSink(_ context.Context, plan connector.SinkPlan, events connector.SinkEvents) (connector.SinkSession, error) {
	p, err := h.process(plan.Kind, plan.Emitter)
	if err != nil {
		return nil, err
	}
	d := p.kind.Descriptor
	if d.Sink == nil {
		return nil, fault.New(fault.PluginRefused, "supervise.OpenSink", plan.Emitter, "connector "+plan.Kind+" is no sink", nil)
	}
	if plan.Client, plan.Options, err = checked(plan.Emitter, d.Client, d.Sink.Options, plan.Client, plan.Options); err != nil {
		return nil, err
	}
	s := newSinkSession(p, plan, events)
	go s.run()
	p.attach(s)
	return s, nil
}
