// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Key identifies a concrete branch. Keys are interned by whoever builds them, so most comparisons are of pointers; Equal decides.
type Key struct {
	// Branch is the branch declaration; two branches over one schema are different.
	Branch ident.Name
	// Text is the canonical JSON text of the key fields (nspl 12.1). It may hold sensitive values: show Fingerprint instead.
	Text string
	// Hash spreads keys over lanes.
	Hash uint64
	// Values is a record of one row with the key fields, for `branch.f`. It is allocated on the Go heap and never released.
	Values arrow.RecordBatch
}

// Equal says whether both name one concrete branch.
func (k *Key) Equal(o *Key) bool {
	if k == o {
		return true
	}
	return k != nil && o != nil && k.Hash == o.Hash && k.Branch == o.Branch && k.Text == o.Text
}

// HashOf is the hash of a possibly absent key.
func HashOf(k *Key) uint64 {
	if k == nil {
		return 0
	}
	return k.Hash
}

// Fingerprint is what diagnostics show instead of the key: the first 16 bytes of SHA-256 of the branch name and the canonical text.
func (k *Key) Fingerprint() string {
	sum := sha256.Sum256([]byte(string(k.Branch) + "\x00" + k.Text))
	return hex.EncodeToString(sum[:16])
}
