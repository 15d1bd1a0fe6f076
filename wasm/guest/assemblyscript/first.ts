// SPDX-License-Identifier: Apache-2.0

// The first guest of README.md: readings of 30 degrees and more go on in Fahrenheit, with the number of hot readings so far.
import { Batch, Call, Init, OK, Processor, register, StateReader, StateWriter } from "./assembly";

export * from "./assembly/exports";

const SENSOR = 0, CELSIUS = 1, AT = 2; // the columns of the input

class Hot extends Processor {
  private to: i32 = 0; // the number of the output
  private seen: i64 = 0; // hot readings of this branch: the state

  create(call: Call, init: Init): i32 {
    const code = init.requireInput("sensor STRING, celsius F64 OPTIONAL, at DATETIME");
    if (code < 0) return code;
    return (this.to = init.requireOutput("hot", "sensor STRING, at DATETIME, fahrenheit F64, seen I64"));
  }

  processBatch(call: Call, batch: Batch): i32 {
    const celsius = batch.column(CELSIUS), out = call.output();
    const fahrenheit = out.generate(this.to, "fahrenheit"), seen = out.generate(this.to, "seen");
    const route = out.route(this.to).fromInput(SENSOR).fromInput(AT); // these two stay with the host
    route.fromGenerated(fahrenheit).fromGenerated(seen); // these two the guest makes
    for (let i = 0; i < batch.rows; i++) {
      const entry = batch.entry(i);
      if (celsius.isNull(i)) {
        route.messageError(entry, "row " + i.toString() + " has no temperature");
      } else if (celsius.f64(i) < 30) {
        route.ack(entry);
      } else {
        route.carry(entry);
        fahrenheit.f64(celsius.f64(i) * 9 / 5 + 32);
        seen.i64(++this.seen);
      }
    }
    return call.emit(out);
  }

  saveState(state: StateWriter): i32 {
    state.i64(this.seen);
    return OK;
  }

  restore(state: StateReader): i32 {
    this.seen = state.i64();
    return state.end();
  }
}

register(new Hot());
