// SPDX-License-Identifier: Apache-2.0

// Package wasmproc runs WASM processors: each concrete branch has one guest instance, whose callbacks are worked one after the other
// (nspl 15.7; W1 to W9, W14, W18, W19, W21). The guest engine, the store of checkpoints and the coordinator of resets are ports; the adapter
// of the engine is wasm/instances.
//
// The way of one callback (W-186): run, read all output, validate it as a whole, dispatch rows and hold back the success of what was decided,
// save, persist, commit, release, next. machine.go decides what follows what and what a failure means; it is pure. The rest carries out
// what it decides.
//
// A guest call may take seconds, so it runs in a blocking section of its lane (lanes.Lane.Enter): nothing of the lane is touched inside, and the lane
// goes on with other branches meanwhile. A branch that waits for a checkpoint, for a place in a relay or for its guest stands still;
// its lane does not.
package wasmproc
