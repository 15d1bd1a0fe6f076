// SPDX-License-Identifier: Apache-2.0

//! Buffer, entries, outputs, failures.

use super::bench::*;
use crate::*;

#[test]
fn alloc() {
    // req: W-303
    let mut b = Bench::began(sketch(pass), plain_init());
    for size in [0, 1, 100, 65536, 65537, 10, 1 << 20, 3] {
        let at = b.guest.alloc(size).expect("room");
        assert!(at != 0 && at == b.guest.buffer.ptr() && at % 16 == 0, "alloc({})", size);
        assert!(b.guest.buffer.capacity() >= size && b.guest.buffer.len() == size, "alloc({})", size);
    }
    for size in [-1, i32::MIN, (64 << 20) + 1] {
        assert!(b.guest.alloc(size).unwrap_err() < 0);
    }
}

#[test]
fn alloc_is_steady() {
    // req: A16
    let mut b = Bench::began(sketch(pass), plain_init());
    let message = b.encode(&[row("a", Some(1))]);
    let mut places = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let code = b.deliver(Entrance::Batch, &message);
        b.ok(code);
        while b.guest.read_emit() > 0 {}
        b.guest.alloc(message.len() as i32).expect("room");
        places.insert(b.guest.buffer.ptr());
    }
    assert_eq!(places.len(), 1, "the buffer of the input is not used again");
}

#[test]
fn ranges() {
    // req: W-045
    let mut b = Bench::began(sketch(pass), plain_init());
    let at = b.guest.alloc(4096).expect("room");
    let capacity = b.guest.buffer.capacity();
    let bad = [
        (at, -1),
        (at, i32::MIN),
        (at, i32::MAX),
        (at - 1, 16),
        (at - 64, 64),
        (at + 1, capacity),
        (at + capacity as usize, 1),
        (at, capacity + 1),
        (0, 16),
        (usize::MAX, 16),
        (usize::MAX - 15, 32),
    ];
    for (ptr, size) in bad {
        for to in [Entrance::Init, Entrance::Batch, Entrance::Load] {
            let code = b.call(to, ptr, size);
            assert!(code == -1 || code == -2, "a range of {} bytes at {} is answered {}", size, ptr.wrapping_sub(at) as isize, code);
        }
    }
    assert!(b.fake.borrow().reason.is_empty());
}

#[test]
fn bytes_are_lent() {
    // req: W-305
    let mut b = Bench::began(
        sketch(|_, batch| {
            let column = batch.column(0);
            let (one, two) = (column.bytes(0), column.str(0));
            // The same place both times: it is a slice, and lies beside the slice of the next row.
            assert!(one.as_ptr() == two.as_ptr() && one.as_ptr_range().end == column.bytes(1).as_ptr());
            Ok(())
        }),
        plain_init(),
    );
    let code = b.batch(&[row("north", None), row("south", None)]);
    b.ok(code);
}

#[test]
fn filter_keeps_entries_whole() {
    // req: W-307
    let mut b = Bench::began(
        sketch(|call, batch| {
            let mut out = call.output();
            let route = out.route(Relay(0));
            out[route].from_input(&[0, 1, 2]).filter(batch, |row| !batch.column(1).is_null(row));
            call.emit(out)
        }),
        plain_init(),
    );
    let message = b.encode_doubled(&[row("a", Some(1)), row("b", None), row("c", Some(2))]);
    let code = b.deliver(Entrance::Batch, &message);
    b.ok(code);
    assert_eq!(b.said(), "out: in0 in1 in2 [0, 1]<1 [4, 5]<5 acked[2, 3]\n");
}

#[test]
fn map_keeps_entries_whole() {
    // req: W-307
    let mut b = Bench::began(
        sketch(|call, batch| {
            let mut out = call.output();
            let (route, number) = (out.route(Relay(1)), out.generate(Relay(1), "number"));
            out[route].from_generated(&[number]);
            out.map(route, batch, |out, row| match batch.column(0).str(row) {
                "keep" => {
                    out[number].i64(row as i64);
                    Verdict::Carry
                }
                "drop" => Verdict::Ack,
                "fail" => Verdict::Nack("why not".into()),
                _ => Verdict::MessageError("what is it".into()),
            });
            call.emit(out)
        }),
        plain_init(),
    );
    let message = b.encode_doubled(&["keep", "drop", "fail", "odd", "keep"].map(|s| row(s, None)));
    let code = b.deliver(Entrance::Batch, &message);
    b.ok(code);
    let want = "more: gen0 [0, 1]<1 [8, 9]<9 acked[2, 3] nacked[4, 5]\"why not\" errors[6, 7]\"what is it\"\ngen0 I64(0) I64(4)\n";
    assert_eq!(b.said(), want);
}

#[test]
fn a_generated_column_is_shared() {
    // req: W-245 half: a generated column is one column of the pool for all routes, unchanged inputs are named and not written again
    let mut desc = plain_init();
    desc.outputs.push(schema("again", "sensor STRING, number I64, other I64"));
    let mut b = Bench::began(
        sketch(|call, batch| {
            let mut out = call.output();
            let number = out.generate(Relay(1), "number");
            out[number].i64s(&[7, 8]);
            let (first, second) = (out.route(Relay(1)), out.route(Relay(2)));
            out[first].from_generated(&[number]).carry_all(batch);
            out[second].from_input(&[0]).from_generated(&[number, number]).carry_same(first);
            call.emit(out)
        }),
        desc,
    );
    let code = b.batch(&[row("secret text of the input", None), row("b", None)]);
    b.ok(code);
    let message = &b.guest.core.queue[0];
    assert!(!message.windows(6).any(|w| w == b"secret"), "an unchanged input column is written again");
    assert_eq!(b.said(), "more: gen0 [0]<0 [1]<1\nagain: in0 gen0 gen0 [0]<0 [1]<1\ngen0 I64(7) I64(8)\n");
}

#[test]
fn mistakes() {
    // req: W-243
    type Mistake = fn(&mut Output, &Batch<'_>);
    let all: [(&str, Mistake); 11] = [
        ("it has no route", |_, _| {}),
        ("a route has another number of columns than its relay has fields", |o, _| {
            let r = o.route(Relay(0));
            o[r].from_input(&[0, 1]);
        }),
        ("a column has another type or nullability than its field", |o, _| {
            let r = o.route(Relay(1));
            o[r].from_input(&[1]);
        }),
        ("a route takes a column that the input does not have", |o, _| {
            let r = o.route(Relay(1));
            o[r].from_input(&[3]);
        }),
        ("a generated column is not used by any route", |o, _| {
            o.generate(Relay(1), "number");
            let r = o.route(Relay(1));
            o[r].from_nothing();
        }),
        ("a generated column has another number of rows than its route", |o, b| {
            let (r, g) = (o.route(Relay(1)), o.generate(Relay(1), "number"));
            o[r].from_generated(&[g]).carry_all(b);
        }),
        ("generated columns have different numbers of rows", |o, _| {
            let (r, g) = (o.route(Relay(1)), o.generate(Relay(1), "number"));
            o.generate(Relay(1), "number");
            o[g].i64(1);
            o[r].from_generated(&[g]);
        }),
        ("a value of another type is put into a generated column", |o, _| {
            let (r, g) = (o.route(Relay(1)), o.generate(Relay(1), "number"));
            o[g].str("x");
            o[r].from_generated(&[g]);
        }),
        ("a null is put into a generated column that is not optional", |o, _| {
            let (r, g) = (o.route(Relay(1)), o.generate(Relay(1), "number"));
            o[g].null();
            o[r].from_generated(&[g]);
        }),
        ("a row without source stands beside columns of the input", |o, _| {
            let r = o.route(Relay(0));
            o[r].from_input(&[0, 1, 2]).carry(Entry { tokens: &[FIRST_TOKEN], source: None });
        }),
        ("a route takes over rows that it cannot have", |o, b| {
            let (r, s) = (o.route(Relay(1)), o.route(Relay(1)));
            o[r].from_nothing().carry_all(b);
            o[r].carry_same(s);
        }),
    ];
    for (reason, make) in all {
        let mut b = Bench::began(
            sketch(move |call, batch| {
                let mut out = call.output();
                make(&mut out, batch);
                call.emit(out)
            }),
            plain_init(),
        );
        let code = b.batch(&[row("a", None)]);
        b.refuses(code, -6, &format!("the guest emits an output that is wrong: {}", reason));
        assert_eq!(b.said(), "");
    }
}

/// Refuses every input but one.
struct Picky;

impl Processor for Picky {
    fn create(&mut self, _: &mut Call<'_>, init: &Init) -> Result {
        init.require_input("sensor STRING")
    }

    fn process_batch(&mut self, _: &mut Call<'_>, _: &Batch<'_>) -> Result {
        Ok(())
    }
}

#[test]
fn a_mismatched_init_is_refused() {
    // req: W-245 half: a guest refuses an init that it does not serve, and a second init: an instance is one branch
    let mut b = Bench::new(Picky, plain_init());
    let message = encode_init(&b.desc);
    let code = b.deliver(Entrance::Init, &message);
    b.refuses(code, -6, "the input incoming has the fields (sensor STRING, value I64 OPTIONAL, at DATETIME), this guest needs (sensor STRING)");
    assert_eq!((b.guest.flush(), b.guest.on_timeout(1), b.guest.dump_state()), (-3, -3, -3));

    let mut b = Bench::began(sketch(pass), plain_init());
    let code = b.deliver(Entrance::Init, &message);
    b.refuses(code, -6, "the guest is initialized already");

    let i = plain_init();
    let reason = |r: Result| r.unwrap_err().reason.unwrap_or_default();
    assert_eq!(reason(i.require_output("none", "").map(drop)), "the processor has no output none, which this guest needs");
    assert_eq!(reason(i.require_output("more", "number U64").map(drop)), "the output more has the fields (number I64), this guest needs (number U64)");
    assert_eq!(reason(i.input.require("value", "I64").map(drop)), "field value of incoming is I64 OPTIONAL, this guest needs I64");
    assert_eq!(reason(i.input.require("worth", "").map(drop)), "incoming has no field worth, which this guest needs");
    assert_eq!((i.require_output("more", ""), i.input.require("value", "I64 OPTIONAL")), (Ok(Relay(1)), Ok(1)));
}

#[test]
fn failures_latch() {
    // req: W-243
    let mut steps = vec![Ok(""), Err(Failure::code(-77)), Ok("reported"), Err(Failure::new("a reason"))];
    let mut b = Bench::began(
        sketch(move |call, batch| {
            pass(call, batch)?;
            let report = steps.pop().expect("a step")?;
            if !report.is_empty() {
                call.report_global_error(report);
                call.report_global_error("a second reason");
            }
            Ok(())
        }),
        plain_init(),
    );
    let code = b.batch(&[row("a", None)]);
    assert_eq!(
        (b.batch(&[row("a", None)]), b.guest.on_timeout(1), b.guest.flush(), b.fake.borrow().latches),
        (-6, -6, -6, 1),
        "a callback runs while a reason waits"
    );
    b.refuses(code, -6, "a reason");
    let code = b.batch(&[row("a", None)]);
    b.refuses(code, 0, "reported");
    let code = b.batch(&[row("a", None)]);
    b.refuses(code, -77, "");
    assert_eq!(b.said(), "", "failed callbacks emit");
    let code = b.batch(&[row("a", None)]);
    b.ok(code);
    assert_ne!(b.said(), "");
}

#[test]
fn damaged_inputs_are_refused() {
    // req: W-112 half: each byte of an input changed, and each length cut, is refused or harmless
    let desc = || Init { input: schema("in", "a STRING, b I64 OPTIONAL, c VEC<STRING>, d ARRAY<BOOL, 3> OPTIONAL, e BYTES"), ..plain_init() };
    let reading = || {
        sketch(|_, batch| {
            for row in 0..batch.rows() {
                batch.entry(row);
                for (i, c) in batch.columns().iter().enumerate() {
                    // a changed byte may make a text that is none; reading it panics, which is an end that a guest may have
                    if i == 0 || i == 2 {
                        c.is_null(row);
                    } else {
                        read(c, row);
                    }
                }
            }
            Ok(())
        })
    };
    let rows = vec![
        vec![text("one"), Value::I64(1), Value::List(vec![text("x"), text("")]), Value::List(vec![Value::Bool(true); 3]), Value::Bytes(vec![1])],
        vec![text(""), Value::Null, Value::List(vec![]), Value::Null, Value::Bytes(vec![])],
    ];
    let mut b = Bench::began(reading(), desc());
    let good = b.encode(&rows);
    for at in 0..good.len() {
        for x in [0x01, 0x80, 0xFF] {
            let mut bad = good.clone();
            bad[at] ^= x;
            let code = b.deliver(Entrance::Batch, &bad);
            let reason = std::mem::take(&mut b.fake.borrow_mut().reason);
            assert!(code <= 0 && (code == 0) == reason.is_empty(), "byte {}: {} {}", at, code, reason);
        }
        assert!(b.deliver(Entrance::Batch, &good[..at]) < 0, "{} of {} bytes are taken", at, good.len());
        b.fake.borrow_mut().reason.clear();
    }
    let code = b.deliver(Entrance::Batch, &good);
    b.ok(code);
    let message = encode_init(&b.desc);
    let code = b.deliver(Entrance::Batch, &message);
    b.refuses(code, -5, "the input message is damaged or of another kind");
    let other = encode_input(&plain_init().input, &[], &[]);
    let code = b.deliver(Entrance::Batch, &other);
    b.refuses(code, -4, "the Arrow batch is damaged or has another schema than the input");
    // A message that does not begin at a multiple of 8 is read all the same.
    let at = b.guest.alloc(good.len() as i32 + 4).expect("room");
    b.guest.buffer.fill(4, &good);
    let code = b.call(Entrance::Batch, at + 4, good.len() as i32);
    b.ok(code);
}

/// The first guest of README.md is the file that is built.
#[test]
fn the_first_guest() {
    let source = include_str!("../../examples/first.rs");
    let code = &source[source.find("use nervix_guest").expect("code")..];
    assert!(include_str!("../../README.md").contains(&format!("```rust\n{}```\n", code)), "README.md does not show examples/first.rs as it is");
}
