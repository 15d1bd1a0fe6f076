// SPDX-License-Identifier: Apache-2.0

// Package scan reads and writes single values: the text forms of numbers, BOOL and DATETIME that conversions use (nspl 6.2), and exact
// decimal rounding (nspl 7.9). Nothing allocates for a value that reads.
package scan
