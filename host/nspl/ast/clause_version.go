// SPDX-License-Identifier: Apache-2.0

package ast

// Version says which version of a resource is bound: `VERSION n` or `VERSION LATEST`. One of them is always written (nspl 13.1). A stored
// definition never has Latest: control replaces it by the number it resolved.
type Version struct {
	Node
	Latest bool
	Number uint64
}
