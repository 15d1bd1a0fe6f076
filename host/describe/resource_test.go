// SPDX-License-Identifier: Apache-2.0

package describe_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// TestResource compares with testdata/resource.txt.
func TestResource(t *testing.T) {
	at := func(ms int64) vtime.UTC { return vtime.UTCFromNS(1_796_000_000_000_000_000 + ms*1_000_000) }
	all := map[string]describe.Inspection{
		"new": describe.Resource("models", describe.ResourceObservation{}),
		"used": describe.Resource("models", describe.ResourceObservation{
			Latest: 1,
			Versions: []describe.ResourceVersion{
				{Number: 1, State: "completed", Owner: "admin", Admitted: at(0), Completed: at(250), Digest: [32]byte{0xab, 31: 0xcd}, ArchiveBytes: 4096, Bytes: 1500, Files: 2},
				{Number: 2, State: "failed", Owner: "admin", Admitted: at(1000), Problem: "the disk is full"},
				{Number: 3, State: "uploading", Owner: "eve", Admitted: at(2000)},
			},
			Replicas: []describe.ResourceReplica{
				{Version: 1, Node: "n1", Incarnation: 4, State: "installed"},
				{Version: 1, Node: "n2", Incarnation: 1, State: "damaged", Problem: "the manifest is damaged"},
			},
			Usages: []describe.ResourceUsage{{Kind: ident.KindWASM, Name: "score", Version: 1, File: "score.wasm"}},
		}),
	}
	datadriven.RunTest(t, "testdata/resource.txt", func(t *testing.T, td *datadriven.TestData) string {
		one, ok := all[td.Input]
		if !ok {
			t.Fatalf("no case %q", td.Input)
		}
		if td.Cmd == "text" {
			return one.Text()
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, one.JSON(), "", "  "); err != nil {
			t.Fatal(err)
		}
		return indented.String() + "\n"
	})
}
