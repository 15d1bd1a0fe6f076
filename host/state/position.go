// SPDX-License-Identifier: Apache-2.0

package state

import (
	"encoding/binary"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Epoch counts how often an ingestor forgot its position (START AT NOW); the control plane commits it. A greater epoch makes the
// positions of every smaller one void.
type Epoch uint64

// Instance tells the sources of one ingestor apart where it has several; 0 where it has one.
type Instance uint32

// PositionKey names one source position.
type PositionKey struct {
	Domain   ident.Domain
	Ingestor ident.Name
	Epoch    Epoch
	Instance Instance
}

// The longest parts of a position, as the connector port bounds them.
const (
	MaxPositionBytes = 64
	MaxIdentityBytes = 1 << 10
)

// Position is how far a source has been read with everything before it settled (nspl 14.6).
type Position struct {
	// Sequence orders the positions of one key: the writer counts it up with every position it stores, over restarts too. The store
	// cannot order Bytes, which only the connector understands, and a source that begins anew has a smaller offset.
	Sequence uint64
	// Identity is what was read, Bytes how far; both belong to the connector.
	Identity []byte
	Bytes    []byte
	// Settled, Rejected and Skipped count deliveries since the epoch began, for DESCRIBE and summaries.
	Settled, Rejected, Skipped uint64
}

// ingestorID is an owner of positions.
type ingestorID struct {
	domain   ident.Domain
	ingestor ident.Name
}

// progress is what the store knows of one ingestor: its newest epoch and the positions of that.
type progress struct {
	epoch Epoch
	at    map[Instance]Position
}

// PutPosition accepts a position. Within an epoch positions only advance, and an epoch that a greater one has made void takes no
// more: such a write is refused with state.stale, and its ticket says so. The first position of a new epoch deletes the older ones in
// the same atomic write. The position's slices are copied. It does not wait for the disk.
func (s *Store) PutPosition(k PositionKey, p Position) Ticket {
	if err := checkPosition(k, p); err != nil {
		return Ticket{refused: err}
	}
	key, value := k.bytes(), encodePosition(p)
	id := ingestorID{k.Domain, k.Ingestor}
	return s.accept(func(r *round) error {
		known := s.mu.positions[id]
		switch {
		case known == nil || k.Epoch > known.epoch:
			if known != nil {
				r.deleteRange(ingestorPrefix(k.Domain, k.Ingestor), epochPrefix(k.Domain, k.Ingestor, k.Epoch))
			}
			known = &progress{epoch: k.Epoch, at: make(map[Instance]Position)}
			s.mu.positions[id] = known
		case k.Epoch < known.epoch:
			return stale(k, "epoch "+strconv.FormatUint(uint64(k.Epoch), 10)+" is void since epoch "+strconv.FormatUint(uint64(known.epoch), 10))
		default:
			if old, ok := known.at[k.Instance]; ok && p.Sequence <= old.Sequence {
				return stale(k, "sequence "+strconv.FormatUint(p.Sequence, 10)+" is not beyond "+strconv.FormatUint(old.Sequence, 10))
			}
		}
		known.at[k.Instance] = p.clone()
		r.put(key, value)
		return nil
	})
}

// GetPosition gives the newest accepted position of a key; found is false if there is none, or only one of another epoch. After a
// restart that is the newest durable one; before, it may still be on its way to the disk.
func (s *Store) GetPosition(k PositionKey) (p Position, found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refusalLocked(); err != nil {
		return p, false, err
	}
	known := s.mu.positions[ingestorID{k.Domain, k.Ingestor}]
	if known == nil || known.epoch != k.Epoch {
		return p, false, nil
	}
	p, found = known.at[k.Instance]
	return p.clone(), found, nil
}

// DeletePositions forgets every position of an ingestor (DROP INGESTOR).
func (s *Store) DeletePositions(domain ident.Domain, ingestor ident.Name) Ticket {
	if err := checkName(domain); err != nil {
		return Ticket{refused: err}
	}
	if err := checkName(ingestor); err != nil {
		return Ticket{refused: err}
	}
	prefix := ingestorPrefix(domain, ingestor)
	return s.accept(func(r *round) error {
		delete(s.mu.positions, ingestorID{domain, ingestor})
		r.deleteRange(prefix, after(prefix))
		return nil
	})
}

// DeleteDomain forgets everything of a domain in every namespace (DROP DOMAIN).
func (s *Store) DeleteDomain(domain ident.Domain) Ticket {
	if err := checkName(domain); err != nil {
		return Ticket{refused: err}
	}
	prefix := domainPrefix(domain)
	return s.accept(func(r *round) error {
		for id := range s.mu.positions {
			if id.domain == domain {
				delete(s.mu.positions, id)
			}
		}
		r.deleteRange(prefix, after(prefix))
		return nil
	})
}

func stale(k PositionKey, why string) error {
	return fault.New(fault.StateStale, "state.PutPosition", ident.Ref{Domain: k.Domain, Kind: ident.KindIngestor, Name: k.Ingestor}, why, nil)
}

func misuse(detail string) error {
	return fault.New(fault.StateMisuse, "state", ident.Ref{}, detail, nil)
}

func checkName(n ident.Name) error {
	if len(n) == 0 || len(n) > ident.MaxNameBytes {
		return misuse("a name of " + strconv.Itoa(len(n)) + " bytes")
	}
	return nil
}

func checkPosition(k PositionKey, p Position) error {
	if err := checkName(k.Domain); err != nil {
		return err
	}
	if err := checkName(k.Ingestor); err != nil {
		return err
	}
	if len(p.Bytes) > MaxPositionBytes || len(p.Identity) > MaxIdentityBytes {
		return misuse("a position of " + strconv.Itoa(len(p.Bytes)) + " bytes with an identity of " + strconv.Itoa(len(p.Identity)))
	}
	return nil
}

func (p Position) clone() Position {
	p.Identity = append([]byte(nil), p.Identity...)
	p.Bytes = append([]byte(nil), p.Bytes...)
	return p
}

const positionValueVersion = 1

// encodePosition writes the value of docs/formats/state.md.
func encodePosition(p Position) []byte {
	b := make([]byte, 0, 36+len(p.Identity)+len(p.Bytes))
	b = append(b, positionValueVersion)
	for _, n := range []uint64{p.Sequence, p.Settled, p.Rejected, p.Skipped} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(p.Identity)))
	b = append(b, byte(len(p.Bytes)))
	b = append(b, p.Identity...)
	return append(b, p.Bytes...)
}

// decodePosition is the inverse; newer says that a later version wrote it.
func decodePosition(b []byte) (p Position, newer, ok bool) {
	if len(b) > 0 && b[0] > positionValueVersion {
		return p, true, false
	}
	if len(b) < 36 || b[0] != positionValueVersion {
		return p, false, false
	}
	for i, to := range []*uint64{&p.Sequence, &p.Settled, &p.Rejected, &p.Skipped} {
		*to = binary.LittleEndian.Uint64(b[1+8*i:])
	}
	identity, bytes := int(binary.LittleEndian.Uint16(b[33:])), int(b[35])
	if identity > MaxIdentityBytes || bytes > MaxPositionBytes || len(b) != 36+identity+bytes {
		return Position{}, false, false
	}
	p.Identity, p.Bytes = b[36:36+identity], b[36+identity:]
	return p.clone(), false, true
}
