// SPDX-License-Identifier: Apache-2.0

package ident

import (
	"encoding/hex"
	"errors"
)

// Reference is an execution reference: a UUIDv7 (RFC 9562) that names one logical command for ever.
type Reference [16]byte

// NewReference builds a UUIDv7 from a time in Unix milliseconds and ten random bytes. The caller brings both, because this package
// reads neither clock nor random source.
func NewReference(unixMilli int64, random [10]byte) Reference {
	var r Reference
	ms := uint64(unixMilli)
	for i := range 6 {
		r[i] = byte(ms >> (40 - 8*i))
	}
	copy(r[6:], random[:])
	r[6] = r[6]&0x0f | 0x70
	r[8] = r[8]&0x3f | 0x80
	return r
}

// UnixMilli is the time the reference carries.
func (r Reference) UnixMilli() int64 {
	var ms int64
	for i := range 6 {
		ms = ms<<8 | int64(r[i])
	}
	return ms
}

// IsZero says whether no reference was given.
func (r Reference) IsZero() bool { return r == Reference{} }

// String is the 36 character lower-case form.
func (r Reference) String() string {
	var b [36]byte
	hex.Encode(b[0:8], r[0:4])
	hex.Encode(b[9:13], r[4:6])
	hex.Encode(b[14:18], r[6:8])
	hex.Encode(b[19:23], r[8:10])
	hex.Encode(b[24:36], r[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

var errReference = errors.New("not a UUIDv7 in its 36 character form")

// ParseReference reads the 36 character form and accepts version 7 only.
func ParseReference(s string) (Reference, error) {
	var r Reference
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return r, errReference
	}
	pure := s[0:8] + s[9:13] + s[14:18] + s[19:23] + s[24:36]
	if _, err := hex.Decode(r[:], []byte(pure)); err != nil {
		return Reference{}, errReference
	}
	if r[6]>>4 != 7 || r[8]>>6 != 2 {
		return Reference{}, errReference
	}
	return r, nil
}
