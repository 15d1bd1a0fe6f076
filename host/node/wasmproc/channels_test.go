// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"strings"
	"testing"
)

// What a sidecar says of rows is never a runtime error of the processor, whatever its text; and where the guest reports an error of the call, that is told
// with the text of the global channel alone, and nothing that the sidecars of the call say is carried out.
func TestSidecarsCarryNoGlobalError(t *testing.T) {
	// req: W-094
	const claim = "wasm guest reported a global error"
	global := false
	s := script{batch: func(g *guest, in *given) int32 {
		g.emit(envelope().to("alarms", "none", "none").failed(claim, in.tokens[0]).nacked(claim, in.tokens[1]).acked(in.tokens[2]).message())
		if global {
			g.why = "lost the thread"
		}
		return 0
	}}
	run(t, 1, watch+logs, s, func(b *bench) {
		b.Reader("alarms")
		b.wantEnd(b.say("x", "y", "z"), true, 0, 1)
		b.wantErrors()
		o := b.p.Observe()
		if o.Rows.Failed != 1 || o.Rows.Nacked != 1 || o.Rows.Acked != 1 {
			b.T.Fatalf("%+v", o.Rows)
		}
		global = true
		f := b.say("x", "y", "z")
		b.wantEnd(f, true, 0, 1, 2)
		b.wantErrors(marker + "batch processing failed (branch ...: wasm guest reported a global error: lost the thread")
		for row, reason := range f.Failed() {
			if !strings.Contains(reason, "lost the thread") {
				b.T.Fatalf("row %d: %s", row, reason)
			}
		}
		if o := b.p.Observe(); o.Rows.Failed != 1 || o.Rows.Acked != 1 {
			b.T.Fatalf("%+v", o.Rows)
		}
	})
}
