// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
)

// fakeNode answers by the first words of a text; what it does not know completes. It notes domain and text.
type fakeNode struct {
	sent    []string
	answers map[string]answer
	open    bool
	asked   []bool // for data
}

type answer struct {
	out client.Outcome
	err error
}

func (f *fakeNode) Execute(_ context.Context, c client.Command) (client.Outcome, error) {
	f.sent = append(f.sent, c.Domain+": "+c.Text)
	f.asked = append(f.asked, c.JSON)
	a, known := f.answers[c.Text]
	if !known {
		a.out.Disposition = client.Completed
		switch c.Text {
		case "BEGIN":
			f.open = true
		case "COMMIT", "REVERT":
			f.open = false
		}
	}
	a.out.Reference = fmt.Sprintf("ref-%d", len(f.sent))
	if f.open && c.Text != "COMMIT" { // an answer to COMMIT says itself whether the transaction is still open
		a.out.Transaction.State = "open"
	}
	return a.out, a.err
}

func refusal(code fault.Code) answer {
	return answer{out: client.Outcome{Disposition: client.Failed, Diagnostics: fault.Diagnostics{
		{Stage: fault.StageCheck, Code: code, Message: "refused", Span: fault.Span{Offset: 0, Length: 2}, Located: true}}}}
}

// cutShort is the answer to a COMMIT that stopped at an operation.
func cutShort(c client.Commit) answer {
	a := refusal(fault.TransactionFailed)
	a.out.Commit = &c
	return a
}

func lost(kind error) answer { return answer{err: &client.Error{Kind: kind, Reference: "ref-lost"}} }

// play runs a text and gives exit code, the fate of each statement shown, and what was sent.
func play(t *testing.T, f *fakeNode, text string, keepGoing, atomic bool) (code int, fates []string, errors string) {
	t.Helper()
	src, defects := parseSource(text)
	if len(defects) > 0 {
		t.Fatal(defects)
	}
	var out, err bytes.Buffer
	b := &batch{node: f, source: src, domain: "d", keepGoing: keepGoing, print: printer{terminal{nil, &out, &err, nil}, formatJSONL}}
	if atomic {
		code = b.atomic(t.Context())
	} else {
		code = b.run(t.Context())
	}
	return code, fatesOf(out.String()), err.String()
}

// fatesOf shortens jsonl to `statement disposition codes`.
func fatesOf(text string) []string {
	var list []string
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		var o object
		if json.Unmarshal([]byte(line), &o) != nil {
			continue
		}
		fate := fmt.Sprintf("%d %s", o.Statement, o.Disposition)
		for _, d := range o.Diagnostics {
			fate += fmt.Sprintf(" %s@%d", d.Code, d.Offset)
		}
		list = append(list, fate)
	}
	return list
}

func TestRun(t *testing.T) {
	// req: X-064 half: a repetition keeps the reference inside the client
	for _, c := range []struct {
		name, text string
		keepGoing  bool
		answers    map[string]answer
		code       int
		fates      []string
		sent       []string
	}{
		{name: "USE changes the domain", text: "START; USE e; STOP", code: exitDone, fates: []string{"1 completed", "2 completed", "3 completed"},
			sent: []string{"d: START", "d: USE e", "e: STOP"}},
		{name: "a refused USE too", text: "USE e; STOP", keepGoing: true, answers: map[string]answer{"USE e": refusal("x.y"), "STOP": refusal("x.z")}, code: exitFailed,
			fates: []string{"1 failed x.y@0", "2 failed x.z@7"}, sent: []string{"d: USE e", "e: STOP"}},
		{name: "stop", text: "START; STOP; START", answers: map[string]answer{"STOP": refusal("x.y")}, code: exitFailed,
			fates: []string{"1 completed", "2 failed x.y@7"}, sent: []string{"d: START", "d: STOP"}},
		{name: "continue", text: "STOP; START", keepGoing: true, answers: map[string]answer{"STOP": refusal("x.y")}, code: exitFailed,
			fates: []string{"1 failed x.y@0", "2 completed"}, sent: []string{"d: STOP", "d: START"}},
		{name: "uncertain outweighs failed", text: "START; STOP", keepGoing: true,
			answers: map[string]answer{"START": {out: client.Outcome{Disposition: client.Unknown, Cause: "still applying"}}, "STOP": refusal("x.y")}, code: exitUncertain,
			fates: []string{"1 unknown control.uncertain@0", "2 failed x.y@7"}, sent: []string{"d: START", "d: STOP"}},
		{name: "a lost reply", text: "START; STOP", answers: map[string]answer{"START": lost(client.ErrUncertain)}, code: exitUncertain,
			fates: []string{"1 unknown control.uncertain@0"}, sent: []string{"d: START"}},
		{name: "a lost reply to what only reads", text: "LIST DOMAINS; STOP", keepGoing: true, answers: map[string]answer{"LIST DOMAINS": lost(client.ErrUncertain)},
			code: exitConnect, fates: []string{"1 failed cli.unreachable@0"}, sent: []string{"d: LIST DOMAINS"}},
		{name: "the node is gone", text: "START; STOP; START", keepGoing: true, answers: map[string]answer{"STOP": lost(client.ErrConnect)}, code: exitConnect,
			fates: []string{"1 completed", "2 failed cli.unreachable@7"}, sent: []string{"d: START", "d: STOP"}},
		{name: "the password changed", text: "START; STOP", keepGoing: true, answers: map[string]answer{"START": lost(client.ErrAuthentication)}, code: exitAuthentication,
			fates: []string{"1 failed session.unauthenticated@0"}, sent: []string{"d: START"}},
		{name: "the session of the transaction is gone", text: "BEGIN; START; STOP", keepGoing: true, answers: map[string]answer{"START": lost(client.ErrTransactionLost)},
			code: exitFailed, fates: []string{"1 completed", "2 failed cli.transaction_lost@7"}, sent: []string{"d: BEGIN", "d: START"}},
		{name: "a statement of a transaction is uncertain", text: "BEGIN; START; STOP", keepGoing: true, answers: map[string]answer{"START": lost(client.ErrUncertain)},
			code: exitUncertain, fates: []string{"1 completed", "2 unknown control.uncertain@7"}, sent: []string{"d: BEGIN", "d: START"}},
		{name: "no transaction", text: "BEGIN; START", keepGoing: true, answers: map[string]answer{"BEGIN": refusal("x.y")}, code: exitFailed,
			fates: []string{"1 failed x.y@0"}, sent: []string{"d: BEGIN"}},
		{name: "a reply too large", text: "LIST DOMAINS; START", keepGoing: true,
			answers: map[string]answer{"LIST DOMAINS": lost(client.ErrReplyTooLarge), "START": lost(client.ErrReplyTooLarge)}, code: exitUncertain,
			fates: []string{"1 failed cli.reply_too_large@0", "2 unknown cli.reply_too_large@14"}, sent: []string{"d: LIST DOMAINS", "d: START"}},
		{name: "data that is no JSON", text: "LIST DOMAINS", answers: map[string]answer{"LIST DOMAINS": {out: client.Outcome{Disposition: client.Completed, Data: "{"}}},
			code: exitFailed, fates: []string{"1 failed session.violated@0"}, sent: []string{"d: LIST DOMAINS"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeNode{answers: c.answers}
			code, fates, _ := play(t, f, c.text, c.keepGoing, false)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if diff := cmp.Diff(c.fates, fates); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.sent, f.sent); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAtomic(t *testing.T) {
	// req: G-063
	open := refusal(fault.TransactionIncomplete)
	open.out.Transaction.State = "open"
	cut := cutShort(client.Commit{Applied: 1, Failed: 2, Operations: []client.Operation{
		{Number: 1, Fate: client.FateApplied, Text: "operation 1 of 3 applied"},
		{Number: 2, Fate: client.FateFailed, Diagnostics: fault.Diagnostics{{Stage: fault.StageActivate, Code: fault.NodeFailed, Message: "no file"},
			{Stage: fault.StageActivate, Code: fault.NodeFailed, Message: "no folder", Located: true, Span: fault.Span{Offset: 1, Length: 1}}}},
		{Number: 3, Fate: client.FateNotApplied}}})
	silent := cutShort(client.Commit{Failed: 1, Operations: []client.Operation{{Number: 1, Fate: client.FateFailed}}})
	run := cutShort(client.Commit{Failed: 2, Operations: []client.Operation{{Number: 1, Fate: client.FateNotApplied},
		{Number: 2, Fate: client.FateFailed, Diagnostics: fault.Diagnostics{{Stage: fault.StageCheck, Code: "x.y", Message: "bad"}}}}})
	for _, c := range []struct {
		name, text string
		answers    map[string]answer
		code       int
		fates      []string
		sent       []string
	}{
		{name: "done", text: "START; STOP", code: exitDone, fates: []string{"1 completed", "2 completed"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT"}},
		{name: "no transaction", text: "START; STOP", answers: map[string]answer{"BEGIN": refusal("x.y")}, code: exitFailed, fates: []string{"1 failed x.y@0"}, sent: []string{"d: BEGIN"}},
		{name: "refused", text: "START; LIST DOMAINS; STOP; START", answers: map[string]answer{"STOP": refusal("x.y")}, code: exitFailed,
			fates: []string{"1 failed cli.not_applied@0", "2 completed", "3 failed x.y@21"},
			sent:  []string{"d: BEGIN", "d: START", "d: LIST DOMAINS", "d: STOP", "d: REVERT"}},
		{name: "lost before COMMIT", text: "START; STOP", answers: map[string]answer{"STOP": lost(client.ErrUncertain)}, code: exitConnect,
			fates: []string{"1 failed cli.not_applied@0", "2 failed cli.unreachable@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: REVERT"}},
		{name: "unknown before COMMIT", text: "START; STOP", answers: map[string]answer{"STOP": {out: client.Outcome{Disposition: client.Unknown}}}, code: exitFailed,
			fates: []string{"1 failed cli.not_applied@0", "2 failed control.uncertain@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: REVERT"}},
		{name: "COMMIT refused", text: "START; STOP", answers: map[string]answer{"COMMIT": open}, code: exitFailed,
			fates: []string{"1 failed cli.not_applied@0", "2 failed cli.not_applied@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT", "d: REVERT"}},
		{name: "COMMIT failed", text: "START; STOP", answers: map[string]answer{"COMMIT": refusal(fault.TransactionFailed)}, code: exitFailed,
			fates: []string{"1 failed transaction.failed@0", "2 failed transaction.failed@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT"}},
		{name: "COMMIT cut short", text: "STOP; SHOW INGESTORS;\n START; STOP", answers: map[string]answer{"COMMIT": cut}, code: exitFailed,
			fates: []string{"1 completed", "2 completed", "3 failed node.failed@23 node.failed@23", "4 failed cli.not_applied@30"},
			sent:  []string{"d: BEGIN", "d: STOP", "d: SHOW INGESTORS", "d: START", "d: STOP", "d: COMMIT"}},
		{name: "a run that COMMIT did not apply", text: "START; STOP", answers: map[string]answer{"COMMIT": run}, code: exitFailed,
			fates: []string{"1 failed cli.not_applied@0", "2 failed x.y@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT"}},
		{name: "an operation that failed without a word", text: "START", answers: map[string]answer{"COMMIT": silent}, code: exitFailed,
			fates: []string{"1 failed transaction.failed@0"}, sent: []string{"d: BEGIN", "d: START", "d: COMMIT"}},
		{name: "a report of other operations", text: "START; STOP", answers: map[string]answer{"COMMIT": cut}, code: exitFailed,
			fates: []string{"1 failed transaction.failed@0", "2 failed transaction.failed@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT"}},
		{name: "COMMIT uncertain", text: "START; STOP", answers: map[string]answer{"COMMIT": lost(client.ErrUncertain)}, code: exitUncertain,
			fates: []string{"1 unknown control.uncertain@0", "2 unknown control.uncertain@7"}, sent: []string{"d: BEGIN", "d: START", "d: STOP", "d: COMMIT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeNode{answers: c.answers}
			code, fates, _ := play(t, f, c.text, false, true)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			if diff := cmp.Diff(c.fates, fates); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.sent, f.sent); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// TestStandardOutputFails: nothing more is sent when nobody can learn its result.
func TestStandardOutputFails(t *testing.T) {
	src, _ := parseSource("START; STOP")
	f := &fakeNode{}
	var err bytes.Buffer
	b := &batch{node: f, source: src, print: printer{terminal{nil, brokenPipe{}, &err, nil}, formatJSONL}}
	if code := b.run(t.Context()); code != exitFailed || len(f.sent) != 1 || !strings.Contains(err.String(), "broken pipe") {
		t.Fatal(code, f.sent, err.String())
	}
}

// jsonl asks for the data of what is read, a table does not.
func TestDataIsAskedForByFormat(t *testing.T) {
	for format, want := range map[string]bool{formatJSONL: true, formatTable: false} {
		src, _ := parseSource("SHOW INGESTORS; DESCRIBE RELAY r")
		var out, err bytes.Buffer
		f := &fakeNode{}
		b := &batch{node: f, source: src, domain: "d", print: printer{terminal{nil, &out, &err, nil}, format}}
		if code := b.run(t.Context()); code != exitDone || len(f.asked) != 2 || f.asked[0] != want || f.asked[1] != want {
			t.Errorf("%s: exit %d, asked %v", format, code, f.asked)
		}
	}
}
