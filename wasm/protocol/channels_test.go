// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/wire/verify"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// members lists the members of a table, and of every table below it, as `Table.member`.
func members(into map[string]bool, at int32) {
	table := nervix_wasm.Schema.Tables[at]
	for _, f := range table.Fields {
		name := table.Name + "." + f.Name
		if into[name] {
			continue
		}
		into[name] = true
		if f.Kind == verify.KindTable || f.Kind == verify.KindVector && f.Elem == verify.KindTable {
			members(into, int32(f.Ref))
		}
	}
}

// TestAnOutputHasNoPlaceForGlobalErrors lists all that an output message can say: columns, rows, and what became of single inputs. An error of the whole
// call has the channel of its own, which is functions of the guest and no message.
func TestAnOutputHasNoPlaceForGlobalErrors(t *testing.T) {
	// req: W-094 half: that the two channels end in two places is in host/node/wasmproc
	root := -1
	for i, table := range nervix_wasm.Schema.Tables {
		if table.Name == "OutputEnvelope" {
			root = i
		}
	}
	got := map[string]bool{}
	members(got, int32(root))
	want := []string{
		"AckSidecar.acked", "AckSidecar.message_errors", "AckSidecar.nacked", "AckSidecar.rows", "AckTokenSet.tokens",
		"MessageErrorSet.reason", "MessageErrorSet.tokens", "NackSet.reason", "NackSet.tokens",
		"OutputColumnRef.column_index", "OutputColumnRef.source", "OutputEnvelope.generated_arrow_ipc_batch", "OutputEnvelope.outputs",
		"OutputRow.source_token", "OutputRow.tokens", "RoutedOutput.acks", "RoutedOutput.columns", "RoutedOutput.output_relay",
	}
	if d := cmp.Diff(want, slices.Sorted(maps.Keys(got))); d != "" {
		t.Error(d)
	}
	var names []string
	for _, f := range protocol.GlobalErrorExports() {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "nervix_global_error_ptr nervix_global_error_len nervix_clear_global_error" {
		t.Error(got)
	}
}

// TestNoImportAcknowledges: a guest can ask for the time, a timeout and a new lifetime of its state, and for nothing else. What became of a row it writes
// into an output, and the host judges it.
func TestNoImportAcknowledges(t *testing.T) {
	// req: W-101 half: that the engine links no other import is in wasm/engine/shim, that the host settles in host/node/wasmproc
	var names []string
	for _, f := range protocol.Imports() {
		names = append(names, f.Name)
	}
	if d := cmp.Diff([]string{"nervix_domain_time_nanos", "nervix_timeout_after_nanos", "nervix_request_state_reset"}, names); d != "" {
		t.Error(d)
	}
}
