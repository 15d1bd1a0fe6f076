// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/types"
	"pgregory.net/rapid"
)

// reference decodes a payload with encoding/json and math/big under the rules of Q52 and renders it as renderRow does.
func reference(p *Plan, payload []byte) (row string, ok bool) {
	if !utf8.Valid(payload) || !json.Valid(payload) || loneSurrogate(payload) {
		return "", false
	}
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	values := make([]any, p.schema.Len())
	met := make([]bool, p.schema.Len())
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", false
		}
		f, known := p.byName[name.(string)]
		var v any
		if err := d.Decode(&v); err != nil || deeper(v, maxDepth-1) {
			return "", false
		}
		if !known {
			if p.strict {
				return "", false
			}
			continue
		}
		column := p.fields[f].column
		if met[column] && p.strict {
			return "", false
		}
		met[column] = true
		if v == nil && p.fields[f].optional {
			values[column] = nil
			continue
		}
		if values[column], ok = convert(p.schema.Field(column).Type.Scalar, v); !ok {
			return "", false
		}
	}
	var parts []string
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			if !p.schema.Field(i).Optional {
				return "", false
			}
			parts = append(parts, "null")
		case string:
			parts = append(parts, fmt.Sprintf("%+q", v))
		case time.Time:
			parts = append(parts, fmt.Sprintf("%dns", v.UnixNano()))
		default:
			parts = append(parts, fmt.Sprint(v))
		}
	}
	_, err := d.Token()
	if err != nil {
		return "", false
	}
	if _, err = d.Token(); err != io.EOF {
		return "", false
	}
	return strings.Join(parts, " "), true
}

func convert(s types.Scalar, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		if s != types.Datetime {
			return v, s == types.String
		}
		t, err := time.Parse(time.RFC3339Nano, strings.ToUpper(v))
		if err != nil || len(v) < 20 || strings.Contains(v, ",") || t.Before(time.Unix(0, -1<<63)) || t.After(time.Unix(0, 1<<63-1)) {
			return nil, false
		}
		if dot := strings.IndexByte(v, '.'); dot >= 0 { // time.Parse drops what is below the nanosecond
			digits := strings.TrimRight(v[dot+1:], "Zz")
			if cut := strings.IndexAny(digits, "+-"); cut >= 0 {
				digits = digits[:cut]
			}
			if len(strings.TrimRight(digits, "0")) > 9 {
				return nil, false
			}
		}
		return t, true
	case bool:
		return v, s == types.Bool
	case json.Number:
		switch {
		case s == types.F64:
			x, err := strconv.ParseFloat(v.String(), 64)
			return x, err == nil
		case s == types.F32:
			x, _ := strconv.ParseFloat(v.String(), 32)
			return float32(x), true
		case s.Integer():
			return wholeNumber(s, v.String())
		}
	}
	return nil, false
}

func wholeNumber(s types.Scalar, text string) (any, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	x, ok := new(big.Rat).SetString(mantissa)
	if !ok {
		return nil, false
	}
	if x.Sign() == 0 {
		return x.Num(), true
	}
	if exponent != "" {
		e, err := strconv.Atoi(exponent)
		if err != nil || e > 5000 || e < -5000 {
			return nil, false
		}
		if x, ok = x.SetString(mantissa + "e" + exponent); !ok {
			return nil, false
		}
	}
	if !x.IsInt() {
		return nil, false
	}
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(s.Bits()))
	if s.Signed() {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	return x.Num(), x.Num().Cmp(low) >= 0 && x.Num().Cmp(high) < 0
}

func deeper(v any, most int) bool {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if deeper(e, most-1) {
				return true
			}
		}
		return most < 1
	case map[string]any:
		for _, e := range v {
			if deeper(e, most-1) {
				return true
			}
		}
		return most < 1
	}
	return false
}

// loneSurrogate looks for \uD800..\uDFFF outside a pair, which encoding/json would replace.
func loneSurrogate(b []byte) bool {
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++
		if b[i] != 'u' {
			continue
		}
		u, _ := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
		i += 4
		if u>>11 != 0xd800>>11 {
			continue
		}
		if u >= 0xdc00 || i+6 >= len(b) || string(b[i+1:i+3]) != `\u` {
			return true
		}
		low, _ := strconv.ParseUint(string(b[i+3:i+7]), 16, 16)
		if low>>10 != 0xdc00>>10 {
			return true
		}
		i += 6
	}
	return false
}

// compare decodes the payload alone at the end of a column, and twice between good neighbours, and holds all of it against the reference.
func compare(t tester, p *Plan, good, payload []byte) {
	want, ok := reference(p, payload)
	alone, rejects := decodeAll(t, p.NewDecoder(), payload)
	if got, accepted := alone[0]; accepted != ok || got != want {
		t.Fatalf("%q\n  got %q %v\n want %q %v", payload, got, rejects, want, ok)
	}
	neighbour, _ := reference(p, good)
	rows, rejects := decodeAll(t, p.NewDecoder(), good, payload, payload, good)
	if rows[0] != neighbour || rows[3] != neighbour || rows[1] != alone[0] || rows[2] != alone[0] || len(rows)+len(rejects) != 4 {
		t.Fatalf("%q among others: %v %v", payload, rows, rejects)
	}
	for _, r := range rejects {
		if r.Offset < 0 || r.Offset > len(payload) || r.Reason == codec.Unwritable {
			t.Fatalf("%q: reject %+v", payload, r)
		}
	}
}

const mixed = `a INTEGER OPTIONAL I64
b INTEGER OPTIONAL U8
c NUMBER OPTIONAL F64
d NUMBER OPTIONAL F32
eeeeeeeeeeeeeeeeeeeeeeee STRING OPTIONAL STRING
f BOOLEAN OPTIONAL BOOL
t STRING OPTIONAL DATETIME
u INTEGER U64`

var goodMixed = []byte(`{"u":18446744073709551615,"a":-5,"eeeeeeeeeeeeeeeeeeeeeeee":"neighbour","f":true,"c":0.5}`)

// pieces of JSON, good and bad, that the generator strings together.
var (
	names  = []string{`"a"`, `"b"`, `"c"`, `"d"`, `"eeeeeeeeeeeeeeeeeeeeeeee"`, `"f"`, `"t"`, `"u"`, `"u"`, `"x"`, `"\u0061"`, `"A"`, `""`, `"eeeeeeeeeeeeeeeeeeeeeeea"`}
	blanks = []string{"", "", "", "", " ", "\n\t", "\r  ", "\f"}
	words  = []string{"true", "false", "null", "nul", "[]", "{}", `[1,"\ud800\udc00",{"q":[null]}]`, `{"a":1,"a":2}`, `[,]`, "", "tru"}
)

func genNumber(t *rapid.T) string {
	if rapid.Bool().Draw(t, "grammatical") {
		s := rapid.StringMatching(`-?(0|[1-9][0-9]{0,21})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,3})?`).Draw(t, "number")
		return s
	}
	return rapid.OneOf(
		rapid.Map(rapid.Float64(), func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }),
		rapid.Map(rapid.Int64(), func(x int64) string { return strconv.FormatInt(x, 10) }),
		rapid.Map(rapid.Uint64(), func(x uint64) string { return strconv.FormatUint(x, 10) }),
		rapid.StringMatching(`[-+0-9.eE]{1,9}`),
	).Draw(t, "any number")
}

func genValue(t *rapid.T) string {
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0, 1:
		return genNumber(t)
	case 2:
		b, _ := json.Marshal(rapid.String().Draw(t, "string"))
		return string(b)
	case 3:
		return `"` + rapid.StringMatching(`([a-zé😀]|\\[nu"/x]|\\u[dD][89abcdef][0-9a-f]{2}|\\u00[0-9a-f]{2}){0,30}`).Draw(t, "escapes") + `"`
	case 4:
		return `"` + rapid.StringMatching(`(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9](\.[0-9]{1,11})?(Z|[+-][0-2][0-9]:[0-5][0-9])`).Draw(t, "time") + `"`
	default:
		return rapid.SampledFrom(words).Draw(t, "word")
	}
}

func genPayload(t *rapid.T) []byte {
	space := func() string { return rapid.SampledFrom(blanks).Draw(t, "space") }
	var b strings.Builder
	b.WriteString("{")
	for i := range rapid.IntRange(0, 9).Draw(t, "fields") {
		if i > 0 {
			b.WriteString("," + space())
		}
		b.WriteString(rapid.SampledFrom(names).Draw(t, "name") + space() + ":" + space() + genValue(t) + space())
	}
	b.WriteString("}")
	payload := []byte(b.String())
	if rapid.IntRange(0, 3).Draw(t, "mutate") == 0 {
		at := rapid.IntRange(0, len(payload)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			payload[at] = rapid.Byte().Draw(t, "byte")
		case 1:
			payload = payload[:at]
		default:
			payload = append(payload[:at:at], payload[at+1:]...)
		}
	}
	return payload
}

func TestDecodeAgainstReference(t *testing.T) {
	// req: P-020
	// req: N05
	// req: N07
	plans := []*Plan{mustBind(t, Strict, mixed), mustBind(t, Loose, mixed)}
	rapid.Check(t, func(t *rapid.T) {
		p := plans[rapid.IntRange(0, 1).Draw(t, "mode")]
		compare(t, p, goodMixed, genPayload(t))
	})
}

func FuzzDecode(f *testing.F) {
	strict, loose := mustBind(f, Strict, mixed), mustBind(f, Loose, mixed)
	f.Add(goodMixed, true)
	f.Fuzz(func(t *testing.T, payload []byte, mode bool) {
		p := loose
		if mode {
			p = strict
		}
		compare(t, p, goodMixed, payload)
	})
}

func TestTimesAgainstStandard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64().Draw(t, "ns")
		zone := time.FixedZone("", 60*rapid.IntRange(-1439, 1439).Draw(t, "minutes"))
		text := time.Unix(0, ns).In(zone).Format(time.RFC3339Nano)
		if got, state := parseTime([]byte(text)); state != timeGood || got != ns {
			t.Fatalf("%s: %d (%d), want %d", text, got, state, ns)
		}
		y, m, d := time.Unix(0, ns).UTC().Date()
		if cy, cm, cd := civil(floorDiv(ns, 86400e9)); cy != y || cm != int(m) || cd != d {
			t.Fatalf("%d: %d-%d-%d", ns, cy, cm, cd)
		}
	})
}
