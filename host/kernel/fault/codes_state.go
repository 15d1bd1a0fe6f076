// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/state.
const (
	StateFailed Code = "state.failed"
)

// stateCodes is the part of the catalogue that belongs to host/state.
func stateCodes() []Entry {
	return []Entry{
		{StateFailed, ClassExternal, RetryNever, "The durable store failed and stays failed until restart.", "check the disk, then restart"},
	}
}
