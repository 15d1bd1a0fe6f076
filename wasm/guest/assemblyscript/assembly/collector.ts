// SPDX-License-Identifier: Apache-2.0

// When garbage is collected. A guest is compiled with --runtime minimal: nothing is collected while a callback runs, so that no code is spent
// on keeping roots, and all of it between calls, when nothing but globals refers to objects.
//
// --use guestHeap=~lib/rt/tcms/total names the collector's count of bytes here. Without it the collector runs after every call. With --runtime
// incremental it runs by itself, and with --runtime stub never.

const LEAST: usize = 256 * 1024;
let limit: usize = LEAST;

// Is called at the end of an exported function, when no object is in use but those that globals reach.
export function settle(): void {
  if (ASC_RUNTIME != 1) return; // Minimal
  // @ts-ignore: an alias of the command line
  if (isDefined(guestHeap)) {
    // @ts-ignore: see above
    if (guestHeap < limit) return;
    __collect();
    // @ts-ignore: see above
    limit = max<usize>(guestHeap * 2, LEAST);
  } else {
    __collect();
  }
}
