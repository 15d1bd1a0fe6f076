// SPDX-License-Identifier: Apache-2.0

package users

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// book is a store in memory.
type book struct {
	hashes map[string]string
	err    error
}

func (b book) PasswordHash(_ context.Context, user string) (string, bool, error) {
	phc, ok := b.hashes[user]
	return phc, ok, b.err
}

func mustHash(t *testing.T, password string) string {
	t.Helper()
	phc, err := Hash(password)
	if err != nil {
		t.Fatal(err)
	}
	return phc
}

// cheap is a valid hash that costs nearly nothing, so that virtual time is not spent on arithmetic.
const cheap = "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ$"

func TestHashIsPHCAndVerifies(t *testing.T) {
	phc := mustHash(t, "correct horse")
	if !strings.HasPrefix(phc, "$argon2id$v=19$m=19456,t=2,p=1$") || strings.Contains(phc, "horse") {
		t.Fatal(phc)
	}
	if again := mustHash(t, "correct horse"); again == phc {
		t.Fatal("equal passwords gave equal hashes")
	}
	for password, want := range map[string]bool{"correct horse": true, "correct horsf": false, "": false} {
		if got, err := Verify(phc, password); got != want || err != nil {
			t.Errorf("%q: %v, %v", password, got, err)
		}
	}
	for _, bad := range []string{"", strings.Repeat("x", MaxPasswordBytes+1)} {
		if _, err := Hash(bad); !fault.Has(err, fault.UserPassword) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
}

func TestDamagedHashesAreRefused(t *testing.T) {
	good := mustHash(t, "x")
	for _, bad := range []string{"", "x", "$argon2i$" + good[10:], strings.Replace(good, "v=19", "v=18", 1),
		strings.Replace(good, "m=19456", "m=4000000", 1), strings.Replace(good, "t=2", "t=11", 1), strings.Replace(good, "p=1", "p=0", 1),
		strings.Replace(good, "m=19456", "m=019456", 1), good + "$", good[:len(good)-40], strings.Replace(good, "p=1", "p=1,x=2", 1)} {
		if _, err := Verify(bad, "x"); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// FuzzParse: no stored text can make a comparison dear.
func FuzzParse(f *testing.F) {
	f.Add("$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$c29tZXNhbHRzb21lc2FsdHNvbWVzYWx0c29tZXNhbA")
	f.Fuzz(func(t *testing.T, phc string) {
		s, err := parse(phc)
		if err == nil && (s.memory > maxMemoryKiB || s.passes > maxPasses || s.lanes > maxLanes || s.lanes == 0 || len(s.key) > 64) {
			t.Fatalf("accepted %+v", s)
		}
	})
}

func TestAnswers(t *testing.T) {
	store := book{hashes: map[string]string{"admin": mustHash(t, "secret"), "broken": "nonsense"}}
	j, err := NewJudge(store)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, c := range []struct {
		user, password string
		code           fault.Code
	}{
		{"admin", "secret", ""},
		{"admin", "guessed", fault.SessionUnauthenticated},
		{"nobody", "secret", fault.SessionUnauthenticated},
		{"admin", strings.Repeat("x", 2000), fault.SessionUnauthenticated},
		{"broken", "x", fault.SessionCredentialsUnavailable},
	} {
		err := j.Authenticate(t.Context(), c.user, c.password)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: got %v, want %s", c.user, err, c.code)
		}
		if err != nil && c.code == fault.SessionUnauthenticated && (strings.Contains(err.Error(), c.user) || strings.Contains(err.Error(), c.password)) {
			t.Errorf("the refusal tells too much: %v", err)
		}
	}
	j.store = book{err: errors.New("no leader")}
	if err := j.Authenticate(t.Context(), "admin", "secret"); !fault.Has(err, fault.SessionCredentialsUnavailable) {
		t.Errorf("store without answer: %v", err)
	}
}

// TestFailingUsersArePaced runs in virtual time: the figures are exact.
func TestFailingUsersArePaced(t *testing.T) {
	// req: X-017
	good, err := parse(cheap + "AAAAAAAAAAAAAAAAAAAAAA")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		j, err := NewJudge(book{hashes: map[string]string{"slow": cheap + "AAAAAAAAAAAAAAAAAAAAAA", "other": cheap + "AAAAAAAAAAAAAAAAAAAAAA"}})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		j.decoy = good
		begin := osclock.Mono()
		for range 18 {
			if err := j.Authenticate(t.Context(), "slow", "wrong"); !fault.Has(err, fault.SessionUnauthenticated) {
				t.Fatal(err)
			}
		}
		if took := osclock.Mono().Sub(begin); took != 17*paceInterval {
			t.Errorf("18 failures took %v, want 1.7 s", took)
		}
		begin = osclock.Mono()
		if err := j.Authenticate(t.Context(), "other", "wrong"); !fault.Has(err, fault.SessionUnauthenticated) {
			t.Fatal(err)
		}
		if took := osclock.Mono().Sub(begin); took != 0 {
			t.Errorf("another user waited %v", took)
		}
		// A success ends the pacing: the attempt waits for its place, the one after it does not.
		j.pace.succeeded("slow")
		begin = osclock.Mono()
		_ = j.Authenticate(t.Context(), "slow", "wrong")
		if took := osclock.Mono().Sub(begin); took != 0 {
			t.Errorf("after a success an attempt waited %v", took)
		}
	})
}

// TestSaturationIsNoFailure: attempts that find the queue full are not judged and not paced.
func TestSaturationIsNoFailure(t *testing.T) {
	// req: X-016
	store := book{hashes: map[string]string{"admin": mustHash(t, "secret")}}
	j, err := NewJudge(store)
	if err != nil {
		t.Fatal(err)
	}
	j.Close() // the worker is gone, so the queue only fills
	j.life, j.stop = context.WithCancel(context.Background())
	defer j.stop()
	for range queued {
		j.attempts <- attempt{result: make(chan bool, 1)}
	}
	if err := j.Authenticate(t.Context(), "admin", "secret"); !fault.Has(err, fault.SessionCredentialsUnavailable) {
		t.Fatalf("full queue: %v", err)
	}
	for range queued {
		<-j.attempts
	}
	ctx, stop := osclock.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if err := j.Authenticate(ctx, "admin", "wrong"); !fault.Has(err, fault.SessionCredentialsUnavailable) {
		t.Fatalf("deadline: %v", err)
	}
	if delay := j.pace.reserve("admin", osclock.Mono()); delay != 0 {
		t.Fatalf("an attempt that was not judged is paced by %v", delay)
	}
}

func TestPacerForgetsAtItsBound(t *testing.T) {
	var p pacer
	p.init()
	for i := range maxPaced + 10 {
		p.failed(strings.Repeat("x", i%50)+string(rune('a'+i%26))+time.Duration(i).String(), vtime.MonoFromNS(int64(i)))
	}
	if n := len(p.mu.next); n != maxPaced {
		t.Fatalf("%d users are remembered", n)
	}
}
