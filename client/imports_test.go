// SPDX-License-Identifier: Apache-2.0

package client

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestImports holds the public client to a short list, so that its users see few dependencies.
func TestImports(t *testing.T) {
	const module = "github.com/nervix-go/nervix/"
	allowed := []string{module + "host/kernel/", module + "host/wire", module + "host/clock", module + "host/nspl/",
		"github.com/quic-go/quic-go", "github.com/google/uuid"}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			ok := !strings.Contains(strings.Split(path, "/")[0], ".") // the standard library
			for _, prefix := range allowed {
				ok = ok || path == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
			}
			if !ok || strings.HasPrefix(path, module+"host/wire/gen") {
				t.Errorf("%s imports %s", file, path)
			}
		}
	}
}
