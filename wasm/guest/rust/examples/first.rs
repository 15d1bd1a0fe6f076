// SPDX-License-Identifier: Apache-2.0

//! The first guest of README.md: readings of 30 degrees and more go on in Fahrenheit, with the number of hot readings so far.

use nervix_guest::{Batch, Call, Init, Processor, Relay, Result, StateReader, StateWriter, Verdict};

nervix_guest::export!(Hot);

// The columns of the input.
const SENSOR: usize = 0;
const CELSIUS: usize = 1;
const AT: usize = 2;

#[derive(Default)]
struct Hot {
    to: Option<Relay>,
    seen: i64, // hot readings of this branch: the state
}

impl Processor for Hot {
    fn create(&mut self, _: &mut Call, init: &Init) -> Result {
        init.require_input("sensor STRING, celsius F64 OPTIONAL, at DATETIME")?;
        self.to = Some(init.require_output("hot", "sensor STRING, at DATETIME, fahrenheit F64, seen I64")?);
        Ok(())
    }

    fn process_batch(&mut self, call: &mut Call, batch: &Batch) -> Result {
        let to = self.to.ok_or("create comes first")?;
        let mut out = call.output();
        let (fahrenheit, seen) = (out.generate(to, "fahrenheit"), out.generate(to, "seen"));
        let route = out.route(to);
        out[route].from_input(&[SENSOR, AT]).from_generated(&[fahrenheit, seen]); // the first two stay with the host
        let celsius = batch.column(CELSIUS);
        out.map(route, batch, |out, row| {
            if celsius.is_null(row) {
                return Verdict::MessageError(format!("row {} has no temperature", row));
            }
            if celsius.f64(row) < 30.0 {
                return Verdict::Ack;
            }
            self.seen += 1;
            out[fahrenheit].f64(celsius.f64(row) * 9.0 / 5.0 + 32.0);
            out[seen].i64(self.seen);
            Verdict::Carry
        });
        call.emit(out)
    }

    fn save_state(&self, state: &mut StateWriter) -> Result {
        state.i64(self.seen);
        Ok(())
    }

    fn restore(&mut self, state: &mut StateReader) -> Result {
        self.seen = state.i64();
        state.end()
    }
}
