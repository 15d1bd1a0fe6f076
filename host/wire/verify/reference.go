// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/binary"
	"unicode/utf8"
)

// union judges the type member in the slot before f and the table it selects. A type without value, a value without type, and NONE in a
// required union are violations.
func (v *verifier) union(f *Field, l layout) *Violation {
	typeAt, bad := v.place(l, f.Slot-1, 1, 1)
	if bad != nil {
		return bad
	}
	at, bad := v.place(l, f.Slot, offsetSize, offsetSize)
	if bad != nil {
		return bad
	}
	var kind uint8
	if typeAt != 0 {
		kind = v.frame[typeAt]
	}
	if kind == 0 {
		switch {
		case f.Rules&Required != 0:
			return &Violation{Rule: RuleRequired, Offset: l.pos}
		case at != 0:
			return &Violation{Rule: RuleUnion, Offset: at}
		}
		return nil
	}
	if at == 0 {
		return &Violation{Rule: RuleUnion, Offset: typeAt}
	}
	for _, one := range v.schema.Unions[f.Ref].Tables {
		if one.Type == kind {
			target, bad := v.reference(at)
			if bad != nil {
				return bad
			}
			if bad := v.table(one.Table, target); bad != nil {
				return bad.under(v.schema.Tables[one.Table].Name)
			}
			return nil
		}
	}
	return &Violation{Rule: RuleUnion, Offset: typeAt}
}

// text judges the string at pos and lends its bytes.
func (v *verifier) text(f *Field, pos int) ([]byte, *Violation) {
	length := int(binary.LittleEndian.Uint32(v.frame[pos:]))
	start := pos + offsetSize
	if length >= len(v.frame)-start { // the terminator needs one byte more
		return nil, &Violation{Rule: RuleOffset, Offset: pos}
	}
	if bad := spend(v.left.bytes(offsetSize+length+1, (length+15)&^15), pos); bad != nil {
		return nil, bad
	}
	text := v.frame[start : start+length]
	v.visited(start + length + 1)
	switch {
	case f.MaxBytes > 0 && length > f.MaxBytes:
		return nil, &Violation{Rule: RuleLength, Offset: pos}
	case f.Rules&Nonempty != 0 && f.Kind == KindString && length == 0:
		return nil, &Violation{Rule: RuleEmpty, Offset: pos}
	case v.frame[start+length] != 0:
		return nil, &Violation{Rule: RuleTerminator, Offset: start + length}
	case !utf8.Valid(text):
		return nil, &Violation{Rule: RuleText, Offset: start}
	}
	return text, nil
}

// elementSize is the inline size, alignment and decoded cost of one element.
func elementSize(f *Field) (size, align, cost int) {
	switch f.Elem {
	case KindString:
		return offsetSize, offsetSize, 16
	case KindTable:
		return offsetSize, offsetSize, 8
	default:
		return f.Size, f.Align, f.Size
	}
}

func (v *verifier) vector(f *Field, pos int) *Violation {
	count := int(binary.LittleEndian.Uint32(v.frame[pos:]))
	start := pos + offsetSize
	size, align, cost := elementSize(f)
	if count > (len(v.frame)-start)/size {
		return &Violation{Rule: RuleOffset, Offset: pos}
	}
	switch {
	case count > v.limits.MaxEntries && size > 1: // a vector of bytes is a text, not a collection
		return &Violation{Rule: RuleEntries, Offset: pos}
	case f.Rules&Nonempty != 0 && count == 0:
		return &Violation{Rule: RuleEmpty, Offset: pos}
	case count > 0 && start%align != 0:
		return &Violation{Rule: RuleAlignment, Offset: start}
	}
	if bad := spend(v.left.bytes(offsetSize+count*size, count*cost), pos); bad != nil {
		return bad
	}
	v.visited(start + count*size)
	return v.elements(f, start, count)
}

func (v *verifier) elements(f *Field, start, count int) *Violation {
	switch f.Elem {
	case KindString:
		return v.texts(f, start, count)
	case KindTable:
		for i := range count {
			target, bad := v.reference(start + offsetSize*i)
			if bad != nil {
				return bad
			}
			if bad := v.table(f.Ref, target); bad != nil {
				return bad
			}
		}
	case KindBool, KindEnum:
		for i := range count {
			if bad := v.value(f, f.Elem, start+f.Size*i); bad != nil {
				return bad
			}
		}
	}
	return nil
}

func (v *verifier) texts(f *Field, start, count int) *Violation {
	var before []byte
	for i := range count {
		target, bad := v.reference(start + offsetSize*i)
		if bad != nil {
			return bad
		}
		text, bad := v.text(f, target)
		if bad != nil {
			return bad
		}
		if i > 0 && f.Rules&Canonical != 0 && string(before) >= string(text) {
			return &Violation{Rule: RuleCanonical, Offset: start + offsetSize*i}
		}
		before = text
	}
	return nil
}
