// SPDX-License-Identifier: Apache-2.0

// Package describe renders inspections: DESCRIBE, SHOW and LIST as text lines and as JSON (nspl 11.1, 14.6, 23).
//
// What is known from the definition comes from the plans of host/model; what only the running node knows comes in an observation, a small
// struct of this package that the caller fills on the owner. Both go into one Inspection, and both forms are written from it: every text
// line `some words: value` is the JSON member "some_words". A fact that is not available is `-` in text and null in JSON. No branch key
// value and no payload value is ever part of an inspection.
package describe
