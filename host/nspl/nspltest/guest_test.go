// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
)

const (
	guestHead   = "CREATE WASM PROCESSOR w FROM a USING RESOURCE r VERSION 2 FILE 'm.wasm'"
	guestLimits = " MAX FUEL 400 MAX MEMORY 32MiB"
	guestTail   = " ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG"
)

// refusedAt demands a syntax error at the last occurrence of a word, with a hint that says what to do.
func refusedAt(t *testing.T, src, word, hint string) {
	t.Helper()
	d := mustRefuse(t, src)
	if d.Stage != fault.StageParse || d.Code != fault.SyntaxUnexpected || src[d.Span.Offset:d.Span.End()] != word || !strings.Contains(d.Hint, hint) {
		t.Errorf("%s: want a syntax error at %s with %q: %s", src, word, hint, d.Render(src))
	}
}

func TestGuestRoutesHaveNoFlush(t *testing.T) {
	// req: W-009
	mustParse(t, guestHead+guestLimits+" UNBRANCHED TO b"+guestTail)
	for _, flush := range []string{" FLUSH IMMEDIATE", " FLUSH EACH 1s MAX BATCH SIZE 1MiB"} {
		for _, before := range []string{" TO b", " TO b SET x = 1", " TO b WHERE y", " TO b ON MESSAGE ERROR LOG TO c"} {
			refusedAt(t, guestHead+guestLimits+" UNBRANCHED"+before+flush+guestTail, "FLUSH", "the guest decides when rows leave")
		}
		refusedAt(t, guestHead+guestLimits+" UNBRANCHED TO b ON MESSAGE ERROR LOG"+flush+" ON GLOBAL ERROR LOG", "FLUSH", "the guest decides when rows leave")
	}
	refusedAt(t, guestHead+guestLimits+" UNBRANCHED TO b INHERIT ALL"+guestTail, "INHERIT", "inherits nothing")
	refusedAt(t, guestHead+guestLimits+" UNBRANCHED TO b UNSET x"+guestTail, "UNSET", "no UNSET")
}

func TestGuestLimitsAreWritten(t *testing.T) {
	// req: W-011
	rest := " UNBRANCHED TO b" + guestTail
	w := mustParse(t, guestHead+guestLimits+rest).(*ast.CreateWASM)
	if w.MaxFuel.Value != 400 || w.MaxMemory.Bytes != 32<<20 {
		t.Errorf("fuel %d, memory %d", w.MaxFuel.Value, w.MaxMemory.Bytes)
	}
	const order = "MAX FUEL n and then MAX MEMORY size stand directly after FILE"
	refusedAt(t, guestHead+rest, "UNBRANCHED", order)
	refusedAt(t, guestHead+" MAX FUEL 400"+rest, "UNBRANCHED", order)
	refusedAt(t, guestHead+" MAX MEMORY 32MiB"+rest, "MEMORY", order)
	for _, limits := range []string{" MAX FUEL 0 MAX MEMORY 1B", " MAX FUEL 18446744073709551616 MAX MEMORY 1B", " MAX FUEL 1 MAX MEMORY 0B", " MAX FUEL 1 MAX MEMORY 1", " MAX FUEL -1 MAX MEMORY 1B"} {
		if d := mustRefuse(t, guestHead+limits+rest); d.Hint == "" {
			t.Errorf("%s: %s", limits, d.Message)
		}
	}
}

func TestGuestLimitsStandAfterFile(t *testing.T) {
	// req: W-012
	const order = "MAX FUEL n and then MAX MEMORY size stand directly after FILE"
	refusedAt(t, guestHead+" MAX MEMORY 32MiB MAX FUEL 400 UNBRANCHED TO b"+guestTail, "MEMORY", order)
	refusedAt(t, "CREATE WASM PROCESSOR w FROM a"+guestLimits+" USING RESOURCE r VERSION 2 FILE 'm' UNBRANCHED TO b"+guestTail, "MAX", order)
	refusedAt(t, "CREATE WASM PROCESSOR w FROM a USING RESOURCE r VERSION 2"+guestLimits+" FILE 'm' UNBRANCHED TO b"+guestTail, "MAX", order)
	refusedAt(t, guestHead+" UNBRANCHED"+guestLimits+" TO b"+guestTail, "UNBRANCHED", order)
	refusedAt(t, guestHead+" MAX FUEL 400 UNBRANCHED MAX MEMORY 32MiB TO b"+guestTail, "UNBRANCHED", order)
	refusedAt(t, guestHead+guestLimits+" UNBRANCHED"+guestLimits+" TO b"+guestTail, "MAX", order)
	refusedAt(t, guestHead+guestLimits+" UNBRANCHED TO b"+guestLimits+guestTail, "MAX", order)
	refusedAt(t, guestHead+guestLimits+" UNBRANCHED TO b ON MESSAGE ERROR LOG"+guestLimits+" ON GLOBAL ERROR LOG", "MAX", order)
}

func TestGuestHasNoLimitInTime(t *testing.T) {
	// req: W-022
	for _, clause := range []string{"MAX TIME 1s", "TIMEOUT 1s"} {
		word, _, _ := strings.Cut(clause, " ")
		refusedAt(t, guestHead+guestLimits+" "+clause+" UNBRANCHED TO b"+guestTail, word, "a guest has no limit in time")
		refusedAt(t, guestHead+guestLimits+" UNBRANCHED "+clause+" TO b"+guestTail, word, "a guest has no limit in time")
	}
	refusedAt(t, guestHead+" MAX FUEL 1 MAX TIME 1s UNBRANCHED TO b"+guestTail, "TIME", "a guest has no limit in time")
}

// TestRejectedStateIsPrinted: its default too, always between the last route and ON GLOBAL ERROR.
func TestRejectedStateIsPrinted(t *testing.T) {
	for written, printed := range map[string]string{"": "PRESERVE", " ON REJECTED STATE PRESERVE": "PRESERVE", " ON REJECTED STATE RESET": "RESET"} {
		stmt := mustParse(t, guestHead+guestLimits+" UNBRANCHED TO b ON MESSAGE ERROR LOG"+written+" ON GLOBAL ERROR IGNORE")
		if got, want := print.Statement(stmt), "    ON MESSAGE ERROR LOG\n  ON REJECTED STATE "+printed+"\n  ON GLOBAL ERROR IGNORE"; !strings.HasSuffix(got, want) {
			t.Errorf("printed %q", got)
		}
	}
}

func TestGuestReferences(t *testing.T) {
	stmt := mustParse(t, `CREATE WASM PROCESSOR w FROM a, b USING RESOURCE g VERSION LATEST FILE 'm' MAX FUEL 1 MAX MEMORY 1B BRANCHED BY k
		TO c ON MESSAGE ERROR SEND TO e SET x = 1 TO d ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG`)
	var got []string
	for _, ref := range stmt.(ast.Definition).References() {
		got = append(got, ref.Kind.String()+" "+string(ref.Name))
	}
	if want := "RELAY a, RELAY b, RESOURCE g, BRANCH k, RELAY c, RELAY e, RELAY d"; strings.Join(got, ", ") != want {
		t.Errorf("references %v, want %s", got, want)
	}
}
