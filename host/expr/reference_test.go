// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"bytes"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// reference evaluates an expression for one row by walking the tree: slow, and with other means than the programs (big integers, rationals, the
// standard library). Values are nil or Go values as in a col; a DATETIME is a moment. The first failure of the row is kept.
type reference struct {
	row  map[string]any
	now  int64
	kind expr.Kind
}

// moment tells a DATETIME from an I64.
type moment int64

func (r *reference) fail(k expr.Kind) any {
	if r.kind == 0 {
		r.kind = k
	}
	return nil
}

func (r *reference) eval(e ast.Expr) any {
	switch e := e.(type) {
	case *ast.Literal:
		switch e.Kind {
		case ast.LiteralNull:
			return nil
		case ast.LiteralBool:
			return e.Bool
		case ast.LiteralInt:
			return int64(e.Int)
		case ast.LiteralFloat:
			return e.Float
		default:
			return e.Text
		}
	case *ast.Path:
		return r.row[string(e.Scope)+"."+string(e.Field.Name)]
	case *ast.Unary:
		return r.unary(e.Op, r.eval(e.X))
	case *ast.Binary:
		x, y := r.eval(e.X), r.eval(e.Y)
		return r.binary(e.Op, x, y)
	case *ast.Cast:
		v := r.eval(e.X)
		if v == nil {
			return nil
		}
		if out, ok := convert(v, e.To); ok {
			return out
		}
		return r.fail(expr.CastFailed)
	case *ast.TryCast:
		v := r.eval(e.X)
		if v == nil {
			return nil
		}
		if out, ok := convert(v, e.To); ok {
			return out
		}
		return nil
	case *ast.If:
		if r.eval(e.Cond) == true {
			return r.eval(e.Then)
		}
		return r.eval(e.Else)
	case *ast.Case:
		return r.choose(e)
	case *ast.In:
		x := r.eval(e.X)
		if len(e.List) == 0 {
			return e.Not
		}
		if x == nil {
			return nil
		}
		in := false
		for _, item := range e.List {
			in = in || compare(x, r.eval(item)) == 0
		}
		return in != e.Not
	case *ast.Between:
		x, lo, hi := r.eval(e.X), r.eval(e.Low), r.eval(e.High)
		v := r.binary(ast.OpAnd, r.binary(ast.OpGe, x, lo), r.binary(ast.OpLe, x, hi))
		if e.Not {
			return r.unary(ast.OpNot, v)
		}
		return v
	case *ast.Distinct:
		x, y := r.eval(e.X), r.eval(e.Y)
		distinct := (x == nil) != (y == nil) || x != nil && y != nil && compare(x, y) != 0
		return distinct != e.Not
	case *ast.Call:
		args := make([]any, len(e.Args))
		for i, a := range e.Args {
			args[i] = r.eval(a)
		}
		return r.call(string(e.Name.Name), args)
	}
	panic(fmt.Sprintf("reference: %T", e))
}

func (r *reference) choose(e *ast.Case) any {
	var operand any
	if e.Operand != nil {
		operand = r.eval(e.Operand)
	}
	for _, w := range e.Whens {
		match := r.eval(w.Match)
		if e.Operand != nil {
			match = r.binary(ast.OpEq, operand, match)
		}
		if match == true {
			return r.eval(w.Then)
		}
	}
	if e.Else == nil {
		return nil
	}
	return r.eval(e.Else)
}

// unordered is what compare gives for NaN.
const unordered = 2

func compare(x, y any) int {
	switch a := x.(type) {
	case bool:
		if a == y.(bool) {
			return 0
		}
		return 1
	case string:
		return bytes.Compare([]byte(a), []byte(y.(string)))
	case float32:
		return compareFloats(float64(a), float64(y.(float32)))
	case float64:
		return compareFloats(a, y.(float64))
	default:
		return whole(x).Cmp(whole(y))
	}
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	default:
		return unordered
	}
}

// whole is an integer or DATETIME as a big integer; nil for others.
func whole(v any) *big.Int {
	switch v := v.(type) {
	case uint8:
		return big.NewInt(int64(v))
	case int8:
		return big.NewInt(int64(v))
	case uint16:
		return big.NewInt(int64(v))
	case int16:
		return big.NewInt(int64(v))
	case uint32:
		return big.NewInt(int64(v))
	case int32:
		return big.NewInt(int64(v))
	case uint64:
		return new(big.Int).SetUint64(v)
	case int64:
		return big.NewInt(v)
	case moment:
		return big.NewInt(int64(v))
	default:
		return nil
	}
}

// narrow makes a value of the Go type of an integer kind, if it is in range.
func narrow(v *big.Int, k types.Scalar) (any, bool) {
	bits := uint(64)
	if k != types.Datetime {
		bits = uint(k.Bits())
	}
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), bits)
	if k.Signed() || k == types.Datetime {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	if v.Cmp(low) < 0 || v.Cmp(high) >= 0 {
		return nil, false
	}
	switch k {
	case types.U8:
		return uint8(v.Uint64()), true
	case types.I8:
		return int8(v.Int64()), true
	case types.U16:
		return uint16(v.Uint64()), true
	case types.I16:
		return int16(v.Int64()), true
	case types.U32:
		return uint32(v.Uint64()), true
	case types.I32:
		return int32(v.Int64()), true
	case types.U64:
		return v.Uint64(), true
	case types.I64:
		return v.Int64(), true
	default:
		return moment(v.Int64()), true
	}
}

func kindOf(v any) types.Scalar {
	switch v.(type) {
	case uint8:
		return types.U8
	case int8:
		return types.I8
	case uint16:
		return types.U16
	case int16:
		return types.I16
	case uint32:
		return types.U32
	case int32:
		return types.I32
	case uint64:
		return types.U64
	case int64:
		return types.I64
	case float32:
		return types.F32
	case float64:
		return types.F64
	case bool:
		return types.Bool
	case string:
		return types.String
	case moment:
		return types.Datetime
	}
	panic(fmt.Sprintf("%T", v))
}

func (r *reference) unary(op ast.Op, x any) any {
	if x == nil {
		return nil
	}
	if op == ast.OpNot {
		return !x.(bool)
	}
	switch x := x.(type) {
	case float32:
		return -x
	case float64:
		return -x
	}
	out, ok := narrow(new(big.Int).Neg(whole(x)), kindOf(x))
	if !ok {
		return r.fail(expr.Overflow)
	}
	return out
}

func (r *reference) binary(op ast.Op, x, y any) any {
	switch op {
	case ast.OpAnd:
		if x == false || y == false {
			return false
		}
	case ast.OpOr:
		if x == true || y == true {
			return true
		}
	}
	if x == nil || y == nil {
		return nil
	}
	switch op {
	case ast.OpAnd:
		return true
	case ast.OpOr:
		return false
	case ast.OpEq:
		return compare(x, y) == 0
	case ast.OpNe:
		return compare(x, y) != 0
	case ast.OpLt:
		return compare(x, y) < 0
	case ast.OpLe:
		return compare(x, y) <= 0
	case ast.OpGt:
		return compare(x, y) == 1
	case ast.OpGe:
		return compare(x, y) == 1 || compare(x, y) == 0
	}
	switch a := x.(type) {
	case float64:
		return r.finite(floats(op, a, y.(float64)))
	case float32:
		return r.finite32(float32(floats(op, float64(a), float64(y.(float32)))))
	}
	a, b := whole(x), whole(y)
	out := new(big.Int)
	switch op {
	case ast.OpAdd:
		out.Add(a, b)
	case ast.OpSub:
		out.Sub(a, b)
	case ast.OpMul:
		out.Mul(a, b)
	default:
		if b.Sign() == 0 {
			return r.fail(expr.DivisionByZero)
		}
		if op == ast.OpDiv {
			out.Quo(a, b)
		} else {
			out.Rem(a, b)
		}
	}
	v, ok := narrow(out, kindOf(x))
	if !ok {
		return r.fail(expr.Overflow)
	}
	return v
}

// floats computes in float64. For F32 operands that is exact enough: a double rounding of one operation from 53 to 24 bits is harmless.
func floats(op ast.Op, a, b float64) float64 {
	switch op {
	case ast.OpAdd:
		return a + b
	case ast.OpSub:
		return a - b
	case ast.OpMul:
		return a * b
	case ast.OpDiv:
		return a / b
	default:
		return math.Mod(a, b)
	}
}

func (r *reference) finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return r.fail(expr.InvalidArgument)
	}
	return v
}

func (r *reference) finite32(v float32) any {
	if r.finite(float64(v)) == nil {
		return nil
	}
	return v
}

var (
	wholeText = regexp.MustCompile(`^[+-]?[0-9]+$`)
	floatText = regexp.MustCompile(`^(?i)[+-]?(nan|inf|infinity|([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?)$`)
	trueText  = regexp.MustCompile(`^(?i)(t|tr|tru|true|y|ye|yes|on|1)$`)
	falseText = regexp.MustCompile(`^(?i)(f|fa|fal|fals|false|n|no|of|off|0)$`)
)

func convert(v any, to types.Scalar) (any, bool) {
	from := kindOf(v)
	switch {
	case from == to:
		return v, true
	case from == types.String:
		return convertText(v.(string), to)
	case to == types.String:
		return printText(v), true
	case from == types.Bool && to == types.Datetime, from == types.Datetime && to == types.Bool:
		return nil, false
	case from == types.Bool:
		n := int64(0)
		if v.(bool) {
			n = 1
		}
		return convert(n, to)
	case to == types.Bool:
		if w := whole(v); w != nil {
			return w.Sign() != 0, true
		}
		f, _ := convert(v, types.F64)
		return f.(float64) != 0, true
	}
	if from.Float() {
		f := toFloat64(v)
		if to.Float() {
			if to == types.F32 {
				return float32(f), true
			}
			return f, true
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, false
		}
		n, _ := new(big.Float).SetFloat64(f).Int(nil)
		return narrow(n, to)
	}
	switch to {
	case types.F64:
		f, _ := new(big.Float).SetInt(whole(v)).Float64()
		return f, true
	case types.F32:
		f, _ := new(big.Float).SetInt(whole(v)).Float32()
		return f, true
	}
	return narrow(whole(v), to)
}

func toFloat64(v any) float64 {
	if f, ok := v.(float32); ok {
		return float64(f)
	}
	return v.(float64)
}

func convertText(s string, to types.Scalar) (any, bool) {
	switch {
	case to == types.Bool:
		s = strings.TrimSpace(s)
		return trueText.MatchString(s), trueText.MatchString(s) || falseText.MatchString(s)
	case to == types.Datetime:
		if len(s) > 10 && s[10] == ' ' {
			s = s[:10] + "T" + s[11:]
		}
		t, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return nil, false
		}
		ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(1e9))
		return narrow(ns.Add(ns, big.NewInt(int64(t.Nanosecond()))), to)
	case to.Float():
		if !floatText.MatchString(s) {
			return nil, false
		}
		f, _ := strconv.ParseFloat(s, to.Bits())
		if to == types.F32 {
			return float32(f), true
		}
		return f, true
	}
	if !wholeText.MatchString(s) {
		return nil, false
	}
	n, _ := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10)
	return narrow(n, to)
}

func printText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case moment:
		s := time.Unix(0, int64(v)).UTC().Format("2006-01-02T15:04:05.000000000")
		for range 3 {
			s = strings.TrimSuffix(s, "000")
		}
		return strings.TrimSuffix(s, ".") + "+00:00"
	case float32:
		return printFloat(float64(v), 32)
	case float64:
		return printFloat(v, 64)
	default:
		return whole(v).String()
	}
}

func printFloat(f float64, bits int) string {
	switch s := strconv.FormatFloat(f, 'f', -1, bits); s {
	case "+Inf":
		return "inf"
	case "-Inf":
		return "-inf"
	default:
		return s
	}
}

func (r *reference) call(name string, args []any) any {
	switch name {
	case "coalesce":
		for _, a := range args {
			if a != nil {
				return a
			}
		}
		return nil
	case "is_null":
		return args[0] == nil
	case "nullif":
		if args[0] != nil && args[1] != nil && compare(args[0], args[1]) == 0 {
			return nil
		}
		return args[0]
	case "greatest", "least":
		return extremum(args, name == "least")
	case "leak_sensitive":
		return args[0]
	case "now":
		return moment(r.now)
	case "concat":
		var b strings.Builder
		for _, a := range args {
			if a != nil {
				b.WriteString(a.(string))
			}
		}
		return b.String()
	}
	for _, a := range args {
		if a == nil {
			return nil
		}
	}
	switch name {
	case "lower":
		return cases.Lower(language.Und).String(args[0].(string))
	case "upper":
		return cases.Upper(language.Und).String(args[0].(string))
	case "trim":
		return strings.TrimSpace(args[0].(string))
	case "length":
		return int64(utf8.RuneCountInString(args[0].(string)))
	case "substr":
		return substr(args)
	case "contains":
		return strings.Contains(args[0].(string), args[1].(string))
	case "starts_with":
		return strings.HasPrefix(args[0].(string), args[1].(string))
	case "ends_with":
		return strings.HasSuffix(args[0].(string), args[1].(string))
	case "abs":
		return r.abs(args[0])
	case "floor":
		return r.rounded(args[0], math.Floor)
	case "round":
		if len(args) == 1 {
			return r.rounded(args[0], math.Round)
		}
		return r.roundDigits(args[0], whole(args[1]))
	}
	panic("reference: " + name)
}

func extremum(args []any, least bool) any {
	var best any
	isNaN := func(v any) bool { return v != v }
	for _, a := range args {
		switch {
		case a == nil:
			continue
		case best == nil:
			best = a
			continue
		}
		d := 0
		switch {
		case isNaN(a) && isNaN(best):
		case isNaN(a):
			d = 1
		case isNaN(best):
			d = -1
		default:
			d = compare(a, best)
			if b, ok := a.(bool); ok && d != 0 && !b {
				d = -1
			}
		}
		if least && d < 0 || !least && d > 0 {
			best = a
		}
	}
	return best
}

func substr(args []any) any {
	characters := []rune(args[0].(string))
	size := big.NewInt(int64(len(characters)))
	from := new(big.Int).Sub(whole(args[1]), big.NewInt(1))
	if from.Sign() < 0 {
		from.SetInt64(0)
	}
	if from.Cmp(size) > 0 {
		from = size
	}
	end := size
	if len(args) == 3 {
		end = new(big.Int).Add(from, whole(args[2]))
		if end.Cmp(size) > 0 {
			end = size
		}
		if end.Cmp(from) < 0 {
			end = from
		}
	}
	return string(characters[from.Int64():end.Int64()])
}

func (r *reference) abs(v any) any {
	switch v := v.(type) {
	case float32:
		return float32(math.Abs(float64(v)))
	case float64:
		return math.Abs(v)
	}
	out, ok := narrow(new(big.Int).Abs(whole(v)), kindOf(v))
	if !ok {
		return r.fail(expr.Overflow)
	}
	return out
}

func (r *reference) rounded(v any, f func(float64) float64) any {
	switch v := v.(type) {
	case float32:
		return r.finite32(float32(f(float64(v))))
	case float64:
		return r.finite(f(v))
	default:
		return v
	}
}

// roundDigits rounds the exact rational value.
func (r *reference) roundDigits(v any, digits *big.Int) any {
	d := int64(2000)
	if digits.IsInt64() && digits.Int64() < d {
		d = max(digits.Int64(), -2000)
	}
	exact := new(big.Rat)
	if w := whole(v); w != nil {
		if d >= 0 {
			return v
		}
		exact.SetInt(w)
	} else {
		f := toFloat64(v)
		if r.finite(f) == nil {
			return nil
		}
		exact.SetFloat64(f)
	}
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(d, -d)), nil))
	if d < 0 {
		power.Inv(power)
	}
	scaled := new(big.Rat).Mul(exact, power)
	negative := scaled.Sign() < 0
	scaled.Abs(scaled).Add(scaled, big.NewRat(1, 2))
	n := new(big.Int).Quo(scaled.Num(), scaled.Denom())
	result := new(big.Rat).Quo(new(big.Rat).SetInt(n), power)
	if negative {
		result.Neg(result)
	}
	switch v := v.(type) {
	case float32:
		f, _ := result.Float32()
		return r.finite32(float32(math.Copysign(float64(f), float64(v))))
	case float64:
		f, _ := result.Float64()
		return r.finite(math.Copysign(f, v))
	}
	out, ok := narrow(result.Num(), kindOf(v))
	if !ok {
		return r.fail(expr.Overflow)
	}
	return out
}
