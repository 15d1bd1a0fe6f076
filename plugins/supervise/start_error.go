// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"strings"
)

// Bounds of the output that the text of a failed start shows; the whole is in Status and in the log.
const (
	shownLines = 3
	shownBytes = 200
)

// startError is a failed start together with what the process had said before.
type startError struct {
	err   error
	lines []string
}

func withOutput(err error, lines []string) error {
	if len(lines) == 0 {
		return err
	}
	return &startError{err: err, lines: lines}
}

// Error ends with the last lines before a panic; the panic itself is part of the reason.
func (e *startError) Error() string {
	lines := e.lines
	for i, line := range lines {
		if startsPanic([]byte(line)) || strings.HasPrefix(line, "goroutine ") {
			lines = lines[:i]
			break
		}
	}
	if len(lines) == 0 {
		return e.err.Error()
	}
	shown := make([]string, 0, shownLines)
	for _, line := range lines[max(0, len(lines)-shownLines):] {
		shown = append(shown, `"`+strings.ToValidUTF8(line[:min(len(line), shownBytes)], "")+`"`)
	}
	return e.err.Error() + "; its last output: " + strings.Join(shown, ", ")
}

// Unwrap gives the failure itself.
func (e *startError) Unwrap() error { return e.err }

// saidBefore is the output of the process whose start failed with err, if there was one.
func saidBefore(err error) []string {
	var e *startError
	if errors.As(err, &e) {
		return e.lines
	}
	return nil
}
