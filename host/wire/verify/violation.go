// SPDX-License-Identifier: Apache-2.0

package verify

import "strconv"

// Rule names what a frame broke. Tests have one mutated frame for each.
type Rule string

// The rules in the order in which a frame meets them.
const (
	RuleTooLarge      Rule = "frame above its size limit"
	RuleTooShort      Rule = "frame shorter than 8 bytes"
	RuleIdentifier    Rule = "identifier is not the expected one"
	RuleOffset        Rule = "offset leads out of the frame"
	RuleAlignment     Rule = "value is not aligned"
	RuleVtable        Rule = "table layout is damaged"
	RuleUnknownMember Rule = "member is not declared"
	RuleRequired      Rule = "required member is missing"
	RuleZero          Rule = "zero is not allowed"
	RuleEmpty         Rule = "empty value is not allowed"
	RuleEnum          Rule = "enumeration value is not declared"
	RuleBool          Rule = "boolean is neither 0 nor 1"
	RuleUnion         Rule = "union type is not declared, or type and value do not go together"
	RuleText          Rule = "string is not UTF-8"
	RuleTerminator    Rule = "string has no terminator"
	RuleLength        Rule = "string is too long"
	RuleEntries       Rule = "vector has too many entries"
	RuleCanonical     Rule = "set is not in its canonical order"
	RuleDepth         Rule = "nesting is too deep"
	RuleTables        Rule = "more tables than the frame may hold"
	RuleSize          Rule = "apparent size is out of proportion to the frame"
	RuleTrailing      Rule = "bytes after the frame"
)

// Violation is the first broken rule of a frame. It holds no byte of the frame.
type Violation struct {
	Rule Rule
	// Path leads from the root to the member, for example `ClientFrame.body.text`.
	Path string
	// Offset is the place in the frame that was looked at.
	Offset int
}

// Error names path, rule and offset.
func (v *Violation) Error() string {
	return v.Path + ": " + string(v.Rule) + " (offset " + strconv.Itoa(v.Offset) + ")"
}

// under puts the name of the enclosing table or member in front of the path.
func (v *Violation) under(name string) *Violation {
	if v.Path == "" {
		v.Path = name
	} else {
		v.Path = name + "." + v.Path
	}
	return v
}
