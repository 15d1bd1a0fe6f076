// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

// stoppedIngestor describes an ingestor of a domain that does not run: with the position that is kept for it, which a plain START goes on from.
// ok is false when there is none, so that the engine has the word.
func (n *node) stoppedIngestor(d *registry.Domain, stmt *ast.Describe) (shown control.Inspection, ok bool) {
	if d.Status == registry.Running || stmt.Kind != ident.KindIngestor {
		return shown, false
	}
	graph, err := n.engine.Graph(d)
	if err != nil {
		return shown, false
	}
	plan := graph.Ingestor(stmt.Name.Name)
	if plan == nil {
		return shown, false
	}
	seen := describe.IngestorObservation{Status: describe.StatusStopped, Quiesce: describe.QuiesceNone}
	if seen.Position, err = keptPosition(n.store, d, plan, n.positionFields(plan.Source.Kind)); err != nil {
		seen.TransientError = err.Error()
	}
	at := describe.Placement{}
	if owner, placed := d.Schedule[registry.Key{Kind: plan.Ref.Kind, Name: plan.Ref.Name}]; placed {
		at.Owner = owner.String()
	}
	made := describe.Ingestor(plan, at, seen)
	shown.Text = made.Text()
	if stmt.Format == ast.FormatJSON {
		shown.JSON = made.JSON()
	}
	return shown, true
}

// keptPosition reads what the store has of an ingestor's source: nothing before its first row settled, and after a START AT NOW began anew. The
// numbers of a position are little-endian and named by the connector; `start`, where a delivery begins, is the connector's own business.
func keptPosition(store *state.Store, d *registry.Domain, plan *model.Ingestor, fields []string) ([]describe.PositionField, error) {
	epoch := d.PositionEpoch
	if def := d.Definitions[registry.Key{Kind: ident.KindIngestor, Name: plan.Ref.Name}]; def != nil {
		epoch = max(epoch, uint64(def.Created))
	}
	kept, found, err := store.GetPosition(state.PositionKey{Domain: d.Name, Ingestor: plan.Ref.Name, Epoch: state.Epoch(epoch)})
	if err != nil || !found || len(kept.Bytes) != 8*len(fields) {
		return nil, err
	}
	var out []describe.PositionField
	for i, name := range fields {
		if name != "start" {
			out = append(out, describe.PositionField{Name: name, Value: binary.LittleEndian.Uint64(kept.Bytes[8*i:])})
		}
	}
	return out, nil
}
