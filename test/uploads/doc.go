// SPDX-License-Identifier: Apache-2.0

// Package uploads uploads resource versions to real nodes, which die while they receive them (nspl 13.1).
package uploads
