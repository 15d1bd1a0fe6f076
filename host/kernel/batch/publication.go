// SPDX-License-Identifier: Apache-2.0

package batch

// Publication is a producer's request to a relay to admit one batch. It is part of the producer's state and is reused; it stays untouched
// from the moment it is handed over until the batch was admitted.
type Publication struct {
	Batch *Batch
	// Admitted is called once if the batch could not be admitted at once, when it was admitted or refused later. From then on the batch is not
	// the producer's any more. It is called on another lane and must not block.
	Admitted func()
}
