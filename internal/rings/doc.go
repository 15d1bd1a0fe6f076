// SPDX-License-Identifier: Apache-2.0

// Package rings checks the import rules of the architecture page against the module: which package may import which, and what pure packages
// must not do. It is a test; nothing imports it. A rule that stands in the way for a good reason gets an entry, with the reason, in table.go.
package rings
