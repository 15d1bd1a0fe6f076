// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

func candidates() *rapid.Generator[[]Authority] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Authority {
		return Authority{ident.Node(rapid.Uint64Range(1, 5).Draw(t, "node")), ident.Incarnation(rapid.Uint64Range(1, 3).Draw(t, "incarnation"))}
	}), 0, 8)
}

func TestSelectionIsDeterministic(t *testing.T) {
	// req: C-038, C-039
	// req: C-036 half: the leader makes the candidates
	rapid.Check(t, func(t *rapid.T) {
		d := ident.Domain(rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "domain"))
		c := candidates().Draw(t, "candidates")
		given := slices.Clone(c)
		a, ok := Select(d, c)
		if !slices.Equal(given, c) {
			t.Fatal("Select changed its argument")
		}
		if ok != (len(c) > 0) || ok && !slices.Contains(c, a) {
			t.Fatalf("%v, %v of %v", a, ok, c)
		}
		for _, o := range c {
			if o.Node == a.Node && o.Incarnation > a.Incarnation {
				t.Fatalf("%v was chosen, %v is newer", a, o)
			}
		}
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "shuffle"), 0))
		shuffled := append(slices.Clone(c), c...)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if b, again := Select(d, shuffled); a != b || ok != again {
			t.Fatalf("%v, then %v of the same candidates", a, b)
		}
	})
}

func TestDomainsSpreadOverVoters(t *testing.T) {
	// req: C-039
	for _, voters := range []int{1, 3, 5} {
		var c []Authority
		for n := range voters {
			c = append(c, Authority{ident.Node(n + 1), 1})
		}
		owned := map[Authority]int{}
		for i := range 100 * voters {
			a, _ := Select(ident.Domain(fmt.Sprintf("domain%d", i)), c)
			owned[a]++
		}
		for _, a := range c {
			if owned[a] < 60 {
				t.Errorf("%d voters: %s owns %d of %d domains", voters, a, owned[a], 100*voters)
			}
		}
	}
}

// TestSelectionStays pins choices: nodes of two versions that lead in turn should propose the same owner.
func TestSelectionStays(t *testing.T) {
	// req: C-039
	c := []Authority{{1, 4}, {2, 1}, {3, 9}}
	for d, want := range map[ident.Domain]ident.Node{"weather": 3, "orders": 2, "a": 3, "b": 2, "c": 1, "d": 2, "täglich": 3} {
		if a, _ := Select(d, c); a.Node != want {
			t.Errorf("%s is owned by %s, want %s", d, a.Node, want)
		}
	}
}

func paced(generation ident.Generation, f Fence) Lifecycle {
	return Lifecycle{Domain: "d", Created: 3, Generation: generation, Running: true, Paced: true, Pace: Pace{Period: 10}, Mapping: Mapping{Rate: 1}, Fence: f}
}

func TestReconcileKeepsWhoIsEligible(t *testing.T) {
	// req: C-035, C-043, C-008, C-041, C-042 half: the decision alone
	rapid.Check(t, func(t *rapid.T) {
		l := paced(ident.Generation(rapid.Uint64Range(1, 9).Draw(t, "generation")), Fence{Revision: rapid.Uint64Range(1, 9).Draw(t, "revision")})
		if rapid.Bool().Draw(t, "assigned") {
			l.Fence.Authority = Authority{ident.Node(rapid.Uint64Range(1, 5).Draw(t, "node")), ident.Incarnation(rapid.Uint64Range(1, 3).Draw(t, "incarnation"))}
		}
		c := candidates().Draw(t, "candidates")
		next, commit := Reconcile(l, c)
		eligible := !l.Fence.Authority.IsZero() && slices.Contains(c, l.Fence.Authority) &&
			!slices.ContainsFunc(c, func(a Authority) bool {
				return a.Node == l.Fence.Authority.Node && a.Incarnation > l.Fence.Authority.Incarnation
			})
		chosen, _ := Select(l.Domain, c)
		switch {
		case eligible, chosen == l.Fence.Authority:
			if commit || next != l.Fence {
				t.Fatalf("%v was proposed over %v", next, l.Fence)
			}
		case !commit || next != Fence{Revision: l.Fence.Revision + 1, Authority: chosen}:
			t.Fatalf("%v, %v after %v with %v", next, commit, l.Fence, c)
		}
		for _, idle := range []Lifecycle{{}, Stop(l), {Domain: "d", Running: true, Generation: 1}} {
			if f, commit := Reconcile(idle, c); commit || f != idle.Fence {
				t.Fatalf("%+v needs no authority, %v was proposed", idle, f)
			}
		}
	})
}

func TestReassignIsACompareAndSet(t *testing.T) {
	// req: C-040, C-041, C-008 half: the decision alone
	l := paced(4, Fence{7, Authority{2, 3}})
	next := Fence{8, Authority{1, 1}}
	got, ok := Reassign(l, 4, l.Fence, next)
	want := l
	want.Fence = next
	if !ok || got != want {
		t.Fatalf("%+v, %v", got, ok)
	}
	stopped, unpaced := Stop(l), l
	unpaced.Paced = false
	for name, refused := range map[string]func() (Lifecycle, bool){
		"generation":    func() (Lifecycle, bool) { return Reassign(l, 5, l.Fence, next) },
		"fence":         func() (Lifecycle, bool) { return Reassign(l, 4, Fence{7, Authority{2, 2}}, next) },
		"revision":      func() (Lifecycle, bool) { return Reassign(l, 4, Fence{6, Authority{2, 3}}, Fence{7, Authority{1, 1}}) },
		"same revision": func() (Lifecycle, bool) { return Reassign(l, 4, l.Fence, Fence{7, Authority{1, 1}}) },
		"jump":          func() (Lifecycle, bool) { return Reassign(l, 4, l.Fence, Fence{9, Authority{1, 1}}) },
		"again":         func() (Lifecycle, bool) { return Reassign(want, 4, l.Fence, next) },
	} {
		if got, ok := refused(); ok || got != l && got != want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	for _, l := range []Lifecycle{stopped, unpaced, {}} {
		if got, ok := Reassign(l, l.Generation, l.Fence, l.Fence.next(Authority{1, 1})); ok || got != l {
			t.Errorf("%+v was reassigned", l)
		}
	}
}
