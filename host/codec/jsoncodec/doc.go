// SPDX-License-Identifier: Apache-2.0

// Package jsoncodec is the WIRE JSON codec: a tokenizer that writes JSON objects straight into Arrow columns, and the way back
// (nspl 5.1, 5.2, Q51, Q52). There is no value tree, no reflection and no allocation per row.
//
// Bind compiles a wire schema and an internal schema into a Plan once. A Decoder runs in two passes. The first walks each payload,
// checks all of it and writes numbers, booleans and times at the next free row of their columns; of a string it keeps only where it
// stands. A row that turns out wrong is simply overwritten by the next one: that is the whole rollback. The second pass copies the
// strings, so every column is allocated once, at its final size.
//
// Where the time goes: field names are compared as two words with the name that followed last time; strings and digits are scanned
// eight bytes at a time. Reading ahead may look into the next payload of the same column; nothing found there is used.
package jsoncodec
