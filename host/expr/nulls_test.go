// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/types"
)

// dirty is an allocator whose memory holds what somebody else left there.
type dirty struct{ memory.Allocator }

func (d dirty) Allocate(size int) []byte {
	b := d.Allocator.Allocate(size)
	for i := range b {
		b[i] = 0xdb
	}
	return b
}

func (d dirty) Reallocate(size int, b []byte) []byte {
	next := d.Allocate(size)
	copy(next, b)
	d.Free(b)
	return next
}

// A column of nulls must not show what reused memory held before.
func TestNullsOverUsedMemory(t *testing.T) {
	checked := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer checked.AssertSize(t, 0)
	for s := types.U8; s <= types.Datetime; s++ {
		for _, n := range []int{0, 1, 9, 2000} {
			a := Nulls(dirty{checked}, types.Of(s), n)
			if a.Len() != n || a.NullN() != n {
				t.Errorf("%s: %d of %d are null", s, a.NullN(), n)
			}
			for i := range n {
				if a.IsValid(i) {
					t.Fatalf("%s: row %d of %d is not null", s, i, n)
				}
			}
			for _, b := range a.Data().Buffers() {
				for i := range b.Len() {
					if b.Bytes()[i] != 0 {
						t.Fatalf("%s: byte %d is %x", s, i, b.Bytes()[i])
					}
				}
			}
			a.Release()
		}
	}
}
