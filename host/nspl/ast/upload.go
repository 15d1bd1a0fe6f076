// SPDX-License-Identifier: Apache-2.0

package ast

// Upload is `UPLOAD RESOURCE name VERSION 'directory'`. The directory lies on the client's machine, so the client executes the statement: it
// sends the files, and the number of the new version comes back (nspl 13.1).
type Upload struct {
	Node
	Resource  Ident
	Directory Text
}

func (*Upload) statement() {}
