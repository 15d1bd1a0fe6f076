// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func logical(ns int64) vtime.Logical { return vtime.LogicalFromNS(ns) }

// initAccepted offers every scenario and notes those that are accepted.
func initAccepted(k *kit) error {
	var last error
	for _, c := range k.offered {
		g, err := k.bare(k.module, c)
		if err != nil {
			return err
		}
		if err = g.init(); err == nil {
			k.accepted = append(k.accepted, c)
			continue
		}
		if f, ok := refused(err); !ok || f.Export != engine.Init {
			return fail("schemas `%s`: %w", c.name, err)
		}
		if last == nil {
			last = err
		}
	}
	if len(k.accepted) == 0 {
		return fail("the guest refuses all schemas that it was offered; name those it was written for with --schemas (see docs/guests.md): %w", last)
	}
	return nil
}

func initUnbranched(k *kit) error {
	var branched, unbranched bool
	for _, c := range k.accepted {
		branched = branched || c.key != ""
		unbranched = unbranched || c.key == ""
	}
	switch {
	case !branched:
		return notApplicable("the guest refuses to be branched")
	case !unbranched:
		return notApplicable("the guest refuses to be unbranched")
	}
	for _, c := range k.accepted {
		if err := k.serves(c); err != nil {
			return err
		}
	}
	return nil
}

// serves runs a few rows through a scenario.
func (k *kit) serves(c scenario) error {
	g, err := k.started(c)
	if err != nil {
		return err
	}
	for seed := range uint64(3) {
		if _, err := g.batch(made(c.schemas.Input, 5, seed, false)); err != nil {
			return fail("schemas `%s`: %w", c.name, err)
		}
	}
	_, err = g.flush()
	return err
}

func initDomainType(k *kit) error {
	c := k.main()
	return k.serves(c.with(func(c *scenario) { c.domain, c.kind = "elsewhere", "something new" }))
}

// initMismatch offers schemas that differ in one thing from those the guest accepts. A guest for many schemas may accept them; then it
// has to serve them.
func initMismatch(k *kit) error {
	for _, m := range mutations(k.main().schemas) {
		c := k.main().with(func(c *scenario) { c.name, c.schemas = m.name, m.schemas })
		g, err := k.bare(k.module, c)
		if err != nil {
			return err
		}
		if err := g.init(); err != nil {
			if err := settled(err, m.name); err != nil {
				return err
			}
			continue
		}
		if err := k.serves(c); err != nil {
			return fail("with %s init is accepted, and then: %w", m.name, err)
		}
	}
	return nil
}

type mutation struct {
	name    string
	schemas *Schemas
}

// mutations are schemas with one difference each.
func mutations(s *Schemas) []mutation {
	var all []mutation
	change := func(name string, in func([]types.Field) []types.Field, out func([]types.Field) []types.Field) {
		m := &Schemas{Input: s.Input, Routes: slices.Clone(s.Routes)}
		if in != nil {
			m.Input = types.NewSchema(s.Input.Name(), in(slices.Clone(s.Input.Fields())))
		}
		if out != nil {
			r := &m.Routes[0]
			r.Schema = types.NewSchema(r.Schema.Name(), out(slices.Clone(r.Schema.Fields())))
		}
		all = append(all, mutation{name, m})
	}
	rename := func(f []types.Field) []types.Field { f[0].Name = "renamed"; return f }
	retype := func(f []types.Field) []types.Field { f[0].Type = other(f[0].Type); return f }
	optional := func(f []types.Field) []types.Field { f[0].Optional = !f[0].Optional; return f }
	more := func(f []types.Field) []types.Field {
		return append(f, types.Field{Name: "one_more", Type: types.Of(types.U16)})
	}
	less := func(f []types.Field) []types.Field { return f[:len(f)-1] }
	turn := func(f []types.Field) []types.Field { slices.Reverse(f); return f }
	change("an input field of another name", rename, nil)
	change("an input field of another type", retype, nil)
	change("an input field of other nullability", optional, nil)
	change("one input field more", more, nil)
	change("an output field of another name", nil, rename)
	change("an output field of another type", nil, retype)
	change("an output field of other nullability", nil, optional)
	change("one output field more", nil, more)
	if s.Input.Len() > 1 {
		change("one input field less", less, nil)
		change("input fields in another order", turn, nil)
	}
	if s.Routes[0].Schema.Len() > 1 {
		change("one output field less", nil, less)
		change("output fields in another order", nil, turn)
	}
	without := &Schemas{Input: s.Input, Routes: slices.Clone(s.Routes)}
	without.Routes[0].Relay = "somewhere_else"
	all = append(all, mutation{"an output of another name", without})
	if len(s.Routes) > 1 {
		all = append(all, mutation{"one output less", &Schemas{Input: s.Input, Routes: s.Routes[1:]}})
	}
	return all
}

func other(t types.Type) types.Type {
	if t.Scalar == types.Bool {
		return types.Of(types.I16)
	}
	return types.Of(types.Bool)
}

// damage are messages that are wrong in one way each, made from a right one.
func damage(message []byte) map[string][]byte {
	set := func(at int, b ...byte) []byte {
		m := bytes.Clone(message)
		copy(m[at:], b)
		return m
	}
	prefix := func(m []byte, size int) []byte {
		binary.LittleEndian.PutUint32(m, uint32(size))
		return m
	}
	n := len(message)
	all := map[string][]byte{
		"a size prefix that is too large":         prefix(set(0), n-3),
		"a size prefix that is too small":         prefix(set(0), n-5),
		"the identifier NVWX":                     set(8, 'N', 'V', 'W', 'X'),
		"a message without its last byte":         set(0)[:n-1],
		"a message that ends in its middle":       prefix(bytes.Clone(message[:n/2&^3]), n/2&^3-4),
		"a root that lies outside":                set(4, 0xF0, 0xFF, 0xFF, 0x7F),
		"a message of zeros":                      prefix(append(set(0)[:12], make([]byte, 64)...), 72),
		"text behind the message":                 prefix(append(set(0), "0123456789abcdef"...), n+12),
		"a message of 0 bytes":                    {},
		"a message of 4 bytes with its size":      {0, 0, 0, 0},
		"a message of 8 bytes with its size":      {4, 0, 0, 0, 4, 0, 0, 0},
		"a message of 11 bytes with its size":     {7, 0, 0, 0, 4, 0, 0, 0, 'N', 'V', 'W'},
		"a message that is nothing but its start": prefix(bytes.Clone(message[:12]), 8),
	}
	return all
}

func sorted(m map[string][]byte) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

func initDamaged(k *kit) error {
	c := k.main()
	message, err := c.message()
	if err != nil {
		return err
	}
	bad := damage(message)
	if bad["an input message"], err = inputMessage(c); err != nil {
		return err
	}
	if bad["a snapshot"], err = protocol.EncodeSnapshot(protocol.Snapshot{Init: message}); err != nil {
		return err
	}
	for _, name := range sorted(bad) {
		g, err := k.bare(k.module, c)
		if err != nil {
			return err
		}
		g.begin(engine.OpInit)
		_, err = g.Deliver(engine.Init, bad[name])
		if err := settled(err, name); err != nil {
			return err
		}
	}
	return nil
}

// inputMessage is an input envelope of one row.
func inputMessage(c scenario) ([]byte, error) {
	e, err := protocol.NewInputEncoder(c.schemas.Input)
	if err == nil {
		err = e.Prepare(made(c.schemas.Input, 1, 1, false), firstToken)
	}
	if err != nil {
		return nil, err
	}
	message := make([]byte, e.Size())
	return message, e.WriteTo(message)
}

// initFirst makes calls before init, each on an instance of its own.
func initFirst(k *kit) error {
	c := k.main()
	message, err := inputMessage(c)
	if err != nil {
		return err
	}
	saved, err := k.savedState()
	var none notApplicable
	if err != nil && !errors.As(err, &none) {
		return err
	}
	type call struct {
		name    string
		refuses bool
		run     func(*guest) error
	}
	calls := []call{
		{"a batch", true, func(g *guest) error {
			g.begin(engine.OpBatch)
			_, err := g.Deliver(engine.ProcessBatch, message)
			return err
		}},
		{"a flush", false, func(g *guest) error { _, err := g.flush(); return err }},
		{"a save", false, func(g *guest) error {
			state, err := g.dump()
			if err == nil && len(state) > 0 {
				return nil
			}
			return err
		}},
	}
	if len(saved) > 0 {
		calls = append(calls, call{"a restore", true, func(g *guest) error { return g.load(saved) }})
	}
	for _, one := range calls {
		g, err := k.bare(k.module, c)
		if err != nil {
			return err
		}
		err = one.run(g)
		if err == nil && !one.refuses {
			continue
		}
		if err := settled(err, one.name+" before init"); err != nil {
			return err
		}
	}
	return nil
}
