// SPDX-License-Identifier: Apache-2.0

package registry_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/zeebo/xxh3"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// sample builds a state and the entries that led to it.
func sample(seed int) (*registry.State, [][]byte) {
	list := rapid.Custom(func(t *rapid.T) *sampled {
		g := &generator{t: t, milli: epoch, state: registry.NewState()}
		s := &sampled{}
		for i := range 60 {
			c := g.first(i)
			s.entries = append(s.entries, registry.EncodeCommand(c))
			next, _, err := registry.Apply(g.state, ident.Revision(i+1), c)
			if err != nil {
				t.Fatal(err)
			}
			g.state = next
		}
		s.state = g.state
		return s
	}).Example(seed)
	return list.state, list.entries
}

type sampled struct {
	state   *registry.State
	entries [][]byte
}

func FuzzCommand(f *testing.F) {
	_, entries := sample(1)
	for _, e := range entries {
		f.Add(e)
	}
	state, _ := sample(2)
	f.Fuzz(func(t *testing.T, entry []byte) {
		c, err := registry.DecodeCommand(entry)
		if err != nil {
			if code := fault.CodeOf(err); code != fault.ControlCorrupt && code != fault.ControlFormat && code != fault.WireInvalid {
				t.Fatalf("an error without a proper code: %v", err)
			}
			return
		}
		again, err := registry.DecodeCommand(registry.EncodeCommand(c))
		if err != nil {
			t.Fatalf("what was read cannot be written and read: %v", err)
		}
		one, _, err := registry.Apply(state, 1000, c)
		if err != nil {
			t.Fatal(err)
		}
		two, _, err := registry.Apply(state, 1000, again)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(registry.EncodeSnapshot(one), registry.EncodeSnapshot(two)) {
			t.Fatal("one entry, two effects")
		}
	})
}

// FuzzSnapshot mutates the body under a correct frame, which random bytes would hardly ever find.
func FuzzSnapshot(f *testing.F) {
	for seed := range 3 {
		state, _ := sample(seed)
		b := registry.EncodeSnapshot(state)
		f.Add(b[24:len(b)-8], true)
		f.Add(b, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, framed bool) {
		if framed {
			b = frame(b)
		}
		s, err := registry.DecodeSnapshot(b)
		if err != nil {
			return
		}
		again, err := registry.DecodeSnapshot(registry.EncodeSnapshot(s))
		if err != nil {
			t.Fatalf("what was read cannot be written and read: %v", err)
		}
		if !bytes.Equal(registry.EncodeSnapshot(s), registry.EncodeSnapshot(again)) {
			t.Fatal("the canonical form is not stable")
		}
	})
}

func frame(body []byte) []byte {
	empty := registry.EncodeSnapshot(registry.NewState())
	b := append([]byte{}, empty[:16]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(body)))
	b = append(b, body...)
	return binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
}

// TestDamagedSnapshotIsRefused flips every byte of a snapshot, one at a time, and cuts it everywhere.
func TestDamagedSnapshotIsRefused(t *testing.T) {
	state, _ := sample(1)
	good := registry.EncodeSnapshot(state)
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x40
		if _, err := registry.DecodeSnapshot(bad); err == nil {
			t.Fatalf("a flipped bit in byte %d went unnoticed", i)
		}
		if _, err := registry.DecodeSnapshot(good[:i]); err == nil {
			t.Fatalf("a snapshot cut to %d bytes was accepted", i)
		}
	}
}
