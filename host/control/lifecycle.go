// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// start commits the transition, then waits until the domain is ready. The alteration lock is free during the wait, so that STOP can end it.
func (c *Control) start(h head, s *ast.Start) answer {
	res, generation, a, ok := c.commitStart(h, s)
	if !ok {
		return a
	}
	if res.Pending { // else it was refused
		c.concludeStart(h.reference, h.domain, generation)
	}
	return c.settled(h, res)
}

func (c *Control) commitStart(h head, s *ast.Start) (registry.Result, ident.Generation, answer, bool) {
	if a, ok := c.enter(h); !ok {
		return registry.Result{}, 0, a, false
	}
	defer c.unlock(h.domain)
	var seen *captured // once, however often the START is planned
	for range plans {
		d, a, ok := c.selected(h)
		if !ok {
			return registry.Result{}, 0, a, false
		}
		if seen == nil {
			one := c.capture(d, s)
			seen = &one
		}
		opening, bad := c.decide(d, s, *seen)
		if len(bad) > 0 {
			return registry.Result{}, 0, answer{diagnostics: bad}, false
		}
		res, failed := c.submit(h, &registry.Command{Body: c.starting(d, opening), Pending: true, Text: startedText(h.domain)})
		if failed != nil {
			return res, 0, *failed, false
		}
		if res.Verdict != registry.Stale {
			return res, c.generation(res.Revision, h.domain), answer{}, true
		}
	}
	return registry.Result{}, 0, refuse(fault.StagePlan, fault.ControlPlanning, h.span, "domain "+string(h.domain)+" kept changing"), false
}

func startedText(d ident.Domain) string { return "domain " + string(d) + " started" }

// starting is the transition of a START; it places what has no place yet.
func (c *Control) starting(d *registry.Domain, o registry.Opening) *registry.Start {
	var place []registry.Key
	for _, k := range d.Keys() {
		if _, placed := d.Schedule[k]; !placed && k.Kind.Runtime() {
			place = append(place, k)
		}
	}
	return o.Start(d.Name, d.Model, c.cfg.Scheduler.Schedule(c.State(), d.Name, place))
}

// generation is the one that a start committed at a revision began; the caller holds the alteration lock.
func (c *Control) generation(at ident.Revision, name ident.Domain) ident.Generation {
	_ = c.states.wait(c.ctx, reached(at))
	if d := c.State().Domains[name]; d != nil {
		return d.Generation
	}
	return 0
}

// concludeStart waits until the generation is ready or failed and commits the final outcome of the START. A failed generation is stopped in
// the same write.
func (c *Control) concludeStart(ref ident.Reference, name ident.Domain, g ident.Generation) {
	err := c.ready(name, g)
	if c.ctx.Err() != nil {
		return // continued by the next Open
	}
	end := &registry.Conclusion{Reference: ref, Outcome: registry.Outcome{Text: startedText(name)}}
	var body registry.Body = &registry.Conclude{}
	if err != nil {
		end.Outcome = startFailure(name, err)
		body = &registry.Stop{Domain: name, Generation: g}
	}
	c.mustSettle(&registry.Command{Body: body, Concludes: end}, "the outcome of a START could not be stored", name)
}

// ready asks the installer for the generation and ends the wait when it is superseded.
func (c *Control) ready(name ident.Domain, g ident.Generation) error {
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	current := func(s *registry.State) bool {
		d := s.Domains[name]
		return d != nil && d.Status == registry.Running && d.Generation == g
	}
	gone := fault.New(fault.DomainSuperseded, "control.ready", ident.Ref{Kind: ident.KindDomain, Name: name}, "", nil)
	installed := func(s *registry.State) bool { return current(s) || !current(c.State()) }
	if err := c.done.wait(ctx, installed); err != nil {
		return err
	}
	if !current(c.State()) {
		return gone
	}
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		if c.states.wait(ctx, func(s *registry.State) bool { return !current(s) }) == nil {
			cancel(gone)
		}
	}()
	err := c.cfg.Installer.Ready(ctx, name, g)
	cancel(nil)
	<-watch
	if !current(c.State()) {
		return gone
	}
	return err
}

// startFailure is the outcome of a START that did not become ready: what happened, then why.
func startFailure(name ident.Domain, err error) registry.Outcome {
	if fault.Has(err, fault.DomainSuperseded) {
		text := fmt.Sprintf("domain %s was stopped or started again before this start was ready", name)
		return registry.Outcome{Code: fault.DomainSuperseded, Text: text, Diagnostics: fault.Diagnostics{
			complaint(fault.StageActivate, fault.DomainSuperseded, text),
		}}
	}
	text := fmt.Sprintf("domain %s could not be started and is stopped again", name)
	list := fault.Diagnostics{complaint(fault.StageActivate, fault.DomainFailed, text)}
	list = append(list, fromError(fault.StageActivate, fault.DomainFailed, err)...)
	return registry.Outcome{Code: fault.DomainFailed, Text: text, Diagnostics: list}
}

// mustSettle proposes a step of the system that somebody waits for, until it is stored or control closes.
func (c *Control) mustSettle(cmd *registry.Command, failure string, name ident.Domain) (registry.Result, bool) {
	for c.ctx.Err() == nil {
		ctx, cancel := c.limited()
		res, err := c.propose(ctx, cmd)
		cancel()
		if err == nil {
			return res, true
		}
		c.cfg.Logger.Warn(failure+"; it is tried again", "domain", string(name), "error", err)
	}
	return registry.Result{}, false
}

func (c *Control) stop(h head) answer {
	if a, ok := c.enter(h); !ok {
		return a
	}
	defer c.unlock(h.domain)
	a, _ := c.effect(h, &registry.Stop{Domain: h.domain}, "domain "+string(h.domain)+" stopped")
	return a
}
