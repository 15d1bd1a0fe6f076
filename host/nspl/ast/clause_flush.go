// SPDX-License-Identifier: Apache-2.0

package ast

// Flush is `FLUSH IMMEDIATE` or `FLUSH EACH Each MAX BATCH SIZE MaxBatch` (nspl 10.5).
type Flush struct {
	Node
	Immediate bool
	Each      Duration
	MaxBatch  Size
}
