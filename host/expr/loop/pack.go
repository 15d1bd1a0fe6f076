// SPDX-License-Identifier: Apache-2.0

package loop

// EqualTo packs a[i] == v.
func EqualTo[T Number](dst []byte, a []T, v T) {
	at := 0
	for ; len(a) >= 8; a = a[8:] {
		dst[at] = byte(Bit(a[0] == v) | Bit(a[1] == v)<<1 | Bit(a[2] == v)<<2 | Bit(a[3] == v)<<3 |
			Bit(a[4] == v)<<4 | Bit(a[5] == v)<<5 | Bit(a[6] == v)<<6 | Bit(a[7] == v)<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x == v)
	}
}

// LessThan packs a[i] < v.
func LessThan[T Number](dst []byte, a []T, v T) {
	at := 0
	for ; len(a) >= 8; a = a[8:] {
		dst[at] = byte(Bit(a[0] < v) | Bit(a[1] < v)<<1 | Bit(a[2] < v)<<2 | Bit(a[3] < v)<<3 |
			Bit(a[4] < v)<<4 | Bit(a[5] < v)<<5 | Bit(a[6] < v)<<6 | Bit(a[7] < v)<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x < v)
	}
}

// AtMost packs a[i] <= v.
func AtMost[T Number](dst []byte, a []T, v T) {
	at := 0
	for ; len(a) >= 8; a = a[8:] {
		dst[at] = byte(Bit(a[0] <= v) | Bit(a[1] <= v)<<1 | Bit(a[2] <= v)<<2 | Bit(a[3] <= v)<<3 |
			Bit(a[4] <= v)<<4 | Bit(a[5] <= v)<<5 | Bit(a[6] <= v)<<6 | Bit(a[7] <= v)<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x <= v)
	}
}

// GreaterThan packs a[i] > v.
func GreaterThan[T Number](dst []byte, a []T, v T) {
	at := 0
	for ; len(a) >= 8; a = a[8:] {
		dst[at] = byte(Bit(a[0] > v) | Bit(a[1] > v)<<1 | Bit(a[2] > v)<<2 | Bit(a[3] > v)<<3 |
			Bit(a[4] > v)<<4 | Bit(a[5] > v)<<5 | Bit(a[6] > v)<<6 | Bit(a[7] > v)<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x > v)
	}
}

// AtLeast packs a[i] >= v.
func AtLeast[T Number](dst []byte, a []T, v T) {
	at := 0
	for ; len(a) >= 8; a = a[8:] {
		dst[at] = byte(Bit(a[0] >= v) | Bit(a[1] >= v)<<1 | Bit(a[2] >= v)<<2 | Bit(a[3] >= v)<<3 |
			Bit(a[4] >= v)<<4 | Bit(a[5] >= v)<<5 | Bit(a[6] >= v)<<6 | Bit(a[7] >= v)<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x >= v)
	}
}

// Equal packs a[i] == b[i].
func Equal[T Number](dst []byte, a, b []T) {
	at := 0
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		dst[at] = byte(Bit(a[0] == b[0]) | Bit(a[1] == b[1])<<1 | Bit(a[2] == b[2])<<2 | Bit(a[3] == b[3])<<3 |
			Bit(a[4] == b[4])<<4 | Bit(a[5] == b[5])<<5 | Bit(a[6] == b[6])<<6 | Bit(a[7] == b[7])<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x == b[i])
	}
}

// Less packs a[i] < b[i].
func Less[T Number](dst []byte, a, b []T) {
	at := 0
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		dst[at] = byte(Bit(a[0] < b[0]) | Bit(a[1] < b[1])<<1 | Bit(a[2] < b[2])<<2 | Bit(a[3] < b[3])<<3 |
			Bit(a[4] < b[4])<<4 | Bit(a[5] < b[5])<<5 | Bit(a[6] < b[6])<<6 | Bit(a[7] < b[7])<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x < b[i])
	}
}

// LessEqual packs a[i] <= b[i].
func LessEqual[T Number](dst []byte, a, b []T) {
	at := 0
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		dst[at] = byte(Bit(a[0] <= b[0]) | Bit(a[1] <= b[1])<<1 | Bit(a[2] <= b[2])<<2 | Bit(a[3] <= b[3])<<3 |
			Bit(a[4] <= b[4])<<4 | Bit(a[5] <= b[5])<<5 | Bit(a[6] <= b[6])<<6 | Bit(a[7] <= b[7])<<7)
		at++
	}
	for i, x := range a {
		packTail(dst, at, i, x <= b[i])
	}
}

// packTail writes bit i of the last, partial byte.
func packTail(dst []byte, at, i int, v bool) {
	if i == 0 {
		dst[at] = 0
	}
	dst[at] |= byte(Bit(v)) << i
}
