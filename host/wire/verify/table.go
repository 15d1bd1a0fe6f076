// SPDX-License-Identifier: Apache-2.0

package verify

import "encoding/binary"

// layout is a table whose vtable has been judged.
type layout struct {
	pos    int // of the table
	inline int // bytes of the table
	vtable int // of the vtable
	slots  int // entries of the vtable
}

// table judges the table at pos, which is aligned and has four readable bytes.
func (v *verifier) table(index, pos int) *Violation {
	if v.depth >= v.limits.MaxDepth {
		return &Violation{Rule: RuleDepth, Offset: pos}
	}
	v.depth++
	defer func() { v.depth-- }()
	t := &v.schema.Tables[index]
	l, bad := v.layout(pos)
	if bad != nil {
		return bad
	}
	if bad := spend(v.left.table(l.inline+vtableMetadata+2*l.slots, t.Cost), pos); bad != nil {
		return bad
	}
	if !v.limits.Additive {
		for slot := t.Slots; slot < l.slots; slot++ {
			if v.slot(l, slot) != 0 {
				return &Violation{Rule: RuleUnknownMember, Offset: l.vtable + vtableMetadata + 2*slot}
			}
		}
	}
	for i := range t.Fields {
		if bad := v.field(&t.Fields[i], l); bad != nil {
			return bad.under(t.Fields[i].Name)
		}
	}
	return nil
}

func (v *verifier) layout(pos int) (layout, *Violation) {
	n := len(v.frame)
	vtable := pos - int(int32(binary.LittleEndian.Uint32(v.frame[pos:])))
	if vtable < 0 || vtable > n-vtableMetadata {
		return layout{}, &Violation{Rule: RuleVtable, Offset: pos}
	}
	if vtable%2 != 0 {
		return layout{}, &Violation{Rule: RuleAlignment, Offset: vtable}
	}
	size := int(binary.LittleEndian.Uint16(v.frame[vtable:]))
	inline := int(binary.LittleEndian.Uint16(v.frame[vtable+2:]))
	if size < vtableMetadata || size%2 != 0 || vtable+size > n || inline < offsetSize || pos+inline > n {
		return layout{}, &Violation{Rule: RuleVtable, Offset: vtable}
	}
	v.visited(vtable + size)
	v.visited(pos + inline)
	return layout{pos: pos, inline: inline, vtable: vtable, slots: (size - vtableMetadata) / 2}, nil
}

// slot is the vtable entry of a member; zero is absent.
func (v *verifier) slot(l layout, slot int) int {
	if slot >= l.slots {
		return 0
	}
	return int(binary.LittleEndian.Uint16(v.frame[l.vtable+vtableMetadata+2*slot:]))
}

// place finds the inline bytes of a member; zero is absent.
func (v *verifier) place(l layout, slot, size, align int) (int, *Violation) {
	entry := v.slot(l, slot)
	if entry == 0 {
		return 0, nil
	}
	if entry < offsetSize || entry+size > l.inline {
		return 0, &Violation{Rule: RuleVtable, Offset: l.vtable + vtableMetadata + 2*slot}
	}
	if (l.pos+entry)%align != 0 {
		return 0, &Violation{Rule: RuleAlignment, Offset: l.pos + entry}
	}
	return l.pos + entry, nil
}

func (v *verifier) field(f *Field, l layout) *Violation {
	switch f.Kind {
	case KindScalar, KindBool, KindEnum, KindStruct:
		return v.inline(f, l)
	case KindUnion:
		return v.union(f, l)
	}
	at, bad := v.place(l, f.Slot, offsetSize, offsetSize)
	if bad != nil {
		return bad
	}
	if at == 0 {
		return absent(f, l)
	}
	target, bad := v.reference(at)
	if bad != nil {
		return bad
	}
	switch f.Kind {
	case KindString:
		_, bad = v.text(f, target)
		return bad
	case KindTable:
		return v.table(f.Ref, target)
	default:
		return v.vector(f, target)
	}
}

// inline judges a scalar, boolean, enumeration or struct.
func (v *verifier) inline(f *Field, l layout) *Violation {
	at, bad := v.place(l, f.Slot, f.Size, f.Align)
	if bad != nil {
		return bad
	}
	if at == 0 {
		return absent(f, l)
	}
	if f.Kind == KindStruct {
		return nil
	}
	return v.value(f, f.Kind, at)
}

// value judges the scalar at a place that is inside the frame.
func (v *verifier) value(f *Field, kind Kind, at int) *Violation {
	bits := v.bits(at, f.Size)
	switch {
	case f.Rules&Nonzero != 0 && bits == 0:
		return &Violation{Rule: RuleZero, Offset: at}
	case kind == KindBool && bits > 1:
		return &Violation{Rule: RuleBool, Offset: at}
	case kind == KindEnum && !v.schema.Enums[f.Ref].declares(bits, f.Size):
		return &Violation{Rule: RuleEnum, Offset: at}
	}
	return nil
}

func (v *verifier) bits(at, size int) uint64 {
	switch size {
	case 1:
		return uint64(v.frame[at])
	case 2:
		return uint64(binary.LittleEndian.Uint16(v.frame[at:]))
	case 4:
		return uint64(binary.LittleEndian.Uint32(v.frame[at:]))
	default:
		return binary.LittleEndian.Uint64(v.frame[at:])
	}
}

// absent judges a member that is not there.
func absent(f *Field, l layout) *Violation {
	switch {
	case f.Rules&(Required|Present) != 0:
		return &Violation{Rule: RuleRequired, Offset: l.pos}
	case f.Rules&Nonzero != 0 && f.ZeroDefault:
		return &Violation{Rule: RuleZero, Offset: l.pos}
	}
	return nil
}

// declares says whether a value of the given width is listed, or made of listed flags.
func (e *Enum) declares(bits uint64, size int) bool {
	mask := ^uint64(0) >> (64 - 8*size)
	if e.Flags {
		var all uint64
		for _, one := range e.Values {
			all |= one
		}
		return bits&^(all&mask) == 0
	}
	for _, one := range e.Values {
		if one&mask == bits {
			return true
		}
	}
	return false
}
