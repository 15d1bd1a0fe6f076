// SPDX-License-Identifier: Apache-2.0

// Outputs: routes, rows and decisions.
import { Batch, Entry, sourceOf, tokensOf } from "./batch";
import { Generated } from "./generated";
import { panic } from "./host";
import { Buffer } from "./memory";
import { Init, Schema } from "./schema";

// Where a column of a route comes from, as on the wire.
export enum Source {
  Input, Generated, Uninitialized,
}

// One envelope: routes whose rows agree, with one generated batch that they share. Call.output begins it, Call.emit sends it; it ends with that,
// or with the callback. Outputs whose rows differ are outputs of their own.
@final
export class Output {
  routes: Array<Route> = [];
  columns: Array<Generated> = [];
  wrong: string = ""; // the first mistake
  // What earlier outputs were made of, to be used again: a guest makes the same output for each batch.
  private oldRoutes: Array<Route> = [];
  private oldColumns: Array<Generated> = [];

  constructor(public init: Init, public number: i32) {}

  // Makes the output as good as new.
  reset(): void {
    while (this.routes.length > 0) this.oldRoutes.push(this.routes.pop());
    while (this.columns.length > 0) this.oldColumns.push(this.columns.pop());
    this.wrong = "";
  }

  mistake(what: string): void {
    if (this.wrong.length == 0) this.wrong = what;
  }

  private schema(relay: i32): Schema {
    const all = this.init.outputs;
    if (<u32>relay >= <u32>all.length) panic("output " + relay.toString() + " of a processor that has " + all.length.toString());
    return all[relay];
  }

  // Makes a column with the type of a field of an output, which requireOutput numbered. Any route may use it, in several fields: make it once (W-245).
  generate(relay: i32, field: string): Generated {
    const s = this.schema(relay), i = s.find(field);
    if (i < 0) panic(s.name + " has no field " + field);
    return this.generateAt(relay, i);
  }

  // generate for a field by its number.
  generateAt(relay: i32, field: i32): Generated {
    const s = this.schema(relay);
    if (<u32>field >= <u32>s.fields.length) panic("field " + field.toString() + " of " + s.name + ", which has " + s.fields.length.toString());
    const f = s.fields[field];
    let g: Generated | null = null;
    for (let i = 0; i < this.oldColumns.length; i++) {
      const old = this.oldColumns[i];
      if (old.type !== f.type || old.optional != f.optional) continue;
      this.oldColumns[i] = this.oldColumns[this.oldColumns.length - 1];
      this.oldColumns.pop();
      old.reset();
      g = old;
      break;
    }
    const column = g === null ? new Generated(f.type, f.optional) : g;
    column.owner = this.number;
    column.index = this.columns.length;
    this.columns.push(column);
    return column;
  }

  // Begins what goes to a relay.
  route(relay: i32): Route {
    const s = this.schema(relay);
    const r = this.oldRoutes.length > 0 ? this.oldRoutes.pop() : new Route(this);
    r.reset(s);
    this.routes.push(r);
    return r;
  }

  // Completes the columns and finds mistakes.
  judge(): string {
    if (this.routes.length == 0) this.mistake("it has no route");
    const rows: u32 = this.columns.length > 0 ? this.columns[0].rows : 0;
    for (let i = 0; i < this.columns.length; i++) {
      const g = this.columns[i], wrong = g.finish();
      if (wrong.length > 0) this.mistake(wrong);
      if (!g.used) this.mistake("a generated column is not used by any route");
      if (g.rows != rows) this.mistake("generated columns have different numbers of rows");
    }
    let inputs = false, sourceless = false;
    for (let i = 0; i < this.routes.length; i++) {
      const r = this.routes[i];
      if (r.count != r.to.fields.length) this.mistake("a route has fewer columns than its relay has fields");
      if (r.takesGenerated && r.ownRows() != rows) this.mistake("a generated column has another number of rows than its route");
      inputs = inputs || r.takesInput;
      sourceless = sourceless || r.sourceless;
    }
    if (inputs && sourceless) this.mistake("a row without source stands beside columns of the input");
    return this.wrong;
  }
}

// Decides a row of Route.map; puts one value into each generated column if it answers Verdict.Carry, and otherwise sets `reason` if there is one.
export type Decider = (batch: Batch, row: i32) => Verdict;

// What becomes of a row of Route.map. Its static members are Route.carry, ack, nack and messageError.
@final
export class Verdict {
  constructor(public fate: i32, public reason: string) {}

  static carried(): Verdict {
    return CARRIED;
  }

  static acked(): Verdict {
    return ACKED;
  }

  static nacked(reason: string): Verdict {
    return new Verdict(2, reason);
  }

  static errored(reason: string): Verdict {
    return new Verdict(3, reason);
  }
}

const CARRIED = new Verdict(0, "");
const ACKED = new Verdict(1, "");

// What goes to one relay: columns, rows, and what becomes of the inputs that no row carries.
@final
export class Route {
  to: Schema;
  columns: Buffer = new Buffer(); // pairs of source and index
  count: i32 = 0; // of columns
  rows: u32 = 0;
  takesInput: bool = false;
  takesGenerated: bool = false;
  sourceless: bool = false;
  records: Buffer = new Buffer(); // the tables of the rows as they go into the message, but for the distance to their vtable
  same: Route | null = null; // the rows of this route instead
  acked: Buffer = new Buffer(); // tokens
  nacked: Buffer = new Buffer(); // count of tokens, length of reason, tokens, reason; to a multiple of 8
  failed: Buffer = new Buffer();
  nacks: u32 = 0;
  failures: u32 = 0;
  rowsAt: u32 = 0; // in the message
  sidecarAt: u32 = 0;

  constructor(private owner: Output) {
    this.to = owner.init.input; // until reset
  }

  reset(to: Schema): void {
    this.to = to;
    this.columns.clear();
    this.records.clear();
    this.acked.clear();
    this.nacked.clear();
    this.failed.clear();
    this.count = 0;
    this.rows = this.nacks = this.failures = 0;
    this.takesInput = this.takesGenerated = this.sourceless = false;
    this.same = null;
  }

  ownRows(): u32 {
    const same = this.same;
    return same === null ? this.rows : same.rows;
  }

  // The methods below name the columns of the route in the order of the fields of its relay; they can be chained.
  private add(source: Source, index: u32): void {
    this.columns.add32(source);
    this.columns.add32(index);
    this.count++;
  }

  private full(): bool {
    if (this.count < this.to.fields.length) return false;
    this.owner.mistake("a route has more columns than its relay has fields");
    return true;
  }

  // Takes a column of the input by its number. The host has its values: they are named, never copied.
  fromInput(column: i32): Route {
    const input = this.owner.init.input;
    if (<u32>column >= <u32>input.fields.length) {
      this.owner.mistake("a route takes a column that the input does not have");
      return this;
    }
    if (this.full()) return this;
    const from = input.fields[column], to = this.to.fields[this.count];
    if (from.optional != to.optional || !from.type.equals(to.type)) this.owner.mistake("a column has another type or nullability than its field");
    this.takesInput = true;
    this.add(Source.Input, column);
    return this;
  }

  // Takes a generated column of this output.
  fromGenerated(g: Generated): Route {
    if (g.owner != this.owner.number) {
      this.owner.mistake("a route takes a generated column of another output");
      return this;
    }
    g.used = true;
    if (this.full()) return this;
    const to = this.to.fields[this.count];
    if (g.optional != to.optional || !g.type.equals(to.type)) this.owner.mistake("a column has another type or nullability than its field");
    this.takesGenerated = true;
    this.add(Source.Generated, g.index);
    return this;
  }

  // Leaves the next field to SET of the route; it is null otherwise.
  fromNothing(): Route {
    if (!this.full()) this.add(Source.Uninitialized, 0);
    return this;
  }

  private mayCarry(): bool {
    if (this.same === null) return true;
    this.owner.mistake("a route with the rows of another one is given rows of its own");
    return false;
  }

  @inline
  private record(tokens: usize, n: u32, hasSource: bool, source: u64): void {
    const at = this.records.extend(24 + 8 * n);
    store<u32>(at, hasSource ? 1 : 0);
    store<u32>(at, 16, 4); // from the member to the vector
    store<u64>(at, source, 8);
    store<u32>(at, 0, 16);
    store<u32>(at, n, 20);
    if (n == 1) store<u64>(at, load<u64>(tokens), 24);
    else memory.copy(at + 24, tokens, 8 * n);
    this.rows++;
    if (!hasSource) this.sourceless = true;
  }

  // Adds a row, with its entry whole.
  carry(e: Entry): void {
    if (this.mayCarry()) this.record(e.ptr, e.tokens, e.hasSource, e.source);
  }

  // Adds all rows of a batch.
  carryAll(batch: Batch): void {
    if (!this.mayCarry()) return;
    for (let i = 0; i < batch.rows; i++) {
      const table = batch.table(i), source = sourceOf(table), tokens = tokensOf(table);
      this.record(tokens + 4, load<u32>(tokens), source != 0, source != 0 ? load<u64>(table + source) : 0);
    }
  }

  // Gives the route the rows of another route of this output, those it has and those it will have.
  carrySame(other: Route): void {
    if (this.rows > 0 || other === this || other.same !== null || other.owner !== this.owner) {
      this.owner.mistake("a route takes over rows that it cannot have");
      return;
    }
    this.same = other;
  }

  // An input is done without a row. An input that is neither carried nor decided stays with the guest.
  ack(e: Entry): void {
    this.acked.add(e.ptr, 8 * e.tokens);
  }

  // An input fails at once, so that its source may send it again.
  nack(e: Entry, reason: string): void {
    decide(this.nacked, e, reason);
    this.nacks++;
  }

  // An input fails by the route's ON MESSAGE ERROR.
  messageError(e: Entry, reason: string): void {
    decide(this.failed, e, reason);
    this.failures++;
  }

  // Carries the rows of a batch that keep accepts, and acknowledges the others. Entries stay whole. A function of AssemblyScript sees its parameters
  // and what is global; an instance is one branch, so what is global is the branch's.
  filter(batch: Batch, keep: (batch: Batch, row: i32) => bool): void {
    for (let i = 0; i < batch.rows; i++) {
      if (keep(batch, i)) this.carry(batch.entry(i));
      else this.ack(batch.entry(i));
    }
  }

  // Lets decide judge every row of a batch. Entries stay whole.
  map(batch: Batch, decide: Decider): void {
    for (let i = 0; i < batch.rows; i++) {
      const v = decide(batch, i), e = batch.entry(i);
      switch (v.fate) {
        case 0: this.carry(e); break;
        case 1: this.ack(e); break;
        case 2: this.nack(e, v.reason); break;
        default: this.messageError(e, v.reason);
      }
    }
  }
}

function decide(to: Buffer, e: Entry, reason: string): void {
  to.add32(e.tokens);
  const length = to.add32(0);
  to.add(e.ptr, 8 * e.tokens);
  const from = to.size;
  to.addText(reason);
  to.put32(length, to.size - from);
  to.pad(8);
}
