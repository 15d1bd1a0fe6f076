// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// runs: `nervixd run` of a paced domain ends when its finite source has, and counts what the clock refused.
func runs(t *testing.T, w *world) {
	folder := t.TempDir()
	nodes.WriteFile(t, folder+"/in.ndjson", []byte(strings.Join([]string{row(1, "2012-01-01T00:00:00Z"), row(2, "2013-01-01T00:00:00Z"), row(3, ""), ""}, "\n")))
	nodes.WriteFile(t, folder+"/run.nspl", []byte(`CREATE PACED DOMAIN once WITH PERIOD 1h SKEW 0s;
USE once;
CREATE SCHEMA item (n I64, at DATETIME OPTIONAL);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (n INTEGER, at STRING OPTIONAL);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item ENCODE at AS RFC3339;
CREATE RELAY items SCHEMA item UNBRANCHED CAPACITY 8;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '`+folder+`' };
CREATE INGESTOR feed FROM FILE files PATH 'in.ndjson' MODE ACK PARALLEL MAX 10 ACK TIMEOUT 60s RETRY POLICY BACKOFF 20ms MAX 100ms ON QUIESCE SUSPEND
  DECODE USING item_codec TIMESTAMP AT at TO items INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE ON GENERAL ERROR LOG;
CREATE EMITTER items_file FROM items TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 20ms MAX 100ms
  ENCODE USING item_codec INHERIT ALL FLUSH EACH 1h MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;
START AT '2012-01-01T00:00:00Z' TIME RATE 5e3;
`))
	got := nodes.Run(t, folder, "run", "--file-root", folder, "--format", "jsonl", "run.nspl")
	if got.Code != 0 {
		t.Fatalf("exit %d: %s%s", got.Code, got.Stdout, got.Stderr)
	}
	// At that rate the origin is 0.72 s from the next centre, and three minutes from falling out of the window.
	var source struct {
		Status         string
		Read, Rejected int
		Reasons        map[string]int
	}
	first, _, _ := strings.Cut(got.Stdout, "\n")
	if err := json.Unmarshal([]byte(first), &source); err != nil {
		t.Fatal(err)
	}
	if source.Status != "finished" || source.Read != 3 || source.Rejected != 2 {
		t.Errorf("%s", got.Stdout)
	}
	if diff := cmp.Diff(map[string]int{"early": 1, "timestamp": 1}, source.Reasons); diff != "" {
		t.Error(diff)
	}
	if text := string(nodes.ReadFile(t, folder+"/out.ndjson")); text != `{"n":1,"at":"2012-01-01T00:00:00+00:00"}`+"\n" {
		t.Error(text)
	}
}
