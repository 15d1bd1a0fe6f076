// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// publicHeader is the part of the C header that authors see.
func publicHeader(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(guests, "c", "nervix_guest.h"))
	if err != nil {
		t.Fatal(err)
	}
	public, _, ok := strings.Cut(string(text), "#if defined(NERVIX_GUEST_IMPLEMENTATION)")
	if !ok {
		t.Fatal("the header has no implementation")
	}
	return public
}

var (
	comments     = regexp.MustCompile(`(?s)/\*.*?\*/`)
	declarations = regexp.MustCompile(`(?m)^[a-z][\w \*]*?\b(nv_\w+)\(([^;{]*)\);`)
)

// No function of the header takes or gives an instant as a bare integer: 64-bit integers are values of columns, durations and saved state,
// and numbers of nanoseconds make durations only.
func TestNoRawInstants(t *testing.T) {
	// req: W-311 half: TestEveryTypeSurvives has the values
	bare := regexp.MustCompile(`\bu?int64_t\b`)
	may := map[string]bool{"nv_nanoseconds": true, "nv_milliseconds": true, "nv_seconds": true, "nv_in_nanoseconds": true, // durations
		"nv_i64": true, "nv_u64": true, "nv_put_i64": true, "nv_put_u64": true, "nv_write_i64": true, "nv_write_u64": true, "nv_read_i64": true, "nv_read_u64": true}
	found := declarations.FindAllStringSubmatch(comments.ReplaceAllString(publicHeader(t), ""), -1)
	if len(found) < 90 {
		t.Fatalf("only %d functions found", len(found))
	}
	typed := 0
	for _, d := range found {
		if bare.MatchString(d[0]) && !may[d[1]] {
			t.Errorf("%s has a bare 64-bit integer", strings.TrimSpace(d[0]))
		}
		if strings.Contains(d[0], "nv_time ") {
			typed++
		}
	}
	if typed < 10 {
		t.Errorf("only %d functions have instants", typed)
	}
}

// The header compiles without a warning as C11, C17 and C++, with and without bulk memory, and in guests of several files.
func TestHeaderCompiles(t *testing.T) {
	if !clang(t) {
		return
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c := filepath.Join(guests, "c")
	flags := []string{"--target=wasm32", "-O1", "-ffreestanding", "-nostdlib", "-Wall", "-Wextra", "-Werror", "-I", c, "-c"}
	source := filepath.Join(c, "reference.c")
	object := filepath.Join(dir, "x.o")
	for _, more := range [][]string{{"-std=c17", "-mno-bulk-memory", "-Wpedantic", source}, {"-x", "c++", "-std=c++11", source}} {
		command(t, "clang", append(append([]string{"-fsyntax-only"}, flags...), more...)...)
	}
	command(t, "clang", append([]string{"-x", "c++", "-std=c++20", "-mno-bulk-memory", "-fno-exceptions", "-fno-rtti"}, append(flags, source, "-o", object)...)...)
	// The reference guest in C++ conforms like the one in C, also without bulk memory.
	built := filepath.Join(dir, "x.wasm")
	link := func(objects ...string) []byte {
		command(t, "wasm-ld", append([]string{"--no-entry", "--stack-first", "-z", "stack-size=32768", "-o", built}, objects...)...)
		wasm, err := os.ReadFile(built)
		if err != nil {
			t.Fatal(err)
		}
		return wasm
	}
	conforms(t, "the reference guest in C++", link(object), options())

	one := file("one.c", "#define NERVIX_GUEST_IMPLEMENTATION\n#include \"nervix_guest.h\"\n")
	two := file("two.cc", "#include \"nervix_guest.h\"\nstatic int started = [] { return 42; }();\n"+
		"static int32_t calls;\nstruct counter { counter() { calls++; } };\nstatic counter built;\n"+
		"static int32_t work(const nv_batch *) { return started == 42 && calls == 1 ? NV_OK : nv_fail(\"static objects were built %d times\", calls); }\n"+
		"extern \"C\" const nv_guest nervix_guest = {nullptr, work, nullptr, nullptr, nullptr, nullptr};\n")
	command(t, "clang", append([]string{"-std=c11", "-mbulk-memory"}, append(flags, one, "-o", object)...)...)
	object2 := filepath.Join(dir, "y.o")
	command(t, "clang++", append([]string{"-std=c++17", "-fno-exceptions"}, append(flags, two, "-o", object2)...)...)
	wasm := link(object, object2)
	if r := run(t, wasm, options()); findingOf(r, "module.exports").Outcome != Holds || findingOf(r, "batch.rows").Outcome != Holds {
		t.Errorf("a guest of two files: %+v, %+v", findingOf(r, "module.exports"), findingOf(r, "batch.rows"))
	}
}

func findingOf(r *Report, check string) Finding {
	for _, f := range r.Findings {
		if f.Check == check {
			return f
		}
	}
	return Finding{}
}
