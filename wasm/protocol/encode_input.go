// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Message is something the host hands to a guest. Its size is exact before it is written: the host asks nervix_alloc for Size bytes, and
// WriteTo fills the range it got, so nothing is copied twice and no spill is needed (W-040, W-042).
type Message interface {
	// Size is the number of bytes WriteTo writes.
	Size() int
	// WriteTo writes the message to the beginning of dst and never reads dst. A dst shorter than Size is refused with
	// wasm.short_buffer and left unchanged.
	WriteTo(dst []byte) error
}

// Bytes is a message that is ready as it is: an init payload, or the saved state that nervix_load_state gets exactly as it was saved.
type Bytes []byte

// Size is the length.
func (b Bytes) Size() int { return len(b) }

// WriteTo copies the bytes.
func (b Bytes) WriteTo(dst []byte) error {
	if err := room(len(b), dst); err != nil {
		return err
	}
	copy(dst, b)
	return nil
}

func room(size int, dst []byte) error {
	if len(dst) >= size {
		return nil
	}
	return refuse(fault.WasmShortBuffer, "WriteTo", fmt.Sprintf("the buffer has %d bytes, the message %d", len(dst), size), nil)
}

// payloadInput is the variant of the union, with the zero padding behind its byte.
const payloadInput = int(nervix_wasm.MessagePayloadInputEnvelope)

// The fixed part of an input envelope. All rows have one layout, so the message is written from front to back; every offset is known.
const (
	vtableMessage = 12
	vtableInput   = vtableMessage + 8
	vtableSidecar = vtableInput + 8
	vtableRow     = vtableSidecar + 12
	tableMessage  = vtableRow + 8
	tableInput    = tableMessage + 12
	tableSidecar  = tableInput + 12
	emptyVectors  = tableSidecar + 20 // acked, nacked, message_errors
	rowsVector    = emptyVectors + 12
	rowOffsets    = rowsVector + 4
	rowBytes      = 32 // table of 16, four of padding, vector of one token
	arrowAlign    = 16
	bytesPerRow   = rowBytes + 4
)

// InputEncoder writes the input envelopes of one processor (W-061, W-086). It holds at most one message at a time, between Prepare and
// the next Prepare, and belongs to one caller at a time.
type InputEncoder struct {
	schema  []byte // the encoded schema message
	columns int
	encoder arrowipc.Encoder
	parts   [][]byte
	arrow   int // bytes of the whole stream
	first   uint64
	rows    int
}

// NewInputEncoder prepares the schema message of the input.
func NewInputEncoder(input *types.Schema) (*InputEncoder, error) {
	schema, err := arrowipc.SchemaMessage(input.Arrow())
	if err != nil {
		return nil, refuse(fault.WasmUnencodable, "NewInputEncoder", "the input schema has no Arrow form", err)
	}
	return &InputEncoder{schema: schema, columns: input.Len()}, nil
}

// Prepare takes a batch whose rows have the tokens from first on. The batch must be retained, and first's ledger unchanged, until WriteTo was
// called. Faults: wasm.buffer if the message is larger than MaxBuffer, wasm.unencodable.
func (e *InputEncoder) Prepare(batch arrow.RecordBatch, first uint64) error {
	e.rows, e.parts = 0, nil
	if int(batch.NumCols()) != e.columns {
		return refuse(fault.WasmUnencodable, "Prepare", "the batch has other columns than the input schema", nil)
	}
	parts, size, err := e.encoder.Encode(batch)
	if err != nil {
		return refuse(fault.WasmUnencodable, "Prepare", "the batch has no Arrow form", err)
	}
	e.parts, e.first, e.rows = parts, first, int(batch.NumRows())
	e.arrow = len(e.schema) + size + len(arrowipc.EndOfStream)
	return JudgeSize(e.Size())
}

func alignUp(n, to int) int { return (n + to - 1) &^ (to - 1) }

// rowTables is where the tables of the rows begin.
func (e *InputEncoder) rowTables() int { return alignUp(rowOffsets+4*e.rows, 8) }

// arrowAt is where the Arrow stream begins: aligned, so that a guest can read columns in place.
func (e *InputEncoder) arrowAt() int { return alignUp(e.rowTables()+rowBytes*e.rows+4, arrowAlign) }

// Size is the exact size of the prepared message.
func (e *InputEncoder) Size() int { return e.arrowAt() + e.arrow }

// Bound is an upper bound for the size of a message with a number of rows and bytes of Arrow body, for callers that split batches.
func (e *InputEncoder) Bound(rows, body int) int {
	const metadata = 512
	return rowsVector + bytesPerRow*rows + arrowAlign + 32 + len(e.schema) + body + metadata + 96*e.columns
}

// WriteTo writes the prepared message.
func (e *InputEncoder) WriteTo(dst []byte) error {
	size := e.Size()
	if err := room(size, dst); err != nil {
		return err
	}
	dst = dst[:size]
	e.head(dst)
	e.sidecarRows(dst)
	at := e.arrowAt()
	clear(dst[e.rowTables()+rowBytes*e.rows : at])
	put32(dst, at-4, e.arrow)
	at += copy(dst[at:], e.schema)
	for _, p := range e.parts {
		at += copy(dst[at:], p)
	}
	copy(dst[at:], arrowipc.EndOfStream)
	return nil
}

func put16(b []byte, at int, v ...int) {
	for i, one := range v {
		binary.LittleEndian.PutUint16(b[at+2*i:], uint16(one))
	}
}

func put32(b []byte, at int, v ...int) {
	for i, one := range v {
		binary.LittleEndian.PutUint32(b[at+4*i:], uint32(one))
	}
}

// head writes everything before the rows.
func (e *InputEncoder) head(b []byte) {
	put32(b, 0, len(b)-prefixBytes, tableMessage-4)
	copy(b[8:], Identifier)
	put16(b, vtableMessage, 8, 12, 8, 4)
	put16(b, vtableInput, 8, 12, 4, 8)
	put16(b, vtableSidecar, 12, 20, 4, 8, 12, 16)
	put16(b, vtableRow, 8, 16, 4, 8)
	put32(b, tableMessage, tableMessage-vtableMessage, tableInput-(tableMessage+4), payloadInput)
	put32(b, tableInput, tableInput-vtableInput, e.arrowAt()-4-(tableInput+4), tableSidecar-(tableInput+8))
	put32(b, tableSidecar, tableSidecar-vtableSidecar, rowsVector-(tableSidecar+4))
	for i := range 3 {
		put32(b, tableSidecar+8+4*i, emptyVectors+4*i-(tableSidecar+8+4*i))
	}
	put32(b, emptyVectors, 0, 0, 0)
	put32(b, rowsVector, e.rows)
	clear(b[rowOffsets+4*e.rows : e.rowTables()])
}

// sidecarRows writes offset, table and token of each row.
func (e *InputEncoder) sidecarRows(b []byte) {
	start := e.rowTables()
	for i := range e.rows {
		at, token := start+rowBytes*i, e.first+uint64(i)
		offset := rowOffsets + 4*i
		binary.LittleEndian.PutUint32(b[offset:], uint32(at-offset))
		row := b[at : at+rowBytes : at+rowBytes]
		binary.LittleEndian.PutUint32(row, uint32(at-vtableRow))
		binary.LittleEndian.PutUint32(row[4:], 16) // from the member to the vector at 20
		binary.LittleEndian.PutUint64(row[8:], token)
		binary.LittleEndian.PutUint64(row[16:], 1<<32) // padding, and the length 1
		binary.LittleEndian.PutUint64(row[24:], token)
	}
}
