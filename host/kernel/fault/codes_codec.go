// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/codec.
const (
	CodecDecode Code = "codec.decode"
)

// codecCodes is the part of the catalogue that belongs to host/codec.
func codecCodes() []Entry {
	return []Entry{
		{CodecDecode, ClassUser, RetryNever, "A payload does not fit its wire schema.", ""},
	}
}
