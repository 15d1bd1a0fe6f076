// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// uploaded is what a fake node says of an upload; it is kept with the answers to texts under the resource's name.
func uploaded(err error) answer { return answer{err: err} }

// Upload notes domain, resource and folder.
func (f *fakeNode) Upload(_ context.Context, o client.UploadOptions) (client.UploadOutcome, error) {
	f.sent = append(f.sent, fmt.Sprintf("%s: upload %s %s %s", o.Domain, o.Resource, o.Directory, o.Reference))
	if a, known := f.answers[o.Resource]; known {
		return client.UploadOutcome{}, a.err
	}
	return client.UploadOutcome{Reference: "ref-u", Version: 7, Files: 1, Bytes: 12, ArchiveBytes: 2048,
		Skipped: []client.Skipped{{Path: "a\nb", Why: "a symbolic link"}}, SkippedMore: 2}, nil
}

func remote(code fault.Code, text string) *client.Error {
	return &client.Error{Kind: client.ErrUpload, Reference: "ref-u", Cause: fault.New(code, "", ident.Ref{}, text, nil)}
}

// TestUploadStatement: the client executes the statement, in the domain of the text, with the home folder in place of `~`.
func TestUploadStatement(t *testing.T) {
	// req: X-250 half: UPLOAD, and no markers of a suggestion yet
	home := t.TempDir()
	t.Setenv("HOME", home)
	f := &fakeNode{}
	code, out, err := runText(t, f, formatTable, "d", false, "UPLOAD RESOURCE Models VERSION 'dir/x'; USE other; UPLOAD RESOURCE models VERSION '~/m'")
	if code != exitDone || out != "version 7 of resource models is complete: 1 file, 12 bytes\n"+"version 7 of resource models is complete: 1 file, 12 bytes\n" {
		t.Fatal(code, out, err)
	}
	want := []string{"d: upload models dir/x ", "d: USE other", "other: upload models " + filepath.Join(home, "m") + " "}
	if diff := cmp.Diff(want, f.sent); diff != "" {
		t.Fatal(diff)
	}
	if !strings.Contains(err, `nervix: left out "a\nb": it is a symbolic link`) || !strings.Contains(err, "left out 2 more") {
		t.Fatal(err)
	}
}

func TestUploadStatementAsJSON(t *testing.T) {
	code, out, _ := runText(t, &fakeNode{}, formatJSONL, "d", false, "UPLOAD RESOURCE models VERSION 'x'")
	var line struct {
		Disposition, Reference, Text string
		Data                         uploadReport
	}
	if err := json.Unmarshal([]byte(out), &line); err != nil || code != exitDone {
		t.Fatal(code, out, err)
	}
	if line.Disposition != "completed" || line.Reference != "ref-u" || line.Data.Version != 7 || line.Data.Domain != "d" || len(line.Data.Skipped) != 1 {
		t.Fatalf("%+v", line)
	}
}

// TestUploadStatementFails: each failure has its place in the text, its code and its exit, and what follows is sent or not as after any other.
func TestUploadStatementFails(t *testing.T) {
	for name, one := range map[string]struct {
		text, domain string
		err          error
		exit         int
		code         fault.Code
		words        string
		sent         int
	}{
		"refused":    {"UPLOAD RESOURCE models VERSION 'x'; SHOW INGESTORS", "d", remote(fault.ResourceUnknown, "there is no RESOURCE models"), exitFailed, fault.ResourceUnknown, "there is no RESOURCE models", 2},
		"folder":     {"UPLOAD RESOURCE models VERSION 'x'; SHOW INGESTORS", "d", remote(fault.ResourceFolder, "no file"), exitFailed, fault.ResourceFolder, "no file", 2},
		"uncertain":  {"UPLOAD RESOURCE models VERSION 'x'; SHOW INGESTORS", "d", &client.Error{Kind: client.ErrUncertain, Reference: "ref-u"}, exitUncertain, fault.ControlUncertain, "reference ref-u", 2},
		"cancelled":  {"UPLOAD RESOURCE models VERSION 'x'; SHOW INGESTORS", "d", &client.Error{Kind: client.ErrCancelled}, exitFailed, fault.CLICancelled, "no version was made", 1},
		"no node":    {"UPLOAD RESOURCE models VERSION 'x'; SHOW INGESTORS", "d", &client.Error{Kind: client.ErrConnect}, exitConnect, fault.CLIUnreachable, "cannot connect", 1},
		"no domain":  {"UPLOAD RESOURCE models VERSION 'x'", "", nil, exitFailed, fault.DomainUnselected, "none is selected", 0},
		"in a block": {"BEGIN; UPLOAD RESOURCE models VERSION 'x'; COMMIT", "d", nil, exitFailed, fault.TransactionContent, "cannot be part of a transaction", 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeNode{}
			if one.err != nil {
				f.answers = map[string]answer{"models": uploaded(one.err)}
			}
			code, _, err := runText(t, f, formatTable, one.domain, true, one.text)
			if code != one.exit || !strings.Contains(err, string("["+one.code+"]")) || !strings.Contains(err, one.words) || len(f.sent) != one.sent {
				t.Fatal(code, err, f.sent)
			}
			if strings.Contains(err, "(reference ref-u)") || strings.Count(err, "["+string(one.code)+"]") > 1 {
				t.Fatal(err)
			}
		})
	}
}

// TestUploadIsNotAtomic: it is found before anything is sent.
func TestUploadIsNotAtomic(t *testing.T) {
	src, _ := parseSource("CREATE RESOURCE models; UPLOAD RESOURCE models VERSION 'x'")
	found := notAtomic(src)
	if len(found) != 1 || found[0].statement != 2 || !strings.Contains(found[0].Message, "UPLOAD RESOURCE cannot stand in a text with --atomic") {
		t.Fatal(found)
	}
}

// TestUploadCommand: the number alone on standard output, and the exits of the table.
func TestUploadCommand(t *testing.T) {
	// req: X-302 half: UPLOAD
	// req: X-299 half: uploads
	for name, one := range map[string]struct {
		format string
		err    error
		exit   int
		words  string
	}{
		"complete":   {formatTable, nil, exitDone, "left out"},
		"as JSON":    {formatJSONL, nil, exitDone, "left out"},
		"refused":    {formatTable, remote(fault.ResourceDiskFull, "no room"), exitFailed, "no room [resource.disk_full]\n  hint: free space"},
		"new code":   {formatTable, remote("resource.new", "because"), exitFailed, "because [resource.new]"},
		"folder":     {formatTable, remote(fault.ResourceFolder, "no file"), exitUsage, "no file"},
		"old node":   {formatTable, &client.Error{Kind: client.ErrRejected, Detail: "this node takes no uploads"}, exitFailed, "this node takes no uploads"},
		"cancelled":  {formatTable, &client.Error{Kind: client.ErrCancelled, Cause: context.Canceled}, exitFailed, "interrupted: the upload to resource models was given up, and no version was made; a number that it had is not used again\n  hint: send the folder again"},
		"uncertain":  {formatTable, &client.Error{Kind: client.ErrUncertain, Reference: "ref-u"}, exitUncertain, "repeat the command with --reference ref-u"},
		"no node":    {formatTable, &client.Error{Kind: client.ErrConnect}, exitConnect, "check that the node runs"},
		"logged out": {formatTable, &client.Error{Kind: client.ErrAuthentication}, exitAuthentication, "authentication failed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeNode{}
			if one.err != nil {
				f.answers = map[string]answer{"models": uploaded(one.err)}
			}
			var out, told bytes.Buffer
			err := upload(t.Context(), terminal{out: &out, err: &told}, f, options{format: one.format}, client.UploadOptions{Domain: "d", Resource: "models", Directory: "x", Reference: "r"})
			code := exitDone
			var e *exitError
			if errors.As(err, &e) {
				code = e.code
				fmt.Fprint(&told, e.text)
			} else if err != nil {
				t.Fatal(err)
			}
			want := ""
			switch {
			case one.err != nil:
			case one.format == formatTable:
				want = "7\n"
			default:
				want = `{"domain":"d","resource":"models","version":7,"reference":"ref-u","files":1,"bytes":12,"archive_bytes":2048,"skipped":[{"path":"a\nb","is":"a symbolic link"}],"skipped_more":2}` + "\n"
			}
			if code != one.exit || out.String() != want || !strings.Contains(told.String(), one.words) || f.sent[0] != "d: upload models x r" {
				t.Fatal(code, out.String(), told.String(), f.sent)
			}
			if strings.Contains(told.String(), "(reference ref-u)") != (one.exit == exitUncertain) {
				t.Fatal(told.String())
			}
		})
	}
	for _, args := range [][]string{{"upload", "models"}, {"upload", "models", "x"}, {"--domain", "d", "upload", "a", "b", "c"}, {"--format", "csv", "--domain", "d", "upload", "a", "b"}} {
		var told bytes.Buffer
		if code := run(t.Context(), args, terminal{in: strings.NewReader(""), out: &told, err: &told, getenv: func(string) string { return "" }}); code != exitUsage {
			t.Fatal(args, code, told.String())
		}
	}
}

// TestProgress: a file gets a line now and then and one at the end, a terminal one line that is written over.
func TestProgress(t *testing.T) {
	var to bytes.Buffer
	clock := time.Duration(0)
	now := func() vtime.Mono { return vtime.MonoFromNS(int64(clock)) }
	p := &progress{to: &to, resource: "models", every: lineEvery, now: now}
	for i := range int64(12) {
		p.update(i<<20, 11<<20)
		clock += time.Second
	}
	p.end(true)
	if got := to.String(); got != "nervix: uploading models: 45 % of 11.0 MiB\nnervix: uploading models: 90 % of 11.0 MiB\nnervix: uploading models: 100 % of 11.0 MiB\n" {
		t.Fatal(got)
	}
	to.Reset()
	p = &progress{to: &to, resource: "models", every: terminalEvery, terminal: true, now: now, shown: now()}
	p.update(1, 4)
	clock += time.Second
	p.update(2, 4)
	p.end(true)
	if got := to.String(); got != "\rnervix: uploading models: 50 % of 0.0 MiB\x1b[K\r\x1b[K" {
		t.Fatalf("%q", got)
	}
	to.Reset()
	p = &progress{to: &to, resource: "models", every: lineEvery, now: now, shown: now()}
	p.update(1, 4)
	p.end(false)
	if to.Len() != 0 {
		t.Fatalf("an upload that failed soon: %q", to.String())
	}
}

// runText runs a text and gives exit code and both outputs.
func runText(t *testing.T, f *fakeNode, format, domain string, keepGoing bool, text string) (code int, out, told string) {
	t.Helper()
	src, defects := parseSource(text)
	if len(defects) > 0 {
		t.Fatal(defects)
	}
	var o, e bytes.Buffer
	b := &batch{node: f, source: src, domain: domain, keepGoing: keepGoing, print: printer{terminal{nil, &o, &e, nil}, format}}
	code = b.run(t.Context())
	return code, o.String(), e.String()
}
