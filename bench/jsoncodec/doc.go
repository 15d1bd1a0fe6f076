// SPDX-License-Identifier: Apache-2.0

// Package jsoncodec measures the JSON codec alone: megabytes of payload a second on one core, decoding and encoding, beside
// encoding/json with a struct and beside a copy of the same bytes, all in one run:
//
//	go test -bench . -benchtime 300ms -count 5 ./bench/jsoncodec
package jsoncodec
