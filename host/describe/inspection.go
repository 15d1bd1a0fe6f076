// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// Inspection is a described object, to be rendered in one of two forms.
type Inspection struct {
	lines section
}

// pair is one fact. Its value is one of: nil (not available), string, uint64, int64, float64, bool, words, record, rows, section, spoken, bare.
type pair struct {
	words string
	value any
}

type (
	// words is a list on one line: `a, b`; a JSON array of strings.
	words []string
	// record is several facts on one line: `a=1 b=2`; a JSON object.
	record []pair
	// rows is a nested list, one record a line; a JSON array of objects. Text shows the members metric and direction without their words.
	rows []record
	// section is nested facts, one a line; a JSON object.
	section []pair
	// spoken is a list of records that text shows in the words of NSPL.
	spoken struct {
		text  string
		value rows
	}
	// bare is a truth that text shows as one of two phrases instead of `words: value`; a JSON boolean.
	bare struct {
		holds   bool
		yes, no string
	}
)

// optional is nil for an absent text.
func optional(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// Text is the rendering for people: `key: value` lines, nested lists two spaces in, each line ended.
func (i Inspection) Text() string {
	var b strings.Builder
	writeLines(&b, i.lines, "")
	return b.String()
}

func writeLines(b *strings.Builder, lines section, indent string) {
	for _, p := range lines {
		switch v := p.value.(type) {
		case bare:
			phrase := v.no
			if v.holds {
				phrase = v.yes
			}
			b.WriteString(indent + phrase + "\n")
		case section:
			b.WriteString(indent + p.words + ":\n")
			writeLines(b, v, indent+"  ")
		case rows:
			if len(v) == 0 {
				b.WriteString(indent + p.words + ": -\n")
				continue
			}
			b.WriteString(indent + p.words + ":\n")
			for _, row := range v {
				b.WriteString(indent + "  - " + inline(row) + "\n")
			}
		default:
			b.WriteString(indent + p.words + ": " + inline(v) + "\n")
		}
	}
}

// inline is a value within a line.
func inline(value any) string {
	switch v := value.(type) {
	case nil:
		return "-"
	case string:
		return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(v) // one fact is one line
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case uint64:
		return strconv.FormatUint(v, 10)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case words:
		if len(v) == 0 {
			return "-"
		}
		return strings.Join(v, ", ")
	case spoken:
		return v.text
	case record:
		if len(v) == 0 {
			return "-"
		}
		parts := make([]string, len(v))
		for i, p := range v {
			parts[i] = p.words + "=" + inline(p.value)
			if p.words == "metric" || p.words == "direction" {
				parts[i] = inline(p.value)
			}
		}
		return strings.Join(parts, " ")
	default:
		return ""
	}
}

// JSON is the rendering for programs: one object, members in the order of the text lines.
func (i Inspection) JSON() []byte {
	var b bytes.Buffer
	writeJSON(&b, i.lines)
	return b.Bytes()
}

func writeJSON(b *bytes.Buffer, value any) {
	switch v := value.(type) {
	case section:
		writeObject(b, v)
	case record:
		writeObject(b, v)
	case rows:
		b.WriteByte('[')
		for i, row := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			writeObject(b, row)
		}
		b.WriteByte(']')
	case spoken:
		writeJSON(b, v.value)
	case bare:
		writeScalar(b, v.holds)
	case words:
		writeScalar(b, append([]string{}, v...))
	default:
		writeScalar(b, v)
	}
}

func writeObject(b *bytes.Buffer, members []pair) {
	b.WriteByte('{')
	for i, p := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		writeScalar(b, strings.NewReplacer(" ", "_", "-", "_").Replace(p.words))
		b.WriteByte(':')
		writeJSON(b, p.value)
	}
	b.WriteByte('}')
}

// writeScalar writes what encoding/json writes, without its escapes for HTML.
func writeScalar(b *bytes.Buffer, value any) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		b.WriteString("null")
		return
	}
	b.Truncate(b.Len() - 1)
}
