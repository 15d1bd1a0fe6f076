// SPDX-License-Identifier: Apache-2.0

// Package guests is the job that measurements of guests compare: rows of four columns go on as they are, alone or with one generated column of
// 64-bit integers. The job exists as a WASM processor over a real guest, over the recorded answers of that guest (so that what is left is the
// host's work), as a junction, and as a loop in Go over Arrow arrays. A guest can also be driven without a node.
//
// The nodes are the real ones, on real lanes; what stands around them gives one prepared batch again and again and settles what comes out, and
// neither allocates nor copies. bench/wasm measures and prints; this package reads no clock.
package guests
