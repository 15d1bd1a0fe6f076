// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/nervix-go/nervix/wasm/protocol"
)

var rewriteGolden = flag.Bool("rewrite-golden", false, "write the golden messages and the fuzz corpora anew; read the difference before it is committed")

// TestGoldenMessages keeps bytes and reading of every kind of message: guests that were built once depend on both.
func TestGoldenMessages(t *testing.T) {
	// req: W-052
	// req: W-059 half: all four kinds; not yet as a guest receives and sends them
	// req: W-054 half: the key is carried as it is; its canonical text is made by the kernel
	all := samples(t)
	for _, name := range slices.Sorted(mapKeys(all)) {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", "messages", name+".txt")
			if *rewriteGolden {
				write(t, path, render(t, all[name]))
			}
			stored, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			message := unhex(t, string(stored))
			if got := render(t, message); got != string(stored) {
				t.Errorf("the message reads:\n%s\nstored:\n%s", got, stored)
			}
			if string(message[8:12]) != "NVWY" {
				t.Error("another identifier")
			}
			// What a guest writes is made with other builders; only what the host writes is fixed to the byte.
			if !strings.HasPrefix(name, "output") && !bytes.Equal(all[name], message) {
				t.Error("the encoder writes other bytes than the golden file holds")
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// render gives the reading of a message and its bytes.
func render(t *testing.T, message []byte) string {
	t.Helper()
	var kind string
	var reading any
	if o, err := protocol.DecodeOutput(message); err == nil {
		object := objectOf(o)
		object.GeneratedArrowIpcBatch = nil
		kind, reading = "OutputEnvelope", map[string]any{"generated": arrowText(t, o.Generated), "outputs": object.Outputs}
	} else if in, err := protocol.DecodeInput(message); err == nil {
		kind, reading = "InputEnvelope", map[string]any{"arrow": arrowText(t, in.Arrow), "acks": acksOf(&in.Acks)}
	} else if i, err := protocol.DecodeInit(message); err == nil {
		kind, reading = "BranchInit", initText(i)
	} else if s, err := protocol.DecodeSnapshot(message); err == nil {
		i, err := protocol.DecodeInit(s.Init)
		if err != nil {
			t.Fatal(err)
		}
		kind, reading = "GuestSnapshot", map[string]any{"state": string(s.State), "init": initText(i)}
	} else {
		t.Fatal(err)
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(reading); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s----\n%s", kind, text.String(), hex.Dump(message))
}

func initText(i *protocol.Init) map[string]any {
	shape := func(s protocol.Shape) map[string]any {
		var fields []string
		for _, f := range s.Fields {
			fields = append(fields, f.Name+" "+f.Type.String()+map[bool]string{true: " OPTIONAL"}[f.Optional])
		}
		return map[string]any{"name": s.Name, "fields": fields}
	}
	out := map[string]any{"domain_name": i.DomainName, "domain_type": i.DomainType, "branch_key": nil, "input_schema": shape(i.Input)}
	if i.BranchKey != nil {
		out["branch_key"] = string(i.BranchKey)
	}
	var outputs []any
	for _, o := range i.Outputs {
		outputs = append(outputs, shape(o))
	}
	out["output_schemas"] = outputs
	return out
}

func arrowText(t *testing.T, stream []byte) any {
	t.Helper()
	if len(stream) == 0 {
		return nil
	}
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil || !r.Next() {
		t.Fatal(err)
	}
	columns := []string{}
	for i, c := range r.RecordBatch().Columns() {
		f := r.Schema().Field(i)
		columns = append(columns, fmt.Sprintf("%q %v nullable=%v %v", f.Name, f.Type, f.Nullable, c))
	}
	return columns
}

// unhex reads the bytes back from the dump.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	_, dump, found := strings.Cut(text, "\n----\n")
	if !found {
		t.Fatal("no dump in the golden file")
	}
	var out []byte
	for line := range strings.Lines(dump) {
		line, _, _ = strings.Cut(line, "|")
		for i, field := range strings.Fields(line) {
			if i == 0 {
				continue
			}
			b, err := hex.DecodeString(field)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, b...)
		}
	}
	return out
}
