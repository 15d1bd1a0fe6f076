// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/wire, host/arrowipc.
const (
	WireInvalid Code = "wire.invalid"
)

// wireCodes is the part of the catalogue that belongs to host/wire, host/arrowipc.
func wireCodes() []Entry {
	return []Entry{
		{WireInvalid, ClassExternal, RetryNever, "Bytes from outside are not what they claim to be.", ""},
	}
}
