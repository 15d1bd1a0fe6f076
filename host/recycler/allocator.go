// SPDX-License-Identifier: Apache-2.0

// Package recycler is the allocator of Arrow columns on their way through a node. A released buffer goes to the next column of its class, so
// that a steady stream of batches allocates nothing: fresh memory has to be cleared, faulted in and scanned.
//
// Recycled blocks are not cleared, and memory that is read after its release holds something else by then. Builds with the tag
// `invariants` spoil every released block, so that tests see such a read.
package recycler

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// The classes of sizes that are kept for reuse: powers of two. Smaller blocks are cheap to make; bigger ones are rare, and keeping them would
// hold memory for nothing.
const (
	smallestClass = 10 // 1 KiB
	greatestClass = 22 // 4 MiB
)

// Allocator implements memory.Allocator and is safe for concurrent use. Its blocks of the classes above are aligned to 64 bytes, because Go
// aligns blocks of a power of two to their size, up to a page. The zero value is ready.
type Allocator struct {
	classes [greatestClass - smallestClass + 1]sync.Pool
}

var _ memory.Allocator = (*Allocator)(nil)

// class gives the index of the class that holds size bytes; ok is false outside the classes.
func class(size int) (index int, ok bool) {
	if size <= 1<<(smallestClass-1) || size > 1<<greatestClass {
		return 0, false
	}
	return max(bits.Len(uint(size-1)), smallestClass) - smallestClass, true
}

// Allocate implements memory.Allocator.
func (r *Allocator) Allocate(size int) []byte {
	c, ok := class(size)
	if !ok {
		return memory.DefaultAllocator.Allocate(size)
	}
	length := 1 << (c + smallestClass)
	if p, ok := r.classes[c].Get().(*byte); ok {
		return unsafe.Slice(p, length)[:size]
	}
	return make([]byte, length)[:size]
}

// Reallocate implements memory.Allocator.
func (r *Allocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	next := r.Allocate(size)
	copy(next, b)
	r.Free(b)
	return next
}

// Free implements memory.Allocator.
func (r *Allocator) Free(b []byte) {
	size := cap(b)
	if size == 0 || size&(size-1) != 0 {
		return // not of a class: the collector has it
	}
	c, ok := class(size)
	if !ok || 1<<(c+smallestClass) != size {
		return
	}
	if spoil {
		for i := range b[:size] {
			b[:size][i] = 0xdb
		}
	}
	r.classes[c].Put(unsafe.SliceData(b))
}
