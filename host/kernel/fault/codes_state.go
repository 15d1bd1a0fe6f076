// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/state.
const (
	StateFailed Code = "state.failed"
	StateStale  Code = "state.stale"
	StateClosed Code = "state.closed"
	StateMisuse Code = "state.misuse"
)

// stateCodes is the part of the catalogue that belongs to host/state.
func stateCodes() []Entry {
	return []Entry{
		{StateFailed, ClassExternal, RetryNever, "The durable store failed and stays failed until restart.", "check the disk, then restart"},
		{StateStale, ClassInternal, RetryNever, "A write was refused because the store holds a newer one.", ""},
		{StateClosed, ClassInternal, RetryNever, "The durable store is closed.", ""},
		{StateMisuse, ClassInternal, RetryNever, "The durable store was given a value outside its limits.", "report this as a defect"},
	}
}
