// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/expr: checks of expressions and constructions, and evaluation at run time.
const (
	EvaluationFailed Code = "evaluation.failed"

	ExprScope      Code = "expr.scope"
	ExprField      Code = "expr.field"
	ExprUnreadable Code = "expr.unreadable"
	ExprFunction   Code = "expr.function"
	ExprArguments  Code = "expr.arguments"
	ExprType       Code = "expr.type"
	ExprNull       Code = "expr.null"
	ExprConstant   Code = "expr.constant"
	ExprPlace      Code = "expr.place"

	ConstructTarget        Code = "construct.target"
	ConstructInherit       Code = "construct.inherit"
	ConstructType          Code = "construct.type"
	ConstructNullable      Code = "construct.nullable"
	ConstructSensitive     Code = "construct.sensitive"
	ConstructUninitialised Code = "construct.uninitialised"
)

// evaluationCodes is the part of the catalogue that belongs to host/expr.
func evaluationCodes() []Entry {
	return []Entry{
		{EvaluationFailed, ClassUser, RetryNever, "An expression failed for a row.", "The kind and the message say which operation; mend the expression or route such rows with ON MESSAGE ERROR."},

		{ExprScope, ClassUser, RetryNever, "A scope does not exist at this place.", "Use one of the scopes the message names."},
		{ExprField, ClassUser, RetryNever, "A record has no field of this name.", ""},
		{ExprUnreadable, ClassUser, RetryNever, "A field cannot be read here before it was set.", "Set it earlier, or read input.f."},
		{ExprFunction, ClassUser, RetryNever, "There is no function of this name.", ""},
		{ExprArguments, ClassUser, RetryNever, "A function was called with the wrong number of arguments.", ""},
		{ExprType, ClassUser, RetryNever, "Operands do not have the types the operation needs.", "Nothing converts by itself: write `x AS TYPE`."},
		{ExprNull, ClassUser, RetryNever, "NULL stands where it has no type.", "NULL is a whole value assigned to an optional field, or a result of a conditional that has another result."},
		{ExprConstant, ClassUser, RetryNever, "A constant is out of range, null or fails.", ""},
		{ExprPlace, ClassUser, RetryNever, "An expression is not allowed at this place.", ""},

		{ConstructTarget, ClassUser, RetryNever, "A field that is set or inherited does not exist.", ""},
		{ConstructInherit, ClassUser, RetryNever, "INHERIT needs a field of exactly equal type and nullability on both sides.", "Use SET with a conversion."},
		{ConstructType, ClassUser, RetryNever, "A value does not have the type of its field.", "Nothing converts by itself: write `x AS TYPE`."},
		{ConstructNullable, ClassUser, RetryNever, "A value that may be null is assigned to a required field.", "Give a default with coalesce(x, ...)."},
		{ConstructSensitive, ClassUser, RetryNever, "A sensitive value would lose its protection.", "Use leak_sensitive(x), or LEAK SENSITIVE on a listed INHERIT field, where that is intended."},
		{ConstructUninitialised, ClassUser, RetryNever, "A required field is never set.", "Add it to INHERIT or SET."},
	}
}
