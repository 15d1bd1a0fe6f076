// SPDX-License-Identifier: Apache-2.0

package branch

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func key(i int) *batch.Key {
	return &batch.Key{Branch: "b", Text: fmt.Sprintf(`{"k":%d}`, i), Hash: uint64(i)}
}

// model is the reference: branches in order of acceptance, the oldest first, with the domain time of that acceptance.
type model struct {
	order []string
	used  map[string]int64
}

func (m *model) drop(text string) {
	m.order = slices.DeleteFunc(m.order, func(s string) bool { return s == text })
	delete(m.used, text)
}

func (m *model) accept(text string, now int64) {
	m.drop(text)
	m.order = append(m.order, text)
	m.used[text] = now
}

// over lists what a scan must release: every branch idle for ttl or longer, in order of acceptance.
func (m *model) over(now, ttl int64) []string {
	var out []string
	for _, text := range m.order {
		if ttl > 0 && now >= m.used[text]+ttl {
			out = append(out, text)
		}
	}
	return out
}

func names(entries []*Entry[int]) []string {
	var out []string
	for _, e := range entries {
		out = append(out, e.Key.Text)
	}
	return out
}

func TestTableAgreesWithModel(t *testing.T) {
	// req
	// req: R-052 half: a scan releases all that is over and nothing else; when scans happen is the owner's
	rapid.Check(t, func(t *rapid.T) {
		ttl := rapid.Int64Range(0, 20).Draw(t, "ttl")
		limit := rapid.Uint64Range(0, 4).Draw(t, "max")
		table := NewTable[int](time.Duration(ttl), limit)
		m := &model{used: map[string]int64{}}
		now := int64(1000)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += rapid.OneOf(rapid.Int64Range(0, 6), rapid.Int64Range(0, 6), rapid.Int64Range(-30, 30)).Draw(t, "clock moves")
			at := vtime.LogicalFromNS(now)
			k := key(rapid.IntRange(0, 5).Draw(t, "key"))
			switch rapid.SampledFrom([]string{"accept", "accept", "accept", "scan", "remove", "find"}).Draw(t, "op") {
			case "accept":
				_, had := m.used[k.Text]
				e, created, evicted := table.Accept(k, at)
				m.accept(k.Text, now)
				if created == had || e.Key.Text != k.Text || e.LastUsed() != at {
					t.Fatalf("accepting %s: created %v, entry %+v", k.Text, created, e)
				}
				if want := limit > 0 && uint64(len(m.order)) > limit; want != (evicted != nil) {
					t.Fatalf("evicted %v with %d of %d branches", evicted, len(m.order), limit)
				}
				if evicted != nil {
					if evicted.Key.Text != m.order[0] {
						t.Fatalf("evicted %s, the least recently used is %s", evicted.Key.Text, m.order[0])
					}
					m.drop(m.order[0])
				}
			case "scan":
				want := m.over(now, ttl)
				if got := names(table.Overdue(at)); !slices.Equal(got, want) {
					t.Fatalf("at %d overdue %v, want %v of %v", now, got, want, m.used)
				}
				if rapid.Bool().Draw(t, "only look") {
					continue
				}
				if got := names(table.Expire(at)); !slices.Equal(got, want) {
					t.Fatalf("at %d released %v, want %v of %v", now, got, want, m.used)
				}
				for _, text := range want {
					m.drop(text)
				}
			case "remove":
				if e := table.Find(k); e != nil {
					table.Remove(e)
					m.drop(k.Text)
					if rapid.Bool().Draw(t, "again") { // ending a branch twice must not hurt its successor
						table.Accept(k, at)
						m.accept(k.Text, now)
						table.Remove(e)
					}
				}
			case "find": // looking is not using
				table.Find(k)
			}
			agree(t, table, m)
		}
	})
}

func agree(t *rapid.T, table *Table[int], m *model) {
	var got []string
	table.All(func(e *Entry[int]) { got = append(got, e.Key.Text) })
	slices.Reverse(got)
	if !slices.Equal(got, m.order) || table.Len() != len(m.order) {
		t.Fatalf("live %v, want %v", got, m.order)
	}
	for i := range 6 {
		text := key(i).Text
		_, want := m.used[text]
		if (table.Find(key(i)) != nil) != want || (table.FindText(text) != nil) != want {
			t.Fatalf("%s: found %v, want %v", text, !want, want)
		}
	}
}

func TestThirdKeyEvictsTheLeastRecentlyUsed(t *testing.T) {
	// req: R-004
	table := NewTable[int](time.Hour, 2)
	at := vtime.LogicalFromNS(0)
	table.Accept(key(1), at)
	table.Accept(key(2), at)
	table.Accept(key(1), at)
	if _, _, evicted := table.Accept(key(3), at); evicted == nil || evicted.Key.Text != key(2).Text {
		t.Fatalf("evicted %v, want key 2", evicted)
	}
}

func TestUnbranchedRootsNeverExpire(t *testing.T) {
	// req: R-046 half: the table; that TTL on a relay is a syntax error is the language's
	table := NewTable[int](0, 0)
	table.Accept(nil, vtime.LogicalFromNS(0))
	if out := table.Expire(vtime.LogicalFromNS(math.MaxInt64)); out != nil || table.Find(nil) == nil {
		t.Fatalf("the root expired: %v", out)
	}
}

func TestExpiryIsAtTheBoundary(t *testing.T) {
	// req: R-052 half: never before; scan intervals are the owner's
	table := NewTable[int](10, 0)
	table.Accept(key(1), vtime.LogicalFromNS(100))
	if out := table.Expire(vtime.LogicalFromNS(109)); out != nil {
		t.Fatal("released one nanosecond early")
	}
	if out := table.Expire(vtime.LogicalFromNS(110)); len(out) != 1 {
		t.Fatal("not released at the boundary")
	}
}

// An idle time too long for a Duration is over, and must not keep the branches behind it.
func TestIdleTimeBeyondTheRange(t *testing.T) {
	table := NewTable[int](10, 0)
	table.Accept(key(1), vtime.LogicalFromNS(math.MinInt64))
	table.Accept(key(2), vtime.LogicalFromNS(0))
	if out := names(table.Expire(vtime.LogicalFromNS(math.MaxInt64))); len(out) != 2 {
		t.Fatalf("released %v", out)
	}
	table.Accept(key(3), vtime.LogicalFromNS(math.MaxInt64))
	if out := table.Expire(vtime.LogicalFromNS(math.MinInt64)); out != nil {
		t.Fatal("a branch of the future was released")
	}
}

func TestVisitMayRemove(t *testing.T) {
	table := NewTable[int](0, 0)
	for i := range 5 {
		table.Accept(key(i), vtime.LogicalFromNS(int64(i)))
	}
	seen := 0
	table.All(func(e *Entry[int]) {
		seen++
		table.Remove(e)
	})
	if seen != 5 || table.Len() != 0 {
		t.Fatalf("saw %d, %d left", seen, table.Len())
	}
}
