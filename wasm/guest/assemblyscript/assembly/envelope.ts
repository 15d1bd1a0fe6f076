// SPDX-License-Identifier: Apache-2.0

// Writing an output envelope and its generated batch.
import { arrowType, CONTINUATION, HEADER_BATCH, HEADER_SCHEMA, UNIT_NANOSECOND, ZONE } from "./arrow";
import { Generated } from "./generated";
import { Buffer } from "./memory";
import { beginMessage, endMessage, Variant, VT_PAIR, VT_REF, VT_ROUTED, VT_ROW, VT_SIDECAR, VT_TOKENS } from "./message";
import { Output, Route } from "./output";
import { Kind, Type, widthOf } from "./schema";

// Writes an output that was judged. Order: head, routes with their decisions, rows, generated batch.
export function writeOutput(b: Buffer, o: Output): void {
  const envelope = beginMessage(b, Variant.Output);
  b.point(envelope + 8);
  let offset = b.offsets(o.routes.length);
  for (let i = 0; i < o.routes.length; i++, offset += 4) writeRoute(b, offset, o.routes[i]);
  for (let i = 0; i < o.routes.length; i++) {
    if (o.routes[i].same === null) writeRows(b, o.routes[i]);
  }
  for (let i = 0; i < o.routes.length; i++) {
    const r = o.routes[i], same = r.same, at = r.sidecarAt + 4;
    b.put32(at, (same === null ? r.rowsAt : same.rowsAt) - at);
  }
  b.padTo(12, 16); // the stream begins at a multiple of 16
  b.point(envelope + 4);
  const length = b.add32(0);
  if (o.columns.length > 0) {
    writeSchema(b, o);
    writeBatch(b, o);
    b.put32(length, b.size - length - 4);
  }
  endMessage(b);
}

// Everything of a route but its rows.
function writeRoute(b: Buffer, offset: u32, r: Route): void {
  b.pad(4);
  b.point(offset);
  const t = b.table(VT_ROUTED, 16);
  b.point(t + 4);
  b.text(r.to.name);
  b.point(t + 8);
  let at = b.offsets(r.count);
  for (let i = 0; i < r.count; i++, at += 4) {
    b.point(at);
    const one = b.table(VT_REF, 12), pair = r.columns.ptr + 8 * i;
    b.put32(one + 4, load<u32>(pair, 4));
    b.put8(one + 8, load<u32>(pair));
  }
  b.point(t + 12);
  r.sidecarAt = b.table(VT_SIDECAR, 20);
  b.point(r.sidecarAt + 8);
  if (r.acked.size == 0) {
    b.offsets(0);
  } else {
    const set = b.offsets(1);
    b.point(set);
    const table = b.table(VT_TOKENS, 16);
    b.alignVector8();
    b.point(table + 4);
    b.add32(r.acked.size / 8);
    b.add(r.acked.ptr, r.acked.size);
  }
  writeDecisions(b, r.sidecarAt + 12, r.nacked, r.nacks);
  writeDecisions(b, r.sidecarAt + 16, r.failed, r.failures);
}

function writeDecisions(b: Buffer, member: u32, all: Buffer, n: u32): void {
  b.pad(4);
  b.point(member);
  let offset = b.offsets(n), from: u32 = 0;
  for (let i: u32 = 0; i < n; i++, offset += 4) {
    const one = all.ptr + from, tokens = load<u32>(one), size = load<u32>(one, 4);
    b.point(offset);
    const t = b.table(VT_PAIR, 12);
    b.point(t + 8);
    b.add32(size);
    b.add(one + 8 + 8 * tokens, size);
    b.add8(0);
    b.alignVector8();
    b.point(t + 4);
    b.add32(tokens);
    b.add(one + 8, 8 * tokens);
    from += (8 + 8 * tokens + size + 7) & ~7;
  }
}

export function writeRows(b: Buffer, r: Route): void {
  b.pad(4);
  r.rowsAt = b.size;
  let offset = b.offsets(r.rows);
  b.pad(8);
  let at = b.size;
  b.add(r.records.ptr, r.records.size);
  for (let i: u32 = 0; i < r.rows; i++, offset += 4) {
    b.put32(offset, at - offset);
    const row = b.ptr + at;
    store<u32>(row, at - (load<u32>(row) != 0 ? VT_ROW : VT_TOKENS));
    at += 24 + 8 * load<u32>(row, 20);
  }
}

// The vtables of Arrow's metadata, behind the offset of its root: Message, a table of one member, nothing; then those of the header.
const META: StaticArray<u16> = [12, 20, 16, 18, 4, 8, 6, 8, 4, 0];
const SCHEMA: StaticArray<u16> = [8, 8, 0, 4, 16, 20, 4, 16, 17, 8, 0, 12, 8, 12, 4, 8, 4, 4]; // Schema, Field, tables of two members, tables of none
const BATCH: StaticArray<u16> = [10, 20, 8, 4, 16]; // RecordBatch
const TIMESTAMP: StaticArray<u16> = [8, 12, 4, 8]; // the unit has two bytes and the zone four
const META_MESSAGE: u32 = 4;
const META_ONE: u32 = META_MESSAGE + 12;
const META_HEADER: u32 = 24;
const META_FIELD: u32 = META_HEADER + 8;
const META_TWO: u32 = META_FIELD + 16;
const META_NONE: u32 = META_TWO + 8;

// Begins an Arrow message and gives where its metadata begins; its header is written next.
function beginMeta(b: Buffer, kind: u32, body: u32, header: StaticArray<u16>): u32 {
  b.add32(CONTINUATION);
  b.add32(0); // the length, see endMeta
  const meta = b.add32(0);
  b.add(changetype<usize>(META), 2 * META.length);
  b.add(changetype<usize>(header), 2 * header.length);
  b.pad(8);
  b.point(meta);
  const t = b.table(meta + META_MESSAGE, 20);
  b.put64(t + 8, body);
  b.put16(t + 16, 4); // version 5 of the metadata
  b.put8(t + 18, kind);
  b.pad(8);
  b.point(t + 4);
  return meta;
}

function endMeta(b: Buffer, meta: u32): void {
  b.pad(8);
  b.put32(meta - 4, b.size - meta);
}

function writeField(b: Buffer, meta: u32, type: Type, optional: bool, name: string): void {
  const field = b.table(meta + META_FIELD, 20), kind = type.kind;
  b.put8(field + 16, optional ? 1 : 0);
  b.put8(field + 17, arrowType(kind));
  b.point(field + 4);
  b.text(name);
  b.point(field + 8);
  switch (kind) {
    case Kind.Bool: case Kind.String: case Kind.Bytes: case Kind.Vec:
      b.table(meta + META_NONE, 4);
      break;
    case Kind.F32: case Kind.F64: case Kind.Array: {
      const t = b.table(meta + META_ONE, 8);
      b.put32(t + 4, kind == Kind.Array ? type.length : kind == Kind.F32 ? 1 : 2);
      break;
    }
    case Kind.Datetime: {
      const own = b.size;
      b.add(changetype<usize>(TIMESTAMP), 2 * TIMESTAMP.length);
      b.point(field + 8);
      const t = b.table(own, 12);
      b.put16(t + 4, UNIT_NANOSECOND);
      b.point(t + 8);
      b.text(ZONE);
      break;
    }
    default: {
      const t = b.table(meta + META_TWO, 12);
      b.put32(t + 4, 8 * widthOf(kind));
      b.put8(t + 8, kind & 1); // signed
    }
  }
  b.point(field + 12);
  const element = type.element;
  if (element === null) {
    b.offsets(0);
    return;
  }
  const child = b.offsets(1);
  b.point(child);
  writeField(b, meta, element, false, "item");
}

// The schema message of the last output, and what it is of: a guest emits the same columns again and again.
const known: Buffer = new Buffer();
const knownTypes: Array<Type> = [];
const knownOptional: Array<bool> = [];

function isKnown(o: Output): bool {
  if (knownTypes.length != o.columns.length) return false;
  for (let i = 0; i < o.columns.length; i++) {
    if (knownTypes[i] !== o.columns[i].type || knownOptional[i] != o.columns[i].optional) return false;
  }
  return true;
}

export function writeSchema(b: Buffer, o: Output): void {
  if (!isKnown(o)) {
    known.clear();
    knownTypes.length = knownOptional.length = 0;
    const meta = beginMeta(known, HEADER_SCHEMA, 0, SCHEMA);
    const t = known.table(meta + META_HEADER, 8);
    known.point(t + 4);
    let fields = known.offsets(o.columns.length);
    for (let i = 0; i < o.columns.length; i++, fields += 4) {
      const g = o.columns[i];
      known.point(fields);
      writeField(known, meta, g.type, g.optional, "");
      knownTypes.push(g.type);
      knownOptional.push(g.optional);
    }
    endMeta(known, meta);
  }
  b.add(known.ptr, known.size);
}

// The buffers of the batch that is written, in Arrow's order.
const buffers: Array<Buffer> = [];

function listBuffers(g: Generated): u32 {
  const kind = g.type.kind, element = g.element;
  buffers.push(g.validity);
  if (kind != Kind.Array) buffers.push(g.values);
  if (kind == Kind.String || kind == Kind.Bytes) buffers.push(g.data);
  return element === null ? 1 : 1 + listBuffers(element);
}

function addNodes(b: Buffer, g: Generated): void {
  b.add64(g.rows);
  b.add64(g.nulls);
  const element = g.element;
  if (element !== null) addNodes(b, element);
}

export function writeBatch(b: Buffer, o: Output): void {
  buffers.length = 0;
  let nodes: u32 = 0, body: u32 = 0;
  for (let i = 0; i < o.columns.length; i++) nodes += listBuffers(o.columns[i]);
  for (let i = 0; i < buffers.length; i++) body += (buffers[i].size + 7) & ~7;
  const meta = beginMeta(b, HEADER_BATCH, body, BATCH);
  const t = b.table(meta + META_HEADER, 20);
  b.put64(t + 8, o.columns[0].rows);
  b.alignVector8();
  b.point(t + 4);
  b.add32(nodes);
  for (let i = 0; i < o.columns.length; i++) addNodes(b, o.columns[i]);
  b.alignVector8();
  b.point(t + 16);
  b.add32(buffers.length);
  let at: u64 = 0;
  for (let i = 0; i < buffers.length; i++) {
    b.add64(at);
    b.add64(buffers[i].size);
    at += (buffers[i].size + 7) & ~7;
  }
  endMeta(b, meta);
  for (let i = 0; i < buffers.length; i++) {
    b.add(buffers[i].ptr, buffers[i].size);
    b.pad(8);
  }
}
