// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// reserved are the words that read as keywords in expressions (nspl 1.3).
var reserved = wordSet(ast.ReservedWords)
