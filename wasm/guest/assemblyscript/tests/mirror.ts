// SPDX-License-Identifier: Apache-2.0

// A guest for tests of the kit: it reads every value of a batch and writes it again as a generated column, of whatever type. Real guests name
// input columns instead. It has one output with the fields of the input.
import { Batch, Call, Column, fail, Generated, Init, Kind, OK, Processor, register, Time } from "../assembly";

export * from "../assembly/exports";

class Mirror extends Processor {
  create(call: Call, init: Init): i32 {
    if (init.outputs.length != 1 || !init.outputs[0].is(init.input.toString())) return fail("one output with the fields of the input is needed");
    return OK;
  }

  processBatch(call: Call, batch: Batch): i32 {
    const out = call.output(), route = out.route(0);
    for (let i = 0; i < batch.columns.length; i++) {
      const g = out.generateAt(0, i);
      for (let row = 0; row < batch.rows; row++) reflect(g, batch.column(i), row);
      route.fromGenerated(g);
    }
    route.carryAll(batch);
    return call.emit(out);
  }
}

function reflect(to: Generated, from: Column, row: i32): void {
  if (from.isNull(row)) {
    to.null();
    return;
  }
  switch (from.type.kind) {
    case Kind.U8: to.u8(from.u8(row)); break;
    case Kind.I8: to.i8(from.i8(row)); break;
    case Kind.U16: to.u16(from.u16(row)); break;
    case Kind.I16: to.i16(from.i16(row)); break;
    case Kind.U32: to.u32(from.u32(row)); break;
    case Kind.I32: to.i32(from.i32(row)); break;
    case Kind.U64: to.u64(from.u64(row)); break;
    case Kind.I64: to.i64(from.i64(row)); break;
    case Kind.F32: to.f32(from.f32(row)); break;
    case Kind.F64: to.f64(from.f64(row)); break;
    case Kind.Bool: to.bool(from.bool(row)); break;
    case Kind.String: to.string(from.string(row)); break;
    case Kind.Bytes: to.bytes(from.bytes(row)); break;
    // Through the arithmetic and back: an instant survives it, whatever it is.
    case Kind.Datetime: to.time(Time.epoch().plus(from.time(row).since(Time.epoch()))); break;
    default: {
      const rows = from.list(row), list = to.list();
      for (let i = rows.first; i < rows.end; i++) reflect(list, rows.elements, i);
    }
  }
}

register(new Mirror());
