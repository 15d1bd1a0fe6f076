// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Decoder turns consecutive payloads into one group of columns (P-020). It is used by one goroutine at a time.
type Decoder interface {
	// Decode reads the payloads at the given rows, all of them if rows is nil, in that order. The payload column is only read; nothing
	// in the result points into it. A payload that does not fit is a reject and leaves no trace in the columns. The error is for misuse
	// and for results beyond what a column can hold, and then there is no result.
	Decode(mem memory.Allocator, payloads *array.Binary, rows []int32) (Decoded, error)
}

// Decoded is a group of messages. The receiver owns it.
type Decoded struct {
	// Columns are in schema order, one value a message. Release them with Release, or hand them on.
	Columns []arrow.Array
	// Rows says which payload each message came from. It ascends as the given rows do; a payload that unfolds repeats.
	Rows []int32
	// Rejects are the payloads that gave no message because they do not fit, in the given order.
	Rejects []Reject
}

// Len is the number of messages.
func (d Decoded) Len() int { return len(d.Rows) }

// Release ends the ownership of the columns.
func (d Decoded) Release() {
	for _, c := range d.Columns {
		c.Release()
	}
}

// Encoder turns records into payloads, one a record. It is used by one goroutine at a time.
type Encoder interface {
	// Encode writes the record's given rows, all of them if rows is nil, in that order. The record has the codec's schema and is only
	// read. A row that the format cannot express is a reject and leaves no trace (spec: an `encode` error of that row). The error is for
	// misuse and for results beyond what a column can hold, and then there is no result.
	Encode(mem memory.Allocator, record arrow.RecordBatch, rows []int32) (Encoded, error)
}

// Encoded is a column of payloads. The receiver owns it.
type Encoded struct {
	// Payloads has one value a written row. Release it.
	Payloads *array.Binary
	// Rows says which row of the record each payload came from.
	Rows []int32
	// Rejects are the rows that could not be written, in the given order.
	Rejects []Reject
}

// Release ends the ownership of the payloads.
func (e Encoded) Release() { e.Payloads.Release() }
