// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/reference"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// compileArgument makes the test binary a compiling process.
const compileArgument = "-nervix-compile-guest"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == compileArgument {
		if err := shim.CompileMain(os.Args[2:], os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

const guests = "../guest"

// notForTheKit are guests that do not behave, for tests of the header.
var notForTheKit = map[string]bool{"tests/c_probe.wasm": true}

func module(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(guests, "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// modules are all committed modules, by their path below testdata.
func modules(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.wasm", "tests/*.wasm"} {
		found, err := filepath.Glob(filepath.Join(guests, "testdata", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			name, err := filepath.Rel(filepath.Join(guests, "testdata"), f)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.ToSlash(name))
		}
	}
	if len(names) < 5 {
		t.Fatalf("only %d modules", len(names))
	}
	return names
}

// schemasOf are those a module was written for: LANG_NAME.wasm has them in LANG/NAME.nspl, if the kit's own do not fit.
func schemasOf(t testing.TB, name string) *Schemas {
	t.Helper()
	dir, base := filepath.Split(strings.TrimSuffix(name, ".wasm"))
	lang, guest, _ := strings.Cut(base, "_")
	text, err := os.ReadFile(filepath.Join(guests, lang, dir, guest+".nspl"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSchemas(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func options() Options { return Options{Open: shim.Open, Profile: engine.ProfileGuard} }

func run(t testing.TB, wasm []byte, o Options) *Report {
	t.Helper()
	r, err := Run(context.Background(), wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// conforms fails unless all checks hold, and those of the reference job apply if the module does it.
func conforms(t testing.TB, name string, wasm []byte, o Options) *Report {
	t.Helper()
	r := run(t, wasm, o)
	for _, f := range r.Findings {
		if f.Outcome == Fails || f.Outcome == NotApplicable && strings.HasPrefix(f.Check, "job.") && has(wasm, job) {
			t.Errorf("%s: %s %s: %s", name, f.Check, f.Outcome, f.Detail)
		}
	}
	return r
}

// Every committed guest passes the kit. Among them are the reference guests: what the job's checks compare with the model are values of
// rows that were buffered while the input buffer was filled again (W-305), columns that two routes share, the restored counter, and the
// bytes of saved state with and without buffered input.
func TestCommittedGuestsConform(t *testing.T) {
	// req: W-045, W-053, W-121, W-124, W-125, W-243, W-303, W-305
	// req: W-310 half: guests in Rust, Go and AssemblyScript run as they are committed; wasm/guest/check.sh builds them where their toolchains are
	// req: W-245 half: what the host refuses has its tests in wasm/protocol
	all := modules(t)
	for _, language := range []string{"assemblyscript", "c", "go", "rust"} {
		if name := language + "_reference.wasm"; !slices.Contains(all, name) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, name := range all {
		if notForTheKit[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := options()
			o.Schemas = schemasOf(t, name)
			conforms(t, name, module(t, name), o)
		})
	}
}

// The reference guest is the same in the other layout of memory, and on the plain library.
func TestReferenceGuestOnAllBackends(t *testing.T) {
	wasm := module(t, "c_reference.wasm")
	conforms(t, "dense", wasm, Options{Open: shim.Open, Profile: engine.ProfileDense})
	conforms(t, "plain library", wasm, Options{Open: reference.Open, Profile: engine.ProfileGuard})
}

// The list of hashes names every committed module and no other, and the C sources they were built from.
func TestSumsOfCommittedGuests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(guests, "testdata", "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, name := range modules(t) {
		want[name] = true
	}
	for _, pattern := range []string{"c/*.[ch]", "c/tests/*.c"} {
		sources, err := filepath.Glob(filepath.Join(guests, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			want["../"+strings.TrimPrefix(filepath.ToSlash(s), guests+"/")] = true
		}
	}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok || !want[name] {
			t.Errorf("line %q names no module and no source", line)
			continue
		}
		delete(want, name)
		if have := sha256.Sum256(module(t, name)); sum != hex.EncodeToString(have[:]) {
			t.Errorf("%s is not the file that SHA256SUMS lists: build the modules, then run wasm/guest/build.sh sums", name)
		}
	}
	for name := range want {
		t.Errorf("%s is not listed", name)
	}
}

// clang says whether this machine builds C guests. CI installs clang and lld; elsewhere the committed modules have to do.
func clang(t testing.TB) bool {
	t.Helper()
	for _, tool := range []string{"clang", "wasm-ld"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Logf("%s is not installed: the C guests are not rebuilt", tool)
			return false
		}
	}
	return true
}

func command(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// What the sources give today behaves like the committed modules: it passes the kit, and says and saves the same. The long run builds all of
// them, the others the reference guest.
func TestRebuiltGuestsBehaveLikeTheCommitted(t *testing.T) {
	if !clang(t) {
		return
	}
	dir := t.TempDir()
	names, only := []string{"c_reference.wasm"}, "reference.c"
	if os.Getenv("NERVIX_SOAK") != "" {
		names, only = modules(t), ""
	}
	command(t, "bash", filepath.Join(guests, "build.sh"), "c", dir, only)
	for _, name := range names {
		if !strings.HasPrefix(filepath.Base(name), "c_") {
			continue
		}
		built, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if bytes.Equal(built, module(t, name)) {
			continue // the same toolchain
		}
		if notForTheKit[name] {
			continue
		}
		o := options()
		o.Schemas = schemasOf(t, name)
		conforms(t, "rebuilt "+name, built, o)
		said, state := told(t, built, o)
		wantSaid, wantState := told(t, module(t, name), o)
		if d := difference(wantSaid, said); d != "" {
			t.Errorf("%s: the rebuilt guest says other things: %s", name, d)
		}
		if !bytes.Equal(state, wantState) {
			t.Errorf("%s: the rebuilt guest saves other state", name)
		}
	}
}

// told is what a guest says and saves in the kit's script.
func told(t testing.TB, wasm []byte, o Options) (said string, state []byte) {
	t.Helper()
	probing(t, wasm, o, func(k *kit) {
		var err error
		if said, _, state, err = k.script(false); err != nil {
			t.Error(err)
		}
	})
	return said, state
}

// probing runs f with a kit that knows which schemas the guest accepts.
func probing(t testing.TB, wasm []byte, o Options, f func(*kit)) {
	t.Helper()
	k, err := newKit(context.Background(), wasm, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.close(); err != nil {
			t.Error(err)
		}
	}()
	if err := initAccepted(k); err != nil {
		t.Error(err)
		return
	}
	f(k)
}
