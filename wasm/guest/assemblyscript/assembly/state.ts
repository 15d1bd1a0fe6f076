// SPDX-License-Identifier: Apache-2.0

// Saved state. Numbers are little-endian; texts and bytes have their length before them.
import { Slice } from "./column";
import { Time, timeOfWire, wireOfTime } from "./instant";
import { Buffer } from "./memory";
import { fail } from "./processor";

@final
export class StateWriter {
  constructor(private out: Buffer) {}

  u8(v: u8): void {
    this.out.add8(v);
  }

  u32(v: u32): void {
    this.out.add32(v);
  }

  u64(v: u64): void {
    this.out.add64(v);
  }

  i64(v: i64): void {
    this.out.add64(v);
  }

  f64(v: f64): void {
    this.out.add64(reinterpret<u64>(v));
  }

  time(v: Time): void {
    this.out.add64(wireOfTime(v));
  }

  string(v: string): void {
    const length = this.out.add32(0);
    this.out.addText(v);
    this.out.put32(length, this.out.size - length - 4);
  }

  bytes(v: Uint8Array): void {
    this.out.add32(v.length);
    this.out.add(v.dataStart, v.length);
  }
}

// Reads in the same order. Behind the end everything reads as zero, and end fails.
@final
export class StateReader {
  private at: u32 = 0;
  private short: bool = false;

  constructor(private ptr: usize, public size: u32) {}

  private take(n: u32): usize {
    if (this.short || n > this.size - this.at) {
      this.short = true;
      return 0;
    }
    this.at += n;
    return this.ptr + this.at - n;
  }

  u8(): u8 {
    const p = this.take(1);
    return p != 0 ? load<u8>(p) : 0;
  }

  u32(): u32 {
    const p = this.take(4);
    return p != 0 ? load<u32>(p) : 0;
  }

  u64(): u64 {
    const p = this.take(8);
    return p != 0 ? load<u64>(p) : 0;
  }

  i64(): i64 {
    return <i64>this.u64();
  }

  f64(): f64 {
    return reinterpret<f64>(this.u64());
  }

  time(): Time {
    return timeOfWire(this.i64());
  }

  string(): string {
    return this.slice().toString();
  }

  bytes(): Uint8Array {
    return this.slice().toBytes();
  }

  private slice(): Slice {
    const n = this.u32(), p = this.take(n);
    return new Slice(p, p != 0 ? n : 0);
  }

  // 0 if the state was read exactly to its end, else a failure: return it from restore.
  end(): i32 {
    if (this.short) return fail("the state ends early, after " + this.size.toString() + " bytes");
    if (this.at < this.size) return fail("the state has " + (this.size - this.at).toString() + " bytes more than this guest wrote");
    return 0;
  }
}
