// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/codec.
const (
	CodecDecode Code = "codec.decode"
	CodecEncode Code = "codec.encode"
	CodecSize   Code = "codec.size"
	CodecMisuse Code = "codec.misuse"
)

// codecCodes is the part of the catalogue that belongs to host/codec.
func codecCodes() []Entry {
	return []Entry{
		{CodecDecode, ClassUser, RetryNever, "A payload does not fit its wire schema.", ""},
		{CodecEncode, ClassUser, RetryNever, "A record has a value that its wire format cannot express.", "filter or replace NaN and infinities before the emitter"},
		{CodecSize, ClassCapacity, RetryNever, "A group of payloads is larger than one column can hold.", "use smaller groups"},
		{CodecMisuse, ClassInternal, RetryNever, "A codec was given columns of another schema.", "report this as a defect"},
	}
}
