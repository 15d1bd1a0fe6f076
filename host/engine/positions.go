// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

// positions is the durable position of one ingestor in the node's store.
type positions struct {
	store    *state.Store
	key      state.PositionKey
	sequence uint64
}

func newPositions(store *state.Store, ingestor ident.Ref, epoch state.Epoch) *positions {
	return &positions{store: store, key: state.PositionKey{Domain: ingestor.Domain, Ingestor: ingestor.Name, Epoch: epoch}}
}

// positionEpoch is the committed life of an ingestor's positions: it begins when the ingestor is created and anew with START AT NOW. It does not
// depend on what this process saw, so a position outlives no DROP, also when the process died before it could delete it.
func positionEpoch(d *registry.Domain, ingestor ident.Name) state.Epoch {
	epoch := d.PositionEpoch
	if def := d.Definitions[registry.Key{Kind: ident.KindIngestor, Name: ingestor}]; def != nil {
		epoch = max(epoch, uint64(def.Created))
	}
	return state.Epoch(epoch)
}

// Load implements ingestor.Positions.
func (p *positions) Load() (identity, position []byte, err error) {
	stored, found, err := p.store.GetPosition(p.key)
	if err != nil || !found {
		return nil, nil, err
	}
	p.sequence = stored.Sequence
	return stored.Identity, stored.Bytes, nil
}

// Save implements ingestor.Positions. The ingestor has one write under way at a time.
func (p *positions) Save(identity, position []byte, durable func(error)) {
	p.sequence++
	p.store.PutPosition(p.key, state.Position{Sequence: p.sequence, Identity: identity, Bytes: position}).Notify(durable)
}

// positionNumbers reads the numbers of a position: consecutive little-endian int64 values.
func positionNumbers(position []byte, fields []string) []uint64 {
	if len(position) != 8*len(fields) {
		return nil
	}
	out := make([]uint64, len(fields))
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(position[8*i:])
	}
	return out
}
