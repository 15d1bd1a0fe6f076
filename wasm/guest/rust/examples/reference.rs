// SPDX-License-Identifier: Apache-2.0

//! The reference job of wasm/guest/reference.md; section numbers are those of that page.

use nervix_guest::{Batch, Call, Duration, Held, Init, Processor, Relay, Result, StateReader, StateWriter, Timeout};

nervix_guest::export!(Job);

/// The mark by which the conformance kit knows the job; the host never calls it.
#[cfg(target_arch = "wasm32")]
#[no_mangle]
pub extern "C" fn nervix_reference_job_1() -> i32 {
    1
}

// Columns of the input.
const SENSOR: usize = 0;
const VALUE: usize = 1;
const AT: usize = 2;

enum Verdict {
    Kept(String),
    Dropped,
    Refused,
    Failed,
}

/// Section 2. `seen` is the saved state, all else is gone with the instance.
#[derive(Default)]
struct Job {
    seen: u64,
    entries: Held,
    /// Ordinals and verdicts; the entry of a row has the same place in `entries`.
    rows: Vec<(u64, Verdict)>,
    batches: u32,
    armed: Option<Timeout>,
    relays: Option<(Relay, Relay)>,
}

impl Job {
    fn accept(&mut self, batch: &Batch, i: usize) {
        let (sensor, value) = (batch.column(SENSOR).str(i), batch.column(VALUE));
        let ordinal = self.seen;
        self.seen = self.seen.wrapping_add(1);
        let verdict = if sensor.is_empty() {
            Verdict::Refused
        } else if !value.is_null(i) && value.i64(i) < 0 {
            Verdict::Failed
        } else if ordinal % 2 == 0 {
            Verdict::Kept(format!("{}#{}", sensor, ordinal))
        } else {
            Verdict::Dropped
        };
        self.rows.push((ordinal, verdict));
        self.entries.hold(batch.entry(i));
    }

    /// Section 4.
    fn release(&mut self, call: &mut Call) -> Result {
        let (to_kept, to_audit) = match self.relays {
            Some(relays) if !self.entries.is_empty() => relays,
            _ => return Ok(()),
        };
        let mut out = call.output();
        let columns @ [ordinal, label, branch, released] = ["ordinal", "label", "branch", "released"].map(|name| out.generate(to_audit, name));
        let (kept, audit) = (out.route(to_kept), out.route(to_audit));
        out[kept].from_input(&[SENSOR, VALUE, AT]).from_generated(&[ordinal]);
        out[audit].from_generated(&columns).from_nothing().carry_same(kept);
        for (i, (number, verdict)) in self.rows.drain(..).enumerate() {
            let entry = self.entries.entry(i);
            match verdict {
                Verdict::Kept(text) => {
                    out[kept].carry(entry);
                    out[ordinal].i64(number as i64);
                    out[label].str(&text);
                    match &call.init().branch_key {
                        Some(key) => out[branch].str(key),
                        None => out[branch].null(),
                    }
                    out[released].time(call.now());
                }
                Verdict::Dropped => out[kept].ack(entry),
                Verdict::Refused => out[kept].nack(entry, format!("row {} has no sensor", number)),
                Verdict::Failed => out[kept].message_error(entry, format!("value of row {} is negative", number)),
            }
        }
        self.entries.clear();
        self.batches = 0;
        self.armed = None;
        call.emit(out)
    }
}

impl Processor for Job {
    /// Section 1.
    fn create(&mut self, _: &mut Call, init: &Init) -> Result {
        if !init.input.is("sensor STRING, value I64 OPTIONAL, at DATETIME") {
            return Err("the input schema is not that of the reference job".into());
        }
        let kept = init.require_output("kept", "sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64");
        let audit = init.require_output("audit", "ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL");
        match (kept, audit) {
            (Ok(kept), Ok(audit)) if init.outputs.len() == 2 => self.relays = Some((kept, audit)),
            _ => return Err("the outputs are not those of the reference job".into()),
        }
        Ok(())
    }

    /// Section 3.
    fn process_batch(&mut self, call: &mut Call, batch: &Batch) -> Result {
        for i in 0..batch.rows() {
            match batch.column(SENSOR).bytes(i) {
                b"!fail" => return Err(format!("row {} of the batch asks for a failure", i).into()),
                b"!report" => {
                    call.report_global_error(&format!("row {} of the batch reports an error", i));
                    return Ok(());
                }
                b"!trap" => std::process::abort(),
                _ => {}
            }
        }
        if batch.rows() == 0 {
            return Ok(());
        }
        if self.entries.is_empty() {
            self.armed = Some(call.after(Duration::seconds(1)));
        }
        for i in 0..batch.rows() {
            self.accept(batch, i);
        }
        self.batches += 1;
        if self.batches == 3 {
            return self.release(call);
        }
        Ok(())
    }

    /// Section 5.
    fn on_timeout(&mut self, call: &mut Call, timeout: Timeout) -> Result {
        if self.armed == Some(timeout) {
            return self.release(call);
        }
        Ok(())
    }

    fn flush(&mut self, call: &mut Call) -> Result {
        self.release(call)
    }

    fn save_state(&self, state: &mut StateWriter) -> Result {
        state.u8(1);
        state.u64(self.seen);
        Ok(())
    }

    fn restore(&mut self, state: &mut StateReader) -> Result {
        match state.state().len() {
            9 => {}
            n => return Err(format!("the state has {} bytes instead of 9", n).into()),
        }
        match state.u8() {
            1 => {}
            version => return Err(format!("the state has version {} instead of 1", version).into()),
        }
        self.seen = state.u64();
        state.end()
    }
}
