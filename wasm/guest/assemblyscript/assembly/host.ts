// SPDX-License-Identifier: Apache-2.0

// What is outside of the module, and the error channel.

@external("env", "nervix_domain_time_nanos")
export declare function hostNow(): i64;

@external("env", "nervix_timeout_after_nanos")
export declare function hostAfter(delay: i64): i64;

@external("env", "nervix_request_state_reset")
export declare function hostRequestReset(): i32;

// The reason that waits for the host, as UTF-8. It is memory of its own, because the host asks for it after a trap, too.
const LONGEST: usize = 4096;
const reason: usize = memory.data(4096);
let reasonSize: i32 = 0;

export function reasonPtr(): i32 {
  return <i32>reason;
}

export function reasonLength(): i32 {
  return reasonSize;
}

export function clearReason(): void {
  reasonSize = 0;
}

export function latched(): bool {
  return reasonSize > 0;
}

function setReason(text: string): void {
  if (text.length == 0) text = "no reason given";
  let n = text.length;
  while (<usize>String.UTF8.byteLength(text.substring(0, n)) > LONGEST) n = n * 3 / 4;
  if (n < text.length) text = text.substring(0, n);
  reasonSize = <i32>String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, reason);
}

// Puts a reason on the error channel. The first one of an operation is the cause of what follows.
export function latch(text: string): void {
  if (reasonSize == 0) setReason(text);
}

// Ends this instance: the reason, then a trap.
export function panic(text: string): void {
  reasonSize = 0;
  setReason(text);
  unreachable();
}

// What the compiler calls in the place of an abort of its own: a failed assertion, an index outside an array, `throw` (A01).
export function abortGuest(message: string | null, file: string | null, line: u32, column: u32): void {
  let text = "panic: " + (message === null ? "abort" : message);
  if (file !== null) text += " (" + file + ":" + line.toString() + ")";
  panic(text);
}
