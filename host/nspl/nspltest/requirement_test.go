// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

func mustParse(t *testing.T, src string) ast.Statement {
	t.Helper()
	stmt, defects := parse.Statement(src)
	if len(defects) > 0 {
		t.Fatalf("%s does not parse:\n%s", src, render(src, defects))
	}
	return stmt
}

// mustRefuse parses what has one defect.
func mustRefuse(t *testing.T, src string) fault.Diagnostic {
	t.Helper()
	_, defects := parse.Statement(src)
	if len(defects) != 1 {
		t.Fatalf("%s has %d defects, want 1", src, len(defects))
	}
	if !defects[0].Located {
		t.Errorf("%s: the diagnostic has no place", src)
	}
	return defects[0]
}

func TestRelayClauses(t *testing.T) {
	// req: R-003 half: every form without materialized state, which is not part of the language yet
	// req: R-045
	for _, ifNotExists := range []string{"", "IF NOT EXISTS "} {
		for clause, canonical := range map[string]string{
			"UNBRANCHED":                         "UNBRANCHED\n  CAPACITY 1",
			"BRANCHED BY by_bed":                 "BRANCHED BY by_bed\n  CAPACITY 1",
			"UNBRANCHED CAPACITY 32":             "UNBRANCHED\n  CAPACITY 32",
			"BRANCHED BY by_bed CAPACITY 000032": "BRANCHED BY by_bed\n  CAPACITY 32",
		} {
			stmt := mustParse(t, "CREATE "+ifNotExists+"RELAY beds SCHEMA soil "+clause)
			if got, want := print.Statement(stmt), "CREATE RELAY beds SCHEMA soil\n  "+canonical; got != want {
				t.Errorf("printed %q, want %q", got, want)
			}
			if got, want := stmt.(*ast.CreateRelay).IfNotExists, ifNotExists != ""; got != want {
				t.Errorf("IfNotExists = %v, want %v", got, want)
			}
		}
	}
	for src, expected := range map[string]string{
		"CREATE RELAY beds UNBRANCHED":                        "SCHEMA",
		"CREATE RELAY beds SCHEMA soil":                       "BRANCHED BY,UNBRANCHED",
		"CREATE RELAY beds SCHEMA soil CAPACITY 3 UNBRANCHED": "BRANCHED BY,UNBRANCHED",
		"CREATE RELAY beds UNBRANCHED SCHEMA soil":            "SCHEMA",
	} {
		d := mustRefuse(t, src)
		if got := strings.Join(d.Expected, ","); got != expected || d.Code != fault.SyntaxUnexpected {
			t.Errorf("%s: [%s] expected %s, want %s", src, d.Code, got, expected)
		}
	}
}

func TestRelayNamesItsBranch(t *testing.T) {
	// req: R-005 half: omission is refused; identity of branches belongs to the model
	for _, src := range []string{
		"CREATE RELAY beds SCHEMA soil",
		"CREATE RELAY beds SCHEMA soil CAPACITY 4",
		"CREATE RELAY beds SCHEMA soil BRANCHED BY a BRANCHED BY b",
		"CREATE RELAY beds SCHEMA soil BRANCHED BY a UNBRANCHED",
		"CREATE RELAY beds SCHEMA soil BRANCHED BY a, b",
	} {
		mustRefuse(t, src)
	}
}

func TestReservedRelayNames(t *testing.T) {
	// req: R-014
	for _, name := range []string{"branch", "BRANCH", "`Branch`", "message"} {
		src := "CREATE RELAY " + name + " SCHEMA soil UNBRANCHED"
		if d := mustRefuse(t, src); d.Code != fault.SyntaxName || src[d.Span.Offset:d.Span.End()] != name {
			t.Errorf("%s: [%s] at %q", src, d.Code, src[d.Span.Offset:d.Span.End()])
		}
	}
	mustParse(t, "CREATE RELAY branches SCHEMA branch BRANCHED BY branch")
}

func TestAlterRelayKeepsOrder(t *testing.T) {
	// req: R-016 half: the operations come in written order; applying them belongs to the model
	alter := mustParse(t, "ALTER RELAY beds SET CAPACITY 8, SET CAPACITY 3").(*ast.AlterRelay)
	var got []uint64
	for _, op := range alter.Ops {
		got = append(got, op.(*ast.SetCapacity).Capacity.Value)
	}
	if len(got) != 2 || got[0] != 8 || got[1] != 3 {
		t.Errorf("operations %v, want 8 then 3", got)
	}
	mustRefuse(t, "ALTER RELAY beds")
	mustRefuse(t, "ALTER RELAY beds SET CAPACITY 8,")
	mustRefuse(t, "ALTER RELAY beds SET CAPACITY 8 SET CAPACITY 3")
}

func TestCapacityRange(t *testing.T) {
	// req: R-039 half: text only; storage and commands are not part of this package
	const most = "18446744073709551615"
	relay := mustParse(t, "CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY "+most)
	if text := print.Statement(relay); !strings.HasSuffix(text, "CAPACITY "+most) {
		t.Errorf("printed %q", text)
	}
	if d := mustRefuse(t, "CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY 0"); d.Code != fault.SyntaxNumber {
		t.Errorf("capacity 0: %s", d.Code)
	}
	if d := mustRefuse(t, "ALTER RELAY beds SET CAPACITY 0"); d.Code != fault.SyntaxNumber {
		t.Errorf("capacity 0: %s", d.Code)
	}
	mustRefuse(t, "CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY 18446744073709551616")
	mustRefuse(t, "CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY -1")
	mustRefuse(t, "CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY 1.0")
}

func TestTTLBelongsToBranches(t *testing.T) {
	// req: R-046
	for _, src := range []string{
		"CREATE RELAY beds SCHEMA soil UNBRANCHED TTL 5m",
		"CREATE RELAY beds SCHEMA soil BRANCHED BY by_bed TTL 5m",
		"CREATE RELAY beds SCHEMA soil UNBRANCHED CAPACITY 4 TTL 5m",
	} {
		d := mustRefuse(t, src)
		if src[d.Span.Offset:d.Span.End()] != "TTL" || !strings.Contains(d.Hint, "CREATE BRANCH") {
			t.Errorf("%s: %s", src, d.Render(src))
		}
	}
	mustParse(t, "CREATE BRANCH by_bed SCHEMA bed_key TTL 5m")
	mustRefuse(t, "CREATE BRANCH by_bed SCHEMA bed_key")
}

// TestNotInTheLanguageYet: forms of later versions are syntax errors with an expected set.
func TestNotInTheLanguageYet(t *testing.T) {
	for _, src := range []string{
		"CREATE SCHEMA s (a ARRAY<F32, 3>)",
		"CREATE SCHEMA s (a VEC<F32>)",
		"CREATE SCHEMA s (a BYTES)",
		"CREATE WIRE JSON SCHEMA s MODE STRICT (a ARRAY)",
		"CREATE WIRE CBOR SCHEMA s MODE STRICT (a STRING)",
		"CREATE RELAY r SCHEMA s UNBRANCHED WITH MATERIALIZED STATE LAST BY TIMESTAMP",
		"CREATE JUNCTION j FROM a COLLECT FOR 1s UNBRANCHED TO b FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
		"CREATE JUNCTION j FROM a UNBRANCHED USING MATERIALIZED STATE c REQUIRED WAIT TO b FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
		"CREATE JUNCTION j FROM a UNBRANCHED TO b WHERE JSON_EXISTS(a, '$') FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
		"CREATE JUNCTION j FROM a UNBRANCHED TO b WHERE a AS BYTES = b FLUSH IMMEDIATE ON MESSAGE ERROR LOG",
		"CREATE EMITTER e FROM a TO FILE f PATH 'x' MODE ACK RETRY POLICY BACKOFF 1s MAX 1s ENCODE USING c BATCH MAX MESSAGES 1 MAX SIZE 1KB",
		"CREATE CLIENT c TYPE KAFKA CONFIG {}",
		"EXPLAIN DROP RELAY r",
		"SHOW TRANSACTIONS",
		"PAUSE",
	} {
		if d := mustRefuse(t, src); d.Code != fault.SyntaxUnexpected || len(d.Expected) == 0 {
			t.Errorf("%s: [%s] %s, expected set %v", src, d.Code, d.Message, d.Expected)
		}
	}
}

func TestReferences(t *testing.T) {
	stmt := mustParse(t, `CREATE INGESTOR i FROM FILE f PATH 'x' MODE ACK PARALLEL MAX 1 ACK TIMEOUT 1s RETRY POLICY BACKOFF 1s MAX 1s
		ON QUIESCE SUSPEND DECODE USING c TO r BRANCHED BY b FLUSH IMMEDIATE ON MESSAGE ERROR SEND TO e SET a = 1 ON GENERAL ERROR LOG`)
	var got []string
	for _, ref := range stmt.(ast.Definition).References() {
		got = append(got, ref.Kind.String()+" "+string(ref.Name))
	}
	if want := "CLIENT f, CODEC c, RELAY r, BRANCH b, RELAY e"; strings.Join(got, ", ") != want {
		t.Errorf("references %v, want %s", got, want)
	}
}
