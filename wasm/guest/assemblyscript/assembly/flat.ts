// SPDX-License-Identifier: Apache-2.0

// Takes apart a FlatBuffer that may be damaged. The first fault sets `bad`; from then on everything reads as absent, so that callers look at it
// once, at the end. Alignment counts from the first byte. A table is the place where it begins, a vector the place of its first element; 0 is
// absent.

@final
export class Flat {
  // The position behind the last byte that belongs to something seen.
  end: u32 = 0;
  bad: bool;
  // A table has a member behind those its caller knows.
  unknown: bool = false;

  constructor(public base: usize, public size: u32) {
    this.bad = size < 8;
  }

  @inline
  get32(at: u32): u32 {
    return load<u32>(this.base + at);
  }

  fail(): u32 {
    this.bad = true;
    return 0;
  }

  @inline
  saw(end: u32): void {
    this.end = max(this.end, end);
  }

  // The target of the offset at a place.
  follow(at: u32): u32 {
    if (this.bad || at == 0) return 0;
    if (at % 4 != 0 || at > this.size - 4) return this.fail();
    const distance = this.get32(at);
    if (distance == 0 || distance % 4 != 0 || distance > this.size - 4 - at) return this.fail();
    return at + distance;
  }

  @inline
  vtableOf(t: u32): u32 {
    return t - this.get32(t);
  }

  // Judges the table at a place that follow gave. members is how many the caller knows.
  table(at: u32, members: u32): u32 {
    if (this.bad || at == 0) return 0;
    const place = <i64>at - <i64>(<i32>this.get32(at));
    if (place < 0 || place > <i64>this.size - 4 || place % 2 != 0) return this.fail();
    const vtable = <u32>place;
    const vtableSize = <u32>load<u16>(this.base + vtable), size = <u32>load<u16>(this.base + vtable + 2);
    if (vtableSize < 4 || vtableSize % 2 != 0 || vtableSize > this.size - vtable || size < 4 || size > this.size - at) return this.fail();
    for (let slot = members; slot * 2 + 4 < vtableSize; slot++) {
      if (load<u16>(this.base + vtable + 4 + 2 * slot) != 0) this.unknown = true;
    }
    this.saw(vtable + vtableSize);
    this.saw(at + size);
    return at;
  }

  // The place of a member of some bytes; 0 if it is absent.
  member(t: u32, slot: u32, size: u32): u32 {
    if (this.bad || t == 0) return 0;
    const vtable = this.base + this.vtableOf(t);
    if (slot * 2 + 4 >= <u32>load<u16>(vtable)) return 0;
    const offset = <u32>load<u16>(vtable + 4 + 2 * slot);
    if (offset == 0) return 0;
    if (offset < 4 || offset + size > <u32>load<u16>(vtable, 2) || (t + offset) % size != 0) return this.fail();
    return t + offset;
  }

  u8(t: u32, slot: u32): u32 {
    const at = this.member(t, slot, 1);
    return at == 0 ? 0 : <u32>load<u8>(this.base + at);
  }

  u16(t: u32, slot: u32): u32 {
    const at = this.member(t, slot, 2);
    return at == 0 ? 0 : <u32>load<u16>(this.base + at);
  }

  u32(t: u32, slot: u32): u32 {
    const at = this.member(t, slot, 4);
    return at == 0 ? 0 : this.get32(at);
  }

  u64(t: u32, slot: u32): u64 {
    const at = this.member(t, slot, 8);
    return at == 0 ? 0 : load<u64>(this.base + at);
  }

  private required(t: u32, slot: u32): u32 {
    const at = this.member(t, slot, 4);
    return at == 0 ? this.fail() : this.follow(at);
  }

  // The table that a member refers to; it must be there.
  child(t: u32, slot: u32, members: u32): u32 {
    return this.table(this.required(t, slot), members);
  }

  // Table i of a vector of tables.
  element(v: u32, i: u32, members: u32): u32 {
    return this.table(this.follow(v + 4 * i), members);
  }

  // Judges a vector with elements of some bytes.
  vectorAt(at: u32, size: u32): u32 {
    if (this.bad || at == 0) return 0;
    const n = this.get32(at);
    if (n > (this.size - at - 4) / size || (n > 0 && (at + 4) % min<u32>(size, 8) != 0)) return this.fail();
    this.saw(at + 4 + n * size);
    return at + 4;
  }

  // The vector that a member refers to; it must be there.
  vector(t: u32, slot: u32, size: u32): u32 {
    return this.vectorAt(this.required(t, slot), size);
  }

  // The number of elements of a vector.
  count(v: u32): u32 {
    return this.bad || v == 0 ? 0 : this.get32(v - 4);
  }

  // The text that a member refers to, a copy; it must be there and end with a zero.
  text(t: u32, slot: u32): string {
    if (!this.checkText(t, slot)) return "";
    const v = this.vector(t, slot, 1);
    return String.UTF8.decodeUnsafe(this.base + v, this.count(v));
  }

  checkText(t: u32, slot: u32): bool {
    const v = this.vector(t, slot, 1), n = this.count(v);
    if (this.bad || n >= this.size - v || load<u8>(this.base + v + n) != 0) {
      this.bad = true;
      return false;
    }
    this.saw(v + n + 1);
    return true;
  }

  // Whether nothing is wrong with what was read, and nothing stands behind it but zeros of padding; behind unknown members anything may stand.
  closed(): bool {
    if (this.bad || this.unknown) return !this.bad;
    if (this.size - this.end >= 8) return false;
    for (let at = this.end; at < this.size; at++) {
      if (load<u8>(this.base + at) != 0) return false;
    }
    return true;
  }
}
