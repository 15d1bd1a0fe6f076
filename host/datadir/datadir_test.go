// SPDX-License-Identifier: Apache-2.0

package datadir_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

const day = int64(24 * 3600 * 1e9)

// start is 2026-01-01.
var start = vtime.UTCFromNS(1_767_225_600 * 1e9)

func after(days int64) vtime.UTC { return vtime.UTCFromNS(start.NS() + days*day) }

func open(t *testing.T, path string) *datadir.Dir {
	t.Helper()
	d, err := datadir.Open(path, start)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestIdentityStaysAndStartsAreCounted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "data")
	d := open(t, path)
	first := d.Identity()
	if !d.Created() || d.Incarnation() != 1 || first.Node != 1 || first.Cluster.IsZero() {
		t.Fatalf("first start: %v, incarnation %d", first, d.Incarnation())
	}
	for want := 2; want < 5; want++ {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		d = open(t, path)
		if d.Created() || d.Identity() != first || int(d.Incarnation()) != want {
			t.Fatalf("start %d: %v, incarnation %d", want, d.Identity(), d.Incarnation())
		}
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v", info.Mode().Perm())
	}
}

// TestLockNamesItsHolder holds the folder in another process, since a lock is per open file and process.
func TestLockNamesItsHolder(t *testing.T) {
	if path := os.Getenv("DATADIR_HOLD"); path != "" {
		d, err := datadir.Open(path, start)
		fmt.Println("held", err)
		_, _ = fmt.Scanln() // until the parent closes our input
		_ = d.Close()
		return
	}
	path := t.TempDir()
	holder := exec.Command(os.Args[0], "-test.run=^TestLockNamesItsHolder$")
	holder.Env = append(os.Environ(), "DATADIR_HOLD="+path)
	input, _ := holder.StdinPipe()
	output, _ := holder.StdoutPipe()
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, err := output.Read(line)
	if err != nil || !strings.HasPrefix(string(line[:n]), "held <nil>") {
		t.Fatalf("holder: %q, %v", line[:n], err)
	}
	_, err = datadir.Open(path, start)
	want := fmt.Sprintf("process %d", holder.Process.Pid)
	if !fault.Has(err, fault.DaemonLocked) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want %s and the path", err, want)
	}
	_ = input.Close()
	_ = holder.Wait()
	if d := open(t, path); d.Incarnation() != 2 {
		t.Errorf("a refused start was counted: incarnation %d", d.Incarnation())
	}
}

func TestFoldersThatAreNotOurs(t *testing.T) {
	write := func(name, text string) func(string) {
		return func(path string) {
			if err := os.WriteFile(filepath.Join(path, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	started := func(path string) {
		d := open(t, path)
		_ = d.Close()
	}
	both := func(fs ...func(string)) func(string) {
		return func(path string) {
			for _, f := range fs {
				f(path)
			}
		}
	}
	flip := func(name string) func(string) {
		return func(path string) {
			file := filepath.Join(path, name)
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			content[len(content)/2] ^= 1
			write(name, string(content))(path)
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(string)
		code    fault.Code
		word    string
	}{
		{"someone's files", write("notes.txt", "x"), fault.DaemonForeign, "notes.txt"},
		{"another identity file", write("identity", "hello\n"), fault.DaemonForeign, "identity"},
		{"newer version", write("identity", "nervix data folder\nformat 2\nwhatever\n"), fault.DaemonNewer, "version 2"},
		{"identity without version", write("identity", "nervix data folder\n"), fault.DaemonDamaged, "version"},
		{"identity cut", write("identity", "nervix data folder\nformat 1\nnode 1\n"), fault.DaemonDamaged, "digest"},
		{"identity huge", write("identity", strings.Repeat("x", 5000)), fault.DaemonDamaged, "5000"},
		{"identity changed", both(started, flip("identity")), fault.DaemonDamaged, "digest"},
		{"count changed", both(started, flip("incarnation")), fault.DaemonDamaged, "incarnation"},
		{"count missing", both(started, write("context.json", "{}"), func(p string) { _ = os.Remove(filepath.Join(p, "incarnation")) }),
			fault.DaemonDamaged, "incarnation"},
		{"identity missing", both(started, func(p string) { _ = os.Remove(filepath.Join(p, "identity")) }), fault.DaemonDamaged, "identity"},
		{"a first start that was cut before the identity", both(write("lock", "1\n"), write("identity.new", "nerv")), "", ""},
		{"a first start that was cut before the count", both(started, func(p string) { _ = os.Remove(filepath.Join(p, "incarnation")) }), "", ""},
		{"empty mount point", func(p string) { _ = os.Mkdir(filepath.Join(p, "lost+found"), 0o700) }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			c.prepare(path)
			before, _ := os.ReadDir(path)
			d, err := datadir.Open(path, start)
			if fault.CodeOf(err) != c.code {
				t.Fatalf("got %v, want %q", err, c.code)
			}
			if err == nil {
				_ = d.Close()
				return
			}
			if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.word) {
				t.Errorf("the error does not name path and reason: %v", err)
			}
			if after, _ := os.ReadDir(path); c.code == fault.DaemonForeign && c.name == "someone's files" && len(after) != len(before) {
				t.Errorf("a foreign folder was written to")
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	_ = os.WriteFile(file, nil, 0o600)
	if _, err := datadir.Open(file, start); !fault.Has(err, fault.DaemonForeign) {
		t.Errorf("a file as data folder: %v", err)
	}
}

func leafOf(t *testing.T, c datadir.Certificates) *x509.Certificate {
	t.Helper()
	return c.Server.Leaf
}

func TestCertificatesStayAndAreRenewed(t *testing.T) {
	d := open(t, t.TempDir())
	first, err := d.Certificates(start, "10.1.2.3", "node-a")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(first.CAPEM) {
		t.Fatal("no authority")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "10.1.2.3", "node-a"} {
		if _, err := leafOf(t, first).Verify(x509.VerifyOptions{DNSName: host, Roots: pool, CurrentTime: leafOf(t, first).NotBefore}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, key := range []string{"ca.key", "server.key", "reset.key"} {
		if info, err := os.Stat(filepath.Join(d.Path(), "tls", key)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", key, info.Mode().Perm(), err)
		}
	}
	same := func(c datadir.Certificates) bool {
		return cmp.Equal(c.CAPEM, first.CAPEM) && leafOf(t, c).Equal(leafOf(t, first)) && c.ResetKey == first.ResetKey
	}
	if again, err := d.Certificates(after(1), "10.1.2.3", "node-a"); err != nil || !same(again) {
		t.Errorf("a restart made other certificates: %v", err)
	}
	if again, err := d.Certificates(after(1), "node-a"); err != nil || !same(again) {
		t.Errorf("fewer hosts made other certificates: %v", err)
	}
	more, err := d.Certificates(after(1), "node-b")
	if err != nil || same(more) || !cmp.Equal(more.CAPEM, first.CAPEM) || leafOf(t, more).VerifyHostname("node-b") != nil {
		t.Errorf("another host: %v", err)
	}
	late, err := d.Certificates(after(340), "node-b")
	if err != nil || leafOf(t, late).Equal(leafOf(t, more)) || !cmp.Equal(late.CAPEM, first.CAPEM) {
		t.Errorf("near its end: %v", err)
	}
	old, err := d.Certificates(after(10*365-10), "node-b")
	if err != nil || cmp.Equal(old.CAPEM, first.CAPEM) {
		t.Errorf("the authority near its end: %v", err)
	}
}

func TestDamagedAndHalfWrittenCertificates(t *testing.T) {
	d := open(t, t.TempDir())
	first, err := d.Certificates(start)
	if err != nil {
		t.Fatal(err)
	}
	tlsFolder := filepath.Join(d.Path(), "tls")
	// A key without certificate is what a crash leaves; it is made again.
	_ = os.Remove(filepath.Join(tlsFolder, "server.pem"))
	if again, err := d.Certificates(start); err != nil || leafOf(t, again).Equal(leafOf(t, first)) {
		t.Errorf("certificate missing: %v", err)
	}
	// The authority's key is not made again under its certificate.
	_ = os.Remove(filepath.Join(tlsFolder, "ca.key"))
	if _, err := d.Certificates(start); !fault.Has(err, fault.DaemonDamaged) {
		t.Errorf("key missing: %v", err)
	}
	block, _ := pem.Decode(first.CAPEM)
	_ = os.WriteFile(filepath.Join(tlsFolder, "ca.key"), pem.EncodeToMemory(block), 0o600)
	if _, err := d.Certificates(start); !fault.Has(err, fault.DaemonDamaged) {
		t.Errorf("key is no key: %v", err)
	}
}

func TestContextFile(t *testing.T) {
	d := open(t, t.TempDir())
	made := 0
	generate := func() string { made++; return "generated-secret" }
	admin, err := d.Admin(generate)
	if err != nil || admin != (datadir.Credentials{Username: "admin", Password: "generated-secret"}) {
		t.Fatal(admin, err)
	}
	if again, err := d.Admin(generate); err != nil || again != admin || made != 1 {
		t.Fatal("the password did not stay", err)
	}
	for _, server := range []string{"nervix://127.0.0.1:1", "nervix://127.0.0.1:2"} {
		path, err := d.WriteContext(server, []byte("PEM"), admin)
		if err != nil || path != filepath.Join(d.Path(), "context.json") {
			t.Fatal(path, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v, %v", info.Mode().Perm(), err)
		}
		text, _ := os.ReadFile(path)
		want := `{"version":1,"server":"` + server + `","ca_pem":"PEM","username":"admin","password":"generated-secret"}` + "\n"
		if string(text) != want {
			t.Fatalf("got %s", text)
		}
		got, err := datadir.ReadContext(path)
		if err != nil || got != (datadir.Context{Version: 1, Server: server, CAPEM: "PEM", Username: "admin", Password: "generated-secret"}) {
			t.Fatal(got, err)
		}
		if shown := fmt.Sprintf("%v %+v %#v", got, got, got); strings.Contains(shown, "generated-secret") {
			t.Fatal("a printed context shows the password")
		}
	}
	if err := d.SetAdminPassword("other"); err != nil {
		t.Fatal(err)
	}
	if admin, err := d.Admin(generate); err != nil || admin.Password != "other" {
		t.Fatal(admin, err)
	}
	_ = os.WriteFile(filepath.Join(d.Path(), "admin.json"), []byte(`{"username":"a" generated-secret`), 0o600)
	if _, err := d.Admin(generate); !fault.Has(err, fault.DaemonDamaged) || strings.Contains(err.Error(), "generated-secret") {
		t.Errorf("damaged credentials: %v", err)
	}
}

func TestContextFilesThatCannotBeUsed(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		text string
		code fault.Code
		word string
	}{
		{`{"version":1,"server":"s","username":"u","password":"top-secret"`, fault.ContextInvalid, "JSON"},
		{`{"version":2,"server":"s","username":"u","password":"top-secret"}`, fault.ContextInvalid, "version 2"},
		{`{"server":"s","username":"u","password":"top-secret"}`, fault.ContextInvalid, "no version"},
		{`{"version":1,"username":"u","password":"top-secret"}`, fault.ContextInvalid, "missing"},
	} {
		path := filepath.Join(folder, "context.json")
		_ = os.WriteFile(path, []byte(c.text), 0o600)
		_, err := datadir.ReadContext(path)
		if fault.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.word) || !strings.Contains(err.Error(), path) ||
			strings.Contains(err.Error(), "top-secret") {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	if _, err := datadir.ReadContext(filepath.Join(folder, "none")); !fault.Has(err, fault.ContextMissing) {
		t.Errorf("missing: %v", err)
	}
}

func TestFindContext(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "/config")
	set := func(string) string { return "/from/variable" }
	unset := func(string) string { return "" }
	for _, c := range []struct {
		flag   string
		getenv func(string) string
		want   string
	}{
		{"/from/flag", set, "/from/flag"},
		{"", set, "/from/variable"},
		{"", unset, "/config/nervix/context.json"},
	} {
		if got, err := datadir.FindContext(c.flag, c.getenv); err != nil || got != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}

// TestRealClock: the certificate of a real start is valid now.
func TestRealClock(t *testing.T) {
	d := open(t, t.TempDir())
	c, err := d.Certificates(osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(c.CAPEM)
	if _, err := leafOf(t, c).Verify(x509.VerifyOptions{DNSName: "localhost", Roots: pool}); err != nil {
		t.Fatal(err)
	}
}
