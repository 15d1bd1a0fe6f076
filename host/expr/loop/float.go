// SPDX-License-Identifier: Apache-2.0

package loop

import "math"

// AddFloat adds; true where a result is NaN or infinite: only those differ from zero when subtracted from themselves.
func AddFloat[T Float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] + b[i]
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// AddFloatBy adds one float to all.
func AddFloatBy[T Float](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] + b
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// SubFloat subtracts.
func SubFloat[T Float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] - b[i]
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// MulFloat multiplies.
func MulFloat[T Float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] * b[i]
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// MulFloatBy multiplies all by one float.
func MulFloatBy[T Float](dst, a []T, b T) bool {
	a = a[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] * b
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// DivFloat divides.
func DivFloat[T Float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := a[i] / b[i]
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}

// RemFloat is the remainder with the sign of the dividend.
func RemFloat[T Float](dst, a, b []T) bool {
	a, b = a[:len(dst)], b[:len(dst)]
	var bad uint64
	for i := range dst {
		v := T(math.Mod(float64(a[i]), float64(b[i])))
		dst[i] = v
		bad |= Bit(v-v != 0)
	}
	return bad != 0
}
