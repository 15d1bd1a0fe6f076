// SPDX-License-Identifier: Apache-2.0

// Reading the Arrow stream of an input batch: one schema and one record batch, all of it judged before a value can be read.
import { Batch } from "./batch";
import { Column, emptyOffsets } from "./column";
import { Flat } from "./flat";
import { Buffer } from "./memory";
import { Init, Kind, Schema, Type, widthOf } from "./schema";

export const HEADER_SCHEMA: u32 = 1;
export const HEADER_BATCH: u32 = 3;
export const CONTINUATION: u32 = 0xffffffff;
export const UNIT_NANOSECOND: u32 = 3;
export const ZONE: string = "+00:00";

const ARROW_TYPES: StaticArray<u8> = [2, 2, 2, 2, 2, 2, 2, 2, 6, 5, 4, 10, 3, 3, 16, 12];

// The member of the union of Arrow's types.
export function arrowType(kind: Kind): u32 {
  return ARROW_TYPES[kind];
}

// What is read of a stream.
@final
class Stream {
  meta: Flat = new Flat(0, 0);
  header: u32 = 0;
  body: usize = 0;
  bodySize: u32 = 0;

  constructor(public at: usize, public size: u32) {}

  // Takes the next message apart. A header has at most four members.
  next(kind: u32): bool {
    const b = this.at;
    if (this.size < 16 || load<u32>(b) != CONTINUATION) return false;
    const size = load<u32>(b, 4);
    if (size % 8 != 0 || size < 8 || size > this.size - 8) return false;
    const rest = this.size - 8 - size, meta = new Flat(b + 8, size), at = meta.get32(0);
    if (at < 4 || at % 4 != 0 || at > size - 4) return false;
    const root = meta.table(at, 5), body = meta.u64(root, 3);
    if (meta.u8(root, 1) != kind || body % 8 != 0 || body > <u64>rest) return false;
    this.header = meta.child(root, 2, 4);
    this.meta = meta;
    this.body = b + 8 + size;
    this.bodySize = <u32>body;
    this.at = this.body + <usize>body;
    this.size = rest - <u32>body;
    return !meta.bad;
  }
}

// Holds a field of an Arrow schema against a type.
function fieldIs(f: Flat, t: u32, type: Type, optional: bool): bool {
  const detail = f.child(t, 3, 2), kind = type.kind;
  if (f.bad || (f.u8(t, 1) != 0) != optional || f.u8(t, 2) != arrowType(kind) || f.member(t, 4, 4) != 0) return false;
  let same = true;
  switch (kind) {
    case Kind.Bool: case Kind.String: case Kind.Bytes:
      break;
    case Kind.F32:
      same = f.u16(detail, 0) == 1;
      break;
    case Kind.F64:
      same = f.u16(detail, 0) == 2;
      break;
    case Kind.Datetime:
      same = f.u16(detail, 0) == UNIT_NANOSECOND && f.text(detail, 1) == ZONE;
      break;
    case Kind.Array: case Kind.Vec: {
      if (kind == Kind.Array && f.u32(detail, 0) != type.length) return false;
      const children = f.vector(t, 5, 4);
      same = f.count(children) == 1 && fieldIs(f, f.element(children, 0, 7), type.element!, false);
      break;
    }
    default:
      same = f.u32(detail, 0) == 8 * widthOf(kind) && f.u8(detail, 1) == <u32>(kind & 1);
  }
  return same && !f.bad;
}

// Reads the batches of one input schema. It keeps the schema message that was found right: a host sends the same with every batch.
@final
export class InputReader {
  private schema: Schema;
  private right: Buffer = new Buffer();
  private columns: Array<Column> = [];
  private copy: Buffer = new Buffer();
  private stream: Stream = new Stream(0, 0);
  private node: u32 = 0;
  private nodes: u32 = 0; // how many are left
  private buffer: u32 = 0;
  private buffers: u32 = 0;
  private found: usize = 0; // the last buffer
  private foundSize: u32 = 0;

  constructor(init: Init) {
    this.schema = init.input;
    for (let i = 0; i < init.input.fields.length; i++) this.columns.push(new Column(init.input.fields[i].type));
  }

  private skipSchema(): bool {
    const s = this.stream, at = s.at, size = s.size, known = this.right.size;
    if (known > 0 && size >= known && memory.compare(at, this.right.ptr, known) == 0) {
      s.at += known;
      s.size -= known;
      return true;
    }
    if (!s.next(HEADER_SCHEMA) || s.bodySize != 0 || s.meta.u16(s.header, 0) != 0) return false;
    const fields = s.meta.vector(s.header, 1, 4);
    if (s.meta.bad || s.meta.count(fields) != <u32>this.schema.fields.length) return false;
    for (let i = 0; i < this.schema.fields.length; i++) {
      const want = this.schema.fields[i];
      if (!fieldIs(s.meta, s.meta.element(fields, i, 7), want.type, want.optional)) return false;
    }
    this.right.clear();
    this.right.add(at, size - s.size);
    return true;
  }

  // Takes the columns of a batch whose entries were read.
  read(at: usize, size: u32, batch: Batch): bool {
    if (at % 8 != 0) {
      // another host's layout
      this.copy.clear();
      this.copy.add(at, size);
      at = this.copy.ptr;
    }
    const s = new Stream(at, size);
    this.stream = s;
    if (!this.skipSchema() || !s.next(HEADER_BATCH)) return false;
    if (s.size > 0 && (s.size != 8 || load<u32>(s.at) != CONTINUATION || load<u32>(s.at, 4) != 0)) return false;
    const rows = s.meta.u64(s.header, 0), nodes = s.meta.vector(s.header, 1, 16), buffers = s.meta.vector(s.header, 2, 16);
    if (s.meta.member(s.header, 3, 4) != 0 || s.meta.bad || rows != <u64>batch.rows) return false;
    this.node = nodes;
    this.nodes = s.meta.count(nodes);
    this.buffer = buffers;
    this.buffers = s.meta.count(buffers);
    for (let i = 0; i < this.columns.length; i++) {
      if (!this.take(this.columns[i], this.schema.fields[i].optional, rows, true)) return false;
    }
    batch.columns = this.columns;
    return this.nodes == 0 && this.buffers == 0;
  }

  private nextBuffer(): bool {
    if (this.buffers == 0) return false;
    const s = this.stream, pair = s.meta.base + this.buffer, at = load<u64>(pair), size = load<u64>(pair, 8);
    this.buffer += 16;
    this.buffers--;
    if (at % 8 != 0 || at > <u64>s.bodySize || size > <u64>s.bodySize - at) return false;
    this.found = s.body + <usize>at;
    this.foundSize = <u32>size;
    return true;
  }

  // Offsets that rise; the caller looks whether they stay inside what they name.
  private takeOffsets(c: Column): bool {
    if (!this.nextBuffer()) return false;
    c.offsets = emptyOffsets();
    if (c.rows == 0 && this.foundSize == 0) return true;
    if (this.foundSize / 4 <= <u32>c.rows) return false;
    const offsets = this.found;
    c.offsets = offsets;
    let before = load<i32>(offsets), bad = before;
    for (let i: usize = 4; i <= <usize>c.rows * 4; i += 4) {
      const o = load<i32>(offsets + i);
      bad |= o | (o - before);
      before = o;
    }
    return bad >= 0;
  }

  // A column has exactly that many rows, or at least as many if it is the elements of a VEC.
  private take(c: Column, optional: bool, rows: u64, exact: bool): bool {
    if (this.nodes == 0) return false;
    const pair = this.stream.meta.base + this.node, length = load<u64>(pair), nulls = load<u64>(pair, 8), kind = c.type.kind;
    this.node += 16;
    this.nodes--;
    if (length < rows || (exact && length != rows) || length > 0x7fffffff || nulls > length || (nulls > 0 && !optional)) return false;
    if (!this.nextBuffer() || ((nulls > 0 || this.foundSize > 0) && <u64>this.foundSize < (length + 7) / 8)) return false;
    c.rows = <i32>length;
    c.nulls = <i32>nulls;
    c.validity = nulls > 0 ? this.found : 0;
    const element = c.element;
    if (kind == Kind.String || kind == Kind.Bytes) {
      if (!this.takeOffsets(c) || !this.nextBuffer() || <u32>c.offset(c.rows) > this.foundSize) return false;
      c.data = this.found;
      return true;
    }
    if (element !== null) {
      if (kind == Kind.Vec) return this.takeOffsets(c) && this.take(element, false, c.offset(c.rows), false);
      const n = length * <u64>c.type.length;
      return n <= 0x7fffffff && this.take(element, false, n, true);
    }
    if (!this.nextBuffer() || <u64>this.foundSize < (kind == Kind.Bool ? (length + 7) / 8 : length * <u64>widthOf(kind))) return false;
    c.values = this.found;
    return true;
  }
}
