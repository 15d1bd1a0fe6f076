// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"sync"

	"github.com/nervix-go/nervix/host/wire"
)

// Client executes commands on a node and follows domain clocks. It is safe for concurrent use; commands of one client run one at a time, in
// the order in which they were sent.
type Client struct {
	config    Config
	addresses []Address
	// following are the clocks it follows; it has its own lock.
	following *following
	// dialing has one place: who holds it may replace the session.
	dialing chan struct{}
	mu      struct {
		sync.Mutex
		current *session
		// transaction is the one that the current session holds open; empty for none.
		transaction string
		closed      bool
	}
	// life ends with Close.
	life context.Context
	end  context.CancelFunc
}

// Dial connects and authenticates. ctx bounds the attempt, not the client. Errors: ErrAddress, ErrConnect, ErrTLS, ErrAuthentication,
// ErrProtocol.
func Dial(ctx context.Context, config Config) (*Client, error) {
	c := &Client{config: config.withDefaults(), following: newFollowing(), dialing: make(chan struct{}, 1)}
	for _, server := range config.servers() {
		address, err := ParseAddress(server)
		if err != nil {
			return nil, err
		}
		c.addresses = append(c.addresses, address)
	}
	c.life, c.end = context.WithCancel(context.Background())
	s, failed := c.connect(ctx)
	if failed != nil {
		c.end()
		return nil, failed
	}
	c.mu.current = s
	return c, nil
}

// Node is the name of the node that serves the session, as it introduced itself last.
func (c *Client) Node() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.current.node.Node
}

// Close ends the session; an open transaction is reverted by the node. Calls under way end with ErrClosed, or ErrUncertain. Close waits
// for the client's goroutines and may be called twice.
func (c *Client) Close() error {
	c.mu.Lock()
	c.mu.closed = true
	c.mu.Unlock()
	c.end()
	c.dialing <- struct{}{} // nobody replaces the session any more
	defer func() { <-c.dialing }()
	c.mu.Lock()
	s := c.mu.current
	c.mu.Unlock()
	s.close()
	c.following.close()
	return nil
}

// session gives the current session, or waits for a new one in place of a lost one. What is begun goes on when ctx ends, so that callers of
// little patience get a session in the end.
func (c *Client) session(ctx context.Context) (*session, *Error) {
	select {
	case c.dialing <- struct{}{}:
	case <-ctx.Done():
		return nil, c.gaveUp(ctx)
	case <-c.life.Done():
		return nil, failure(ErrClosed, "", nil)
	}
	c.mu.Lock()
	old, closed := c.mu.current, c.mu.closed
	c.mu.Unlock()
	if closed || !old.lostAlready() {
		<-c.dialing
		if closed {
			return nil, failure(ErrClosed, "", nil)
		}
		return old, nil
	}
	type made struct {
		session *session
		failed  *Error
	}
	done := make(chan made, 1)
	go func() { // Close waits for it: it has the place in dialing
		defer func() { <-c.dialing }()
		s, failed := c.replace(old)
		done <- made{s, failed}
	}()
	select {
	case m := <-done:
		return m.session, m.failed
	case <-ctx.Done():
		return nil, c.gaveUp(ctx)
	}
}

// replace makes a session in place of a lost one: the followed clocks are attached before it is published to callers (C-103, X-102).
func (c *Client) replace(old *session) (*session, *Error) {
	old.close()
	s, failed := c.connect(c.life)
	if failed != nil {
		if c.life.Err() != nil {
			failed = failure(ErrClosed, "", nil)
		}
		return nil, failed
	}
	defer context.AfterFunc(c.life, func() { s.fail(failure(ErrClosed, "", nil)) })()
	if failed := c.following.restore(s); failed != nil {
		s.close()
		return nil, failed
	}
	c.mu.Lock()
	c.mu.current = s
	c.mu.Unlock()
	return s, nil
}

// gaveUp is the error of a call that ended before a session was there.
func (c *Client) gaveUp(ctx context.Context) *Error {
	if c.life.Err() != nil {
		return failure(ErrClosed, "", nil)
	}
	return failure(ErrConnect, "", context.Cause(ctx))
}

// ListDomains lists the domains the user may see.
func (c *Client) ListDomains(ctx context.Context) ([]Domain, error) {
	reply, err := c.ask(ctx, wire.ListDomainsRequest{})
	if err != nil {
		return nil, err
	}
	list, ok := reply.(wire.DomainList)
	if !ok {
		return nil, failure(ErrProtocol, "another reply than a list of domains", nil)
	}
	domains := make([]Domain, len(list.Domains))
	for i, d := range list.Domains {
		domains[i] = Domain{Name: d.Name, Status: d.Status, Pace: d.Pace.String(), PeriodNS: d.PeriodNS, SkewNS: d.SkewNS,
			StartVersion: d.StartVersion}
	}
	return domains, nil
}

// Status asks the node that serves the session for its state.
func (c *Client) Status(ctx context.Context) (Status, error) {
	reply, err := c.ask(ctx, wire.StatusRequest{})
	if err != nil {
		return Status{}, err
	}
	report, ok := reply.(wire.StatusReport)
	if !ok {
		return Status{}, failure(ErrProtocol, "another reply than a status report", nil)
	}
	return statusOf(report), nil
}

// ask sends an inspection, which is safe to repeat, until it has its answer or the call's time is over.
func (c *Client) ask(ctx context.Context, body wire.ClientBody) (wire.ServerBody, error) {
	ctx, stop := context.WithTimeout(ctx, c.config.CallTimeout)
	defer stop()
	delay := backoff{}
	for {
		s, failed := c.session(ctx)
		if failed != nil {
			return nil, failed
		}
		got := s.roundTrip(ctx, c.config.RequestTimeout, controlLane, body)
		switch reply := got.reply.(type) {
		case nil:
			if ctx.Err() != nil || c.life.Err() != nil {
				return nil, got.failed
			}
		case wire.RequestRejected:
			if !repeatable(reply.Kind) {
				return nil, rejection(reply)
			}
			got.failed = rejection(reply)
		case wire.RequestCancelled:
			got.failed = failure(ErrConnect, "the node stops", nil)
		default:
			return reply, nil
		}
		if !delay.wait(ctx) {
			return nil, got.failed
		}
	}
}
