// SPDX-License-Identifier: Apache-2.0

// Input columns.
import { panic } from "./host";
import { Time, timeOfWire } from "./instant";
import { Kind, Type, wordOf } from "./schema";

// Bytes that lie in the input buffer, gone when the callback returns (W-305).
@final
export class Slice {
  constructor(public ptr: usize, public size: i32) {}

  at(i: i32): u8 {
    if (<u32>i >= <u32>this.size) panic("byte " + i.toString() + " of " + this.size.toString());
    return load<u8>(this.ptr + i);
  }

  // A copy, decoded from UTF-8.
  toString(): string {
    return String.UTF8.decodeUnsafe(this.ptr, this.size);
  }

  // A copy.
  toBytes(): Uint8Array {
    const all = new Uint8Array(this.size);
    memory.copy(all.dataStart, this.ptr, this.size);
    return all;
  }
}

// The rows from first to before end of a column of elements.
@final
export class List {
  constructor(public elements: Column, public first: i32, public end: i32) {}
}

const noOffsets: usize = memory.data<i32>([0]);

export function emptyOffsets(): usize {
  return noOffsets;
}

// A column of a batch, or the elements of one. Each reader has to be that of the column's type, and the row below `rows`: the guest panics otherwise. A
// null reads as anything.
@final
export class Column {
  rows: i32 = 0;
  nulls: i32 = 0;
  validity: usize = 0; // one bit a row; 0 if no row is null
  values: usize = 0; // numbers, instants or bits
  offsets: usize = 0; // rows + 1 of 32 bits, of texts, bytes and VEC
  data: usize = 0; // of texts and bytes
  element: Column | null = null; // of ARRAY and VEC

  constructor(public type: Type) {
    const element = type.element;
    if (element !== null) this.element = new Column(element);
  }

  @inline
  private check(kind: Kind, row: i32): void {
    if (this.type.kind != kind) this.wrongKind(kind);
    if (<u32>row >= <u32>this.rows) this.outside(row);
  }

  private wrongKind(kind: Kind): void {
    panic("a column of " + this.type.toString() + " is read as one of " + wordOf(kind));
  }

  private outside(row: i32): void {
    panic("row " + row.toString() + " of a column of " + this.rows.toString() + " rows");
  }

  isNull(row: i32): bool {
    if (<u32>row >= <u32>this.rows) this.outside(row);
    return this.validity != 0 && ((load<u8>(this.validity + (row >> 3)) >> <u8>(row & 7)) & 1) == 0;
  }

  u8(row: i32): u8 {
    this.check(Kind.U8, row);
    return load<u8>(this.values + row);
  }

  i8(row: i32): i8 {
    this.check(Kind.I8, row);
    return load<i8>(this.values + row);
  }

  u16(row: i32): u16 {
    this.check(Kind.U16, row);
    return load<u16>(this.values + (<usize>row << 1));
  }

  i16(row: i32): i16 {
    this.check(Kind.I16, row);
    return load<i16>(this.values + (<usize>row << 1));
  }

  u32(row: i32): u32 {
    this.check(Kind.U32, row);
    return load<u32>(this.values + (<usize>row << 2));
  }

  i32(row: i32): i32 {
    this.check(Kind.I32, row);
    return load<i32>(this.values + (<usize>row << 2));
  }

  u64(row: i32): u64 {
    this.check(Kind.U64, row);
    return load<u64>(this.values + (<usize>row << 3));
  }

  i64(row: i32): i64 {
    this.check(Kind.I64, row);
    return load<i64>(this.values + (<usize>row << 3));
  }

  f32(row: i32): f32 {
    this.check(Kind.F32, row);
    return load<f32>(this.values + (<usize>row << 2));
  }

  f64(row: i32): f64 {
    this.check(Kind.F64, row);
    return load<f64>(this.values + (<usize>row << 3));
  }

  bool(row: i32): bool {
    this.check(Kind.Bool, row);
    return ((load<u8>(this.values + (row >> 3)) >> <u8>(row & 7)) & 1) == 1;
  }

  // The value of a DATETIME column.
  time(row: i32): Time {
    this.check(Kind.Datetime, row);
    return timeOfWire(load<i64>(this.values + (<usize>row << 3)));
  }

  // Lends the value of a STRING or BYTES column: a slice of the input buffer.
  bytes(row: i32): Slice {
    if (this.type.kind != Kind.String) this.check(Kind.Bytes, row);
    if (<u32>row >= <u32>this.rows) this.outside(row);
    const from = this.offset(row);
    return new Slice(this.data + from, this.offset(row + 1) - from);
  }

  // The length of the value of a STRING or BYTES column, in bytes.
  size(row: i32): i32 {
    if (this.type.kind != Kind.String) this.check(Kind.Bytes, row);
    if (<u32>row >= <u32>this.rows) this.outside(row);
    return this.offset(row + 1) - this.offset(row);
  }

  // Copies the value of a STRING column.
  string(row: i32): string {
    this.check(Kind.String, row);
    return this.bytes(row).toString();
  }

  // The elements of a row of an ARRAY or VEC column.
  list(row: i32): List {
    if (this.element === null) this.wrongKind(Kind.Vec);
    const element = this.element!;
    if (<u32>row >= <u32>this.rows) this.outside(row);
    if (this.type.kind == Kind.Array) return new List(element, row * this.type.length, (row + 1) * this.type.length);
    return new List(element, this.offset(row), this.offset(row + 1));
  }

  @inline
  offset(i: i32): i32 {
    return load<i32>(this.offsets + (<usize>i << 2));
  }
}
