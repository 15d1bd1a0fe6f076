// SPDX-License-Identifier: Apache-2.0

// Guests of Nervix WASM processors in AssemblyScript. README.md shows a first guest and says how memory behaves; docs/formats/guest.md of the
// repository is the contract on the wire; wasm/guest/reference.md is a job that the guests of all languages do.
//
//  - One instance is one branch. The host makes one call at a time; the fields of the processor, and what is global, are the state of the branch.
//  - What a batch lends (slices, columns, entries) lies in the input buffer and is gone when the callback returns. Copy what you keep: Held for
//    entries, toString or toBytes for slices.
//  - A callback that fails, or reported a failure, emits nothing.
//  - A panic, a failed assertion and `throw` end the instance: the host gets the text and makes a new instance from the state saved last.
export { Batch, Entry, Held } from "./batch";
export { Column, List, Slice } from "./column";
export { Generated } from "./generated";
export { panic } from "./host";
export { Duration, Time, Timeout } from "./instant";
export { Output, Route, Verdict } from "./output";
export { Call, fail, OK, Processor, register } from "./processor";
export { Field, Init, Kind, Schema, Type } from "./schema";
export { StateReader, StateWriter } from "./state";
