// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/wire, host/arrowipc.
const (
	WireInvalid     Code = "wire.invalid"
	WireTooLarge    Code = "wire.too_large"
	WireRequestID   Code = "wire.request_id"
	WireUnencodable Code = "wire.unencodable"
)

// wireCodes is the part of the catalogue that belongs to host/wire, host/arrowipc.
func wireCodes() []Entry {
	return []Entry{
		{WireInvalid, ClassExternal, RetryNever, "Bytes from outside are not what they claim to be.", ""},
		{WireTooLarge, ClassUser, RetryNever, "A frame is larger than its limit.", "send less at once, or raise the frame limit on both sides"},
		{WireRequestID, ClassExternal, RetryNever, "A frame has no valid request identity.", ""},
		{WireUnencodable, ClassInternal, RetryNever, "A value does not fit the frame it should travel in.", ""},
	}
}
