// SPDX-License-Identifier: Apache-2.0

package resource

import (
	"encoding/hex"
	"hash"

	"github.com/nervix-go/nervix/host/kernel/archive"
)

// Digest is a BLAKE3 digest: of an archive it is the identity of a version, of a file it is what the file must read as.
type Digest [archive.DigestSize]byte

// String is the digest in 64 hexadecimal digits, as the folder of a version is named.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// parseDigest reads the name of a version's folder.
func parseDigest(name string) (Digest, bool) {
	var d Digest
	if len(name) != hex.EncodedLen(len(d)) {
		return d, false
	}
	if _, err := hex.Decode(d[:], []byte(name)); err != nil {
		return d, false
	}
	return d, d.String() == name // capitals are another folder
}

func newHash() hash.Hash { return archive.NewDigest() }

func sumOf(h hash.Hash) Digest { return Digest(h.Sum(nil)) }
