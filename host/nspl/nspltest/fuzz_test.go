// SPDX-License-Identifier: Apache-2.0

package nspltest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/lex"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// FuzzText: no text makes the lexer or the parser panic, every span lies in the text, and what parses prints back.
func FuzzText(f *testing.F) {
	for _, src := range seeds {
		f.Add(src, len(src)/2)
	}
	f.Fuzz(func(t *testing.T, src string, cursor int) {
		checkTokens(t, src)
		_ = parse.Expected(src, cursor)
		list, defects := parse.Text(src)
		for _, d := range defects {
			checkSpan(t, src, d.Span)
			if d.Message == "" || d.Code == "" || d.Stage == "" || !d.Located {
				t.Errorf("an incomplete diagnostic: %+v", d)
			}
		}
		for _, one := range list {
			checkSpan(t, src, one.Span)
			checkRoundTrip(t, one.Stmt)
		}
	})
}

func checkTokens(t *testing.T, src string) {
	if lex.FirstInvalidByte(src) >= 0 {
		return
	}
	for offset := 0; ; {
		tok := lex.Next(src, offset)
		checkSpan(t, src, tok.Span)
		if named := lex.Name(src, offset); named.Span.Offset != tok.Span.Offset {
			t.Fatalf("the two ways to read begin at %d and %d", tok.Span.Offset, named.Span.Offset)
		}
		if tok.Kind == lex.EOF {
			return
		}
		if tok.Span.Length < 1 || tok.Trivia.Offset != offset || tok.Trivia.End() != tok.Span.Offset {
			t.Fatalf("a token that goes nowhere: %+v", tok)
		}
		offset = tok.Span.End()
	}
}

func checkSpan(t *testing.T, src string, s fault.Span) {
	if s.Offset < 0 || s.Length < 0 || s.End() > len(src) {
		t.Fatalf("span %v outside of %d bytes", s, len(src))
	}
}

func checkRoundTrip(t *testing.T, stmt ast.Statement) {
	text := print.Statement(stmt)
	again, defects := parse.Statement(text)
	if len(defects) > 0 {
		t.Fatalf("the canonical text does not parse: %s", defects[0].Render(text))
	}
	if c, ok := stmt.(interface{ Head() *ast.Create }); ok {
		c.Head().IfNotExists = false
	}
	if diff := cmp.Diff(stmt, again, sameTree); diff != "" {
		t.Fatalf("parse(print(x)) differs from x:\n%s", diff)
	}
	if twice := print.Statement(again); twice != text {
		t.Fatalf("printing again differs:\n%s\n%s", text, twice)
	}
}

// seeds hold every statement and every form of expression at least once; testdata/fuzz holds texts that once broke something or are unlike
// these.
var seeds = []string{
	"", ";", "-- x", "USE `a--b`", "BEGIN; USE a; COMMIT", "\uFEFFSTOP", "START AT NOW", "LIST DOMAINS", "REVERT", "DROP WIRE JSON SCHEMA w",
	"CREATE IF NOT EXISTS UNPACED DOMAIN d PLACEMENT PREFER COLOCATION", "CREATE USER u WITH PASSWORD $a$'\"$$$a$", "ALTER USER u WITH PASSWORD ''",
	"CREATE SCHEMA s (a U8, b INT64 OPTIONAL, c DATETIME SENSITIVE, `end` BOOL)", "SHOW CREATE CODEC c", "SHOW INGESTORS FORMAT JSON", "SHOW CLUSTER STATUS",
	"CREATE WIRE JSON SCHEMA w MODE LOOSE (A INTEGER, b NUMBER OPTIONAL)", "CREATE CODEC c FROM WIRE JSON SCHEMA w TO SCHEMA s ENCODE a AS RFC3339, b AS RFC3339",
	"CREATE BRANCH b SCHEMA s TTL 1h30m MAX INSTANCES 7 EVICT LRU", "CREATE RELAY r SCHEMA s BRANCHED BY b CAPACITY 18446744073709551615",
	"CREATE CLIENT c TYPE FILE CONFIG {'root' = '/x', 'n' = 5, 'f' = 1.50, 'b' = TRUE}", "ALTER RELAY r SET CAPACITY 8, SET CAPACITY 3",
	"DESCRIBE RELAY r WHERE (a = -5, b = 'x', c = NULL) FORMAT JSON", "DESCRIBE EMITTER e FORMAT TEXT",
	`CREATE INGESTOR i FROM FILE f PATH 'x' MODE ACK PARALLEL MAX 5 ACK TIMEOUT 1s RETRY POLICY BACKOFF 1ms MAX 1d ON QUIESCE SUSPEND DECODE USING c
		TIMESTAMP AT t FILTER WHERE input.a > 1 TO r INHERIT ALL BRANCHED BY b SET k = lower(message.k) FLUSH EACH 1s MAX BATCH SIZE 1MiB
		ON MESSAGE ERROR SEND TO e SET why = error.message ON GENERAL ERROR LOG`,
	`CREATE DETACHED EMITTER e FROM a, b WHERE x TO FILE f PATH "y" MODE ACK RETRY POLICY BACKOFF 1s MAX 2s ENCODE USING c
		INHERIT ALL EXCEPT q SET z = NULL WHERE z IN (1, -2 AS I8, TRY_CAST('x' AS F64),) FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE ON GENERAL ERROR IGNORE`,
	`CREATE JUNCTION j FROM a FILTER WHERE NOT is_null(input.x) UNBRANCHED TO b INHERIT p, q LEAK SENSITIVE
		SET a = IF x THEN 1 ELSE 2 END, b = CASE x WHEN 1 THEN 'a' ELSE 'b' END, c = - -(a + b) * c % d / 2, d = x BETWEEN 1 AND 2 OR y IS NOT DISTINCT FROM z,
		e = TRY_CAST(a AS I64 AS STRING) AS F64, f = [1, 2.5,], g = relay_state.r.x, h = a != b AND c <= d
		FLUSH IMMEDIATE ON MESSAGE ERROR LOG`,
	`CREATE WASM PROCESSOR w FROM a WHERE x, b FILTER WHERE NOT is_null(input.m) USING RESOURCE g VERSION LATEST FILE 'a/b.wasm' MAX FUEL 400000000 MAX MEMORY 32MiB
		BRANCHED BY k TO c SET v = coalesce(v, 0.5) WHERE output.v > 0.8 ON MESSAGE ERROR LOG TO d ON MESSAGE ERROR SEND TO e SET why = error.message
		ON REJECTED STATE RESET ON GLOBAL ERROR LOG`,
	"CREATE DETACHED WASM PROCESSOR w FROM a USING RESOURCE g VERSION 2 FILE 'x' MAX FUEL 1 MAX MEMORY 1B UNBRANCHED TO c ON MESSAGE ERROR IGNORE ON GLOBAL ERROR IGNORE",
	"CREATE WASM PROCESSOR w FROM a USING RESOURCE g VERSION 2 FILE 'x' MAX MEMORY 1B MAX FUEL 1", "CREATE IF NOT EXISTS RESOURCE g", "DROP RESOURCE g",
	"DESCRIBE RESOURCE g VERSION 3 FORMAT JSON", "DESCRIBE WASM PROCESSOR w FORMAT JSON", "UPLOAD RESOURCE g VERSION '~/x'", "SHOW CREATE WASM PROCESSOR w",
	"CREATE PACED DOMAIN d WITH PERIOD 1d SKEW 0ns PLACEMENT NEUTRAL", "CREATE PACED DOMAIN d WITH PERIOD 18446744073709551615ns SKEW 1h30m", "CREATE DOMAIN d WITH PERIOD 1s",
	"START AT '2031-05-01T08:00:00.25+02:00' TIME RATE 1e-3", "START AT NOW TIME RATE 2", "START TIME RATE 2", "START AT '2262-04-11T23:47:16.854775807Z'",
	"START AT '1677-09-21T00:12:43.145224191Z'", "START AT NOW TIME RATE 5e-324", "START AT NOW TIME RATE 1e400", "ATTACH DOMAIN CLOCK", "DETACH DOMAIN CLOCK",
	"SELECT 1", "CREATE SCHEMA s (a", "USE 'x", "USE 5e-", "USE a /* b */", "CREATE RELAY branch SCHEMA s UNBRANCHED",
}
