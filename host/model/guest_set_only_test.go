// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/parse"
)

// TestGuestRoutesAreSetOnly: what a route of a guest may not do is refused at the place where it stands, and nothing of the request is made.
func TestGuestRoutesAreSetOnly(t *testing.T) {
	// req: W-050
	const good = "TO leaks SET score = coalesce(score, 0.5), note = branch.bed"
	domain := newDomain(t, baseText(t)).list()
	create := func(route string) (*model.Candidate, fault.Diagnostics, string) {
		text := strings.Replace(guestText, good, route, 1)
		if route != good && text == guestText {
			t.Fatal("the route is not where it was expected")
		}
		parsed, faults := parse.Text(text)
		if len(faults) > 0 {
			return nil, faults, text
		}
		list := statements(t, text)
		if len(list) != len(parsed) {
			t.Fatal("two readings of one text")
		}
		c, faults := model.Check("farm", domain, list)
		return c, faults, text
	}
	if _, faults, text := create(good); len(faults) > 0 {
		t.Fatalf("%v\n%s", faults, text)
	}
	for _, c := range []struct{ name, route, at, says string }{
		{"INHERIT ALL", "TO leaks INHERIT ALL SET score = coalesce(score, 0.5), note = branch.bed", "INHERIT", "a route of a WASM processor inherits nothing"},
		{"INHERIT of fields", "TO leaks INHERIT bed, score", "INHERIT", "a route of a WASM processor inherits nothing"},
		{"UNSET", "TO leaks UNSET note", "UNSET", "there is no UNSET"},
		{"UNSET behind SET", "TO leaks SET score = 0.5 UNSET note", "UNSET", "there is no UNSET"},
		{"message in SET", "TO leaks SET score = message.score, note = branch.bed", "message", "message"},
		{"input in SET", "TO leaks SET score = input.level, note = branch.bed", "input", "input"},
		{"message deep in SET", "TO leaks SET score = 1.0 + coalesce(message.score, 0.5)", "message", "message"},
		{"input deep in SET", "TO leaks SET note = upper(input.who)", "input", "input"},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, faults, text := create(c.route)
			if len(faults) == 0 {
				t.Fatal("it was accepted")
			}
			if made != nil && made.Graph != nil {
				t.Error("a refused request has a graph")
			}
			first := faults[0]
			if at := text[first.Span.Offset:]; !strings.HasPrefix(at, c.at) || !strings.Contains(first.Message+" "+first.Hint, c.says) {
				t.Errorf("at %.20q: %s (%s)", at, first.Message, first.Hint)
			}
		})
	}
}
