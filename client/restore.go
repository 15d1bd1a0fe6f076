// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/wire"
)

// Back-off between tries to restore one clock on one session: 1 s doubling to 30 s.
const (
	restoreFirst = time.Second
	restoreLast  = 30 * time.Second
)

// restore attaches every followed clock on a new session, before anybody else gets it (C-103, X-102). A refusal is told and tried again later;
// only the loss of the session is an error: a restoration without an answer in time ends it (C-107).
func (f *following) restore(s carrier) *Error {
	for _, domain := range f.domains() {
		refused := f.reattach(s, domain)
		if over(s.ended()) {
			return refused
		}
		if refused != nil {
			f.retry(s, domain, refused)
		}
	}
	return nil
}

// reattach tries to restore one clock; nil says that there is nothing left to do on this session.
func (f *following) reattach(s carrier, domain string) *Error {
	if !f.gates.enter(context.Background(), domain, s.ended()) { // a detach of the clock comes first (C-109)
		return failure(ErrConnect, "the session was lost", nil)
	}
	defer f.gates.leave(domain)
	f.mu.Lock()
	one := f.mu.clocks[domain]
	if one == nil || one.holder == s {
		f.mu.Unlock()
		return nil
	}
	if failed := s.takesClocks(); failed != nil {
		f.mu.Unlock()
		return failed
	}
	one.trying = s
	f.mu.asked[domain] = &asked{on: s, restore: true}
	f.mu.Unlock()
	defer f.settle(domain)
	got := s.ask(context.Background(), wire.AttachDomainClockRequest{Domain: domain})
	f.mu.Lock()
	defer f.mu.Unlock()
	if one.trying == s {
		one.trying = nil
	}
	if now := f.mu.clocks[domain]; now == nil || now.holder == s {
		return nil // it is back, or the domain is gone
	}
	failed, _ := refusal(got)
	return failed
}

// retry tells a refusal and tries again, on this session only, until it succeeds or the clock is not wanted any more.
func (f *following) retry(s carrier, domain string, refused *Error) {
	delay := restoreFirst
	f.refused(domain, refused, delay)
	f.start(func() {
		for pause(delay, s.ended()) && f.follows(domain) {
			refused := f.reattach(s, domain)
			if refused == nil || over(s.ended()) {
				return
			}
			delay = min(2*delay, restoreLast)
			f.refused(domain, refused, delay)
		}
	})
}

func (f *following) refused(domain string, refused *Error, delay time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.clocks[domain] == nil {
		return
	}
	text := refused.Detail
	if text == "" {
		text = refused.Error()
	}
	f.newsLocked(&ClockEvent{Kind: ClockRefused, Domain: domain, Refusal: text, RetryIn: delay})
}

func (f *following) follows(domain string) bool {
	_, follows := f.clock(domain)
	return follows
}

// pause waits; false says that the session ended before.
func pause(d time.Duration, ended <-chan struct{}) bool {
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	select {
	case <-ctx.Done():
		return true
	case <-ended:
		return false
	}
}
