// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestScripts(t *testing.T) {
	shared, err := start(filepath.Join(t.TempDir(), "data"), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shared.stop(); err != nil {
			t.Error(err)
		}
	})
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", programs+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("NERVIX_CONTEXT", shared.context())
			e.Setenv("SHARED", shared.context())
			e.Setenv("ROOT", shared.root)
			e.Values[nodes{}] = map[string]*daemon{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "lines": lines, "value": value, "hides": hides, "node": node, "stopnode": stopNode, "password": password, "mix": mix,
		},
		RequireUniqueNames: true,
	})
}

// nodes is the key of the nodes of a script.
type nodes struct{}

func own(ts *testscript.TestScript) map[string]*daemon { return ts.Value(nodes{}).(map[string]*daemon) }

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// line is the object of the interface. Pointers tell a missing member from an empty one.
type line struct {
	Statement      *int            `json:"statement"`
	Disposition    *string         `json:"disposition"`
	Reference      *string         `json:"reference"`
	AlreadyExisted *bool           `json:"already_existed"`
	Text           *string         `json:"text"`
	Data           json.RawMessage `json:"data"`
	Diagnostics    *[]diagnostic   `json:"diagnostics"`
}

type diagnostic struct {
	Stage, Code, Message, Hint   *string
	Offset, Length, Line, Column *int
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines N")
	}
	output := ts.ReadFile("stdout")
	all := strings.SplitAfter(output, "\n")
	if all[len(all)-1] != "" {
		ts.Fatalf("the last line has no end")
	}
	all = all[:len(all)-1]
	if want, err := strconv.Atoi(args[0]); err != nil || len(all) != want {
		ts.Fatalf("%d lines, want %s", len(all), args[0])
	}
	for _, text := range all {
		if why := judge(text); why != "" {
			ts.Fatalf("%s: %s", why, text)
		}
	}
}

// judge tells what is wrong with a line of jsonl.
func judge(text string) string {
	var l line
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return err.Error()
	}
	if _, err := d.Token(); err != io.EOF {
		return "more than one value"
	}
	switch {
	case l.Statement == nil, l.Disposition == nil, l.Reference == nil, l.AlreadyExisted == nil, l.Text == nil, l.Data == nil, l.Diagnostics == nil:
		return "a member is missing"
	case *l.Disposition != "completed" && *l.Disposition != "failed" && *l.Disposition != "unknown":
		return "the disposition"
	case !bytes.Equal(l.Data, []byte("null")) && l.Data[0] != '{' && l.Data[0] != '[': // LIST DOMAINS is a list
		return "data is neither an object, a list nor null"
	case (*l.Disposition == "completed") != (len(*l.Diagnostics) == 0):
		return "diagnostics do not fit the disposition"
	}
	for _, d := range *l.Diagnostics {
		if d.Stage == nil || d.Code == nil || d.Message == nil || d.Hint == nil || d.Offset == nil || d.Length == nil || d.Line == nil || d.Column == nil {
			return "a member of a diagnostic is missing"
		}
		if *d.Stage == "" || *d.Code == "" || *d.Message == "" || *d.Offset < 0 || *d.Length < 0 || *d.Line < 1 || *d.Column < 1 {
			return "a member of a diagnostic is empty"
		}
	}
	return ""
}

func value(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: value LINE PATH WANT")
	}
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := strings.Split(ts.ReadFile("stdout"), "\n")
	if number > len(all)-1 {
		ts.Fatalf("there are only %d lines", len(all)-1)
	}
	d := json.NewDecoder(strings.NewReader(all[number-1]))
	d.UseNumber()
	var at any
	ts.Check(d.Decode(&at))
	for _, step := range strings.Split(args[1], ".") {
		switch one := at.(type) {
		case map[string]any:
			at = one[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(one) {
				ts.Fatalf("%s: there is no element %s of %d", args[1], step, len(one))
			}
			at = one[i]
		default:
			ts.Fatalf("%s: nothing to take %s from", args[1], step)
		}
	}
	got, isText := at.(string)
	if !isText {
		text, err := json.Marshal(at)
		ts.Check(err)
		got = string(text)
	}
	if got != args[2] {
		ts.Fatalf("line %d, %s is %s, want %s", number, args[1], got, args[2])
	}
}

func hides(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hides TEXT")
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(stream), args[0]) {
			ts.Fatalf("%s holds the text", stream)
		}
	}
}

func node(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: node NAME [FLAGS...]")
	}
	d, err := start(ts.MkAbs(args[0]), ts.MkAbs("."), args[1:]...)
	ts.Check(err)
	ts.Defer(d.kill)
	own(ts)[args[0]] = d
	ts.Setenv("NERVIX_CONTEXT", d.context())
}

func stopNode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || own(ts)[args[0]] == nil {
		ts.Fatalf("usage: stopnode NAME")
	}
	ts.Check(own(ts)[args[0]].stop())
}

func password(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: password FILE NEW")
	}
	c := readContext(ts, args[0])
	c["password"] = args[1]
	writeContext(ts, args[0], c)
}

func mix(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mix FILE FILE NEW")
	}
	c := readContext(ts, args[0])
	c["ca_pem"] = readContext(ts, args[1])["ca_pem"]
	writeContext(ts, args[2], c)
}

func readContext(ts *testscript.TestScript, path string) (c map[string]any) {
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(path)), &c))
	return c
}

func writeContext(ts *testscript.TestScript, path string, c map[string]any) {
	content, err := json.Marshal(c)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(path), content, 0o600))
}
