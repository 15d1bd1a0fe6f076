// SPDX-License-Identifier: Apache-2.0

// Command tablegen turns a reflected FlatBuffers schema (JSON on standard input, as the compiler prints it) into the Go table that
// host/wire/verify reads. host/wire/generate.sh runs it.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
)

func main() {
	source := flag.String("fbs", "", "name of the schema file, for the comment")
	out := flag.String("out", "", "folder that holds the generated packages")
	flag.Parse()
	if err := run(*source, *out); err != nil {
		fmt.Fprintln(os.Stderr, "tablegen:", err)
		os.Exit(1)
	}
}

func run(source, out string) error {
	var s reflected
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		return fmt.Errorf("reading the reflected schema of %s: %w", source, err)
	}
	m, err := build(&s)
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	var b bytes.Buffer
	m.write(&b, source)
	text, err := format.Source(b.Bytes())
	if err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	return os.WriteFile(filepath.Join(out, m.namespace, "schema_table.go"), text, 0o644)
}
