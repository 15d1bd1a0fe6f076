// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/test/nodes"
)

// TestVersions: numbers count per domain and resource, an identity is one version for ever, and all of it is there after a restart.
func TestVersions(t *testing.T) {
	// req: X-255
	// req: X-281 half: upload records
	t.Parallel()
	o := folders(t)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "CREATE DOMAIN two;", "USE one;", "CREATE RESOURCE models;", "CREATE RESOURCE others;", "USE two;", "CREATE RESOURCE models;", "USE one;")
	first := client.UploadOptions{Domain: "one", Resource: "models", Directory: models(t, 500_000, 1), Reference: client.NewReference()}
	out := must(t, s, first)
	if out.Version != 1 || out.Files != 2 || out.Bytes != 500_005 {
		t.Fatalf("%+v", out)
	}
	for _, other := range []client.UploadOptions{
		{Domain: "one", Resource: "others", Directory: first.Directory}, {Domain: "TWO", Resource: "Models", Directory: first.Directory, Reference: first.Reference},
	} {
		if out := must(t, s, other); out.Version != 1 {
			t.Fatalf("%+v: %+v", other, out)
		}
	}
	if versions, half := stored(t, o.Data); versions != 1 || half != 0 {
		t.Fatalf("equal files are stored %d times, %d uploads are under way", versions, half)
	}
	second := must(t, s, client.UploadOptions{Domain: "one", Resource: "models", Directory: models(t, 1000, 2)})
	if second.Version != 2 {
		t.Fatalf("%+v", second)
	}
	n.Stop()

	n = nodes.Start(t, o)
	s = n.Dial()
	s.Use("one")
	if out := must(t, s, first); out.Version != 1 {
		t.Fatalf("%+v", out)
	}
	changed := first
	changed.Directory = models(t, 1000, 3)
	if _, err := upload(s, changed); !errors.Is(err, client.ErrUpload) || !fault.Has(err, fault.ResourceConflict) {
		t.Fatal(err)
	}
	d := describe(t, s, "models")
	if d.Latest == nil || *d.Latest != 2 || d.count("completed") != 2 || len(d.Versions) != 2 || len(d.Replicas) != 2 || d.Replicas[0].State != "installed" {
		t.Fatalf("%+v", d)
	}
	if v := d.Versions[0]; v.Bytes != 500_005 || v.Entries != 2 || len(v.Checksum) != len("blake3:")+64 {
		t.Fatalf("%+v", v)
	}
	if versions, half := stored(t, o.Data); versions != 2 || half != 0 {
		t.Fatalf("%d stored, %d under way", versions, half)
	}
	if text := s.Refused("DESCRIBE RESOURCE models VERSION 3"); !strings.Contains(text, string(fault.ResourceVersionUnknown)) {
		t.Fatal(text)
	}
	if text := s.Refused("UPLOAD RESOURCE models VERSION '/etc'"); !strings.Contains(text, string(fault.RequestClient)) {
		t.Fatal(text)
	}
}

// TestRefusedByTheNode: what is not there cannot be uploaded to, and takes no number.
func TestRefusedByTheNode(t *testing.T) {
	t.Parallel()
	n := nodes.Start(t, folders(t))
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "USE one;", "CREATE RESOURCE models;")
	dir := models(t, 1000, 1)
	for _, c := range []struct {
		domain, resource, reference string
		code                        fault.Code
	}{
		{"one", "nothing", "", fault.ResourceUnknown}, {"nowhere", "models", "", fault.DomainUnknown}, {"one", "models", "mine", fault.ControlReference},
	} {
		if _, err := upload(s, client.UploadOptions{Domain: c.domain, Resource: c.resource, Directory: dir, Reference: c.reference}); !fault.Has(err, c.code) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if out := must(t, s, client.UploadOptions{Domain: "one", Resource: "models", Directory: dir}); out.Version != 1 {
		t.Fatalf("%+v", out)
	}
}

// TestFilesThatAreGone: a node that has lost the files of a version says so when it starts, and the same upload brings them back.
func TestFilesThatAreGone(t *testing.T) {
	t.Parallel()
	o := folders(t)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "USE one;", "CREATE RESOURCE models;")
	u := client.UploadOptions{Domain: "one", Resource: "models", Directory: models(t, 1000, 1), Reference: client.NewReference()}
	must(t, s, u)
	n.Stop()
	if err := os.RemoveAll(filepath.Join(o.Data, "resources")); err != nil {
		t.Fatal(err)
	}
	n = nodes.Start(t, o)
	nodes.Eventually(t, "the node says that files are missing", func() bool { return strings.Contains(n.Log(), string(fault.ResourceMissing)) })
	s = n.Dial()
	s.Use("one")
	if d := describe(t, s, "models"); d.Replicas[0].State != "missing" || d.Replicas[0].Error == "" {
		t.Fatalf("%+v", d)
	}
	if out := must(t, s, u); out.Version != 1 {
		t.Fatalf("%+v", out)
	}
	if d := describe(t, s, "models"); d.Replicas[0].State != "installed" {
		t.Fatalf("%+v", d)
	}
}

// TestDroppedDomain: the files of a domain that is gone are removed.
func TestDroppedDomain(t *testing.T) {
	t.Parallel()
	o := folders(t)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do("CREATE DOMAIN one;", "CREATE DOMAIN two;", "USE one;", "CREATE RESOURCE models;", "USE two;", "CREATE RESOURCE models;")
	both, single := models(t, 1000, 1), models(t, 1000, 2)
	must(t, s, client.UploadOptions{Domain: "one", Resource: "models", Directory: both})
	must(t, s, client.UploadOptions{Domain: "two", Resource: "models", Directory: both})
	must(t, s, client.UploadOptions{Domain: "one", Resource: "models", Directory: single})
	s.Do("DROP DOMAIN one;")
	n.Stop()
	nodes.Start(t, o)
	if versions, half := stored(t, o.Data); versions != 1 || half != 0 {
		t.Fatalf("%d stored, %d under way", versions, half)
	}
}

// TestRunUploads: nervixd run executes UPLOAD RESOURCE of its file; the folder is relative to the working directory.
func TestRunUploads(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	nodes.WriteFile(t, filepath.Join(root, "models/a.wasm"), []byte("\x00asm"))
	const before = "CREATE DOMAIN one;\nUSE one;\nCREATE RESOURCE models;\nUPLOAD RESOURCE models VERSION 'models';\nDESCRIBE RESOURCE models VERSION 1;\n"
	for statement, want := range map[string]string{
		"UPLOAD RESOURCE nothing VERSION 'models';":                   "error[resource.unknown]",
		"UPLOAD RESOURCE models VERSION 'elsewhere';":                 "error[resource.folder]",
		"BEGIN;\nUPLOAD RESOURCE models VERSION 'models';":            "error[transaction.content]",
		"DESCRIBE RESOURCE models VERSION 2;":                         "error[resource.version_unknown]",
		"CREATE DOMAIN three;\nDESCRIBE RESOURCE absent FORMAT JSON;": "error[resource.unknown]",
	} {
		path := filepath.Join(t.TempDir(), "file.nspl")
		nodes.WriteFile(t, path, []byte(before+statement+"\n"))
		got := nodes.Run(t, root, "run", path)
		if got.Code != 1 || !strings.Contains(got.Stderr, want) || !strings.Contains(got.Stderr, "uploaded domain=one resource=models version=1") {
			t.Errorf("%s: exit %d\n%s", statement, got.Code, got.Stderr)
		}
	}
}
