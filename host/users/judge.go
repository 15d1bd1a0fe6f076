// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
)

// Store finds the password hash of a user. ok is false for an unknown user; an error means that the store cannot tell now.
type Store interface {
	PasswordHash(ctx context.Context, user string) (phc string, ok bool, err error)
}

// queued is the greatest number of attempts that wait for the worker.
const queued = 64

// Judge authenticates users. It implements the Authenticator of host/session/transport. Close stops its worker and waits.
type Judge struct {
	store Store
	// decoy is the hash that unknown users are compared with.
	decoy    stored
	attempts chan attempt
	pace     pacer
	stop     context.CancelFunc
	life     context.Context
	work     sync.WaitGroup
}

// attempt is one comparison for the worker.
type attempt struct {
	against  stored
	password string
	result   chan bool // capacity 1
}

// NewJudge starts the worker.
func NewJudge(store Store) (*Judge, error) {
	phc, err := Hash(GeneratePassword())
	if err != nil {
		return nil, err
	}
	decoy, err := parse(phc)
	if err != nil {
		return nil, err
	}
	j := &Judge{store: store, decoy: decoy, attempts: make(chan attempt, queued)}
	j.pace.init()
	j.life, j.stop = context.WithCancel(context.Background())
	j.work.Add(1)
	go j.worker()
	return j, nil
}

// Close stops the worker. Attempts that wait end as unavailable.
func (j *Judge) Close() {
	j.stop()
	j.work.Wait()
}

func (j *Judge) worker() {
	defer j.work.Done()
	for {
		select {
		case a := <-j.attempts:
			a.result <- a.against.verify(a.password)
		case <-j.life.Done():
			return
		}
	}
}

// Authenticate judges user and password: nil, session.unauthenticated, or session.credentials_unavailable when they cannot be judged
// within ctx. A refusal does not tell an unknown user from a wrong password.
func (j *Judge) Authenticate(ctx context.Context, user, password string) error {
	if len(password) > MaxPasswordBytes {
		return refused()
	}
	phc, known, err := j.store.PasswordHash(ctx, user)
	if err != nil {
		return unavailable("users cannot be read", err)
	}
	against := j.decoy
	if known {
		if against, err = parse(phc); err != nil {
			return unavailable("user "+user, err)
		}
	}
	if delay := j.pace.reserve(user, osclock.Mono()); delay > 0 {
		if err := osclock.Wait(ctx, delay); err != nil {
			return unavailable("the attempt waited for its turn", err)
		}
	}
	right, err := j.compare(ctx, against, password)
	switch {
	case err != nil:
		return err
	case known && right:
		j.pace.succeeded(user)
		return nil
	default:
		j.pace.failed(user, osclock.Mono())
		return refused()
	}
}

func (j *Judge) compare(ctx context.Context, against stored, password string) (bool, error) {
	a := attempt{against: against, password: password, result: make(chan bool, 1)}
	select {
	case j.attempts <- a:
	default:
		return false, unavailable("too many logins at once", nil)
	}
	select {
	case right := <-a.result:
		return right, nil
	case <-ctx.Done():
		return false, unavailable("", context.Cause(ctx))
	case <-j.life.Done():
		return false, unavailable("the node stops", nil)
	}
}

func refused() error {
	return fault.New(fault.SessionUnauthenticated, "users.Authenticate", ident.Ref{}, "", nil)
}

func unavailable(detail string, err error) error {
	return fault.New(fault.SessionCredentialsUnavailable, "users.Authenticate", ident.Ref{}, detail, err)
}
