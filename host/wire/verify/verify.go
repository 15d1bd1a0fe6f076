// SPDX-License-Identifier: Apache-2.0

package verify

import "encoding/binary"

// Verify judges a frame against the root table of a schema. It reads each part of the frame as often as the frame refers to it, and
// the budgets bound that, so its time and memory are linear in the length of the frame. nil means that accessors are safe and that
// every rule of the schema holds. An error is a *Violation.
//
// A frame is one buffer without size prefix; its alignment counts from its first byte.
func Verify(s *Schema, root int, frame []byte, limits Limits) error {
	v := verifier{schema: s, frame: frame, limits: limits, left: newBudget(len(frame))}
	if bad := v.root(root); bad != nil {
		return bad.under(s.Tables[root].Name)
	}
	return nil
}

// verifier is one pass over one frame.
type verifier struct {
	schema *Schema
	frame  []byte
	limits Limits
	left   budget
	depth  int
	// end is the highest offset that belongs to something visited.
	end int
}

// Offsets are int: on 64-bit systems no sum of two 32-bit offsets can wrap.
const (
	offsetSize     = 4
	headerSize     = 8 // root offset and identifier
	maxPadding     = 8 // the greatest alignment a builder pads to
	vtableMetadata = 4
)

func (v *verifier) root(root int) *Violation {
	n := len(v.frame)
	table := &v.schema.Tables[root]
	switch {
	case n > v.limits.MaxBytes:
		return &Violation{Rule: RuleTooLarge, Offset: n}
	case n < headerSize:
		return &Violation{Rule: RuleTooShort, Offset: n}
	case string(v.frame[4:8]) != table.Identifier:
		return &Violation{Rule: RuleIdentifier, Offset: 4}
	}
	pos, bad := v.reference(0)
	if bad != nil {
		return bad
	}
	if bad := v.table(root, pos); bad != nil {
		return bad
	}
	return v.trailing()
}

// trailing refuses what follows the last visited byte, except the zero padding of a builder: a second frame, or bytes hidden from
// verification.
func (v *verifier) trailing() *Violation {
	if v.limits.Additive {
		return nil
	}
	rest := v.frame[v.end:]
	if len(rest) >= maxPadding {
		return &Violation{Rule: RuleTrailing, Offset: v.end}
	}
	for i, b := range rest {
		if b != 0 {
			return &Violation{Rule: RuleTrailing, Offset: v.end + i}
		}
	}
	return nil
}

// reference reads the forward offset at pos, which is inside the frame, and gives its target.
func (v *verifier) reference(pos int) (int, *Violation) {
	if pos%offsetSize != 0 {
		return 0, &Violation{Rule: RuleAlignment, Offset: pos}
	}
	distance := int(binary.LittleEndian.Uint32(v.frame[pos:]))
	target := pos + distance
	if distance == 0 || distance > len(v.frame) || target > len(v.frame)-offsetSize {
		return 0, &Violation{Rule: RuleOffset, Offset: pos}
	}
	if target%offsetSize != 0 {
		return 0, &Violation{Rule: RuleAlignment, Offset: target}
	}
	return target, nil
}

// visited extends the part of the frame that is accounted for.
func (v *verifier) visited(end int) { v.end = max(v.end, end) }

// spend turns an exhausted budget into a violation.
func spend(rule Rule, pos int) *Violation {
	if rule == "" {
		return nil
	}
	return &Violation{Rule: rule, Offset: pos}
}
