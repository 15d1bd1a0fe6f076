// SPDX-License-Identifier: Apache-2.0

// What a guest implements, and the operation it is called in.
import { Batch } from "./batch";
import { hostAfter, hostNow, hostRequestReset, latch } from "./host";
import { Duration, Time, timeOfWire, Timeout, timeoutOfWire } from "./instant";
import { instance } from "./instance";
import { Output } from "./output";
import { Init } from "./schema";
import { StateReader, StateWriter } from "./state";

// Answers. Any other negative code may be used for a plain rejection; only the last two mean something to the host.
export const OK: i32 = 0;
export const BAD_SIZE: i32 = -1; // a size is negative or larger than a message may be
export const BAD_RANGE: i32 = -2; // a range does not lie inside the guest's buffer
export const NOT_READY: i32 = -3; // called before init, or restore after the first batch
export const BAD_BATCH: i32 = -4; // the Arrow batch is damaged or has another schema
export const BAD_MESSAGE: i32 = -5; // the message is damaged or of another kind
export const REJECTED: i32 = -6; // the guest refuses; fail gives this
export const BAD_SNAPSHOT: i32 = -7; // restore: no snapshot, or one of another branch or schema
export const BAD_STATE: i32 = -8; // restore: the state inside is refused

// Fails the operation with a reason that the host shows, at most 4 KiB of it: return the result. A callback that fails emits nothing.
export function fail(reason: string): i32 {
  latch(reason);
  return REJECTED;
}

// A guest. Each method answers 0, or a negative code; a code alone, without fail, is a rejection without a reason. Hand the guest to register.
export abstract class Processor {
  // Called once, before anything else: check the schemas, keep what you need. An answer below 0 refuses this branch.
  create(call: Call, init: Init): i32 {
    return OK;
  }

  // An input batch.
  abstract processBatch(call: Call, batch: Batch): i32;

  // A timeout of this instance is due.
  onTimeout(call: Call, timeout: Timeout): i32 {
    return OK;
  }

  // The branch pauses or moves: emit what is buffered, now.
  flush(call: Call): i32 {
    return OK;
  }

  // Write what a successor has to know to go on: no buffered rows, entries or timeouts (W-121). Called after each callback; it must not change
  // anything.
  saveState(state: StateWriter): i32 {
    return OK;
  }

  // Take over what saveState wrote, after create. An answer below 0 refuses the state.
  restore(state: StateReader): i32 {
    if (state.size == 0) return OK;
    return fail("this guest saves no state and cannot take " + state.size.toString() + " bytes of it");
  }
}

// The operation in progress.
@final
export class Call {
  // The domain time of the operation. It does not move during a callback.
  now(): Time {
    return timeOfWire(hostNow());
  }

  // Asks for onTimeout when a duration of domain time has passed.
  after(delay: Duration): Timeout {
    return timeoutOfWire(hostAfter(delay.inNanoseconds()));
  }

  // Asks for a new life of this branch's state; the host drops this instance when the callback is over. True if the request was taken, which create
  // cannot have.
  requestReset(): bool {
    return hostRequestReset() == 0;
  }

  // What the host said about this branch.
  init(): Init {
    return instance.init;
  }

  // Begins an envelope. It ends with emit, or with the callback.
  output(): Output {
    return instance.output();
  }

  // Checks an output and queues it: 0, or a failure.
  emit(output: Output): i32 {
    return instance.emit(output);
  }

  // Fails the operation though the callback answers 0.
  reportGlobalError(reason: string): void {
    latch(reason);
  }
}

// Makes p the processor of this module. Call it once, at the top of the module.
export function register(p: Processor): void {
  instance.processor = p;
}
