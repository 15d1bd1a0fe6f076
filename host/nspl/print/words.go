// SPDX-License-Identifier: Apache-2.0

package print

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
)

// quoted holds the words that a bare field is backquoted for (nspl 1.3).
var quoted = func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(ast.ReservedWords + " " + ast.OperationWords) {
		set[strings.ToLower(w)] = true
	}
	return set
}()

// name prints a name in a name position.
func name(n ast.Ident) string { return spelling(string(n.Name)) }

func spelling(text string) string {
	if lex.IsNameWord(text) {
		return text
	}
	return "`" + text + "`"
}

// field prints a field where a keyword could stand.
func field(n ident.Name) string {
	if quoted[string(n)] {
		return "`" + string(n) + "`"
	}
	return anyField(n)
}

// anyField prints a field where no keyword can stand, as after `scope.`.
func anyField(n ident.Name) string {
	if lex.IsWord(string(n)) {
		return string(n)
	}
	return "`" + string(n) + "`"
}

func fields(list []ast.Ident) []string {
	texts := make([]string, len(list))
	for i, f := range list {
		texts[i] = field(f.Name)
	}
	return texts
}

// text prints a string with the plainest quotes that hold it (nspl 1.4).
func text(value string) string {
	broken := strings.ContainsAny(value, "\r\n")
	switch {
	case !broken && !strings.Contains(value, "'"):
		return "'" + value + "'"
	case !broken && !strings.Contains(value, `"`):
		return `"` + value + `"`
	}
	delimiter := "$$"
	for n := 0; !closes(value, delimiter); n++ {
		delimiter = "$q" + digits(n) + "$"
	}
	return delimiter + value + delimiter
}

// closes says whether the first delimiter after the value is the one that is meant to end it.
func closes(value, delimiter string) bool {
	return strings.Index(value+delimiter, delimiter) == len(value)
}
