// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/registry"
)

// A domain stands still at three places with rows in each of them: a sink that does not answer, both relays, and an ingestor with more rows than these
// take. Nothing of it is stored, and nothing of it is in the state that is replicated.
func TestNeitherBatchesNorAcknowledgementsAreStored(t *testing.T) {
	// req: R-035
	const marker = "sekretmarker"
	held := func(rows int) (stored map[string]int) {
		bubble(t, func(n *node) {
			n.sink.Respond = func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }
			src := n.source("probes")
			src.Size = 1
			n.define(short)
			n.must(n.startDomain(false))
			replicated := registry.EncodeSnapshot(n.state)
			for i := range rows {
				src.Add(item(fmt.Sprint(marker, i%2), i+100))
				pass(time.Millisecond)
			}
			src.Add("?") // and one that failed
			pass(time.Second)
			x := n.e.execution(nodetest.Domain)
			if o := x.ingestors[0].Observe(); o.Unresolved < min(rows+1, 8) || len(src.Acks()) != 0 {
				t.Fatalf("%d rows are unresolved, acknowledged %v", o.Unresolved, src.Acks())
			}
			if rows > 20 && (x.relays["ins"].Observe().Depth != 2 || x.relays["ins"].Observe().Waiting == 0 || x.relays["outs"].Observe().Depth != 2) {
				t.Fatalf("%+v\n%+v", x.relays["ins"].Observe(), x.relays["outs"].Observe())
			}
			if !bytes.Equal(registry.EncodeSnapshot(n.state), replicated) {
				t.Error("rows changed the replicated state")
			}
			n.scan("", marker)
			n.close()
			n.scan("", marker)
			stored = n.stored()
			n.open()
		})
		return stored
	}
	// What is on disk is the same however many rows and acknowledgements are open: the header of the store, and no position yet.
	few, many := held(1), held(200)
	if !maps.Equal(few, many) || len(many) != 1 {
		t.Fatalf("one row: %v\n200 rows: %v", few, many)
	}
}

// The state that snapshots hold knows no type of a batch, of its acknowledgements or of a materializer, at any depth.
func TestReplicatedStateHasNoPlaceForRows(t *testing.T) {
	// req: R-035
	seen := map[reflect.Type]bool{}
	var walk func(kind reflect.Type, path string)
	walk = func(kind reflect.Type, path string) {
		if seen[kind] {
			return
		}
		seen[kind] = true
		for _, part := range []string{"/host/ack", "/host/kernel/batch", "/host/kernel/lineage", "/host/relay", "arrow-go"} {
			if strings.Contains(kind.PkgPath(), part) {
				t.Errorf("%s is a %s", path, kind)
			}
		}
		switch kind.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(kind.Elem(), path)
		case reflect.Map:
			walk(kind.Key(), path)
			walk(kind.Elem(), path)
		case reflect.Struct:
			for i := range kind.NumField() {
				walk(kind.Field(i).Type, path+"."+kind.Field(i).Name)
			}
		case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
			t.Errorf("%s is a %s, which may hide anything", path, kind)
		}
	}
	walk(reflect.TypeFor[registry.State](), "State")
	if len(seen) < 20 {
		t.Fatalf("only %d types were looked at", len(seen))
	}
	bubble(t, func(n *node) {
		n.source("probes")
		n.define(short)
		n.must(n.startDomain(false))
		var placed []string
		for key := range n.state.Domains[nodetest.Domain].Schedule {
			placed = append(placed, key.Kind.String()+" "+string(key.Name))
		}
		slices.Sort(placed)
		if want := []string{"EMITTER sink", "INGESTOR probes", "JUNCTION watch", "RELAY ins", "RELAY outs"}; !slices.Equal(placed, want) {
			t.Fatalf("the schedule places %q", placed)
		}
	})
}

// scan fails for every file of the node's disk below a folder that holds the marker.
func (n *node) scan(folder, marker string) {
	n.t.Helper()
	files := 0
	var below func(folder string)
	below = func(folder string) {
		names, err := n.fs.List(folder)
		n.must(err)
		for _, name := range names {
			path := n.fs.PathJoin(folder, name)
			info, err := n.fs.Stat(path)
			n.must(err)
			if info.IsDir() {
				below(path)
				continue
			}
			f, err := n.fs.Open(path)
			n.must(err)
			content, err := io.ReadAll(f)
			n.must(err)
			n.must(f.Close())
			files++
			if bytes.Contains(content, []byte(marker)) {
				n.t.Errorf("%s holds a part of a row", path)
			}
		}
	}
	below(folder)
	if files < 3 {
		n.t.Fatalf("only %d files are on the disk", files)
	}
}

// stored are the keys of the closed store, with the lengths of their values.
func (n *node) stored() map[string]int {
	n.t.Helper()
	db, err := pebble.Open("data/state", &pebble.Options{FS: n.fs, ReadOnly: true, Logger: quiet{}})
	n.must(err)
	defer db.Close()
	entries, err := db.NewIter(nil)
	n.must(err)
	defer entries.Close()
	out := map[string]int{}
	for ok := entries.First(); ok; ok = entries.Next() {
		out[fmt.Sprintf("%q", entries.Key())] = len(entries.Value())
	}
	n.must(entries.Error())
	return out
}

// quiet drops what Pebble logs.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
