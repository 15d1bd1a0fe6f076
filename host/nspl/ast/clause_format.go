// SPDX-License-Identifier: Apache-2.0

package ast

// Format is the rendering asked of a SHOW or DESCRIBE.
type Format uint8

// The formats; TEXT is the default and not printed.
const (
	FormatText Format = iota
	FormatJSON
)
