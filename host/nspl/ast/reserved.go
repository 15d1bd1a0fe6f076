// SPDX-License-Identifier: Apache-2.0

package ast

// ReservedWords are the words that read as keywords wherever an expression may stand; as a bare field, a function name or the target of an
// assignment they are written in backquotes (nspl 1.3). The list holds words of clauses that are still to come, so that stored texts keep
// their meaning.
const ReservedWords = `WHERE SET INHERIT ALL EXCEPT LEAK SENSITIVE INVOKE AS TRY_CAST JSON_VALUE TRY_JSON_VALUE JSON_EXISTS
	AND OR NOT TRUE FALSE NULL IF CASE WHEN THEN ELSE END IN BETWEEN IS DISTINCT FROM UDF`

// OperationWords begin the next operation of an ALTER after a comma; a bare field of that name is printed in backquotes (nspl 1.3).
const OperationWords = "ADD DROP ALTER REPLACE RENAME"
