// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// The exit codes of `nervixd guest verify`.
const (
	ExitHolds      = 0 // all checks hold or do not apply
	ExitFails      = 1 // some check fails
	ExitUnreadable = 2 // the file is no readable module, or the command line is wrong
)

// Tool is `nervixd guest verify FILE`: the report goes to Out, one line a check, all else to Err.
type Tool struct {
	// Format is `text` or `jsonl`.
	Format string
	// SchemasFile holds the schemas the guest was written for, see ParseSchemas; empty: the kit tries its own.
	SchemasFile string
	Options     Options
	Out, Err    io.Writer
}

// Run checks the module in a file and gives the exit code.
func (t Tool) Run(ctx context.Context, file string) (exit int) {
	report, err := t.check(ctx, file)
	if err != nil {
		fmt.Fprintf(t.Err, "%s: %s\n", file, plain(err))
		return ExitUnreadable
	}
	write := report.WriteText
	if t.Format == "jsonl" {
		write = report.WriteLines
	}
	if err := write(t.Out); err != nil {
		fmt.Fprintln(t.Err, err)
		return ExitFails
	}
	fmt.Fprintf(t.Err, "%s: %s\n", file, report.Summary())
	if report.Failed() > 0 {
		return ExitFails
	}
	return ExitHolds
}

func (t Tool) check(ctx context.Context, file string) (*Report, error) {
	if t.Format != "text" && t.Format != "jsonl" {
		return nil, fmt.Errorf("format %q is not one of text, jsonl", t.Format)
	}
	wasm, err := read(file, t.Options.Limits.ModuleBytes)
	if err != nil {
		return nil, err
	}
	if t.SchemasFile != "" {
		text, err := read(t.SchemasFile, 1<<20)
		if err == nil {
			t.Options.Schemas, err = ParseSchemas(string(text))
		}
		if err != nil {
			return nil, fmt.Errorf("schemas of %s: %w", t.SchemasFile, err)
		}
	}
	return Run(ctx, wasm, t.Options)
}

// read reads a file of at most a size; 0 means that of the engine's default.
func read(file string, most int) ([]byte, error) {
	if most == 0 {
		limits := Limits()
		most = limits.ModuleBytes
	}
	f, err := os.Open(file)
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = fmt.Errorf("the file has more than %d bytes", most)
	}
	return b, err
}
