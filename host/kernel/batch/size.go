// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// Bytes is the logical Arrow size of the chosen rows: values, offsets and validity of the live slice, spare capacity not counted
// (nspl 10.5). MAX BATCH SIZE is compared with it.
func (p Piece) Bytes() int64 {
	n := int64(p.Len())
	var total int64
	for c := range int(p.Record.NumCols()) {
		column := p.Record.Column(c)
		if column.NullN() > 0 {
			total += (n + 7) / 8
		}
		switch t := column.DataType(); t.ID() {
		case arrow.BOOL:
			total += (n + 7) / 8
		case arrow.STRING, arrow.BINARY:
			total += 4*(n+1) + p.binaryBytes(column)
		default:
			if w, ok := t.(arrow.FixedWidthDataType); ok {
				total += n * int64(w.BitWidth()/8)
			}
		}
	}
	return total
}

func (p Piece) binaryBytes(column arrow.Array) int64 {
	_, o := binaryParts(column)
	if p.Rows == nil {
		return int64(o[len(o)-1] - o[0])
	}
	var total int64
	for _, r := range p.Rows {
		total += int64(o[r+1] - o[r])
	}
	return total
}
