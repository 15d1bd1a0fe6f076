// SPDX-License-Identifier: Apache-2.0

package recycler

import (
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestBlocksAreAlignedSizedAndApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Allocator
		live := map[*byte][]byte{}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				for p, b := range live {
					delete(live, p)
					a.Free(b)
					break
				}
				continue
			}
			size := rapid.OneOf(rapid.IntRange(1, 5000), rapid.IntRange(1, 9<<20)).Draw(t, "size")
			b := a.Allocate(size)
			if len(b) != size {
				t.Fatalf("asked for %d bytes, got %d", size, len(b))
			}
			p := unsafe.SliceData(b)
			if uintptr(unsafe.Pointer(p))%64 != 0 {
				t.Fatalf("a block of %d bytes is not aligned", size)
			}
			if live[p] != nil {
				t.Fatalf("a live block was handed out again")
			}
			live[p] = b
		}
	})
}

func TestReallocateKeepsTheContent(t *testing.T) {
	var a Allocator
	b := a.Allocate(3000)
	for i := range b {
		b[i] = byte(i)
	}
	b = a.Reallocate(50_000, b)
	for i := range 3000 {
		if b[i] != byte(i) {
			t.Fatalf("byte %d changed", i)
		}
	}
}

func TestAReleasedBlockIsUsedAgain(t *testing.T) {
	var a Allocator
	for range 1000 { // a pool may lose a block now and then, under the race detector on purpose
		first := a.Allocate(100_000)
		p := unsafe.SliceData(first)
		a.Free(first)
		if unsafe.SliceData(a.Allocate(70_000)) == p {
			return
		}
	}
	t.Fatal("no released block was used again")
}
