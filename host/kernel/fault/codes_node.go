// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/node.
const (
	NodeFailed Code = "node.failed"
)

// nodeCodes is the part of the catalogue that belongs to host/node.
func nodeCodes() []Entry {
	return []Entry{
		{NodeFailed, ClassInternal, RetryAfterBackoff, "A node of the graph failed.", ""},
	}
}
