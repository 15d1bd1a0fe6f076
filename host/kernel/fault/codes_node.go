// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/node.
const (
	NodeFailed    Code = "node.failed"
	RowValidation Code = "row.validation"
	RowExternal   Code = "row.external"
	RowInternal   Code = "row.internal"
)

// nodeCodes is the part of the catalogue that belongs to host/node.
func nodeCodes() []Entry {
	return []Entry{
		{NodeFailed, ClassInternal, RetryAfterBackoff, "A node of the graph failed.", ""},
		{RowValidation, ClassUser, RetryNever, "A row or payload is not what its schema, codec or declaration asks for.", "mend the data, or let ON MESSAGE ERROR send such rows to an error relay"},
		{RowExternal, ClassExternal, RetryAfterBackoff, "A sink refused a record.", "see the reason; it is the sink's"},
		{RowInternal, ClassInternal, RetryNever, "A row could not be worked.", ""},
	}
}
