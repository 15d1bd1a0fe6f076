// SPDX-License-Identifier: Apache-2.0

package loop

import "encoding/binary"

const highBits = 0x8080808080808080

// IsASCII says whether all bytes are below 0x80.
func IsASCII(s []byte) bool {
	for ; len(s) >= 32; s = s[32:] {
		v := binary.LittleEndian.Uint64(s) | binary.LittleEndian.Uint64(s[8:]) | binary.LittleEndian.Uint64(s[16:]) | binary.LittleEndian.Uint64(s[24:])
		if v&highBits != 0 {
			return false
		}
	}
	var v byte
	for _, c := range s {
		v |= c
	}
	return v < 0x80
}

// MapASCII changes the case of ASCII letters, eight bytes at a time, and says whether all bytes were ASCII; dst is of no use if not. For
// bytes below 0x80 the additions carry into the top bit of a byte exactly when it is at least the first letter, and above the last one;
// 0x20, the difference of the cases, is that top bit shifted.
func MapASCII(dst, src []byte, up bool) bool {
	first, last := uint64('A'), uint64('Z')
	if up {
		first, last = 'a', 'z'
	}
	from, past := (0x80-first)*ones, (0x7f-last)*ones
	dst = dst[:len(src)]
	var seen uint64
	for len(src) >= 16 && len(dst) >= 16 {
		v, w := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		seen |= v | w
		binary.LittleEndian.PutUint64(dst, v^((v+from)&^(v+past)&highBits)>>2)
		binary.LittleEndian.PutUint64(dst[8:], w^((w+from)&^(w+past)&highBits)>>2)
		src, dst = src[16:], dst[16:]
	}
	for i, c := range src {
		seen |= uint64(c)
		if uint64(c) >= first && uint64(c) <= last {
			c ^= 0x20
		}
		dst[i] = c
	}
	return seen&highBits == 0
}
