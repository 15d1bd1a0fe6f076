// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/expr at run time.
const (
	EvaluationFailed Code = "evaluation.failed"
)

// evaluationCodes is the part of the catalogue that belongs to host/expr at run time.
func evaluationCodes() []Entry {
	return []Entry{
		{EvaluationFailed, ClassUser, RetryNever, "An expression failed for a row.", ""},
	}
}
