// SPDX-License-Identifier: Apache-2.0

package arrowipc

// Limits bound what a reader accepts.
type Limits struct {
	// MaxRows bounds the rows of a batch and the values of a nested column, which need not have bytes behind them (an empty struct, a
	// list of length 0). Zero means DefaultMaxRows.
	MaxRows int
}

// DefaultMaxRows is 16 Mi: far above every batch of ours, and an int32 offset column of that length still fits a message.
const DefaultMaxRows = 16 << 20

// maxDepth bounds nesting of a schema read from outside; NSPL lists have at most 8 dimensions.
const maxDepth = 12

func (l Limits) rows() int {
	if l.MaxRows <= 0 {
		return DefaultMaxRows
	}
	return l.MaxRows
}
