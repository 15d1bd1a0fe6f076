// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"os"
	"strings"

	"github.com/nervix-go/nervix/host/nspl/lex"
)

// readInput gathers the whole text of a run.
func readInput(in io.Reader, o options) (string, error) {
	switch {
	case len(o.commands) > 0 && len(o.files) > 0:
		return "", usage("-c and -f exclude each other")
	case len(o.files) > 1:
		return "", usage("-f can be given once")
	case len(o.files) == 1:
		return readFile(in, o.files[0])
	case len(o.commands) > 0:
		return joinCommands(o.commands), nil
	}
	return "", usage("name statements with -c TEXT or -f FILE; -f - reads standard input")
}

func readFile(in io.Reader, path string) (string, error) {
	var content []byte
	var err error
	if path == "-" {
		content, err = io.ReadAll(in)
	} else {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return "", exit(exitUsage, "the statements cannot be read: %v", err)
	}
	return string(content), nil
}

// joinCommands makes one text of several -c texts. Each begins a line of its own and ends its last statement.
func joinCommands(texts []string) string {
	var b strings.Builder
	for i, text := range texts {
		if i > 0 {
			b.WriteString(terminator(texts[i-1]))
		}
		b.WriteString(text)
	}
	return b.String()
}

// terminator is what ends the last statement of a text: a comment at its end would swallow a `;` on the same line.
func terminator(text string) string {
	pos := 0
	for {
		tok := lex.Next(text, pos)
		if tok.Kind == lex.EOF {
			if tok.InComment {
				return "\n;\n"
			}
			return ";\n"
		}
		pos = tok.Span.End()
	}
}
