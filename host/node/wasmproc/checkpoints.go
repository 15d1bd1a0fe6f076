// SPDX-License-Identifier: Apache-2.0

package wasmproc

import "github.com/nervix-go/nervix/host/kernel/ident"

// Place is where the state of one concrete branch is kept. Everything that would make kept state another's is part of it.
type Place struct {
	Domain    ident.Domain
	Processor ident.Name
	// Created is the committed index at which the processor was created; it never repeats.
	Created uint64
	// Branch is the fingerprint of the branch; empty means unbranched.
	Branch string
	// Generation is the lifetime of the state, counted from 1 (W-133).
	Generation uint64
}

// Saved is a committed checkpoint. Revision 0 means that there is none. An empty State means that the next instance is initialised only
// (W-127).
type Saved struct {
	State    []byte
	Revision uint64
}

// Checkpoints keeps the checkpoints of branches.
type Checkpoints interface {
	// Open gives the slot of a branch. It is cheap and may be called on a lane; the branch keeps the slot as long as it lives.
	Open(p Place) Slot
}

// Slot keeps the checkpoints of one branch. Its methods are called by one caller at a time, which has at most one checkpoint on its way (W-231).
// A call that cannot answer at once gives pending and calls done later, exactly once and from any goroutine; done does not block.
// Errors that are a *Failure name their stage; others count as `local state persistence`, and those of Load as `state restore`.
type Slot interface {
	// Load gives the committed checkpoint.
	Load(done func(Saved, error)) (s Saved, pending bool, err error)
	// Begin takes the boundary of a checkpoint, before the guest saves: who is the owner now, and which replicas it will wait for (gaps 1.7.5).
	Begin() error
	// Capture takes what the guest saved and gives it the next revision (W-191). A revision is never used again. Neither side changes the bytes from
	// then on: the slot keeps them, and the branch may restore a successor of the instance from them once they are committed.
	Capture(state []byte) (revision uint64)
	// Persist makes the capture durable, here and at its replicas.
	Persist(done func(error)) (pending bool, err error)
	// Commit makes the capture what the next instance restores. It follows a Persist that succeeded.
	Commit()
	// Abort forgets a checkpoint that was begun: the guest could not save, or nobody waits for it any more. A pending Persist may still call done.
	Abort()
	// Close ends the use of the slot; what was committed stays.
	Close()
}
