// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Within says whether the values of an array lie in some bytes, so that they were not copied out of them.
func Within(a arrow.Array, b []byte) bool {
	buffers := a.Data().Buffers()
	values := buffers[len(buffers)-1].Bytes()
	at, low := uintptr(unsafe.Pointer(unsafe.SliceData(values))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(values) > 0 && at >= low && at+uintptr(len(values)) <= low+uintptr(len(b))
}

// Bytes is the size of the buffers of a record.
func Bytes(r arrow.RecordBatch) (n int) {
	for _, c := range r.Columns() {
		for _, b := range c.Data().Buffers() {
			if b != nil {
				n += b.Len()
			}
		}
	}
	return n
}

// Same says whether the values of two arrays are the same memory.
func Same(a, b arrow.Array) bool {
	buffers := b.Data().Buffers()
	return Within(a, buffers[len(buffers)-1].Bytes())
}
