// SPDX-License-Identifier: Apache-2.0

package model

import "encoding/hex"

// Fingerprint identifies a plan by its complete inputs: the definition it was made from and all definitions that one depends on, without
// relay capacities. Equal fingerprints of one reference mean equal plans. It is not stored; another release may compute it differently.
type Fingerprint [32]byte

// String is the lower-case hexadecimal form.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }
