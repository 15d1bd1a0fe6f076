// SPDX-License-Identifier: Apache-2.0

package users

import (
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// paceInterval is the distance between attempts of a user whose last judged attempt failed.
const paceInterval = 100 * time.Millisecond

// maxPaced bounds the users that are remembered as failing. Attackers choose names, so when it is full the user whose next attempt is
// allowed earliest is forgotten.
const maxPaced = 4096

// pacer gives the attempts of failing users their times. It reads no clock.
type pacer struct {
	mu struct {
		sync.Mutex
		next map[string]vtime.Mono // when the next attempt of a failing user may run
	}
}

func (p *pacer) init() { p.mu.next = make(map[string]vtime.Mono) }

// reserve takes the next place of a user and says how long to wait for it; zero for a user who is not failing.
func (p *pacer) reserve(user string, now vtime.Mono) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, failing := p.mu.next[user]
	if !failing {
		return 0
	}
	if at.Before(now) {
		at = now
	}
	p.mu.next[user] = at.Add(paceInterval)
	return at.Sub(now)
}

// failed starts or keeps the pacing of a user.
func (p *pacer) failed(user string, now vtime.Mono) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, failing := p.mu.next[user]; failing {
		return // reserve has moved the time
	}
	if len(p.mu.next) >= maxPaced {
		p.forgetOneLocked()
	}
	p.mu.next[user] = now.Add(paceInterval)
}

// succeeded ends the pacing of a user.
func (p *pacer) succeeded(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mu.next, user)
}

func (p *pacer) forgetOneLocked() {
	oldest, first := "", true
	for user, at := range p.mu.next {
		if first || at.Before(p.mu.next[oldest]) {
			oldest, first = user, false
		}
	}
	delete(p.mu.next, oldest)
}
