// SPDX-License-Identifier: Apache-2.0

// Package arrowipc reads and writes Arrow IPC at the borders of Nervix: connector processes, node links, guests and client sessions.
//
// Everything from outside is hostile until it passed (architecture page, section 6). A message is checked completely before a column is
// built or a length trusted: the FlatBuffers metadata with bounds checks of our own (the Go runtime of FlatBuffers has none), then for
// each column the buffer ranges and their alignment, bitmap sizes and null counts, monotone offsets, child lengths and UTF-8. What
// Decode returns can be read by arrow-go without a panic. Dictionaries, compression, unions, maps, views and run ends are refused.
// A wrong input of n bytes costs at most 64 KiB + 16 n of memory. pain: F05, F06.
//
// Reading is zero-copy: the columns are slices of the message buffer and retain it. Writing is zero-copy too: Encoder returns the metadata
// and the list of buffers to gather.
//
// The package is pure: no goroutine, lock, clock or file. A Reader and an Encoder belong to one caller at a time.
package arrowipc
