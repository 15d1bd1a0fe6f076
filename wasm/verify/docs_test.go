// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/nspl/parse"
)

// page is a page of docs, and its blocks of a language.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func blocks(text, language string) (all []string) {
	for _, b := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		all = append(all, b[1])
	}
	return all
}

// code is a file from the first line that is no comment on.
func code(t *testing.T, name, comment string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(guests, "c", name))
	if err != nil {
		t.Fatal(err)
	}
	rest := string(text)
	for strings.HasPrefix(rest, comment) {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return rest
}

// What docs/guests.md shows is what there is: the first guest and its schemas are the committed files, the statements parse, the table of
// checks is that of the kit, and the C compiles.
func TestGuestsPage(t *testing.T) {
	text := page(t, "guests.md")
	c, statements := blocks(text, "c"), blocks(text, "nspl")
	if len(c) != 3 || len(statements) != 2 {
		t.Fatalf("%d blocks of C, %d of NSPL", len(c), len(statements))
	}
	if d := difference(code(t, "first.c", "//"), c[0]); d != "" {
		t.Errorf("the first guest: %s", d)
	}
	if d := difference(code(t, "first.nspl", "--"), statements[0]); d != "" {
		t.Errorf("the schemas of the first guest: %s", d)
	}
	if _, diagnostics := parse.Text(statements[1]); len(diagnostics) > 0 {
		t.Errorf("the pipeline: %v", diagnostics)
	}
	var table strings.Builder
	for _, check := range checks() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", check.name, check.title)
	}
	if _, got, _ := strings.Cut(text, "| check | holds if |\n| --- | --- |\n"); got != table.String() {
		t.Errorf("the table of checks: %s", difference(table.String(), got))
	}
	if !clang(t) {
		return
	}
	dir := t.TempDir()
	for i, block := range c {
		file := filepath.Join(dir, fmt.Sprintf("%d.c", i))
		if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
			t.Fatal(err)
		}
		command(t, "clang", "--target=wasm32", "-std=c11", "-ffreestanding", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", filepath.Join(guests, "c"), file)
	}
}

// codeRow is a line of the enumeration of answers.
var codeRow = regexp.MustCompile(`(?m)^  NV_[A-Z_]+ = (-?\d+)`)

// The codes of the header are those of the contract: verdicts and nothing else have the reserved numbers.
func TestCodesOfTheHeader(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range codeRow.FindAllStringSubmatch(publicHeader(t), -1) {
		if seen[m[1]] {
			t.Errorf("code %s occurs twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, want := range []string{"0", "-7", "-8"} {
		if !seen[want] {
			t.Errorf("code %s is missing", want)
		}
	}
	if seen["-9"] || len(seen) != 9 {
		t.Errorf("codes %v", seen)
	}
}
