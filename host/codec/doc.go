// SPDX-License-Identifier: Apache-2.0

// Package codec declares what nodes ask of a wire format: payload bytes into columns of one schema, and back. Formats are packages
// below it; a node holds the two interfaces and never names a format, so CBOR or AVRO are added packages (nspl 5.2).
//
// A decoder or encoder is pure and keeps scratch memory: one belongs to one lane. The plan it was made from is immutable and shared.
package codec
