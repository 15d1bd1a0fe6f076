// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Expr is an expression (nspl 6.1). All expressions are pointers. Parentheses leave no node; the span of an expression does not hold the
// parentheses around it.
type Expr interface {
	Where() fault.Span
	expr()
}

// LiteralKind says which fields of a Literal are set.
type LiteralKind uint8

// The kinds of literals.
const (
	LiteralNull LiteralKind = iota
	LiteralBool
	LiteralInt
	LiteralFloat
	LiteralString
)

// Literal is a constant. Numbers have no sign: `-5` is OpNeg applied to 5.
type Literal struct {
	Node
	Kind LiteralKind
	Bool bool
	// Int is at most 9223372036854775807 in an expression and at most 18446744073709551615 in a key binding or a CONFIG map.
	Int   uint64
	Float float64
	// Text is the content of a string, or the spelling of a number (integers without leading zeros).
	Text string
}

// Scope is the qualifier of a path (nspl 6.3); ScopeBare stands for none.
type Scope string

// The scopes.
const (
	ScopeBare          Scope = ""
	ScopeInput         Scope = "input"
	ScopeMessage       Scope = "message"
	ScopeOutput        Scope = "output"
	ScopeBranch        Scope = "branch"
	ScopeLeft          Scope = "left"
	ScopeRight         Scope = "right"
	ScopeMetadata      Scope = "metadata"
	ScopeError         Scope = "error"
	ScopePartialOutput Scope = "partial_output"
	ScopeRelayState    Scope = "relay_state"
)

// Scopes lists the qualifiers in the order of nspl 6.3.
func Scopes() []Scope {
	return []Scope{ScopeInput, ScopeMessage, ScopeOutput, ScopeBranch, ScopeLeft, ScopeRight, ScopeRelayState, ScopeMetadata, ScopeError, ScopePartialOutput}
}

// Path reads a field: `f`, `scope.f`, or `relay_state.relay.f`.
type Path struct {
	Node
	Scope Scope
	// Relay is set for ScopeRelayState only.
	Relay Ident
	Field Ident
}

// Call calls a builtin function. The name is lower-case; whether it exists is checked later.
type Call struct {
	Node
	Name Ident
	Args []Expr
}

// Op is an operator.
type Op uint8

// The operators. OpNeg and OpNot are unary, the others binary.
const (
	OpNone Op = iota
	OpNeg
	OpNot
	OpOr
	OpAnd
	OpEq
	OpNe
	OpLt
	OpLe
	OpGt
	OpGe
	OpAdd
	OpSub
	OpMul
	OpDiv
	OpMod
)

var opSigns = [...]string{
	OpNone: "", OpNeg: "-", OpNot: "NOT", OpOr: "OR", OpAnd: "AND", OpEq: "=", OpNe: "!=", OpLt: "<", OpLe: "<=", OpGt: ">", OpGe: ">=",
	OpAdd: "+", OpSub: "-", OpMul: "*", OpDiv: "/", OpMod: "%",
}

// String is the operator as NSPL writes it.
func (o Op) String() string {
	if int(o) < len(opSigns) {
		return opSigns[o]
	}
	return "?"
}

// Comparison says whether o is one of the six comparison signs.
func (o Op) Comparison() bool { return o >= OpEq && o <= OpGe }

// Arithmetic says whether o is a binary arithmetic sign.
func (o Op) Arithmetic() bool { return o >= OpAdd && o <= OpMod }

// Unary applies OpNeg or OpNot.
type Unary struct {
	Node
	Op Op
	X  Expr
}

// Binary applies a binary operator.
type Binary struct {
	Node
	Op     Op
	OpSpan fault.Span
	X, Y   Expr
}

// Cast is `X AS To`.
type Cast struct {
	Node
	X      Expr
	To     types.Scalar
	ToSpan fault.Span
}

// TryCast is `TRY_CAST(X AS To)`.
type TryCast struct {
	Node
	X      Expr
	To     types.Scalar
	ToSpan fault.Span
}

// If is `IF Cond THEN Then ELSE Else END`.
type If struct {
	Node
	Cond, Then, Else Expr
}

// Case is a simple (Operand set) or a searched CASE. Else is nil when it was left out.
type Case struct {
	Node
	Operand Expr
	Whens   []When
	Else    Expr
}

// When is one arm: Match is a condition of a searched CASE and a value of a simple one.
type When struct {
	Node
	Match, Then Expr
}

// In is `X [NOT] IN (List)`. Every element is a constant: a literal, below at most one sign or NOT and any casts.
type In struct {
	Node
	X    Expr
	Not  bool
	List []Expr
}

// Between is `X [NOT] BETWEEN Low AND High`.
type Between struct {
	Node
	X         Expr
	Not       bool
	Low, High Expr
}

// Distinct is `X IS [NOT] DISTINCT FROM Y`; Not is true for IS NOT DISTINCT FROM.
type Distinct struct {
	Node
	X, Y Expr
	Not  bool
}

// List is a list literal `[a, b]`.
type List struct {
	Node
	Items []Expr
}

func (*Literal) expr()  {}
func (*Path) expr()     {}
func (*Call) expr()     {}
func (*Unary) expr()    {}
func (*Binary) expr()   {}
func (*Cast) expr()     {}
func (*TryCast) expr()  {}
func (*If) expr()       {}
func (*Case) expr()     {}
func (*In) expr()       {}
func (*Between) expr()  {}
func (*Distinct) expr() {}
func (*List) expr()     {}

// BareField is the path of an unqualified field, for code that builds trees.
func BareField(name ident.Name, span fault.Span) *Path {
	return &Path{Node: Node{span}, Field: Ident{name, span}}
}
