// SPDX-License-Identifier: Apache-2.0

//! A guest for tests of the kit: it reads every value of a batch and writes it again as a generated column, of whatever type. Real guests name
//! input columns instead. It has one output with the fields of the input.

use nervix_guest::{Batch, Call, Column, GeneratedColumn, Init, Kind, Processor, Result, Time};

nervix_guest::export!(Mirror);

#[derive(Default)]
struct Mirror;

impl Processor for Mirror {
    fn create(&mut self, _: &mut Call, init: &Init) -> Result {
        match init.outputs.as_slice() {
            [one] if one.fields == init.input.fields => Ok(()),
            _ => Err("one output with the fields of the input is needed".into()),
        }
    }

    fn process_batch(&mut self, call: &mut Call, batch: &Batch) -> Result {
        let mut out = call.output();
        let relay = call.init().relay(0);
        let route = out.route(relay);
        for (i, column) in batch.columns().iter().enumerate() {
            let g = out.generate_at(relay, i);
            for row in 0..batch.rows() {
                reflect(&mut out[g], column, row);
            }
            out[route].from_generated(&[g]);
        }
        out[route].carry_all(batch);
        call.emit(out)
    }
}

fn reflect(to: &mut GeneratedColumn, from: &Column, row: usize) {
    if from.is_null(row) {
        return to.null();
    }
    match from.ty().kind {
        Kind::U8 => to.u8(from.u8(row)),
        Kind::I8 => to.i8(from.i8(row)),
        Kind::U16 => to.u16(from.u16(row)),
        Kind::I16 => to.i16(from.i16(row)),
        Kind::U32 => to.u32(from.u32(row)),
        Kind::I32 => to.i32(from.i32(row)),
        Kind::U64 => to.u64(from.u64(row)),
        Kind::I64 => to.i64(from.i64(row)),
        Kind::F32 => to.f32(from.f32(row)),
        Kind::F64 => to.f64(from.f64(row)),
        Kind::Bool => to.bool(from.bool(row)),
        Kind::String => to.str(from.str(row)),
        Kind::Bytes => to.bytes(from.bytes(row)),
        // Through the arithmetic and back: an instant survives it, whatever it is.
        Kind::Datetime => to.time(Time::EPOCH + from.time(row).since(Time::EPOCH)),
        Kind::Array | Kind::Vec => {
            let (elements, rows) = from.list(row);
            let list = to.list();
            for i in rows {
                reflect(list, elements, i);
            }
        }
    }
}
