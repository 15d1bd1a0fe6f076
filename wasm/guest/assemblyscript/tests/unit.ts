// SPDX-License-Identifier: Apache-2.0

// Tests of the kit, compiled to a module of their own; run.mjs runs every export whose name begins with "test". What fails calls panic, and so
// leaves its reason on the error channel. Tests named "testTrap..." end with a trap and that reason.
import { Batch, Call, Duration, Entry, fail, Generated, Held, Init, Kind, OK, Output, panic, Processor, Schema, StateReader, StateWriter, Time, Timeout, Verdict, Type, Field } from "../assembly";
import { CONTINUATION, InputReader } from "../assembly/arrow";
import { writeBatch, writeRows, writeSchema } from "../assembly/envelope";
import { nervix_alloc, nervix_buffer_capacity, nervix_buffer_len, nervix_buffer_ptr, nervix_clear_global_error, nervix_dump_state, nervix_flush, nervix_init, nervix_load_state, nervix_on_timeout, nervix_process_batch, nervix_read_emit, nervix_reset_state } from "../assembly/exports";
import { Flat } from "../assembly/flat";
import { reasonLength, reasonPtr } from "../assembly/host";
import { timeOfWire, wireOfTime } from "../assembly/instant";
import { instance, renew } from "../assembly/instance";
import { Buffer } from "../assembly/memory";
import { beginMessage, endMessage, open, Variant, VT_SIDECAR } from "../assembly/message";

export { nervix_global_error_len, nervix_global_error_ptr } from "../assembly/exports";

@external("test", "set_now")
declare function setNow(at: i64): void;

const FIRST: u64 = 1 << 40;
let next: u64 = FIRST;

function check(ok: bool, what: string): void {
  if (!ok) panic(what);
}

function same(got: string, want: string): void {
  if (got != want) panic("`" + got + "` instead of `" + want + "`");
}

function reason(): string {
  return String.UTF8.decodeUnsafe(reasonPtr(), reasonLength());
}

function ok(code: i32): void {
  if (code != 0 || reasonLength() > 0) panic("the call answers " + code.toString() + ": " + reason());
}

// The call was refused with a code and a reason; clears the channel as a host does.
function refuses(got: i32, code: i32, why: string): void {
  same(got.toString() + " " + reason(), code.toString() + " " + why);
  nervix_clear_global_error();
}

// ---- The messages of a host

function schema(name: string, fields: string): Schema {
  const all: Array<Field> = [], parts = split(fields);
  for (let i = 0; i < parts.length; i++) {
    const at = parts[i].indexOf(" ");
    let type = parts[i].substring(at + 1);
    const optional = type.endsWith(" OPTIONAL");
    if (optional) type = type.substring(0, type.length - 9);
    all.push(new Field(parts[i].substring(0, at), typeOf(type), optional));
  }
  return new Schema(name, all);
}

function split(s: string): Array<string> {
  const all: Array<string> = [];
  let depth = 0, from = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c == 0x3c) depth++;
    else if (c == 0x3e) depth--;
    else if (c == 0x2c && depth == 0) {
      all.push(s.substring(from, i).trim());
      from = i + 1;
    }
  }
  all.push(s.substring(from).trim());
  return all;
}

function typeOf(s: string): Type {
  if (s.startsWith("VEC<")) return new Type(Kind.Vec, 0, typeOf(s.substring(4, s.length - 1)));
  if (s.startsWith("ARRAY<")) {
    const parts = split(s.substring(6, s.length - 1));
    let type = typeOf(parts[0]);
    for (let i = parts.length - 1; i > 0; i--) type = new Type(Kind.Array, <u32>parseInt(parts[i]), type);
    return type;
  }
  for (let k = 0; k < 14; k++) {
    const type = new Type(<Kind>k, 0, null);
    if (type.toString() == s) return type;
  }
  panic("no type " + s);
  return new Type(Kind.U8, 0, null);
}

const INIT_VTABLES: StaticArray<u16> = [8, 12, 8, 4, 14, 24, 4, 8, 12, 16, 20, 8, 12, 4, 8, 10, 16, 4, 8, 12, 10, 16, 12, 4, 8, 6, 8, 4];

function encodeInit(i: Init): Buffer {
  const b = new Buffer(), key = i.branchKey;
  b.zeros(8);
  b.addText("NVWY");
  b.add(changetype<usize>(INIT_VTABLES), 2 * INIT_VTABLES.length); // Message, BranchInit 20, Schema 34, Field 42, Type 52, Type of a scalar 62
  b.pad(4);
  const message = b.table(12, 12);
  b.put32(4, message - 4);
  b.put8(message + 8, Variant.Init);
  b.point(message + 4);
  const t = b.table(20, 24);
  b.point(t + 4);
  b.text(i.domainName);
  b.point(t + 8);
  b.text(i.domainType);
  if (key === null) {
    b.put16(28, 0);
  } else {
    b.point(t + 12);
    b.text(key);
  }
  addSchema(b, t + 16, i.input);
  b.point(t + 20);
  let offset = b.offsets(i.outputs.length);
  for (let k = 0; k < i.outputs.length; k++, offset += 4) addSchema(b, offset, i.outputs[k]);
  endMessage(b);
  return b;
}

function addSchema(b: Buffer, at: u32, s: Schema): void {
  b.point(at);
  const t = b.table(34, 12);
  b.point(t + 4);
  b.text(s.name);
  b.point(t + 8);
  let offset = b.offsets(s.fields.length);
  for (let i = 0; i < s.fields.length; i++, offset += 4) {
    b.point(offset);
    const f = b.table(42, 16);
    b.put8(f + 12, s.fields[i].optional ? 1 : 0);
    b.point(f + 4);
    b.text(s.fields[i].name);
    addType(b, f + 8, s.fields[i].type);
  }
}

function addType(b: Buffer, at: u32, type: Type): void {
  b.point(at);
  const element = type.element;
  if (element === null) {
    b.put8(b.table(62, 8) + 4, type.kind);
    return;
  }
  const t = b.table(52, 16);
  b.put8(t + 12, type.kind);
  b.put32(t + 8, type.length);
  addType(b, t + 4, element);
}

// Rows "sensor value" for the plain schema, with the epoch as `at`; "-" is null. Each row has so many tokens.
function encodeRows(rows: Array<string>, tokens: u32): Buffer {
  const init = plain();
  init.outputs = [init.input];
  const o = new Output(init, 0), route = o.route(0);
  const sensor = o.generateAt(0, 0), value = o.generateAt(0, 1), at = o.generateAt(0, 2);
  route.fromGenerated(sensor).fromGenerated(value).fromGenerated(at);
  const list = new Buffer();
  for (let i = 0; i < rows.length; i++) {
    const parts = rows[i].split(" ");
    sensor.string(parts[0]);
    if (parts[1] == "-") value.null();
    else value.i64(<i64>parseInt(parts[1]));
    at.time(Time.epoch());
    list.clear();
    for (let k: u32 = 0; k < tokens; k++) list.add64(next++);
    route.carry(new Entry(list.ptr, tokens, true, next - 1));
  }
  list.free();
  same(o.judge(), "");
  return inputOf(o);
}

// What an output of generated columns is as an input. The output is not used again.
function inputOf(o: Output): Buffer {
  const b = new Buffer(), t = beginMessage(b, Variant.Input);
  b.point(t + 8);
  const sidecar = b.table(VT_SIDECAR, 20);
  for (let member = sidecar + 8; member < sidecar + 20; member += 4) {
    b.point(member);
    b.offsets(0);
  }
  writeRows(b, o.routes[0]);
  b.put32(sidecar + 4, o.routes[0].rowsAt - (sidecar + 4));
  b.padTo(12, 16);
  b.point(t + 4);
  const length = b.add32(0);
  writeSchema(b, o);
  writeBatch(b, o);
  b.add32(CONTINUATION);
  b.add32(0);
  b.put32(length, b.size - length - 4);
  endMessage(b);
  for (let i = 0; i < o.columns.length; i++) {
    o.columns[i].values.free();
    o.columns[i].data.free();
    o.columns[i].validity.free();
  }
  o.routes[0].records.free();
  o.routes[0].columns.free();
  return b;
}

function plain(): Init {
  const i = new Init();
  i.domainName = "d";
  i.domainType = "unpaced";
  i.branchKey = '{"tenant":"alpha"}';
  i.input = schema("incoming", "sensor STRING, value I64 OPTIONAL, at DATETIME");
  i.outputs = [schema("out", "sensor STRING, value I64 OPTIONAL, at DATETIME"), schema("more", "number I64")];
  return i;
}

function place(message: Buffer): i32 {
  const at = nervix_alloc(message.size);
  memory.copy(at, message.ptr, message.size);
  return at;
}

// A new instance of a processor after init.
function began(p: Processor, desc: Init): void {
  renew();
  next = FIRST;
  instance.processor = p;
  const message = encodeInit(desc);
  ok(nervix_init(place(message), message.size));
}

function batch(rows: Array<string>, tokens: u32 = 1): i32 {
  const message = encodeRows(rows, tokens), at = place(message);
  message.free();
  return nervix_process_batch(at, nervix_buffer_len());
}

function loadState(state: Buffer): i32 {
  return nervix_load_state(place(state), state.size);
}

function state(): Buffer {
  const n = nervix_dump_state(), b = new Buffer();
  check(n > 0, "dump answers " + n.toString());
  b.add(nervix_buffer_ptr(), n);
  return b;
}

function equal(a: Buffer, b: Buffer): bool {
  return a.size == b.size && memory.compare(a.ptr, b.ptr, a.size) == 0;
}

// Renders all that waits: rows and decisions of each route, and how many generated bytes there are.
function said(): string {
  let all = "";
  for (let n = nervix_read_emit(); n > 0; n = nervix_read_emit()) {
    const f = new Flat(nervix_buffer_ptr(), n), t = open(f, Variant.Output, 2), stream = f.vector(t, 0, 1), routes = f.vector(t, 1, 4);
    for (let k: u32 = 0; k < f.count(routes); k++) {
      const r = f.element(routes, k, 3), columns = f.vector(r, 1, 4), sidecar = f.child(r, 2, 4);
      all += f.text(r, 0) + ":";
      for (let c: u32 = 0; c < f.count(columns); c++) {
        const one = f.element(columns, c, 2), source = f.u8(one, 0);
        all += (source == 0 ? " in" : source == 1 ? " gen" : " none") + f.u32(one, 1).toString();
      }
      const b = new Batch();
      b.read(f, sidecar);
      for (let i = 0; i < b.rows; i++) {
        const e = b.entry(i);
        all += " " + tokensText(e.ptr, e.tokens) + (e.hasSource ? "<" + (e.source - FIRST).toString() : "");
      }
      for (let slot: u32 = 1; slot < 4; slot++) {
        const sets = f.vector(sidecar, slot, 4);
        for (let i: u32 = 0; i < f.count(sets); i++) {
          const set = f.element(sets, i, 2), tokens = f.vector(set, 0, 8);
          all += (slot == 1 ? " acked" : slot == 2 ? " nacked" : " errors") + tokensText(f.base + tokens, f.count(tokens));
          if (slot > 1) all += "'" + f.text(set, 1) + "'";
        }
      }
      all += ";";
    }
    if (f.count(stream) > 0) all += " +";
    check(f.closed(), "the envelope is damaged");
  }
  return all;
}

function tokensText(ptr: usize, n: u32): string {
  let text = "[";
  for (let i: u32 = 0; i < n; i++) text += (i > 0 ? " " : "") + (load<u64>(ptr + 8 * i) - FIRST).toString();
  return text + "]";
}

// ---- Buffer

class Passing extends Processor {
  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output();
    out.route(0).fromInput(0).fromInput(1).fromInput(2).carryAll(batch);
    return call.emit(out);
  }
}

export function testAlloc(): void {
  // req: W-303
  began(new Passing(), plain());
  const sizes: Array<i32> = [0, 1, 100, 65536, 65537, 10, 1 << 20, 3];
  for (let i = 0; i < sizes.length; i++) {
    const at = nervix_alloc(sizes[i]);
    check(at > 0 && at == nervix_buffer_ptr() && at % 16 == 0 && nervix_buffer_capacity() >= sizes[i] && nervix_buffer_len() == sizes[i], "alloc " + sizes[i].toString());
  }
  check(nervix_alloc(-1) < 0 && nervix_alloc(i32.MIN_VALUE) < 0 && nervix_alloc((64 << 20) + 1) < 0, "a bad size is granted");
}

export function testSteady(): void {
  // req: A16
  began(new Passing(), plain());
  ok(batch(["a 1"]));
  const at = nervix_alloc(64), pages = memory.size();
  for (let i = 0; i < 3000; i++) {
    ok(batch(["a 1", "b 2"]));
    said();
    state().free();
    check(nervix_alloc(64) == at, "the buffer of the input is not used again");
  }
  check(memory.size() <= pages + 40, "the memory grew to " + memory.size().toString() + " pages");
}

export function testRanges(): void {
  // req: W-045
  began(new Passing(), plain());
  const at = nervix_alloc(4096), capacity = nervix_buffer_capacity();
  const all: Array<i32> = [at, -1, at, i32.MIN_VALUE, at, i32.MAX_VALUE, at - 1, 16, at - 64, 64, at + 1, capacity, at + capacity, 1, at, capacity + 1, 0, 16, -1, 16, -16, 32];
  for (let i = 0; i < all.length; i += 2) {
    const codes: Array<i32> = [nervix_init(all[i], all[i + 1]), nervix_process_batch(all[i], all[i + 1]), nervix_load_state(all[i], all[i + 1])];
    for (let k = 0; k < 3; k++) check((codes[k] == -1 || codes[k] == -2) && reasonLength() == 0, "range " + i.toString() + " is answered " + codes[k].toString());
  }
}

class Lending extends Processor {
  kept: string = "";

  processBatch(call: Call, batch: Batch): i32 {
    const c = batch.column(0), slice = c.bytes(0), first = <usize>nervix_buffer_ptr();
    check(slice.ptr >= first && slice.ptr < first + nervix_buffer_len() && slice.ptr + slice.size == c.bytes(1).ptr, "the bytes are not a slice of the buffer");
    this.kept = c.string(0);
    return OK;
  }
}

export function testLentBytes(): void {
  // req: W-305
  const p = new Lending();
  began(p, plain());
  ok(batch(["north 1", "south 2"]));
  memory.fill(nervix_alloc(1000), 0, 1000);
  same(p.kept, "north");
}

// ---- Entries, outputs

class Filtering extends Processor {
  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output();
    out.route(0).fromInput(0).fromInput(1).fromInput(2).filter(batch, (b, row) => !b.column(1).isNull(row));
    return call.emit(out);
  }
}

export function testFilter(): void {
  // req: W-307
  began(new Filtering(), plain());
  ok(batch(["a 1", "b -", "c 2"], 2));
  same(said(), "out: in0 in1 in2 [0 1]<1 [4 5]<5 acked[2 3];");
}

class Mapping extends Processor {
  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output();
    number = out.generate(1, "number");
    out.route(1).fromGenerated(number!).map(batch, (b, row) => {
      const sensor = b.column(0).string(row);
      if (sensor == "keep") {
        number!.i64(row);
        return Verdict.carried();
      }
      if (sensor == "drop") return Verdict.acked();
      return sensor == "fail" ? Verdict.nacked("why not") : Verdict.errored("what is it");
    });
    return call.emit(out);
  }
}

let number: Generated | null = null;

export function testMap(): void {
  // req: W-307
  began(new Mapping(), plain());
  ok(batch(["keep 1", "drop -", "fail 2", "odd 2", "keep 2"], 2));
  same(said(), "more: gen0 [0 1]<1 [8 9]<9 acked[2 3] nacked[4 5]'why not' errors[6 7]'what is it'; +");
}

class Sharing extends Processor {
  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output(), g = out.generate(1, "number");
    for (let i = 0; i < batch.rows; i++) g.i64(i);
    const first = out.route(1).fromGenerated(g);
    first.carryAll(batch);
    out.route(2).fromInput(0).fromGenerated(g).fromGenerated(g).carrySame(first);
    return call.emit(out);
  }
}

export function testSharedColumn(): void {
  // req: W-245 half: a generated column is one column of the pool for all routes, unchanged inputs are named and not written again
  const desc = plain();
  desc.outputs.push(schema("again", "sensor STRING, number I64, other I64"));
  began(new Sharing(), desc);
  ok(batch(["secret 1", "b 2"]));
  const n = nervix_read_emit(), message = String.UTF8.decodeUnsafe(nervix_buffer_ptr(), n);
  check(message.indexOf("secret") < 0, "an unchanged input column is written again");
  ok(batch(["secret 1", "b 2"]));
  same(said(), "more: gen0 [2]<2 [3]<3;again: in0 gen0 gen0 [2]<2 [3]<3; +");
}

let mistake: i32 = 0;

class Mistaken extends Processor {
  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output();
    switch (mistake) {
      case 0: break;
      case 1: out.route(0).fromInput(0).fromInput(1); break;
      case 2: out.route(0).fromInput(0).fromInput(1).fromInput(2).fromInput(2); break;
      case 3: out.route(1).fromInput(1); break;
      case 4: out.route(1).fromInput(3); break;
      case 5:
        out.generate(1, "number");
        out.route(1).fromNothing();
        break;
      case 6: out.route(1).fromGenerated(out.generate(1, "number")).carryAll(batch); break;
      case 7: {
        const g = out.generate(1, "number");
        g.string("x");
        out.route(1).fromGenerated(g);
        break;
      }
      case 8: {
        const g = out.generate(1, "number");
        g.null();
        out.route(1).fromGenerated(g);
        break;
      }
      case 9: {
        const e = batch.entry(0);
        out.route(0).fromInput(0).fromInput(1).fromInput(2).carry(new Entry(e.ptr, e.tokens, false, 0));
        break;
      }
      case 10: out.route(1).fromGenerated(call.output().generate(1, "number")); break;
      default: {
        const first = out.route(1).fromNothing(), second = out.route(1).fromNothing();
        second.carrySame(first);
        second.carryAll(batch);
      }
    }
    return call.emit(out);
  }
}

export function testMistakes(): void {
  // req: W-243
  const reasons = [
    "it has no route",
    "a route has fewer columns than its relay has fields",
    "a route has more columns than its relay has fields",
    "a column has another type or nullability than its field",
    "a route takes a column that the input does not have",
    "a generated column is not used by any route",
    "a generated column has another number of rows than its route",
    "a value of another type is put into a generated column",
    "a null is put into a generated column that is not optional",
    "a row without source stands beside columns of the input",
    "a route takes a generated column of another output",
    "a route with the rows of another one is given rows of its own",
  ];
  for (mistake = 0; mistake < reasons.length; mistake++) {
    began(new Mistaken(), plain());
    refuses(batch(["a 1"]), -6, "the guest emits an output that is wrong: " + reasons[mistake]);
    same(said(), "");
  }
}

// ---- Init, failures

class Picky extends Processor {
  create(call: Call, init: Init): i32 {
    return init.requireInput("sensor STRING");
  }

  processBatch(call: Call, batch: Batch): i32 {
    return OK;
  }
}

export function testMismatchedInit(): void {
  // req: W-245 half: a guest refuses an init that it does not serve, and a second init: an instance is one branch
  renew();
  instance.processor = new Picky();
  const message = encodeInit(plain());
  refuses(nervix_init(place(message), message.size), -6, "the input incoming has the fields (sensor STRING, value I64 OPTIONAL, at DATETIME), this guest needs (sensor STRING)");
  check(nervix_flush() == -3 && nervix_on_timeout(1) == -3 && nervix_dump_state() == -3, "a guest that refused init goes on");
  began(new Passing(), plain());
  refuses(nervix_init(place(message), message.size), -6, "the guest is initialized already");
  const i = plain();
  refuses(i.requireOutput("none", ""), -6, "the processor has no output none, which this guest needs");
  refuses(i.requireOutput("more", "number U64"), -6, "the output more has the fields (number I64), this guest needs (number U64)");
  refuses(i.input.require("value", "I64"), -6, "field value of incoming is I64 OPTIONAL, this guest needs I64");
  refuses(i.input.require("worth", ""), -6, "incoming has no field worth, which this guest needs");
  check(i.requireOutput("more", "") == 1 && i.input.require("value", "I64 OPTIONAL") == 1, "what is there is not found");
}

class Failing extends Processor {
  step: i32 = 0;

  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output();
    out.route(0).fromInput(0).fromInput(1).fromInput(2).carryAll(batch);
    const code = call.emit(out);
    if (code < 0) return code;
    switch (this.step++) {
      case 0: return fail("a reason");
      case 1:
        call.reportGlobalError("reported");
        call.reportGlobalError("a second reason");
        return OK;
      case 2: return -77;
      default: return OK;
    }
  }
}

export function testFailuresLatch(): void {
  // req: W-243
  began(new Failing(), plain());
  const code = batch(["a 1"]);
  check(batch(["a 1"]) == -6 && nervix_on_timeout(1) == -6 && nervix_flush() == -6, "a callback runs while a reason waits");
  refuses(code, -6, "a reason");
  refuses(batch(["a 1"]), 0, "reported");
  refuses(batch(["a 1"]), -77, "");
  same(said(), "");
  ok(batch(["a 1"]));
  check(said().length > 0, "nothing is emitted after failures");
  check(nervix_reset_state() < 0, "the instance can be reset");
}

class Panicking extends Processor {
  constructor(private what: i32) {
    super();
  }

  processBatch(call: Call, batch: Batch): i32 {
    const list: Array<i32> = [];
    switch (this.what) {
      case 0: return list[batch.rows];
      case 1: throw new Error("own text");
      case 2: assert(batch.rows > 9, "too few rows"); break;
      case 3: panic("my words"); break;
      case 4: batch.column(0).bytes(1); break;
      case 5: batch.column(0).i64(0); break;
      case 6: batch.entry(9); break;
      default: new Held().entry(0);
    }
    return OK;
  }
}

function trapWith(what: i32): void {
  began(new Panicking(what), plain());
  batch(["a 1"]);
}

// The reasons are in run.mjs.
// req: A01, W-243
export function testTrapIndex(): void { trapWith(0); }
export function testTrapThrow(): void { trapWith(1); }
export function testTrapAssert(): void { trapWith(2); }
export function testTrapPanic(): void { trapWith(3); }
export function testTrapRow(): void { trapWith(4); }
export function testTrapKind(): void { trapWith(5); }
export function testTrapEntry(): void { trapWith(6); }
export function testTrapHeld(): void { trapWith(7); }

// ---- State

class Counting extends Processor {
  seen: u64 = 0;
  held: Held = new Held();
  timeout: Timeout | null = null;

  processBatch(call: Call, batch: Batch): i32 {
    this.timeout = call.after(Duration.seconds(1));
    for (let i = 0; i < batch.rows; i++) {
      this.held.hold(batch.entry(i));
      this.seen++;
    }
    return OK;
  }

  flush(call: Call): i32 {
    const out = call.output(), r = out.route(0).fromInput(0).fromInput(1).fromInput(2);
    for (let i = 0; i < this.held.length; i++) r.carry(this.held.entry(i));
    this.held.clear();
    return call.emit(out);
  }

  saveState(state: StateWriter): i32 {
    state.u64(this.seen);
    return OK;
  }

  restore(state: StateReader): i32 {
    this.seen = state.u64();
    return state.end();
  }
}

export function testStateHoldsNothingTransient(): void {
  // req: W-121, W-245 half: state holds no buffered rows, tokens, timeouts, output or latched errors
  began(new Counting(), plain());
  ok(batch(["a 1", "b -"]));
  const buffered = state();
  ok(nervix_flush());
  check(equal(state(), buffered), "state with output that waits differs");
  same(said(), "out: in0 in1 in2 [0]<0 [1]<1;");
  check(equal(state(), buffered), "state after it was read differs");
  fail("an error that waits");
  check(equal(state(), buffered), "state with a latched error differs");
  nervix_clear_global_error();
  const p = new Counting();
  began(p, plain());
  ok(loadState(buffered));
  check(p.seen == 2 && p.held.length == 0 && p.timeout === null && said() == "", "a successor begins with more than the count");
}

export function testForeignState(): void {
  // req: W-124, W-125, W-053
  const p = new Counting();
  p.seen = 5;
  began(p, plain());
  const saved = state();
  for (let i = 0; i < 10; i++) {
    const desc = plain(), next = new Counting();
    switch (i) {
      case 0: break;
      case 1: desc.domainName = "renamed"; break;
      case 2: desc.domainType = "paced"; break;
      case 3: desc.branchKey = '{"tenant":"beta"}'; break;
      case 4: desc.branchKey = null; break;
      case 5: desc.input.name = "x"; break;
      case 6: desc.input.fields[1].optional = false; break;
      case 7: desc.input.fields[1].type = typeOf("U64"); break;
      case 8: desc.outputs[1].fields.push(desc.outputs[0].fields[0]); break;
      default: desc.outputs.pop();
    }
    began(next, desc);
    const code = loadState(saved);
    if (i < 2) {
      ok(code);
      check(next.seen == 5, "the count is not restored");
    } else {
      refuses(code, -7, "the snapshot is of another branch, or of other schemas");
      check(nervix_flush() == -3 && nervix_dump_state() == -3, "an instance that refused state goes on");
    }
  }
}

let saves: i32 = 0;

// Saves as many bytes as the global says.
class Saving extends Counting {
  saveState(state: StateWriter): i32 {
    for (let i = 0; i < saves; i++) state.u8(7);
    return OK;
  }
}

function wrapped(n: i32): Buffer {
  saves = n;
  began(new Saving(), plain());
  return state();
}

export function testBadState(): void {
  // req: W-245 half: state of a wrong form is refused, with -8 if the wrapping is right and -7 if not
  const short = wrapped(7), long = wrapped(9), right = wrapped(8);
  began(new Counting(), plain());
  refuses(loadState(short), -8, "the state ends early, after 7 bytes");
  began(new Counting(), plain());
  refuses(loadState(long), -8, "the state has 1 bytes more than this guest wrote");
  const damaged = new Buffer();
  damaged.add(right.ptr, right.size);
  for (let i: u32 = 0; i < right.size; i++) {
    began(new Counting(), plain());
    store<u8>(damaged.ptr + i, load<u8>(right.ptr + i) ^ 0x81);
    const code = loadState(damaged);
    check(code == 0 || code == -7 || code == -8, "byte " + i.toString() + ": " + code.toString());
    nervix_clear_global_error();
    store<u8>(damaged.ptr + i, load<u8>(right.ptr + i));
  }
  damaged.add8(0);
  began(new Counting(), plain());
  refuses(loadState(damaged), -7, "the saved bytes are no snapshot");
  began(new Counting(), plain());
  ok(batch(["a 1"]));
  refuses(loadState(right), -3, "");
}

export function testEmptyState(): void {
  // req: W-310
  began(new Passing(), plain());
  const empty = state();
  began(new Passing(), plain());
  ok(loadState(empty));
  const three = wrapped(3);
  began(new Passing(), plain());
  refuses(loadState(three), -8, "this guest saves no state and cannot take 3 bytes of it");
}

// ---- Values

export function testInstants(): void {
  // req: W-311
  const all: Array<i64> = [i64.MIN_VALUE, i64.MAX_VALUE, 0, -1, 1];
  for (let i = 0; i < all.length; i++) {
    const at = Time.epoch().plus(Duration.nanoseconds(all[i]));
    check(wireOfTime(at) == all[i] && at.since(Time.epoch()).inNanoseconds() == all[i] && timeOfWire(all[i]).equals(at), "an instant changes");
  }
  const first = timeOfWire(i64.MIN_VALUE), last = timeOfWire(i64.MAX_VALUE), one = Duration.nanoseconds(1);
  check(last.plus(one).equals(last) && first.plus(Duration.nanoseconds(-1)).equals(first), "arithmetic leaves the ends");
  check(last.since(first).inNanoseconds() == i64.MAX_VALUE && first.since(last).inNanoseconds() == i64.MIN_VALUE, "a difference leaves the ends");
  check(first.isBefore(Time.epoch()) && !Time.epoch().isBefore(first) && Duration.seconds(i64.MAX_VALUE).inNanoseconds() == i64.MAX_VALUE, "order");
  setNow(-5);
  check(new Call().now().since(Time.epoch()).inNanoseconds() == -5, "domain time");
}

export function testDamagedInput(): void {
  // req: W-112 half: each byte of an input changed, and each length cut, is refused or harmless
  began(new Passing(), plain());
  const good = encodeRows(["one 1", "two -"], 1), bad = new Buffer();
  for (let i: u32 = 0; i < good.size; i++) {
    bad.clear();
    bad.add(good.ptr, good.size);
    bad.put8(i, <u32>load<u8>(good.ptr + i) ^ 0x81);
    const code = nervix_process_batch(place(bad), bad.size);
    check(code <= 0 && (code == 0) == (reasonLength() == 0), "byte " + i.toString() + ": " + code.toString() + " " + reason());
    nervix_clear_global_error();
    check(nervix_process_batch(place(good), i) < 0, i.toString() + " bytes are taken");
    nervix_clear_global_error();
  }
  ok(nervix_process_batch(place(good), good.size));
  const other = encodeInit(plain());
  refuses(nervix_process_batch(place(other), other.size), -5, "the input message is damaged or of another kind");
}

export function testTypes(): void {
  // req: W-056 half: spelling and reading back; the kit's batches of all types go through tests/mirror.ts
  const all = "a U8, b I8 OPTIONAL, c VEC<I64>, d ARRAY<F32, 2, 3>, e VEC<ARRAY<STRING, 2>> OPTIONAL, f DATETIME";
  const desc = plain();
  desc.input = schema("in", all);
  began(new Passing(), desc);
  same(instance.init.input.toString(), all);
  check(desc.sameBranch(instance.init), "an init payload does not read as it was written");
}
