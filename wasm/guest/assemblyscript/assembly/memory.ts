// SPDX-License-Identifier: Apache-2.0

// Bytes that grow, outside of what the garbage collector looks at. Little-endian, as WebAssembly is.

@final
export class Buffer {
  ptr: usize = 0;
  size: u32 = 0;
  capacity: u32 = 0;

  // Makes room for more bytes and gives where they begin; they count from now on.
  extend(more: u32): usize {
    const need = this.size + more;
    if (need > this.capacity || this.ptr == 0) {
      let capacity = max<u32>(max<u32>(need, this.capacity * 2), 64);
      this.ptr = this.ptr == 0 ? heap.alloc(capacity) : heap.realloc(this.ptr, capacity);
      this.capacity = capacity;
    }
    const at = this.ptr + this.size;
    this.size = need;
    return at;
  }

  clear(): void {
    this.size = 0;
  }

  free(): void {
    if (this.ptr != 0) heap.free(this.ptr);
    this.ptr = 0;
    this.size = this.capacity = 0;
  }

  @inline
  add8(v: u32): void {
    store<u8>(this.extend(1), <u8>v);
  }

  @inline
  add16(v: u32): void {
    store<u16>(this.extend(2), <u16>v);
  }

  // Appends a number and says where it is.
  @inline
  add32(v: u32): u32 {
    store<u32>(this.extend(4), v);
    return this.size - 4;
  }

  @inline
  add64(v: u64): void {
    store<u64>(this.extend(8), v);
  }

  add(from: usize, n: u32): void {
    if (n > 0) memory.copy(this.extend(n), from, n);
  }

  // Appends a text as UTF-8.
  addText(s: string): void {
    const n = <u32>String.UTF8.byteLength(s);
    if (n > 0) String.UTF8.encodeUnsafe(changetype<usize>(s), s.length, this.extend(n));
  }

  zeros(n: u32): u32 {
    const at = this.size;
    if (n > 0) memory.fill(this.extend(n), 0, n);
    return at;
  }

  pad(to: u32): void {
    this.zeros((to - this.size % to) % to);
  }

  // Appends words of zero until the length leaves a rest.
  padTo(rest: u32, unit: u32): void {
    this.pad(4);
    while (this.size % unit != rest) this.add32(0);
  }

  @inline
  put8(at: u32, v: u32): void {
    store<u8>(this.ptr + at, <u8>v);
  }

  @inline
  put16(at: u32, v: u32): void {
    store<u16>(this.ptr + at, <u16>v);
  }

  @inline
  put32(at: u32, v: u32): void {
    store<u32>(this.ptr + at, v);
  }

  @inline
  put64(at: u32, v: u64): void {
    store<u64>(this.ptr + at, v);
  }

  // Lets the member of a FlatBuffer at a place refer to what is written next, which the caller has aligned.
  @inline
  point(at: u32): void {
    this.put32(at, this.size - at);
  }

  // Begins a table of some bytes, all zero but for the distance to its vtable.
  table(vtable: u32, size: u32): u32 {
    const at = this.zeros(size);
    this.put32(at, at - vtable);
    return at;
  }

  // Begins a vector of offsets and says where the first is.
  offsets(n: u32): u32 {
    this.add32(n);
    return this.zeros(4 * n);
  }

  // A text of a FlatBuffer: with its length and its end, padded to 4.
  text(s: string): void {
    const length = this.add32(0);
    this.addText(s);
    this.put32(length, this.size - length - 4);
    this.add8(0);
    this.pad(4);
  }

  // Sees to it that the elements of the vector that comes next lie at a multiple of 8.
  @inline
  alignVector8(): void {
    this.padTo(4, 8);
  }
}
