// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEveryClockHasAnOwner(t *testing.T) {
	// req: C-144, C-002, C-207
	// req: C-137 half: that the two kinds of deadline do not mix is shown by the compiler, below
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	uses, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(uses) < 50 {
		t.Fatalf("only %d uses found", len(uses))
	}
	for _, fault := range Check(uses, owners) {
		t.Error(fault)
	}
}

// plant has a use on every line that ends in `want <call>`, and none elsewhere.
const plant = `package plant

import (
	"context"
	sys "golang.org/x/sys/unix"
	"net/http"
	"time"
	later "time"

	"github.com/google/uuid"
	"github.com/quic-go/quic-go"
	"golang.org/x/time/rate" // want import:golang.org/x/time/rate
	. "github.com/nervix-go/nervix/host/osclock" // want dot-import:github.com/nervix-go/nervix/host/osclock

	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/osclock"
)

// A comment about time.Now() reads nothing.
var text = "time.Now()"

//go:linkname nanotime runtime.nanotime // want linkname

func reads() {
	_ = time.Now() // want time.Now
	f := time.Now // want time.Now
	_ = later.Since(f()) // want time.Since
	_ = osclock.UTC() // want osclock.UTC
	_ = osclock.Mono() // want osclock.Mono
	_, _ = uuid.NewV7() // want uuid.NewV7
	_ = sys.ClockGettime(0, nil) // want unix.ClockGettime
	_ = time.Duration(5) * time.Second
	_ = time.Unix(0, 0)
}

func arms(ctx context.Context, c conn, l *lanes.Lane, cmd *command) {
	_, _ = context.WithTimeout(ctx, 1) // want context.WithTimeout
	_, _ = osclock.WithTimeout(ctx, 1) // want osclock.WithTimeout
	_ = osclock.After(1) // want osclock.After
	select {
	case <-time.After(1): // want time.After
	}
	c.SetReadDeadline(t) // want method:SetReadDeadline
	l.Arm(nil, 1, nil) // want lanes.Arm
	_ = http.Client{
		Timeout: 5, // want field:Timeout
	}
	_ = &quic.Config{MaxIdleTimeout: 1} // want field:MaxIdleTimeout
	_ = own{Timeout: 1}
	cmd.WaitDelay = 1 // want field:WaitDelay
	_, _ = context.WithCancel(ctx)
}

func hidden(time clock, osclock clock) {
	_ = time.Now()
	_ = osclock.UTC()
}
`

// planted checks that scanning a text finds what its lines want, at those lines.
func planted(t *testing.T, file, text string) {
	t.Helper()
	var want, got []string
	for n, line := range strings.Split(text, "\n") {
		if _, call, ok := strings.Cut(line, "// want "); ok {
			want = append(want, Use{File: file, Line: n + 1}.At()+" "+call)
		}
	}
	for _, u := range scanners[filepath.Ext(file)](file, []byte(text)) {
		got = append(got, u.At()+" "+u.Call)
		if u.Package != filepath.Dir(file) {
			t.Errorf("%s is in package %s", u.At(), u.Package)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("found\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestPlantedReadsAreFound(t *testing.T) {
	// req: C-144, C-211
	planted(t, "host/expr/plant.go", plant)
	for _, label := range []string{"//go:build harness\n\n", "// Package plant is a test kit.\n//\n// It is not.\n", "//go:build testing || !linux\n\n/* a comment\nof two lines with time.Now() */\n"} {
		planted(t, "host/node/nodetest/plant.go", label+plant) // a label gives no permission, and moves the lines
	}
	planted(t, "broken/plant.go", "package plant\n\nimport \"time\"\n\nfunc f() {\n\t_ = time.Now() // want time.Now\n")
}

const plantC = `// clock_gettime in a comment
/* time(NULL) in another,
   usleep(5) too */ int a; // and Date.now()
clock_gettime(CLOCK_REALTIME, &t); // want clock_gettime
x = time( NULL ); /* of day */ // want time(NULL
let a = Date.now(); // want Date.now
b = "http://host/" + new Date(); // want newDate
c = '"'; d = std::chrono::steady_clock::now(); // want steady_clock::now
uptime(NULL); settime(0); e = "a \" // b"; usleep(1); // want usleep
setTimeout(f, 5) // want setTimeout
`

func TestPlantedReadsOfOtherLanguages(t *testing.T) {
	// req: C-144
	for _, ext := range []string{".c", ".h", ".hpp", ".rs", ".js", ".mjs"} {
		planted(t, "wasm/x/plant"+ext, plantC)
	}
	planted(t, "wasm/x/life.rs", "fn f<'a>() { thread::sleep(d) } // want thread::sleep")
	planted(t, "wasm/x/text.mjs", "f('http://host'); setInterval(f, 1) // want setInterval")
	planted(t, "wasm/x/open.c", "usleep(1); // want usleep\n/* never closed: usleep(2)")
	for _, text := range []string{"", "/", "/*", "'", "\"", "\\", "'\\"} {
		planted(t, "wasm/x/odd.c", text)
	}
}

// The check on files as they lie in a tree: tests and their data are left out, product code beside them is not.
func TestWhatCountsAsTest(t *testing.T) {
	// req: C-211
	root := t.TempDir()
	body := "package p\n\nimport \"time\"\n\nvar T = time.Now()\n"
	for file, text := range map[string]string{
		"p/a.go": body, "p/a_test.go": body, "p/testdata/src/a.go": body, ".hidden/a.go": body, "p/after.go": strings.ReplaceAll(body, "var T", "\n\nvar T"), "p/readme.md": "time.Now()",
		"deep/internal/test/a.go": body, "p/x.mjs": "Date.now()\n",
	} {
		write(t, filepath.Join(root, file), text)
	}
	uses, err := Scan(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range uses {
		got = append(got, u.At())
	}
	if want := []string{"deep/internal/test/a.go:5", "p/a.go:5", "p/after.go:7", "p/x.mjs:1"}; !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
	if _, err := Scan(filepath.Join(root, "none")); err == nil {
		t.Fatal("a missing root has no uses")
	}
}

func TestListAndUsesAgree(t *testing.T) {
	// req: C-144
	read := Use{Package: "host/expr", File: "host/expr/loop.go", Line: 12, Call: "osclock.UTC"}
	for _, c := range []struct {
		name   string
		uses   []Use
		owners []Owner
		want   string // empty: agreed
	}{
		{"undeclared", []Use{read}, nil, "host/expr/loop.go:12: osclock.UTC (utc) has no owner"},
		{"line to add", []Use{read}, nil, `{"host/expr", UTC, "osclock.UTC", "why"}`},
		{"declared", []Use{read}, []Owner{{"host/expr", UTC, "osclock.UTC", "reason"}}, ""},
		{"declared for the file", []Use{read}, []Owner{{"host/expr/loop.go", UTC, "osclock.UTC", "reason"}}, ""},
		{"another file", []Use{read}, []Owner{{"host/expr/other.go", UTC, "osclock.UTC", "reason"}}, "has no owner"},
		{"another package", []Use{read}, []Owner{{"host", UTC, "osclock.UTC", "reason"}}, "has no owner"},
		{"another call", []Use{read}, []Owner{{"host/expr", Physical, "osclock.Mono", "reason"}}, "has no owner"},
		{"no longer used", nil, []Owner{{"host/expr", UTC, "osclock.UTC", "reason"}}, "no longer uses osclock.UTC"},
		{"no reason", []Use{read}, []Owner{{"host/expr", UTC, "osclock.UTC", ""}}, "no reason"},
		{"wrong class", []Use{read}, []Owner{{"host/expr", Physical, "osclock.UTC", "reason"}}, "declares osclock.UTC as physical, but it is utc"},
		{"whole tree", []Use{read}, []Owner{{"host/*", UTC, "osclock.UTC", "reason"}}, "is no package or file"},
		{"out of order", []Use{read, {Package: "a", Call: "osclock.UTC"}}, []Owner{{"host/expr", UTC, "osclock.UTC", "reason"}, {"a", UTC, "osclock.UTC", "reason"}}, "out of order"},
		{"twice", []Use{read}, []Owner{{"host/expr", UTC, "osclock.UTC", "reason"}, {"host/expr", UTC, "osclock.UTC", "reason"}}, "out of order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(Check(c.uses, c.owners), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
		})
	}
}
