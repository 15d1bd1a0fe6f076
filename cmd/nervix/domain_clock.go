// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

const domainClockHelp = `nervix domain-clock follows the clock of the domain named by --domain, until Ctrl-C, the end of --for, or the removal of the domain. It
goes on over a restart of the node: what is lost is told as interrupted, and what is found afterwards as one state.

Each line of standard output is one of these; fields are separated by a comma and a space and keep their order:

  attached: CLOCK                    the first line
  state: CLOCK                       the clock changed, or is followed again after an interruption
  tick: generation N, id N, boundary INSTANT, authority UTC INSTANT, node logical INSTANT
  interrupted: the session is lost
  refused: retry in DURATION, TEXT   the node does not let the clock be followed again yet
  ended: domain removed              the last line
  CLOCK is:  generation N, stopped | uninstalled | unpaced, or
             generation N, paced, period DURATION, skew DURATION, logical origin INSTANT, UTC anchor INSTANT, time rate NUMBER

An INSTANT is RFC 3339 in UTC with 0, 3, 6 or 9 digits of a second, a DURATION a whole number of the largest unit that fits. --format jsonl
writes objects with integers of nanoseconds instead.

Exits: 0 after the removal, --for or Ctrl-C, 1 when the node refuses, 2 usage, 4 cannot connect or not again within two minutes, 5 authentication.`

// followed is the session of a run that follows a clock.
type followed interface {
	AttachDomainClock(ctx context.Context, domain string) (client.DomainClock, error)
	DetachDomainClock(ctx context.Context, domain string) error
	NextClockEvent(ctx context.Context) (client.ClockEvent, error)
}

// clockOptions are the flags of domain-clock.
type clockOptions struct {
	length time.Duration
	follow bool
}

func domainClockCommand(t terminal, o *options) *cobra.Command {
	var own clockOptions
	cmd := &cobra.Command{
		Use:     "domain-clock",
		Short:   "Follow the clock of a domain",
		Long:    domainClockHelp,
		Example: "  nervix --domain history domain-clock --for 10s --format jsonl",
		Args:    none("the domain comes with --domain"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case o.domain == "":
				return usage("domain-clock needs --domain")
			case cmd.Flags().Changed("for") && own.length <= 0:
				return usage("--for takes a duration above zero, such as 10s")
			}
			c, err := connect(cmd.Context(), t, *o)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			f := &clockFollower{session: c, domain: strings.ToLower(o.domain), options: own, lines: clockLinesTo(t.out, o.format), note: printer{terminal: t}.notef}
			return f.run(cmd.Context())
		},
	}
	cmd.Flags().DurationVar(&own.length, "for", 0, "how long to follow, such as 10s; without it until Ctrl-C")
	cmd.Flags().BoolVar(&own.follow, "follow", true, "follow; with --follow=false only the present clock is shown")
	return cmd
}

// Bounds of a run that follows a clock.
const (
	// patience is how long a lost session may stay lost.
	patience = 2 * time.Minute
	// Pauses between tries to get it back.
	firstPause = 250 * time.Millisecond
	lastPause  = 2 * time.Second
	// farewell bounds the detach at the end.
	farewell = 5 * time.Second
)

// clockFollower is one run of domain-clock.
type clockFollower struct {
	session followed
	domain  string
	options clockOptions
	lines   clockLines
	note    func(format string, args ...any)
}

// run attaches, tells what comes, and detaches at the end unless the node ended the attachment.
func (f *clockFollower) run(ctx context.Context) error {
	clock, err := f.session.AttachDomainClock(ctx, f.domain)
	switch {
	case ctx.Err() != nil:
		return f.leave()
	case err != nil:
		return attachExit(err)
	}
	if err := f.lines.attached(clock.Observed); err != nil {
		return errors.Join(err, f.leave())
	}
	if !f.options.follow {
		return f.leave()
	}
	if f.options.length > 0 {
		var stop context.CancelFunc
		ctx, stop = osclock.WithTimeout(ctx, f.options.length)
		defer stop()
	}
	return f.follow(ctx)
}

// follow tells events until one of the ends. A lost session is tried again for a while.
func (f *clockFollower) follow(ctx context.Context) error {
	lost := outage{}
	for {
		e, err := f.session.NextClockEvent(ctx)
		switch {
		case ctx.Err() != nil:
			return f.leave()
		case err != nil:
			if gaveUp := lost.again(ctx, err, f.note); gaveUp != nil {
				return gaveUp
			}
			continue
		}
		if e.Kind != client.ClockInterrupted {
			lost = outage{}
		}
		if err := f.lines.event(e); err != nil {
			return errors.Join(err, f.leave())
		}
		if e.Kind == client.ClockEnded {
			return nil
		}
	}
}

// leave detaches before the session ends. What keeps it from doing so is told and is no failure: the end of the session detaches too.
func (f *clockFollower) leave() error {
	ctx, stop := osclock.WithTimeout(context.Background(), farewell)
	defer stop()
	if err := f.session.DetachDomainClock(ctx, f.domain); err != nil && !errors.Is(err, client.ErrClockNotAttached) {
		f.note("the clock could not be detached, the end of the session does it: %v", err)
	}
	return nil
}

// outage is a session that is lost and not yet replaced.
type outage struct {
	since   vtime.Mono
	lasting bool
	pause   time.Duration
}

// again waits before the next try; an error is the end of the run.
func (o *outage) again(ctx context.Context, err error, note func(format string, args ...any)) error {
	if !errors.Is(err, client.ErrConnect) {
		return attachExit(err)
	}
	now := osclock.Mono()
	if !o.lasting {
		o.lasting, o.since = true, now
		note("the session is lost and could not be resumed yet, trying for %v: %v", patience, err)
	}
	if now.Sub(o.since) > patience {
		return exit(exitConnect, "the session is lost and could not be resumed: %v\n  hint: %s", err, fault.Lookup(fault.CLIUnreachable).Hint)
	}
	o.pause = max(firstPause, min(2*o.pause, lastPause))
	_ = osclock.Wait(ctx, o.pause)
	return nil
}

// attachExit is the end of a run over a failure of the session.
func attachExit(err error) error {
	switch {
	case errors.Is(err, client.ErrAuthentication):
		return exit(exitAuthentication, "%v", err)
	case errors.Is(err, client.ErrConnect), errors.Is(err, client.ErrTLS), errors.Is(err, client.ErrProtocol), errors.Is(err, client.ErrClosed):
		return exit(exitConnect, "%v", err)
	}
	return exit(exitFailed, "%v", err)
}
