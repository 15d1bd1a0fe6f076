// SPDX-License-Identifier: Apache-2.0

// Generated columns.
import { Slice } from "./column";
import { Time, wireOfTime } from "./instant";
import { Buffer } from "./memory";
import { Kind, Type, widthOf } from "./schema";

// Appends bit n - 1 to a bitmap that has n bits from then on.
function setBit(bits: Buffer, n: u32, bit: bool): void {
  n--;
  if (n >> 3 >= bits.size) bits.add8(0);
  const at = bits.ptr + (n >> 3);
  if (bit) store<u8>(at, load<u8>(at) | (<u8>1 << <u8>(n & 7)));
}

// A generated column of an output. Values are put into it one call a row, or one call an element into the column that list gives. A mistake is
// reported when the output is emitted.
@final
export class Generated {
  owner: i32 = 0; // the number of its output
  used: bool = false;
  index: u32 = 0;
  rows: u32 = 0;
  nulls: u32 = 0;
  validity: Buffer = new Buffer();
  values: Buffer = new Buffer(); // numbers, bits, or offsets: ends of texts, begins of lists
  data: Buffer = new Buffer(); // of texts and bytes
  element: Generated | null = null; // of ARRAY and VEC
  wrong: string = ""; // the first mistake

  constructor(public type: Type, public optional: bool) {
    const element = type.element;
    if (element !== null) this.element = new Generated(element, false);
    this.reset();
  }

  // Empties the column and keeps its room.
  reset(): void {
    this.used = false;
    this.rows = this.nulls = 0;
    this.validity.clear();
    this.values.clear();
    this.data.clear();
    this.wrong = "";
    if (this.type.kind == Kind.String || this.type.kind == Kind.Bytes) this.values.add32(0);
    const element = this.element;
    if (element !== null) element.reset();
  }

  private mistake(what: string): void {
    if (this.wrong.length == 0) this.wrong = what;
  }

  @inline
  private is(kind: Kind): bool {
    if (this.type.kind == kind) return true;
    this.mistake("a value of another type is put into a generated column");
    return false;
  }

  private row(valid: bool): void {
    this.rows++;
    if (valid && this.nulls == 0) return;
    if (this.nulls == 0) {
      for (let i: u32 = 1; i < this.rows; i++) setBit(this.validity, i, true);
    }
    setBit(this.validity, this.rows, valid);
    if (!valid) this.nulls++;
  }

  u8(v: u8): void {
    if (!this.is(Kind.U8)) return;
    this.values.add8(v);
    this.row(true);
  }

  i8(v: i8): void {
    if (!this.is(Kind.I8)) return;
    this.values.add8(v);
    this.row(true);
  }

  u16(v: u16): void {
    if (!this.is(Kind.U16)) return;
    this.values.add16(v);
    this.row(true);
  }

  i16(v: i16): void {
    if (!this.is(Kind.I16)) return;
    this.values.add16(v);
    this.row(true);
  }

  u32(v: u32): void {
    if (!this.is(Kind.U32)) return;
    this.values.add32(v);
    this.row(true);
  }

  i32(v: i32): void {
    if (!this.is(Kind.I32)) return;
    this.values.add32(v);
    this.row(true);
  }

  u64(v: u64): void {
    if (!this.is(Kind.U64)) return;
    this.values.add64(v);
    this.row(true);
  }

  i64(v: i64): void {
    if (!this.is(Kind.I64)) return;
    this.values.add64(v);
    this.row(true);
  }

  f32(v: f32): void {
    if (!this.is(Kind.F32)) return;
    this.values.add32(reinterpret<u32>(v));
    this.row(true);
  }

  f64(v: f64): void {
    if (!this.is(Kind.F64)) return;
    this.values.add64(reinterpret<u64>(v));
    this.row(true);
  }

  bool(v: bool): void {
    if (!this.is(Kind.Bool)) return;
    this.row(true);
    setBit(this.values, this.rows, v);
  }

  // An instant of a DATETIME column.
  time(v: Time): void {
    if (!this.is(Kind.Datetime)) return;
    this.values.add64(wireOfTime(v));
    this.row(true);
  }

  // A text of a STRING column.
  string(v: string): void {
    if (!this.is(Kind.String)) return;
    this.data.addText(v);
    this.ends();
  }

  // Bytes of a BYTES column, or a text in UTF-8 of a STRING column, copied.
  bytes(v: Slice): void {
    if (this.type.kind != Kind.String && !this.is(Kind.Bytes)) return;
    this.data.add(v.ptr, v.size);
    this.ends();
  }

  private ends(): void {
    this.values.add32(this.data.size);
    this.row(true);
  }

  // Begins a row of an ARRAY or VEC column; the elements of the row go into the column that it returns, until the next row begins.
  list(): Generated {
    const element = this.element;
    if (element === null) {
      this.mistake("a list is put into a generated column that has none");
      return this;
    }
    this.full(element);
    this.values.add32(element.rows);
    this.row(true);
    return element;
  }

  // Notes a row of an ARRAY that has not its number of elements.
  private full(element: Generated): void {
    if (this.type.kind == Kind.Array && <u64>element.rows != <u64>this.rows * <u64>this.type.length) {
      this.mistake("a row of an ARRAY has another number of elements than its type");
    }
  }

  // A null of a column of an optional field.
  null(): void {
    if (!this.optional) {
      this.mistake("a null is put into a generated column that is not optional");
      return;
    }
    this.zero();
    this.row(false);
  }

  // What stands behind a null, and in the elements of a null ARRAY.
  private zero(): void {
    const kind = this.type.kind, element = this.element;
    if (kind == Kind.String || kind == Kind.Bytes) {
      this.values.add32(this.data.size);
    } else if (kind == Kind.Bool) {
      setBit(this.values, this.rows + 1, false);
    } else if (element !== null) {
      this.full(element);
      this.values.add32(element.rows);
      for (let i: u32 = 0; kind == Kind.Array && i < this.type.length; i++) {
        element.zero();
        element.row(true);
      }
    } else {
      this.values.zeros(widthOf(kind));
    }
  }

  // Completes the column for writing and gives the first mistake made with it.
  finish(): string {
    const element = this.element;
    if (element === null) return this.wrong;
    this.full(element);
    if (this.type.kind == Kind.Vec) this.values.add32(element.rows);
    const inner = element.finish();
    return this.wrong.length > 0 ? this.wrong : inner;
  }
}
