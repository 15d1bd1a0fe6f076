// SPDX-License-Identifier: Apache-2.0

package client

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	// req: X-004 half: the scheme here is nervix
	for text, want := range map[string]Address{
		"nervix://127.0.0.1:47391": {"127.0.0.1", 47391},
		"nervix://node-a:1":        {"node-a", 1},
		"nervix://[::1]:65535":     {"::1", 65535},
	} {
		got, err := ParseAddress(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "127.0.0.1:47391", "http://h:1", "nervix://h", "nervix://h:", "nervix://:1", "nervix://h:0", "nervix://h:65536",
		"nervix://h:x", "nervix://h:1/", "nervix://h:1/p", "nervix://h:1?", "nervix://h:1?q=1", "nervix://h:1#f", "nervix:h:1",
		"nervix://admin:hunter2@h:1", "nervix://h:1\x7f", "NERVIX//h:1"} {
		_, err := ParseAddress(bad)
		if !errors.Is(err, ErrAddress) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
