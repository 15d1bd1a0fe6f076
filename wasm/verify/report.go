// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Outcome is what a check found.
type Outcome string

// The outcomes.
const (
	Holds         Outcome = "holds"
	Fails         Outcome = "fails"
	NotApplicable Outcome = "not applicable"
)

// Finding is the result of one check.
type Finding struct {
	// Check is the stable name of the check, for example `buffer.alloc`.
	Check string `json:"check"`
	// Title is what the check asks, in words.
	Title   string  `json:"title"`
	Outcome Outcome `json:"outcome"`
	// Detail says what went wrong, or why the check does not apply; mostly empty if it holds.
	Detail string `json:"detail,omitempty"`
	// Requirements are the rows of the specification that the check stands for.
	Requirements []string `json:"requirements"`
}

// Report is the result of all checks, in the order in which they ran.
type Report struct {
	Findings []Finding
}

// Failed is the number of checks that fail.
func (r *Report) Failed() int { return r.count(Fails) }

func (r *Report) count(o Outcome) int {
	n := 0
	for _, f := range r.Findings {
		if f.Outcome == o {
			n++
		}
	}
	return n
}

// WriteText writes one line a check for people: outcome, name, title, and the detail behind it.
func (r *Report) WriteText(w io.Writer) error {
	marks := map[Outcome]string{Holds: "ok  ", Fails: "FAIL", NotApplicable: "n/a "}
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s  %-24s %s", marks[f.Outcome], f.Check, f.Title)
		if f.Detail != "" {
			line += ": " + strings.ReplaceAll(f.Detail, "\n", " / ")
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// WriteLines writes one JSON object a check.
func (r *Report) WriteLines(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	for _, f := range r.Findings {
		if err := e.Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// Summary is one line for people.
func (r *Report) Summary() string {
	return fmt.Sprintf("%d hold, %d fail, %d not applicable", r.count(Holds), r.count(Fails), r.count(NotApplicable))
}
