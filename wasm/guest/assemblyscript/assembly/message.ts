// SPDX-License-Identifier: Apache-2.0

// The messages between host and guest: what is common to them, and init and saved state.
import { Flat } from "./flat";
import { Buffer } from "./memory";
import { Field, Init, Kind, Schema, Type } from "./schema";

const IDENTIFIER: u32 = 0x5957564e; // NVWY

// The largest message or saved state, in bytes (W-044).
export const MAX_MESSAGE: u32 = 64 << 20;

// Members of the union of all messages.
export enum Variant {
  Init = 1, Input, Output, Snapshot,
}

// Judges length, identifier and variant of a message and gives its payload, which has a number of members.
export function open(f: Flat, variant: Variant, members: u32): u32 {
  if (f.size < 12 || f.get32(0) != f.size - 4 || f.get32(8) != IDENTIFIER) return f.fail();
  const root = f.table(f.follow(4), 2);
  if (f.u8(root, 0) != <u32>variant) return f.fail();
  return f.child(root, 1, members);
}

// Takes an init payload apart; null if it is none.
export function readInit(message: usize, size: u32): Init | null {
  const f = new Flat(message, size);
  const t = open(f, Variant.Init, 5);
  const init = new Init();
  init.domainName = f.text(t, 0);
  init.domainType = f.text(t, 1);
  const key = f.member(t, 2, 4);
  if (key != 0) {
    const bytes = f.vectorAt(f.follow(key), 1), n = f.count(bytes);
    if (n == 0) return null;
    init.branchKey = String.UTF8.decodeUnsafe(message + bytes, n);
  }
  init.input = readSchema(f, f.child(t, 3, 2));
  const outputs = f.vector(t, 4, 4), n = f.count(outputs);
  for (let i: u32 = 0; i < n && !f.bad; i++) init.outputs.push(readSchema(f, f.element(outputs, i, 2)));
  return f.closed() ? init : null;
}

function readSchema(f: Flat, t: u32): Schema {
  const s = new Schema(f.text(t, 0), []);
  const fields = f.vector(t, 1, 4), n = f.count(fields);
  for (let i: u32 = 0; i < n && !f.bad; i++) {
    const one = f.element(fields, i, 3);
    s.fields.push(new Field(f.text(one, 0), readType(f, f.child(one, 1, 3), 0), f.u8(one, 2) != 0));
  }
  return s;
}

function readType(f: Flat, t: u32, depth: i32): Type {
  const kind = f.u8(t, 0);
  if (f.bad || kind > <u32>Kind.Vec || depth > 16) {
    f.bad = true;
    return new Type(Kind.U8, 0, null);
  }
  if (kind < <u32>Kind.Array) {
    if (f.member(t, 1, 4) != 0) f.child(t, 1, 3);
    return new Type(<Kind>kind, 0, null);
  }
  const length = kind == <u32>Kind.Array ? f.u32(t, 2) : 0;
  return new Type(<Kind>kind, length, readType(f, f.child(t, 1, 3), depth + 1));
}

// The vtables that all messages of a guest begin with.
const VTABLES: StaticArray<u16> = [
  8, 12, 8, 4, // Message: payload_type, payload
  8, 12, 4, 8, // OutputEnvelope, NackSet, MessageErrorSet, GuestSnapshot
  10, 16, 4, 8, 12, // RoutedOutput
  8, 12, 8, 4, // OutputColumnRef: source, column_index
  12, 20, 4, 8, 12, 16, // AckSidecar
  8, 16, 4, 8, // OutputRow
  6, 16, 4, 0, // OutputRow without source, AckTokenSet
];

// Where they lie.
export const VT_MESSAGE: u32 = 12;
export const VT_PAIR: u32 = VT_MESSAGE + 8;
export const VT_ROUTED: u32 = VT_PAIR + 8;
export const VT_REF: u32 = VT_ROUTED + 10;
export const VT_SIDECAR: u32 = VT_REF + 8;
export const VT_ROW: u32 = VT_SIDECAR + 12;
export const VT_TOKENS: u32 = VT_ROW + 8;

// Writes the head of a message whose payload is a table of two members, and says where that is.
export function beginMessage(b: Buffer, variant: Variant): u32 {
  b.zeros(8);
  b.add32(IDENTIFIER);
  b.add(changetype<usize>(VTABLES), 2 * VTABLES.length);
  b.pad(4);
  const message = b.table(VT_MESSAGE, 12);
  b.put32(4, message - 4);
  b.put8(message + 8, variant);
  b.point(message + 4);
  return b.table(VT_PAIR, 12);
}

// Writes the length.
export function endMessage(b: Buffer): void {
  b.put32(0, b.size - 4);
}
