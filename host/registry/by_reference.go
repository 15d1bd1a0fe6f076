// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"maps"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// byReference is an immutable map from references. It is cut into parts by the last byte of the reference, which is random in a UUIDv7,
// so that a change copies one part of at most a few hundred entries and not all 65,536.
type byReference[V any] struct {
	parts [256]map[ident.Reference]V
	size  int
}

func (m *byReference[V]) get(r ident.Reference) (V, bool) {
	v, ok := m.parts[r[15]][r]
	return v, ok
}

// with gives a map that holds v under r.
func (m *byReference[V]) with(r ident.Reference, v V) *byReference[V] {
	next := *m
	part := maps.Clone(m.parts[r[15]])
	if part == nil {
		part = make(map[ident.Reference]V, 1)
	}
	if _, known := part[r]; !known {
		next.size++
	}
	part[r] = v
	next.parts[r[15]] = part
	return &next
}

// without gives a map that lacks every entry drop accepts; it is m itself when there is none.
func (m *byReference[V]) without(drop func(ident.Reference, V) bool) *byReference[V] {
	next := m
	for i, part := range m.parts {
		var kept map[ident.Reference]V
		for r, v := range part {
			if !drop(r, v) {
				continue
			}
			if kept == nil {
				kept = maps.Clone(part)
			}
			delete(kept, r)
		}
		if kept == nil {
			continue
		}
		if next == m {
			fresh := *m
			next = &fresh
		}
		next.size -= len(part) - len(kept)
		next.parts[i] = kept
	}
	return next
}

// all yields the values in no order; callers sort what they collect.
func (m *byReference[V]) all(yield func(V) bool) {
	for _, part := range m.parts {
		for _, v := range part {
			if !yield(v) {
				return
			}
		}
	}
}

func compareReferences(a, b ident.Reference) int { return bytes.Compare(a[:], b[:]) }

// load fills a map that nobody else sees yet.
func (m *byReference[V]) load(r ident.Reference, v V) {
	if m.parts[r[15]] == nil {
		m.parts[r[15]] = make(map[ident.Reference]V)
	}
	if _, known := m.parts[r[15]][r]; !known {
		m.size++
	}
	m.parts[r[15]][r] = v
}
