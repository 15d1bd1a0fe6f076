// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"time"
)

// Answer judges the payloads First..Last of one attempt; Rejected is empty for delivered ones.
type Answer struct {
	First, Last uint64
	Rejected    string
}

// Answers is the body of KindAnswer: the end of one attempt.
type Answers struct {
	List []Answer
	// Failure is the failure of the attempt itself, empty if there was none; Definitive and RetryAfter belong to it.
	Failure    string
	Definitive bool
	RetryAfter time.Duration
}

// Texts in answers are cut: the reason of a payload, and the failure of an attempt.
const (
	maxReason  = 512
	maxFailure = 4096
)

// Append encodes a.
func (a Answers) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(a.List)))
	for _, one := range a.List {
		b = binary.LittleEndian.AppendUint64(b, one.First)
		b = binary.LittleEndian.AppendUint64(b, one.Last)
		b = appendText(b, one.Rejected, maxReason)
	}
	b = appendText(b, a.Failure, maxFailure)
	if a.Definitive {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return binary.LittleEndian.AppendUint32(b, uint32(min(a.RetryAfter.Milliseconds(), 1<<31)))
}

func appendText(b []byte, s string, limit int) []byte {
	s = s[:min(len(s), limit)]
	b = binary.LittleEndian.AppendUint16(b, uint16(len(s)))
	return append(b, s...)
}

// ParseAnswers decodes the body of KindAnswer.
func ParseAnswers(b []byte) (Answers, error) {
	r := cursor{b: b}
	n := r.u32()
	if uint64(n)*18 > uint64(len(r.b)) {
		return Answers{}, violation("an answer list of %d entries in %d bytes", n, len(b))
	}
	a := Answers{List: make([]Answer, n)}
	for i := range a.List {
		a.List[i] = Answer{First: r.u64(), Last: r.u64(), Rejected: r.text()}
	}
	a.Failure = r.text()
	a.Definitive = r.u8() != 0
	a.RetryAfter = time.Duration(r.u32()) * time.Millisecond
	if r.bad || len(r.b) != 0 {
		return Answers{}, violation("an answer list that is cut short or too long")
	}
	return a, nil
}

// Within verifies that every answered payload was offered (ids first..last) and none is answered twice (P-038).
func (a Answers) Within(first, last uint64) error {
	next := first
	for _, one := range a.List {
		if one.First < next || one.Last < one.First || one.Last > last {
			return violation("an answer for payloads %d..%d, offered were %d..%d in order", one.First, one.Last, first, last)
		}
		next = one.Last + 1
	}
	return nil
}

type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if c.bad || n > len(c.b) {
		c.bad = true
		return make([]byte, min(n, 8))
	}
	out := c.b[:n]
	c.b = c.b[n:]
	return out
}

func (c *cursor) u8() byte    { return c.take(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.take(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.take(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.take(8)) }

func (c *cursor) text() string {
	n := int(c.u16())
	if c.bad || n > len(c.b) {
		c.bad = true
		return ""
	}
	return string(c.take(n))
}
