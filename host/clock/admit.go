// SPDX-License-Identifier: Apache-2.0

package clock

// Select tests a column of timestamps and returns how many rows the window admits (C-130). Bit i of dst, least significant bit first as in Arrow, says
// whether Admits(ts[i]) holds and row i is valid; further bits of the last byte are cleared. valid is an Arrow validity bitmap whose bit
// offset+i belongs to ts[i], or nil if every row is valid: a missing timestamp is refused (C-131).
//
// dst must hold at least (len(ts)+7)/8 bytes, valid (offset+len(ts)+7)/8; Select panics otherwise. It allocates nothing.
func (w Window) Select(dst []byte, ts []int64, valid []byte, offset int) (admitted int) {
	dst = dst[:(len(ts)+7)/8]
	clear(dst)
	for i, t := range ts {
		if w.Admits(t) && (valid == nil || valid[(offset+i)/8]>>((offset+i)%8)&1 == 1) {
			dst[i/8] |= 1 << (i % 8)
			admitted++
		}
	}
	return admitted
}
