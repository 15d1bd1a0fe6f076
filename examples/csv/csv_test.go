// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
	"github.com/nervix-go/nervix/plugins/inproc"
	"github.com/nervix-go/nervix/plugins/supervise"
)

const table = "order,customer,amount\n1,ann,12.5\n2,\"bob\nthe second\",3\n3,cia\n4,d\"an,1\n5,eve,\n"

// host runs the connector inside the test, over the same frames and credit as a process.
func host(t *testing.T) conformance.Subject {
	t.Helper()
	root := t.TempDir()
	launcher, installed := inproc.New(nil, describe())
	h := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, FileRoot: root})
	t.Cleanup(func() {
		if err := h.Close(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(root, "in.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return conformance.Subject{Host: h, Root: root}
}

func open(t *testing.T, s conformance.Subject, plan connector.SourcePlan) *conformance.Source {
	t.Helper()
	src, err := conformance.OpenSource(t, s.Host, plan)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestRows(t *testing.T) {
	s := host(t)
	src := open(t, s, s.SourcePlan("in.csv"))
	defer src.Close()
	rows := src.Take(5)
	src.State(connector.Finished)
	want := []struct {
		line           int64
		payload, error string
	}{
		{2, `{"amount":"12.5","customer":"ann","order":"1"}`, ""},
		{3, `{"amount":"3","customer":"bob\nthe second","order":"2"}`, ""},
		{5, "", "2 cells; the header has 3"},
		{6, "", "no CSV: quotes do not match"},
		{7, `{"customer":"eve","order":"5"}`, ""},
	}
	for i, w := range want {
		if r := rows[i]; r.Line != w.line || r.Payload != w.payload || r.Error != w.error {
			t.Errorf("row %d: %+v, want %+v", i, r, w)
		}
	}
	// Every row comes again exactly as it was, the damaged ones included.
	for _, r := range rows {
		src.Session.Reject(r.Epoch, []byte(r.Position))
		if again := src.Take(1)[0]; again != r {
			t.Errorf("again %+v, first %+v", again, r)
		}
	}
}

func TestResume(t *testing.T) {
	s := host(t)
	src := open(t, s, s.SourcePlan("in.csv"))
	identity := src.State(connector.Open).Identity
	rows := src.Take(5)
	src.Close()
	for i := range rows {
		plan := s.SourcePlan("in.csv")
		plan.Identity, plan.Position = identity, []byte(rows[i].Position)
		src := open(t, s, plan)
		rest := src.Take(len(rows) - i - 1)
		for j, r := range rest {
			want := rows[i+1+j]
			want.Epoch = r.Epoch
			if r != want {
				t.Errorf("after row %d: %+v, want %+v", i, r, want)
			}
		}
		src.State(connector.Finished)
		src.Close()
	}
	if err := os.WriteFile(filepath.Join(s.Root, "in.csv"), []byte("other,header\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := s.SourcePlan("in.csv")
	plan.Identity, plan.Position = identity, []byte(rows[0].Position)
	changed := open(t, s, plan)
	defer changed.Close()
	if st := changed.State(connector.Open); !st.Restarted || !strings.Contains(st.Detail, "another header") {
		t.Errorf("%+v", st)
	}
}

func TestSink(t *testing.T) {
	s := host(t)
	out := filepath.Join(s.Root, "deep", "out")
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out, []byte("whole\npart"), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := conformance.OpenSink(t, s.Host, s.SinkPlan("deep/out"))
	sink.State(connector.Open)
	sink.Write("one", "two")
	sink.Close()
	if text, err := os.ReadFile(out); err != nil || string(text) != "whole\none\ntwo\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestRefusals(t *testing.T) {
	s := host(t)
	for path, part := range map[string]string{"absent.csv": "no such file", "../x.csv": "escapes"} {
		if _, err := conformance.OpenSource(t, s.Host, s.SourcePlan(path)); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", path, err, part)
		}
	}
}
