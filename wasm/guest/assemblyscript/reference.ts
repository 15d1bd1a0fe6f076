// SPDX-License-Identifier: Apache-2.0

// The reference job of wasm/guest/reference.md; section numbers are those of that page.
import { Batch, Call, Duration, fail, Held, Init, OK, Processor, register, StateReader, StateWriter, Timeout } from "./assembly";

export * from "./assembly/exports";

// The mark by which the conformance kit knows the job; the host never calls it.
export function nervix_reference_job_1(): i32 {
  return 1;
}

// Columns of the input.
const SENSOR = 0, VALUE = 1, AT = 2;

enum Fate {
  Kept, Dropped, Refused, Failed,
}

// One accepted row; its entry has the same place in Job.entries.
class Row {
  constructor(public ordinal: u64, public fate: Fate, public label: string) {}
}

// Section 2. seen is the saved state, all else is gone with the instance.
class Job extends Processor {
  private seen: u64 = 0;
  private entries: Held = new Held();
  private rows: Array<Row> = [];
  private batches: i32 = 0;
  private armed: Timeout | null = null;
  private kept: i32 = -1;
  private audit: i32 = -1;

  // Section 1.
  create(call: Call, init: Init): i32 {
    if (!init.input.is("sensor STRING, value I64 OPTIONAL, at DATETIME")) return fail("the input schema is not that of the reference job");
    for (let i = 0; i < init.outputs.length; i++) {
      const s = init.outputs[i];
      if (s.name == "kept" && s.is("sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64")) this.kept = i;
      if (s.name == "audit" && s.is("ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL")) this.audit = i;
    }
    if (init.outputs.length != 2 || this.kept < 0 || this.audit < 0) return fail("the outputs are not those of the reference job");
    return OK;
  }

  // Section 3.
  processBatch(call: Call, batch: Batch): i32 {
    const sensors = batch.column(SENSOR);
    for (let i = 0; i < batch.rows; i++) {
      const sensor = sensors.bytes(i);
      if (sensor.size == 0 || sensor.at(0) != 0x21) continue; // "!"
      const command = sensor.toString(), where = "row " + i.toString() + " of the batch ";
      if (command == "!fail") return fail(where + "asks for a failure");
      if (command == "!trap") unreachable();
      if (command == "!report") {
        call.reportGlobalError(where + "reports an error");
        return OK;
      }
    }
    if (batch.rows == 0) return OK;
    if (this.entries.length == 0) this.armed = call.after(Duration.seconds(1));
    for (let i = 0; i < batch.rows; i++) this.accept(batch, i);
    return ++this.batches == 3 ? this.flush(call) : OK;
  }

  private accept(batch: Batch, i: i32): void {
    const sensor = batch.column(SENSOR), value = batch.column(VALUE), ordinal = this.seen++;
    let fate = Fate.Dropped, label = "";
    if (sensor.size(i) == 0) fate = Fate.Refused;
    else if (!value.isNull(i) && value.i64(i) < 0) fate = Fate.Failed;
    else if (ordinal % 2 == 0) {
      fate = Fate.Kept;
      label = sensor.string(i) + "#" + ordinal.toString();
    }
    this.rows.push(new Row(ordinal, fate, label));
    this.entries.hold(batch.entry(i));
  }

  // Section 5.
  onTimeout(call: Call, timeout: Timeout): i32 {
    const armed = this.armed;
    return armed !== null && armed.equals(timeout) ? this.flush(call) : OK;
  }

  // The release of section 4.
  flush(call: Call): i32 {
    if (this.entries.length == 0) return OK;
    const out = call.output(), key = call.init().branchKey;
    const ordinal = out.generate(this.audit, "ordinal"), label = out.generate(this.audit, "label");
    const branch = out.generate(this.audit, "branch"), released = out.generate(this.audit, "released");
    const kept = out.route(this.kept).fromInput(SENSOR).fromInput(VALUE).fromInput(AT).fromGenerated(ordinal);
    out.route(this.audit).fromGenerated(ordinal).fromGenerated(label).fromGenerated(branch).fromGenerated(released).fromNothing().carrySame(kept);
    for (let i = 0; i < this.rows.length; i++) {
      const row = this.rows[i], entry = this.entries.entry(i);
      switch (row.fate) {
        case Fate.Kept:
          kept.carry(entry);
          ordinal.i64(row.ordinal);
          label.string(row.label);
          if (key === null) branch.null();
          else branch.string(key);
          released.time(call.now());
          break;
        case Fate.Dropped: kept.ack(entry); break;
        case Fate.Refused: kept.nack(entry, "row " + row.ordinal.toString() + " has no sensor"); break;
        default: kept.messageError(entry, "value of row " + row.ordinal.toString() + " is negative");
      }
    }
    this.entries.clear();
    this.rows = [];
    this.batches = 0;
    this.armed = null;
    return call.emit(out);
  }

  saveState(state: StateWriter): i32 {
    state.u8(1);
    state.u64(this.seen);
    return OK;
  }

  restore(state: StateReader): i32 {
    if (state.size != 9) return fail("the state has " + state.size.toString() + " bytes instead of 9");
    const version = state.u8();
    if (version != 1) return fail("the state has version " + version.toString() + " instead of 1");
    this.seen = state.u64();
    return state.end();
  }
}

register(new Job());
