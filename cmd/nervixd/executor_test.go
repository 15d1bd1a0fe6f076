// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// Who asks for data gets that of a SHOW or DESCRIBE; a format that is written wins, and nothing else is touched.
func TestAskingData(t *testing.T) {
	for text, want := range map[string]string{
		"SHOW INGESTORS":                          "SHOW INGESTORS FORMAT JSON",
		" SHOW CLUSTER STATUS ; ":                 " SHOW CLUSTER STATUS FORMAT JSON ; ",
		"DESCRIBE RELAY r WHERE (k = 'ö') -- why": "DESCRIBE RELAY r WHERE (k = 'ö') FORMAT JSON -- why",
		"DESCRIBE RELAY r FORMAT JSON":            "DESCRIBE RELAY r FORMAT JSON",
		"DESCRIBE RELAY r format text":            "DESCRIBE RELAY r format text",
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
