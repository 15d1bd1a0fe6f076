// SPDX-License-Identifier: Apache-2.0

package loop

// AddSigned adds signed integers.
func AddSigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] + b[i]
		bad |= (a[i] ^ s) & (b[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

// AddSignedBy adds one signed integer to all.
func AddSignedBy[T Integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] + b
		bad |= (a[i] ^ s) & (b ^ s)
		dst[i] = s
	}
	return bad < 0
}

// AddUnsigned adds unsigned integers.
func AddUnsigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		s := a[i] + b[i]
		bad |= Bit(s < a[i])
		dst[i] = s
	}
	return bad != 0
}

// AddUnsignedBy adds one unsigned integer to all.
func AddUnsignedBy[T Integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		s := a[i] + b
		bad |= Bit(s < b)
		dst[i] = s
	}
	return bad != 0
}

// SubSigned subtracts signed integers.
func SubSigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] - b[i]
		bad |= (a[i] ^ b[i]) & (a[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

// SubSignedBy subtracts one signed integer from all.
func SubSignedBy[T Integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad T
	for i := range dst {
		s := a[i] - b
		bad |= (a[i] ^ b) & (a[i] ^ s)
		dst[i] = s
	}
	return bad < 0
}

// SubUnsigned subtracts unsigned integers.
func SubUnsigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		bad |= Bit(a[i] < b[i])
		dst[i] = a[i] - b[i]
	}
	return bad != 0
}

// SubUnsignedBy subtracts one unsigned integer from all.
func SubUnsignedBy[T Integer](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		bad |= Bit(a[i] < b)
		dst[i] = a[i] - b
	}
	return bad != 0
}

// MulNarrow multiplies widths up to 32 bits in 64 bits.
func MulNarrow[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p := int64(a[i]) * int64(b[i])
		dst[i] = T(p)
		bad |= Bit(int64(T(p)) != p)
	}
	return bad != 0
}

// MulSigned multiplies 64 bits and notes operands outside 31 bits and a sign: products of such halves cannot overflow.
func MulSigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p, q := a[i], b[i]
		dst[i] = p * q
		bad |= (uint64(p) + 1<<31) | (uint64(q) + 1<<31)
	}
	return bad>>32 != 0
}

// MulUnsigned notes operands of more than 32 bits.
func MulUnsigned[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		p, q := a[i], b[i]
		dst[i] = p * q
		bad |= uint64(p) | uint64(q)
	}
	return bad>>32 != 0
}

// Div divides, cutting toward zero; true where a divisor is 0 or -1. A division by zero gives 0.
func Div[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	bad := false
	for i, v := range b {
		if v == 0 {
			bad = true
			dst[i] = 0
			continue
		}
		dst[i] = a[i] / v
		if v+1 == 0 {
			bad = true // possibly MIN / -1; for unsigned types exact finds nothing
		}
	}
	return bad
}

// DivBy divides all by one integer.
func DivBy[T Integer](dst, a []T, b T) bool {
	if b == 0 || b+1 == 0 {
		for i := range dst {
			dst[i] = 0
			if b != 0 {
				dst[i] = a[i] / b
			}
		}
		return true
	}
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] / b
	}
	return false
}

// Rem takes the sign of the dividend; MIN % -1 is 0 in Go as in NSPL.
func Rem[T Integer](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	bad := false
	for i, v := range b {
		if v == 0 {
			bad = true
			dst[i] = 0
			continue
		}
		dst[i] = a[i] % v
	}
	return bad
}

// RemBy is Rem with one divisor.
func RemBy[T Integer](dst, a []T, b T) bool {
	if b == 0 {
		clear(dst)
		return len(dst) > 0
	}
	a = a[:len(dst)]
	for i := range dst {
		dst[i] = a[i] % b
	}
	return false
}

// bitsOf is the width of T.
func bitsOf[T Integer]() int {
	var n int
	for v := T(1); v != 0; v <<= 1 {
		n++
	}
	return n
}

// Lowest is the smallest value of T; 0 for unsigned types.
func Lowest[T Integer]() T {
	var zero T
	if zero-1 > 0 {
		return 0
	}
	return T(1) << (bitsOf[T]() - 1)
}
