// SPDX-License-Identifier: Apache-2.0

package loop

import "unsafe"

// Number lists the Go forms of the fixed-width types; DATETIME is int64.
type Number interface {
	Integer | float32 | float64
}

// Integer lists the eight integer types.
type Integer interface {
	uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64
}

// Float lists the two float types.
type Float interface{ float32 | float64 }

// View reads bytes as values of a fixed-width type in the machine's (little-endian) order, which is Arrow's.
func View[T Number](b []byte) []T {
	var zero T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(zero)))
}

// Raw is the bytes of a slice of fixed-width values.
func Raw[T Number](v []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(zero)))
}

// Bit is 1 for true; the compiler turns it into a flag move, so that loops stay free of branches.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
