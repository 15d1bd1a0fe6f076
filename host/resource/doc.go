// SPDX-License-Identifier: Apache-2.0

// Package resource keeps the files of uploaded resource versions on a node (nspl 13.1).
package resource

import _ "github.com/zeebo/blake3" // identity of a version's archive
