// SPDX-License-Identifier: Apache-2.0

// Input batches and their entries.
import { Column } from "./column";
import { Flat } from "./flat";
import { panic } from "./host";
import { Buffer } from "./memory";

// What one row stands for: the input tokens it carries, and the token that its input columns are read from. A guest hands it on whole and never
// makes one (W-307). It is lent by a batch until the callback returns, or by Held.
@final
export class Entry {
  constructor(
    public ptr: usize, // of the tokens
    public tokens: u32,
    public hasSource: bool,
    public source: u64,
  ) {}
}

const HELD: u32 = 24;

// Entries that outlive the callback.
@final
export class Held {
  private tokens: Buffer = new Buffer();
  private entries: Buffer = new Buffer(); // source, first, count, whether there is a source, nothing

  // Copies an entry to the end.
  hold(e: Entry): void {
    const at = this.entries.extend(HELD);
    store<u64>(at, e.source);
    store<u32>(at, this.tokens.size, 8);
    store<u32>(at, e.tokens, 12);
    store<u32>(at, e.hasSource ? 1 : 0, 16);
    this.tokens.add(e.ptr, 8 * e.tokens);
  }

  get length(): i32 {
    return this.entries.size / HELD;
  }

  // Lends an entry until the next hold or clear.
  entry(i: i32): Entry {
    if (<u32>i >= <u32>this.length) panic("entry " + i.toString() + " of " + this.length.toString() + " held ones");
    const at = this.entries.ptr + HELD * i;
    return new Entry(this.tokens.ptr + load<u32>(at, 8), load<u32>(at, 12), load<u32>(at, 16) != 0, load<u64>(at));
  }

  // Forgets all and keeps the room.
  clear(): void {
    this.tokens.clear();
    this.entries.clear();
  }
}

// An input batch. All of it is lent until the callback returns.
@final
export class Batch {
  rows: i32 = 0;
  columns: Array<Column> = []; // in the order of the input schema
  message: usize = 0;
  entries: u32 = 0; // where their offsets are

  // A column, numbered as in the input schema.
  column(i: i32): Column {
    if (<u32>i >= <u32>this.columns.length) panic("column " + i.toString() + " of a batch of " + this.columns.length.toString());
    return unchecked(this.columns[i]);
  }

  // What a row stands for.
  entry(row: i32): Entry {
    if (<u32>row >= <u32>this.rows) panic("row " + row.toString() + " of a batch of " + this.rows.toString() + " rows");
    const table = this.table(row), source = sourceOf(table), tokens = tokensOf(table);
    return new Entry(tokens + 4, load<u32>(tokens), source != 0, source != 0 ? load<u64>(table + source) : 0);
  }

  table(row: i32): usize {
    const at = this.message + this.entries + 4 * row;
    return at + load<u32>(at);
  }

  // Judges the rows and decisions of a sidecar.
  read(f: Flat, sidecar: u32): void {
    const rows = f.vector(sidecar, 0, 4), n = f.count(rows);
    let last: u32 = 0, tokens: u32 = 0;
    for (let i: u32 = 0; i < n && !f.bad; i++) {
      if (last != 0 && last % 8 == 0) {
        i += plainRows(f, rows + 4 * i, n - i, last, tokens);
        if (i == n) break;
      }
      const row = f.element(rows, i, 2);
      f.vector(row, 0, 8);
      f.member(row, 1, 8);
      tokens = f.member(row, 0, 4) - row;
      last = row;
    }
    for (let slot: u32 = 1; slot < 4; slot++) readSets(f, sidecar, slot);
    this.message = f.base;
    this.entries = rows;
    this.rows = n;
  }
}

// Where the source of the table of a row lies in it; 0 if it has none.
export function sourceOf(table: usize): u32 {
  const vtable = table - load<u32>(table);
  return load<u16>(vtable) > 6 ? <u32>load<u16>(vtable, 6) : 0;
}

// Where the vector of its tokens begins.
export function tokensOf(table: usize): usize {
  const member = table + load<u16>(table - load<u32>(table), 4);
  return member + load<u32>(member);
}

// Passes over rows that have the layout of the row before and one token each, and stops before the first other: hosts write nothing else, and
// judging each table anew is half the cost of a batch.
function plainRows(f: Flat, at: u32, n: u32, like: u32, tokens: u32): u32 {
  const b = f.base, vtable = f.vtableOf(like), size = <u32>load<u16>(b + vtable, 2), inline = max<u32>(size, 12);
  if (inline > f.size) return 0;
  const last = f.size - inline;
  let end = f.end, passed: u32 = 0;
  for (; passed < n; passed++, at += 4) {
    const row = at + load<u32>(b + at);
    if (row <= at || row > last || row % 8 != 0 || row - load<u32>(b + row) != vtable) break;
    const list = row + tokens + load<u32>(b + row + tokens);
    if (list <= row || list > last || list % 8 != 4 || load<u32>(b + list) != 1) break;
    end = max(end, max(row + size, list + 12));
  }
  f.end = end;
  return passed;
}

// Judges the decisions of a sidecar, of which an input has none.
function readSets(f: Flat, sidecar: u32, slot: u32): void {
  const members = min<u32>(slot, 2), sets = f.vector(sidecar, slot, 4), n = f.count(sets);
  for (let i: u32 = 0; i < n && !f.bad; i++) {
    const set = f.element(sets, i, members);
    f.vector(set, 0, 8);
    if (members == 2) f.checkText(set, 1);
  }
}
