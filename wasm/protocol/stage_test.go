// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func TestStages(t *testing.T) {
	// req: W-253 half: the names; that each failure shows one is the node's part
	want := "module compilation, instantiation, initialization, snapshot envelope decoding, application state restoration, state restore, batch processing, timeout callback, " +
		"quiesce flush, output emission, state snapshot, local state persistence, state replication, state authority check, rejected-state recovery"
	var got []string
	for _, s := range protocol.Stages() {
		got = append(got, string(s))
	}
	if d := cmp.Diff(strings.Split(want, ", "), got); d != "" {
		t.Fatal(d)
	}
}

func TestFailureHasOneShape(t *testing.T) {
	// req: W-246, W-247, W-249, W-250, W-251 half: the shape and its parts; that every failure takes it is the node's part
	// req: W-309 half: the text; not yet from a guest
	_, rejected := protocol.JudgeRestore(protocol.CodeStateRejected)
	failure := protocol.Failure{Processor: "sessionizer", Stage: protocol.StageStateRestoration, Resource: "sessionizer", Version: 3, File: "sessionizer.wasm", Revision: 12,
		Branch: "40238306d5ebf339fe640ae723e4705c5bb1743e39d0ec207ed8de19fead54b1", Cause: protocol.Because(rejected, "counters header is truncated")}
	for _, c := range []struct {
		change func(*protocol.Failure)
		want   string
	}{
		{func(*protocol.Failure) {}, "wasm processor 'sessionizer' application state restoration failed (branch 40238306d5ebf339fe640ae723e4705c5bb1743e39d0ec207ed8de19fead54b1, resource 'sessionizer' version 3 " +
			"file 'sessionizer.wasm', export 'nervix_load_state', saved state revision 12): wasm guest rejected the application state in its saved snapshot: counters header is truncated"},
		{func(f *protocol.Failure) { f.Branch, f.Revision, f.Stage = "", 0, protocol.StageBatch }, "wasm processor 'sessionizer' batch processing failed (unbranched, resource 'sessionizer' version 3 file 'sessionizer.wasm', " +
			"export 'nervix_process_batch'): wasm guest rejected the application state in its saved snapshot: counters header is truncated"},
		{func(f *protocol.Failure) {
			f.Revision, f.Stage = 0, protocol.StageCompilation
			f.Cause = fmt.Errorf("reading: %w", fault.New(fault.WasmMessage, "op", ident.Ref{}, "no module", errors.New("magic is missing")))
		},
			"wasm processor 'sessionizer' module compilation failed (resource 'sessionizer' version 3 file 'sessionizer.wasm'): reading: no module: magic is missing"},
		{func(f *protocol.Failure) { f.Branch, f.Stage = "", protocol.StagePersistence }, "wasm processor 'sessionizer' local state persistence failed (unbranched, resource 'sessionizer' version 3 file 'sessionizer.wasm', " +
			"saved state revision 12): wasm guest rejected the application state in its saved snapshot: counters header is truncated"},
	} {
		f := failure
		c.change(&f)
		if f.Error() != c.want {
			t.Errorf("got  %s\nwant %s", f.Error(), c.want)
		}
		if fault.CodeOf(&f) == "" {
			t.Error("the failure lost its code")
		}
	}
}

// TestCodesOfAGuest reads every code from -10 to 1 at each kind of call.
func TestCodesOfAGuest(t *testing.T) {
	// req: W-033 half: the reading; not yet through an engine
	// req: W-129 half: the stage; that the policy follows it is the node's part
	for code := int32(-10); code <= 1; code++ {
		stage, err := protocol.JudgeRestore(code)
		want := protocol.StageStateRestore
		switch code {
		case 0:
			want = ""
		case -7:
			want = protocol.StageSnapshotDecoding
		case -8:
			want = protocol.StageStateRestoration
		}
		if stage != want || (err == nil) != (code == 0) {
			t.Errorf("load_state %d: %q, %v", code, stage, err)
		}
		if err := protocol.JudgeStatus(protocol.ExportFlush, code); (err == nil) != (code == 0) {
			t.Errorf("flush %d: %v", code, err)
		}
		n, err := protocol.JudgeLength(protocol.ExportDumpState, code)
		if (err == nil) != (code >= 0) || err == nil && n != int(code) {
			t.Errorf("dump_state %d: %d, %v", code, n, err)
		}
	}
	if protocol.ResetRefused == protocol.CodeSnapshotRejected || protocol.ResetRefused == protocol.CodeStateRejected {
		t.Error("an answer of the host is a verdict of a guest")
	}
	if _, err := protocol.JudgeLength(protocol.ExportReadEmit, -3); protocol.Plain(err) != "wasm guest rejected the call of nervix_read_emit with code -3" {
		t.Error(protocol.Plain(err))
	}
}

func TestReason(t *testing.T) {
	// req: W-097 half: reading the text; the calls are the engine's part
	for text, want := range map[string]string{"": "", "out of range": "out of range", "mot\u00e9": "mot\u00e9",
		"a\r\nforged \x1b[31mline\x00\x7f\u0085\u2028": "a\ufffd\ufffdforged \ufffd[31mline\ufffd\ufffd\ufffd\ufffd", "\u202etxt\u2066": "\ufffdtxt\ufffd"} {
		if got, err := protocol.Reason([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := protocol.Reason([]byte("a\xff")); !fault.Has(err, fault.WasmReason) {
		t.Error(err)
	}
	long := strings.Repeat("\u20ac", protocol.MaxReason)
	got, err := protocol.Reason([]byte(long))
	if want := strings.Repeat("\u20ac", protocol.MaxReason/3) + " ... (4095 of 12288 bytes)"; err != nil || got != want {
		t.Errorf("cut to %d bytes, %v", len(got), err)
	}
	if err := protocol.Because(nil, "x"); err != nil {
		t.Error("a reason made an error of success")
	}
}

func TestABI(t *testing.T) {
	// req: W-034, W-035, W-095 half: the names and signatures; the engine links and refuses
	text := func(fs []protocol.Function) string {
		var b strings.Builder
		for _, f := range fs {
			fmt.Fprintf(&b, "%s%v->%v ", f.Name, f.Params, f.Results)
		}
		return strings.NewReplacer("[0]", "i", "[1]", "l", "[0 0]", "ii", "[]", "").Replace(b.String())
	}
	if got, want := text(protocol.Imports()), "nervix_domain_time_nanos->l nervix_timeout_after_nanosl->l nervix_request_state_reset->i "; got != want {
		t.Error(got)
	}
	want := "nervix_buffer_ptr->i nervix_buffer_len->i nervix_buffer_capacity->i nervix_alloci->i nervix_initii->i nervix_current_domain_time_nanos->l nervix_process_batchii->i " +
		"nervix_on_timeoutl->i nervix_flush->i nervix_read_emit->i nervix_dump_state->i nervix_load_stateii->i nervix_reset_state->i "
	if got := text(protocol.Exports()); got != want {
		t.Error(got)
	}
	if got, want := text(protocol.GlobalErrorExports()), "nervix_global_error_ptr->i nervix_global_error_len->i nervix_clear_global_error->i "; got != want {
		t.Error(got)
	}
}

// TestBytesMessage is what restore and init use.
func TestBytesMessage(t *testing.T) {
	m := protocol.Bytes("saved")
	dst := []byte("xxxxxxxx")
	if err := m.WriteTo(dst); err != nil || string(dst) != "savedxxx" || m.Size() != 5 {
		t.Fatal(err, string(dst))
	}
	if err := m.WriteTo(dst[:4]); !fault.Has(err, fault.WasmShortBuffer) || string(dst) != "savedxxx" {
		t.Fatal(err)
	}
}
