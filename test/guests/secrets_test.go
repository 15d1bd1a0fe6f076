// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestNoSecretIsTold looks for key values, payloads and saved bytes in all that a node says, while every kind of guest fails on them.
func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	// req: W-219
	// req: W-247
	// req: W-248
	const key, payload, state = "sekretkey", "sekretpayload", 0x7375_6f68_6b65_7274 // a counter that is a text
	w := start(t)
	a := w.arena(t, "secrets", arenaOptions{sensitive: true, window: roundsWindow, files: []file{{"puppet.wasm", wat(t, puppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", detached: true}.text())
	// Secrets stand in the key, and behind the end of the script, where the guest does not look.
	a.feedRounds(every(), func(h hostile) string { return key + " " + h.bed() }, ";"+payload)
	// A guest that puts its payload and its key where names and texts of messages are.
	evil := []byte(payload + key)
	for i, x := range []answer{
		envelope{nil, outputs(to(payload, plainColumns, sidecar(row(rowToken))))}.pack(), envelope{evil, outputs(to("out", plainColumns, sidecar(row(rowToken))))}.pack(),
		prefixed(append([]byte("\x10\x00\x00\x00NVWY"), evil...)), prefixed(evil), {evil},
	} {
		a.feed(item{fmt.Sprintf("%sX%d", key, i), emits(x)})
	}
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "every row was given to a guest", func() bool { return a.describe("puppet").Rows.Given >= a.rows })
	told := map[string]string{
		"DESCRIBE FORMAT JSON": a.Do("DESCRIBE WASM PROCESSOR puppet FORMAT JSON").Data, "DESCRIBE": a.Do("DESCRIBE WASM PROCESSOR puppet").Text,
		"DESCRIBE INGESTOR": a.Do("DESCRIBE INGESTOR feed").Text, "DESCRIBE RELAY": a.Do("DESCRIBE RELAY items").Text, "metrics": w.node.Get("/metrics"),
	}
	a.Do("STOP")
	told["log"] = w.node.Log()
	w.node.Stop()
	if n := len(a.told("puppet")); n < 100 {
		t.Errorf("only %d failures", n)
	}
	for where, text := range told {
		low := strings.ToLower(text)
		for _, secret := range []string{"sekret", hex.EncodeToString([]byte("sekret")), fmt.Sprint(uint64(state))} {
			if at := strings.Index(low, secret); at >= 0 {
				t.Errorf("%s tells %q: %s", where, secret, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}

// TestReasonsAreOneLine has guests whose reasons hold what a terminal or a log would obey.
func TestReasonsAreOneLine(t *testing.T) {
	t.Parallel()
	// req: W-246
	w := start(t)
	a := w.arena(t, "reasons", arenaOptions{files: []file{{"puppet.wasm", wat(t, puppet())}}})
	a.define(processor{name: "puppet", file: "puppet.wasm", detached: true}.text())
	for i, text := range []string{"one\ntwo", "\x1b[31mred\x1b[0m", "back\b\b\b\b", "\r\nlevel=ERROR msg=forged", "nul\x00", "\u202egnirts", "\u2028line", "\x7f"} {
		a.feed(item{fmt.Sprint(i), "p(" + says(text) + answers(-3) + ")"})
	}
	a.Do("START")
	a.Finish("feed")
	nodes.Eventually(t, "eight failures are described", func() bool { return len(a.describe("puppet").LastErrors) == 8 })
	for _, e := range a.describe("puppet").LastErrors {
		for _, r := range e.Message {
			if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e' || r == '\u2028' {
				t.Errorf("a message holds %q: %q", r, e.Message)
			}
		}
	}
	text := a.Do("DESCRIBE WASM PROCESSOR puppet").Text
	if strings.ContainsAny(text, "\x1b\x00\b\r") || strings.Contains(text, "\nlevel=ERROR") || strings.Contains(text, "\ntwo") {
		t.Errorf("the description holds control characters: %q", text)
	}
	w.node.Stop()
}
