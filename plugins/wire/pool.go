// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Size classes of pooled bodies are powers of two.
const (
	smallestClass = 12 // 4 KiB
	largestClass  = 20 // 1 MiB; larger bodies are allocated as their bytes arrive and left to the collector
	keptPerClass  = 16
)

// pool keeps bodies for reuse, at most keptPerClass of each class. It is safe for concurrent use: buffers come home from wherever their
// batch was released.
type pool struct {
	free [largestClass - smallestClass + 1]chan []byte
}

func newPool() *pool {
	p := &pool{}
	for i := range p.free {
		p.free[i] = make(chan []byte, keptPerClass)
	}
	return p
}

func class(n int) int {
	return max(bits.Len(uint(max(n, 1)-1)), smallestClass) - smallestClass
}

// take lends a slice of n bytes, n <= 1 << largestClass.
func (p *pool) take(n int) []byte {
	c := class(n)
	select {
	case b := <-p.free[c]:
		return b[:n]
	default:
		return make([]byte, n, 1<<(c+smallestClass))
	}
}

// Free brings a body home; it makes the pool the allocator of memory.Buffer.
func (p *pool) Free(b []byte) {
	n := cap(b)
	if n < 1<<smallestClass || n > 1<<largestClass || n&(n-1) != 0 {
		return
	}
	select {
	case p.free[class(n)] <- b[:0]:
	default:
	}
}

// Allocate and Reallocate complete memory.Allocator; bodies are never resized.
func (p *pool) Allocate(n int) []byte { return make([]byte, n) }

// Reallocate copies.
func (p *pool) Reallocate(n int, b []byte) []byte {
	out := make([]byte, n)
	copy(out, b)
	return out
}

var _ memory.Allocator = (*pool)(nil)
