// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/binary"
	"testing"

	"github.com/nervix-go/nervix/wasm/engine"
)

// gives delivers bytes to an export of a new instance and fails if the guest traps.
func (k *kit) gives(t *testing.T, c scenario, entry engine.Export, message []byte) {
	t.Helper()
	g, err := k.bare(k.module, c)
	if err == nil && entry != engine.Init {
		err = g.init()
	}
	if err != nil {
		t.Fatal(err)
	}
	op := map[engine.Export]engine.Op{engine.Init: engine.OpInit, engine.ProcessBatch: engine.OpBatch, engine.LoadState: engine.OpRestore}[entry]
	g.begin(op)
	a, err := g.Deliver(entry, message)
	for err == nil && a.Output.Len() > 0 {
		a, err = g.ReadEmit()
	}
	if _, ok := refused(err); err != nil && !ok {
		t.Fatalf("%s: %v\n%x", entry, err, message)
	}
	k.closeGuests()
}

var messageExports = []engine.Export{engine.Init, engine.ProcessBatch, engine.LoadState}

// hostileMessages are right messages of the mirror for each export that takes one.
func (k *kit) hostileMessages(t testing.TB, c scenario) map[engine.Export][]byte {
	t.Helper()
	init, err := c.message()
	if err != nil {
		t.Fatal(err)
	}
	g, err := k.started(c)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := g.encoded(made(c.schemas.Input, 9, 3, true), firstToken)
	if err != nil {
		t.Fatal(err)
	}
	state, err := g.dump()
	if err != nil {
		t.Fatal(err)
	}
	return map[engine.Export][]byte{engine.Init: init, engine.ProcessBatch: batch, engine.LoadState: state}
}

// spoil changes a message in up to four places: bytes, words that look like offsets and lengths, or its end.
func (d *dice) spoil(message []byte) []byte {
	m := append([]byte(nil), message...)
	for range 1 + d.below(4) {
		at := d.below(len(m))
		switch d.below(5) {
		case 0:
			m[at] ^= 1 << d.below(8)
		case 1:
			m[at] = byte(d.next())
		case 2:
			if at &^= 3; at+4 <= len(m) {
				words := []uint32{0, 1, 4, 0x7FFFFFFF, 0xFFFFFFFF, 0x80000000, uint32(len(m)), uint32(at), uint32(d.next())}
				binary.LittleEndian.PutUint32(m[at:], words[d.below(len(words))])
			}
		case 3:
			if at+8 < len(m) {
				copy(m[at:], m[d.below(len(m)-8):][:8])
			}
		case 4:
			if d.below(4) == 0 && at > 12 {
				m = m[:at]
			}
		}
	}
	if d.below(8) > 0 && len(m) >= 4 { // mostly with the right size, to come further
		binary.LittleEndian.PutUint32(m, uint32(len(m)-4))
	}
	return m
}

// Damage of any kind leads to an answer of the C header, and to no trap and no endless loop.
func TestDamagedMessagesDoNotTrap(t *testing.T) {
	// req: W-112 half: the guest's side
	o := options()
	o.Fuel = 50_000_000
	probing(t, module(t, "tests/c_mirror.wasm"), o, func(k *kit) {
		c := scenario{name: "types", schemas: own[3].schemas, domain: testDomain, kind: testKind, key: testKey}
		d := dice(7)
		right := k.hostileMessages(t, c)
		for _, entry := range messageExports {
			for range 300 {
				k.gives(t, c, entry, d.spoil(right[entry]))
			}
		}
	})
}

// FuzzGuestMessages looks for bytes that make the C header trap.
func FuzzGuestMessages(f *testing.F) {
	o := options()
	o.Fuel = 50_000_000
	k, err := newKit(f.Context(), module(f, "tests/c_mirror.wasm"), o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := k.close(); err != nil {
			f.Error(err)
		}
	})
	c := scenario{name: "types", schemas: own[3].schemas, domain: testDomain, kind: testKind, key: testKey}
	d := dice(11)
	for i, entry := range messageExports {
		right := k.hostileMessages(f, c)[entry]
		f.Add(byte(i), right)
		f.Add(byte(i), d.spoil(right))
	}
	f.Fuzz(func(t *testing.T, which byte, message []byte) {
		if len(message) < 1<<20 {
			k.gives(t, c, messageExports[int(which)%len(messageExports)], message)
		}
	})
}
