// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/test/nodes"
)

// blank is a row of which a guest may leave a part uninitialised.
type blank struct {
	ID   int
	Bed  string
	N    *int
	Note *string
}

// TestUninitializedColumnsAreNulls has a guest that leaves columns uninitialised, and looks at them from behind: in a junction's WHERE and SET, in the
// input of another guest, and in the files of emitters.
func TestUninitializedColumnsAreNulls(t *testing.T) {
	t.Parallel()
	// req: W-083 half: one node, so no interconnect, and relays do not persist
	w := start(t)
	pass := nodes.ReadFile(t, "../../wasm/guest/testdata/c_passthrough.wasm")
	a := w.arena(t, "blanks", arenaOptions{files: []file{{"puppet.wasm", wat(t, puppet())}, {"pass.wasm", pass}}})
	const toFile = ` MODE ACK RETRY POLICY BACKOFF 50ms MAX 200ms ENCODE USING blank_codec INHERIT ALL FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG;`
	a.define(`CREATE SCHEMA blank (id I64, bed STRING, n I64 OPTIONAL, note STRING OPTIONAL);
CREATE WIRE JSON SCHEMA blank_wire MODE STRICT (id INTEGER, bed STRING, n INTEGER OPTIONAL, note STRING OPTIONAL);
CREATE CODEC blank_codec FROM WIRE JSON SCHEMA blank_wire TO SCHEMA blank;
CREATE RELAY blanks SCHEMA blank BRANCHED BY by_bed CAPACITY 64;
CREATE RELAY passed SCHEMA blank BRANCHED BY by_bed CAPACITY 64;
CREATE WASM PROCESSOR puppet FROM items USING RESOURCE modules VERSION 1 FILE 'puppet.wasm' MAX FUEL 20000000 MAX MEMORY 8MiB BRANCHED BY by_bed
  TO blanks ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG;
CREATE WASM PROCESSOR pass FROM blanks USING RESOURCE modules VERSION 1 FILE 'pass.wasm' MAX FUEL 20000000 MAX MEMORY 8MiB BRANCHED BY by_bed
  TO passed ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG;
CREATE JUNCTION fill FROM blanks WHERE is_null(n) AND is_null(note) BRANCHED BY by_bed
  TO calm INHERIT id, bed SET n = coalesce(input.n, 70) + 7 FLUSH IMMEDIATE ON MESSAGE ERROR LOG;
CREATE EMITTER blanks_file FROM blanks TO FILE files PATH 'blanks.ndjson'` + toFile + `
CREATE EMITTER passed_file FROM passed TO FILE files PATH 'passed.ndjson'` + toFile)
	none := envelope{nil, outputs(to("blanks", columns{in(0), in(1), nothing(), nothing()}, sidecar(row(rowToken))))}.pack()
	optional := stream([]arrow.Field{{Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, func(b *array.RecordBuilder) {
		b.Field(0).(*array.Int64Builder).Append(42)
	})
	some := envelope{optional, outputs(to("blanks", columns{in(0), in(1), made(0), nothing()}, sidecar(row(rowToken))))}.pack()
	a.feed(item{"a", emits(none)}, item{"a", emits(some)}, item{"b", emits(none)})
	a.Do("START")
	a.settled()
	n := 42
	want := []blank{{1, "a", nil, nil}, {2, "a", &n, nil}, {3, "b", nil, nil}}
	for _, relay := range []string{"blanks", "passed"} {
		if d := cmp.Diff(want, lines[blank](t, a.at+"/"+relay+".ndjson")); d != "" {
			t.Errorf("%s:\n%s", relay, d)
		}
		// JSON leaves a null of an optional field out.
		if text := nodes.ReadFile(t, a.at+"/"+relay+".ndjson"); bytes.Contains(text, []byte(`"note"`)) || bytes.Count(text, []byte(`"n":`)) != 1 {
			t.Errorf("%s: %s", relay, text)
		}
	}
	if d := cmp.Diff([]seen{{1, 77, "a"}, {3, 77, "b"}}, a.came("calm")); d != "" {
		t.Errorf("the junction saw something else:\n%s", d)
	}
}
