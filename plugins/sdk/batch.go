// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/plugins/descriptor"
)

// Batch collects rows of a source in columns. It is reused; nothing given to it is kept.
type Batch struct {
	payload, position bytesColumn
	errors            []string // one per row from the first bad row on; empty = good
	bad               bool
	meta              []metaColumn
	index             []int // of the metadata column in meta, -1 for constants
	skipped           uint64
	targetBytes       int
	targetRows        int
	rowLimit          int // of this batch: targetRows or what is left of the credit

	nodes   []arrowipc.Node
	columns [][]byte
	texts   bytesColumn
	bits    []byte
}

type bytesColumn struct {
	values  []byte
	offsets []int32
}

func (c *bytesColumn) reset() { c.values, c.offsets = c.values[:0], append(c.offsets[:0], 0) }

func (c *bytesColumn) add(v []byte) {
	c.values = append(c.values, v...)
	c.offsets = append(c.offsets, int32(len(c.values)))
}

type metaColumn struct {
	isText bool
	text   bytesColumn
	number []int64
}

func newBatch(metadata []descriptor.Column, constants map[string]string, targetBytes, targetRows int) *Batch {
	b := &Batch{targetBytes: targetBytes, targetRows: targetRows, rowLimit: targetRows}
	for _, c := range metadata {
		if _, ok := constants[c.Name]; ok {
			b.index = append(b.index, -1)
			continue
		}
		b.index = append(b.index, len(b.meta))
		b.meta = append(b.meta, metaColumn{isText: c.Type == descriptor.ColumnString})
	}
	b.reset()
	return b
}

func (b *Batch) reset() {
	b.payload.reset()
	b.position.reset()
	b.errors, b.bad = b.errors[:0], false
	for i := range b.meta {
		b.meta[i].text.reset()
		b.meta[i].number = b.meta[i].number[:0]
	}
}

// Append adds a row. Its numeric metadata is 0 and its text metadata empty until set.
func (b *Batch) Append(payload, position []byte) {
	b.payload.add(payload)
	b.position.add(position)
	b.extend("")
}

// AppendError adds a row that could not be read as a payload (P-020); reason must not quote it.
func (b *Batch) AppendError(position []byte, reason string) {
	b.payload.add(nil)
	b.position.add(position)
	if !b.bad {
		b.bad = true
		for len(b.errors) < b.Rows()-1 {
			b.errors = append(b.errors, "")
		}
	}
	b.extend(reason)
}

func (b *Batch) extend(reason string) {
	if b.bad {
		b.errors = append(b.errors, reason)
	}
	for i := range b.meta {
		if m := &b.meta[i]; m.isText {
			m.text.offsets = append(m.text.offsets, int32(len(m.text.values)))
		} else {
			m.number = append(m.number, 0)
		}
	}
}

// SetInt64 sets a metadata column (its index in the descriptor) of the row added last.
func (b *Batch) SetInt64(column int, v int64) {
	if i := b.index[column]; i >= 0 {
		m := &b.meta[i]
		m.number[len(m.number)-1] = v
	}
}

// SetText sets a metadata column (its index in the descriptor) of the row added last, once.
func (b *Batch) SetText(column int, v string) {
	if i := b.index[column]; i >= 0 {
		m := &b.meta[i]
		m.text.values = append(m.text.values, v...)
		m.text.offsets[len(m.text.offsets)-1] = int32(len(m.text.values))
	}
}

// Skip counts payloads that the source leaves out by rule.
func (b *Batch) Skip(n int) { b.skipped += uint64(n) }

// Rows is the number of rows so far.
func (b *Batch) Rows() int { return len(b.payload.offsets) - 1 }

// Full says that the batch has the size the host wants.
func (b *Batch) Full() bool {
	return b.Rows() >= b.rowLimit || len(b.payload.values) >= b.targetBytes
}

// Room is how many payload bytes are left until Full.
func (b *Batch) Room() int { return max(0, b.targetBytes-len(b.payload.values)) }

// encode gives the message parts; they alias the batch and the encoder until the next use.
func (b *Batch) encode(e *arrowipc.Encoder) (parts [][]byte, size int, err error) {
	rows := b.Rows()
	good := arrowipc.Node{Rows: rows}
	b.nodes = append(b.nodes[:0], good, good)
	b.columns = append(b.columns[:0], nil, arrowipc.AsBytes(b.payload.offsets), b.payload.values, nil, arrowipc.AsBytes(b.position.offsets), b.position.values)
	if b.bad {
		nulls := b.errorColumn(rows)
		b.nodes = append(b.nodes, arrowipc.Node{Rows: rows, Nulls: nulls})
		b.columns = append(b.columns, b.bits, arrowipc.AsBytes(b.texts.offsets), b.texts.values)
	}
	for i := range b.meta {
		b.nodes = append(b.nodes, good)
		if m := &b.meta[i]; m.isText {
			b.columns = append(b.columns, nil, arrowipc.AsBytes(m.text.offsets), m.text.values)
		} else {
			b.columns = append(b.columns, nil, arrowipc.AsBytes(m.number))
		}
	}
	return e.EncodeRaw(rows, b.nodes, b.columns)
}

func (b *Batch) errorColumn(rows int) (nulls int) {
	b.texts.reset()
	b.bits = append(b.bits[:0], make([]byte, (rows+7)/8)...)
	for i, reason := range b.errors {
		b.texts.add([]byte(reason))
		if reason == "" {
			nulls++
		} else {
			b.bits[i/8] |= 1 << (i % 8)
		}
	}
	return nulls
}
