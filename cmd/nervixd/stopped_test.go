// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

// What is shown of a stopped ingestor is the position that its next START goes on from: that of its present epoch.
func TestKeptPosition(t *testing.T) {
	store, err := state.Open(t.TempDir(), state.Options{Node: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	fields := []string{"start", "offset", "line"}
	plan := &model.Ingestor{Ref: ident.Ref{Domain: "d", Kind: ident.KindIngestor, Name: "i"}}
	key := registry.Key{Kind: ident.KindIngestor, Name: "i"}
	d := &registry.Domain{Name: "d", PositionEpoch: 3, Definitions: map[registry.Key]*registry.Definition{key: {Created: 5}}}
	check := func(what string, want ...describe.PositionField) {
		t.Helper()
		got, err := keptPosition(store, d, plan, fields)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("%s: %v, %v; want %v", what, got, err, want)
		}
	}
	check("nothing kept")
	var position []byte
	for _, n := range []uint64{16, 48, 3} {
		position = binary.LittleEndian.AppendUint64(position, n)
	}
	store.PutPosition(state.PositionKey{Domain: "d", Ingestor: "i", Epoch: 5}, state.Position{Sequence: 1, Identity: []byte("f"), Bytes: position})
	check("kept", describe.PositionField{Name: "offset", Value: 48}, describe.PositionField{Name: "line", Value: 3})
	d.PositionEpoch = 9
	check("START AT NOW came after it")
}
