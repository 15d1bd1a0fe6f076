// SPDX-License-Identifier: Apache-2.0

// Package ingestor is the runtime node that takes payloads from a source, decodes, timestamps, filters and routes them into relays, and
// acknowledges positions once everything a delivery unfolded into has settled (nspl 14, 19).
//
// An ingestor instance lives on one lane, which owns all of its state. The source session, the durable store and the holders of its blocks
// report from other goroutines by posting to that lane. While a publication of one of its routes waits for a place in a relay the ingestor takes up
// no more payloads; the source is held back by its credit.
//
// Payloads are worked in groups of at most 1,024 (nspl 10.5). All rows of a group see one execution snapshot.
package ingestor
