// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/model, host/expr checks.
const (
	ResolveUnknown Code = "resolve.unknown"
)

// modelCodes is the part of the catalogue that belongs to host/model, host/expr checks.
func modelCodes() []Entry {
	return []Entry{
		{ResolveUnknown, ClassUser, RetryNever, "A name refers to nothing in this domain.", ""},
	}
}
