// SPDX-License-Identifier: Apache-2.0

//! Saved state.

use super::bench::*;
use crate::flat::Writer;
use crate::message::snapshot;
use crate::*;

/// Buffers rows and counts them.
#[derive(Default)]
struct Counting {
    seen: u64,
    held: Held,
    timeout: Option<Timeout>,
}

impl Processor for Counting {
    fn process_batch(&mut self, call: &mut Call<'_>, batch: &Batch<'_>) -> Result {
        self.timeout = Some(call.after(Duration::seconds(1)));
        for i in 0..batch.rows() {
            self.held.hold(batch.entry(i));
            self.seen += 1;
        }
        Ok(())
    }

    fn flush(&mut self, call: &mut Call<'_>) -> Result {
        let mut out = call.output();
        let r = out.route(Relay(0));
        out[r].from_input(&[0, 1, 2]);
        for i in 0..self.held.len() {
            out[r].carry(self.held.entry(i));
        }
        self.held.clear();
        call.emit(out)
    }

    fn save_state(&self, state: &mut StateWriter) -> Result {
        state.u64(self.seen);
        Ok(())
    }

    fn restore(&mut self, state: &mut StateReader<'_>) -> Result {
        self.seen = state.u64();
        state.end()
    }
}

#[test]
fn state_holds_nothing_transient() {
    // req: W-121, W-245 half: state holds no buffered rows, tokens, timeouts, output or latched errors
    let mut b = Bench::began(Counting::default(), plain_init());
    let code = b.batch(&[row("a", Some(1)), row("b", None)]);
    b.ok(code);
    let buffered = b.state();
    let code = b.guest.flush();
    b.ok(code);
    assert_eq!(b.state(), buffered, "with output that waits");
    assert_eq!(b.said(), "out: in0 in1 in2 [0]<0 [1]<1\n");
    assert_eq!(b.state(), buffered, "after it was read");
    b.fake.borrow_mut().reason = "an error that waits".into();
    assert_eq!(b.state(), buffered, "with a latched error");
    let mut next = Bench::began(Counting::default(), plain_init());
    let code = next.deliver(Entrance::Load, &buffered);
    next.ok(code);
    let p = &next.guest.processor;
    assert!(p.seen == 2 && p.held.is_empty() && p.timeout.is_none());
    assert_eq!(next.said(), "");
}

#[test]
fn foreign_state_is_refused() {
    // req: W-124, W-125, W-053
    let state = Bench::began(Counting { seen: 5, ..Counting::default() }, plain_init()).state();
    let taken: [fn(&mut Init); 2] = [|_| {}, |i| i.domain_name = "renamed".into()];
    for change in taken {
        let mut desc = plain_init();
        change(&mut desc);
        let mut b = Bench::began(Counting::default(), desc);
        let code = b.deliver(Entrance::Load, &state);
        b.ok(code);
        assert_eq!(b.guest.processor.seen, 5);
    }
    let refused: [fn(&mut Init); 9] = [
        |i| i.domain_type = "paced".into(),
        |i| i.branch_key = Some(r#"{"tenant":"beta"}"#.into()),
        |i| i.branch_key = None,
        |i| i.input.name = "x".into(),
        |i| i.input.fields[0].name = "x".into(),
        |i| i.input.fields[1].optional = false,
        |i| i.input.fields[1].ty.kind = Kind::U64,
        |i| i.outputs[1].fields.extend(schema("", "added I64").fields),
        |i| i.outputs.truncate(1),
    ];
    for change in refused {
        let mut desc = plain_init();
        change(&mut desc);
        let mut b = Bench::began(Counting::default(), desc);
        let code = b.deliver(Entrance::Load, &state);
        b.refuses(code, -7, "the snapshot is of another branch, or of other schemas");
        assert_eq!((b.batch(&[]), b.guest.dump_state()), (-3, -3), "an instance that refused state goes on");
    }
}

/// A snapshot with any state inside.
fn wrap(state: &[u8]) -> Vec<u8> {
    let init = encode_init(&plain_init());
    snapshot(Writer::default(), &init, |w| {
        w.raw(state);
        Ok(())
    })
    .expect("a snapshot")
    .b
}

#[test]
fn bad_state_is_refused() {
    // req: W-245 half: state of a wrong form is refused, with -8 if the wrapping is right and -7 if not
    let mut long = wrap(&[0; 8]);
    long.push(0);
    let all = [
        (wrap(&[]), -8, "the state ends early, after 0 bytes"),
        (wrap(&[0; 7]), -8, "the state ends early, after 7 bytes"),
        (wrap(&[0; 9]), -8, "the state has 1 bytes more than this guest wrote"),
        (vec![], -7, "the saved bytes are no snapshot"),
        (wrap(&[0; 8])[..20].to_vec(), -7, "the saved bytes are no snapshot"),
        (long, -7, "the saved bytes are no snapshot"),
        (encode_init(&plain_init()), -7, "the saved bytes are no snapshot"),
    ];
    for (state, code, reason) in all {
        let mut b = Bench::began(Counting::default(), plain_init());
        let got = b.deliver(Entrance::Load, &state);
        b.refuses(got, code, reason);
    }
    let mut b = Bench::began(Counting::default(), plain_init());
    let code = b.batch(&[row("a", None)]);
    b.ok(code);
    let code = b.deliver(Entrance::Load, &wrap(&[0; 8]));
    b.refuses(code, -3, "");
}

#[test]
fn damaged_state_gets_a_verdict() {
    // req: W-029 half: each byte of a snapshot changed leads to a verdict or to success
    let good = wrap(&[0; 8]);
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x81;
        let mut b = Bench::began(Counting::default(), plain_init());
        let code = b.deliver(Entrance::Load, &bad);
        assert!([0, -7, -8].contains(&code), "byte {}: {}", at, code);
    }
}

#[test]
fn empty_state_is_state() {
    // req: W-310
    let state = Bench::began(sketch(pass), plain_init()).state();
    assert!(!state.is_empty());
    let mut b = Bench::began(sketch(pass), plain_init());
    let code = b.deliver(Entrance::Load, &state);
    b.ok(code);
    let mut b = Bench::began(sketch(pass), plain_init());
    let code = b.deliver(Entrance::Load, &wrap(b"abc"));
    b.refuses(code, -8, "this guest saves no state and cannot take 3 bytes of it");
}

#[test]
fn numbers_of_state() {
    let mut w = StateWriter::default();
    w.u8(200);
    w.u32(u32::MAX);
    w.u64(u64::MAX);
    w.i64(i64::MIN);
    w.f64(-0.5);
    w.time(Time::EPOCH + Duration::seconds(-1));
    w.str("text");
    w.bytes(&[1, 2]);
    let mut r = StateReader::new(&w.out);
    assert_eq!((r.u8(), r.u32(), r.u64(), r.i64(), r.f64()), (200, u32::MAX, u64::MAX, i64::MIN, -0.5));
    assert_eq!((r.time(), r.str(), r.bytes(), r.end()), (Time::EPOCH + Duration::seconds(-1), "text", &[1u8, 2][..], Ok(())));
    assert_eq!((r.u64(), r.str(), r.end().is_err()), (0, "", true));
    let mut r = StateReader::new(&[255, 255, 255, 255, 1]);
    assert_eq!((r.bytes(), r.end().is_err()), (&[][..], true));
}
