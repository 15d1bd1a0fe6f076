// SPDX-License-Identifier: Apache-2.0

// The machine behind the exported functions (W-243).
import { InputReader } from "./arrow";
import { Batch } from "./batch";
import { writeOutput } from "./envelope";
import { Flat } from "./flat";
import { latch, latched } from "./host";
import { timeoutOfWire } from "./instant";
import { Buffer } from "./memory";
import { beginMessage, endMessage, MAX_MESSAGE, open, readInit, Variant } from "./message";
import { Output } from "./output";
import { BAD_BATCH, BAD_MESSAGE, BAD_RANGE, BAD_SIZE, BAD_SNAPSHOT, BAD_STATE, Call, fail, NOT_READY, OK, Processor, REJECTED } from "./processor";
import { Init } from "./schema";
import { StateReader, StateWriter } from "./state";

@final
export class Instance {
  processor: Processor | null = null;
  init: Init = new Init();
  private call: Call = new Call();
  private input: Buffer = new Buffer(); // the reusable buffer
  private shown: Buffer | null = null; // a message that waits to be read, in the place of the buffer
  private message: Buffer = new Buffer(); // of init
  private ready: bool = false; // init accepted, and no restore failed
  private worked: bool = false; // a callback has run
  private reader: InputReader | null = null;
  private batch: Batch = new Batch();
  private begun: Array<Output> = []; // of this operation
  private ended: Array<Output> = []; // to be used again
  private outputs: i32 = 0;
  private queue: Array<Buffer> = []; // what waits for readEmit
  private spare: Array<Buffer> = []; // room of messages that were read

  buffer(): Buffer {
    const shown = this.shown;
    return shown === null ? this.input : shown;
  }

  // Makes room for a message of the host.
  alloc(size: i32): i32 {
    if (size < 0 || <u32>size > MAX_MESSAGE) return BAD_SIZE;
    this.recycle();
    const b = this.input;
    if (<u32>size > b.capacity || b.ptr == 0) {
      b.free(); // given back before the new one is made
      b.extend(<u32>size + (<u32>size >> 3) + 1008);
    }
    b.size = size;
    return <i32>b.ptr;
  }

  private keep(room: Buffer): void {
    if (this.spare.length < 4) this.spare.push(room);
    else room.free();
  }

  private recycle(): void {
    const shown = this.shown;
    if (shown !== null) this.keep(shown);
    this.shown = null;
  }

  private room(): Buffer {
    if (this.spare.length == 0) return new Buffer();
    const b = this.spare.pop();
    b.clear();
    return b;
  }

  // Judges a range that has to lie inside the buffer (W-045).
  range(ptr: u32, size: i32): i32 {
    if (size < 0) return BAD_SIZE;
    const b = this.buffer(), from = ptr - <u32>b.ptr;
    if (b.ptr == 0 || ptr < <u32>b.ptr || from > b.capacity || <u32>size > b.capacity - from) return BAD_RANGE;
    return OK;
  }

  // Hands over what the host says about the branch. It is accepted once: an instance is one branch.
  start(ptr: usize, size: i32): i32 {
    if (this.ready) return fail("the guest is initialized already");
    const p = this.processor;
    if (p === null) return fail("the module has no processor: call register at the top of the module");
    this.message.clear();
    this.message.add(ptr, size);
    const init = readInit(this.message.ptr, size);
    if (init === null) {
      latch("the init payload is damaged or of another kind");
      return BAD_MESSAGE;
    }
    this.init = init;
    this.reader = new InputReader(init);
    let code = p.create(this.call, init);
    if (code > 0) code = OK; // the number of a field or an output
    this.drop();
    this.endOutputs();
    this.ready = code == OK && !latched();
    return code;
  }

  // Forgets what waits to be read.
  private drop(): void {
    while (this.queue.length > 0) this.keep(this.queue.pop());
  }

  // What every callback begins with. While a reason waits on the error channel nothing runs.
  private begin(): i32 {
    this.drop();
    if (!this.ready) return NOT_READY;
    if (latched()) return REJECTED;
    this.worked = true;
    return OK;
  }

  private end(code: i32): i32 {
    if (code > 0) code = fail("a callback of the guest answered " + code.toString());
    if (code != OK || latched()) this.drop();
    this.endOutputs();
    return code;
  }

  // Begins an output.
  output(): Output {
    const o = this.ended.length > 0 ? this.ended.pop() : new Output(this.init, ++this.outputs);
    this.begun.push(o);
    return o;
  }

  private endOutputs(): void {
    while (this.begun.length > 0) {
      const o = this.begun.pop();
      o.reset();
      this.ended.push(o);
    }
  }

  emit(o: Output): i32 {
    const wrong = o.judge();
    if (wrong.length > 0) return fail("the guest emits an output that is wrong: " + wrong);
    const b = this.room();
    writeOutput(b, o);
    this.queue.push(b);
    return OK;
  }

  // Delivers an input message.
  processBatch(ptr: usize, size: i32): i32 {
    let code = this.begin();
    if (code < 0) return code;
    const f = new Flat(ptr, size), batch = this.batch, reader = this.reader!, p = this.processor!;
    const input = open(f, Variant.Input, 2);
    batch.read(f, f.child(input, 1, 4));
    const stream = f.vector(input, 0, 1);
    if (!f.closed()) {
      latch("the input message is damaged or of another kind");
      return BAD_MESSAGE;
    }
    if (!reader.read(ptr + stream, f.count(stream), batch)) {
      latch("the Arrow batch is damaged or has another schema than the input");
      return BAD_BATCH;
    }
    return this.end(p.processBatch(this.call, batch));
  }

  // Delivers a handle that is due.
  onTimeout(handle: i64): i32 {
    const code = this.begin();
    return code < 0 ? code : this.end(this.processor!.onTimeout(this.call, timeoutOfWire(handle)));
  }

  // Asks for everything that is buffered.
  flush(): i32 {
    const code = this.begin();
    return code < 0 ? code : this.end(this.processor!.flush(this.call));
  }

  // Puts a message into the place of the buffer.
  private show(b: Buffer): i32 {
    this.recycle();
    this.shown = b;
    return b.size;
  }

  // Shows the next message that waits; 0 if none does.
  readEmit(): i32 {
    return this.queue.length == 0 ? 0 : this.show(this.queue.shift());
  }

  // Shows the state, wrapped with the init payload of the instance (W-310).
  dumpState(): i32 {
    if (!this.ready) return NOT_READY;
    const b = this.room();
    const t = beginMessage(b, Variant.Snapshot);
    b.point(t + 4);
    b.add32(this.message.size);
    b.add(this.message.ptr, this.message.size);
    b.pad(4);
    b.point(t + 8);
    const length = b.add32(0);
    const code = this.processor!.saveState(new StateWriter(b));
    if (code < 0) {
      this.keep(b);
      return code;
    }
    b.put32(length, b.size - length - 4);
    endMessage(b);
    return this.show(b);
  }

  // Restores what dumpState showed. An instance that refused state runs nothing any more.
  loadState(ptr: usize, size: i32): i32 {
    if (!this.ready || this.worked || latched()) return NOT_READY;
    this.ready = false;
    const f = new Flat(ptr, size);
    const t = open(f, Variant.Snapshot, 2), init = f.vector(t, 0, 1), state = f.vector(t, 1, 1);
    if (!f.closed()) return refuse("the saved bytes are no snapshot");
    const saved = readInit(ptr + init, f.count(init));
    if (saved === null) return refuse("the snapshot does not say which branch it is of");
    if (!saved.sameBranch(this.init)) return refuse("the snapshot is of another branch, or of other schemas");
    if (this.processor!.restore(new StateReader(ptr + state, f.count(state))) != OK || latched()) {
      latch("the guest refuses the state");
      return BAD_STATE;
    }
    this.ready = true;
    return OK;
  }
}

function refuse(reason: string): i32 {
  latch(reason);
  return BAD_SNAPSHOT;
}

// The only instance of a module.
export let instance: Instance = new Instance();

// Begins another one, for tests of the kit.
export function renew(): void {
  instance = new Instance();
}
