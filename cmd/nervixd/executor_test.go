// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/nervix-go/nervix/plugins/supervise"
)

// Who asks for data gets that of a SHOW or DESCRIBE; a format that is written wins, and nothing else is touched.
func TestAskingData(t *testing.T) {
	for text, want := range map[string]string{
		"SHOW INGESTORS":                          "SHOW INGESTORS FORMAT JSON",
		" SHOW CLUSTER STATUS ; ":                 " SHOW CLUSTER STATUS FORMAT JSON ; ",
		"DESCRIBE RELAY r WHERE (k = 'ö') -- why": "DESCRIBE RELAY r WHERE (k = 'ö') FORMAT JSON -- why",
		"DESCRIBE RELAY r FORMAT JSON":            "DESCRIBE RELAY r FORMAT JSON",
		"DESCRIBE RELAY r format text":            "DESCRIBE RELAY r format text",
		"DESCRIBE RELAY r FORMAT -- c\nTEXT":      "DESCRIBE RELAY r FORMAT -- c\nTEXT",
		"SHOW CREATE RELAY r":                     "SHOW CREATE RELAY r",
		"LIST DOMAINS":                            "LIST DOMAINS",
		"STOP":                                    "STOP",
		"SHOW INGESTORS; SHOW INGESTORS":          "SHOW INGESTORS; SHOW INGESTORS",
		"SHOW INGESTORS now":                      "SHOW INGESTORS now",
		"":                                        "",
	} {
		if got := askingData(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A connector that does not run says why, as far as a report takes it; one that runs says nothing of what happened before.
func TestStateWords(t *testing.T) {
	for _, c := range []struct{ state, reason, want string }{
		{"running", "it ended (exit status 2)", "running"},
		{"idle", "", "idle"},
		{"failed", "", "failed"},
		{"failed", "exit status 2:\npanic:\tno", "failed: exit status 2: panic: no"},
		{"retrying", "it ended", "retrying: it ended"},
		{"waiting", "it was cut off", "waiting: it was cut off"},
	} {
		if got := stateWords(supervise.Status{State: c.state, Reason: c.reason}); got != c.want {
			t.Errorf("%s, %q: got %q, want %q", c.state, c.reason, got, c.want)
		}
	}
	long := stateWords(supervise.Status{State: "failed", Reason: strings.Repeat("ö€", 200)})
	if len(long) > maxStateWords || len(long) < maxStateWords-3 || !utf8.ValidString(long) || !strings.HasSuffix(long, "…") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}
