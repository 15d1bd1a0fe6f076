// SPDX-License-Identifier: Apache-2.0

//! Lets hot readings through and counts them.

use nervix_guest::{Batch, Call, Init, Processor, Relay, Result, StateReader, StateWriter};

nervix_guest::export!(Hot);

#[derive(Default)]
struct Hot {
    seen: i64, // the state of this branch
    celsius: usize,
    relay: Option<Relay>,
}

impl Processor for Hot {
    fn create(&mut self, _: &mut Call, init: &Init) -> Result {
        self.celsius = init.input.require("celsius", "F64")?;
        self.relay = Some(init.require_output("hot", "celsius F64, number I64")?);
        Ok(())
    }

    fn process_batch(&mut self, call: &mut Call, batch: &Batch) -> Result {
        let relay = self.relay.ok_or("create comes first")?;
        let mut out = call.output();
        let (route, number) = (out.route(relay), out.generate(relay, "number"));
        out[route].from_input(&[self.celsius]).from_generated(&[number]);
        for (row, value) in batch.column(self.celsius).f64s().iter().enumerate() {
            if *value < 30.0 {
                out[route].ack(batch.entry(row)); // dropped
                continue;
            }
            self.seen += 1;
            out[number].i64(self.seen);
            out[route].carry(batch.entry(row));
        }
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
