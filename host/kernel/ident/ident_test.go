// SPDX-License-Identifier: Apache-2.0

package ident

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

func TestReferenceIsAUUIDv7(t *testing.T) {
	// req: X-064 half: the form of the reference; that commands keep it is the registry's
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(0, 1<<48-1).Draw(t, "ms")
		var random [10]byte
		copy(random[:], rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "random"))
		r := NewReference(ms, random)
		u, err := uuid.Parse(r.String())
		if err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 || [16]byte(u) != [16]byte(r) {
			t.Fatalf("%s: version %d, variant %v, error %v", r, u.Version(), u.Variant(), err)
		}
		if r.UnixMilli() != ms {
			t.Fatalf("time %d, want %d", r.UnixMilli(), ms)
		}
		if sec, nsec := u.Time().UnixTime(); sec*1000+nsec/1e6 != ms {
			t.Fatalf("another reader sees %d.%09d, want %d ms", sec, nsec, ms)
		}
		back, err := ParseReference(r.String())
		if err != nil || back != r {
			t.Fatalf("read back %v, %v", back, err)
		}
		later := NewReference(ms+1, [10]byte{})
		if ms < 1<<48-1 && !(r.String() < later.String()) {
			t.Fatalf("%s does not sort before %s", r, later)
		}
	})
}

func TestParseReferenceRefuses(t *testing.T) {
	good := NewReference(1, [10]byte{}).String()
	for name, text := range map[string]string{
		"empty":         "",
		"short":         good[:35],
		"long":          good + "0",
		"no dashes":     strings.ReplaceAll(good, "-", "0"),
		"braces":        "{" + good[:34] + "}",
		"not hex":       "g" + good[1:],
		"version 4":     "00000000-0000-4000-8000-000000000000",
		"wrong variant": "00000000-0000-7000-c000-000000000000",
		"zero":          "00000000-0000-0000-0000-000000000000",
		"dash in digit": good[:10] + "-" + good[11:],
	} {
		if r, err := ParseReference(text); err == nil || !r.IsZero() {
			t.Errorf("%s: %q was read as %s", name, text, r)
		}
	}
}

func FuzzParseReference(f *testing.F) {
	f.Add(NewReference(1, [10]byte{1, 2, 3}).String())
	f.Add("00000000-0000-4000-8000-000000000000")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReference(text)
		if err == nil && r.String() != strings.ToLower(text) {
			t.Fatalf("%q was read as %s", text, r)
		}
	})
}

// Stored numbers and printed words of kinds are both part of stored data: no two kinds may share a word, and none may lack one.
func TestKindsHaveDistinctWords(t *testing.T) {
	seen := map[string]Kind{}
	for k := KindDomain; k <= KindNode; k++ {
		w := k.String()
		if w == "" || w == "KIND?" {
			t.Errorf("kind %d has no word", k)
		}
		if other, ok := seen[w]; ok {
			t.Errorf("kinds %d and %d are both %s", k, other, w)
		}
		seen[w] = k
	}
	if Kind(200).String() != "KIND?" {
		t.Errorf("an unknown kind prints as %s", Kind(200))
	}
}

func TestRuntimeKinds(t *testing.T) {
	// req: R-001 half: a relay is a scheduled kind; its owner is the schedule's
	for k := KindNone; k <= KindNode; k++ {
		want := k == KindRelay || k == KindHashMap || k >= KindIngestor && k <= KindEmitter
		if k.Runtime() != want {
			t.Errorf("%s: runtime %v", k, k.Runtime())
		}
	}
}

func TestRefText(t *testing.T) {
	for want, r := range map[string]Ref{
		"":                                {},
		"USER ann":                        {Kind: KindUser, Name: "ann"},
		"RELAY beds in domain greenhouse": {Domain: "greenhouse", Kind: KindRelay, Name: "beds"},
	} {
		if r.String() != want {
			t.Errorf("%q, want %q", r, want)
		}
	}
	if Node(7).String() != "n7" {
		t.Errorf("node %s", Node(7))
	}
}
