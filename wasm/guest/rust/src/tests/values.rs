// SPDX-License-Identifier: Apache-2.0

//! Values of every type, and instants.

use std::cell::RefCell;
use std::rc::Rc;

use super::bench::*;
use crate::*;

#[test]
fn instants() {
    // req: W-311
    for ns in [i64::MIN, i64::MAX, 0, -1, 1] {
        let at = Time::EPOCH + Duration::nanoseconds(ns);
        assert_eq!(at.since(Time::EPOCH).as_nanoseconds(), ns);
        let mut w = StateWriter::default();
        w.time(at);
        assert_eq!(StateReader::new(&w.out).time(), at);
    }
    let (first, last) = (Time::EPOCH + Duration::nanoseconds(i64::MIN), Time::EPOCH + Duration::nanoseconds(i64::MAX));
    assert_eq!((last + Duration::nanoseconds(1), first + Duration::nanoseconds(-1)), (last, first));
    assert_eq!((last.since(first), first.since(last)), (Duration::nanoseconds(i64::MAX), Duration::nanoseconds(i64::MIN)));
    assert!(first < Time::EPOCH && Time::EPOCH < last);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let inside = Rc::clone(&seen);
    let mut b = Bench::began(
        sketch(move |call, batch| {
            inside.borrow_mut().extend((0..batch.rows()).map(|row| batch.column(2).time(row)));
            inside.borrow_mut().push(call.now());
            Ok(())
        }),
        plain_init(),
    );
    b.fake.borrow_mut().now = i64::MIN;
    let rows: Vec<_> = [first, last].iter().map(|t| vec![text("a"), Value::Null, Value::Time(*t)]).collect();
    let code = b.batch(&rows);
    b.ok(code);
    assert_eq!(*seen.borrow(), [first, last, first]);
}

#[test]
fn no_number_is_an_instant() {
    // req: W-311
    for (name, source) in [
        ("instant.rs", include_str!("../instant.rs")),
        ("processor.rs", include_str!("../processor.rs")),
        ("column.rs", include_str!("../column.rs")),
        ("generated.rs", include_str!("../generated.rs")),
        ("state.rs", include_str!("../state.rs")),
    ] {
        for line in source.lines().filter(|l| l.trim_start().starts_with("pub") && l.contains("i64")) {
            let known =
                ["fn nanoseconds(n: i64)", "fn milliseconds(n: i64)", "fn seconds(n: i64)", "fn as_nanoseconds", "fn i64(", "since_epoch: i64", "handle: i64"];
            let crate_only = line.contains("pub(crate)");
            assert!(crate_only || known.iter().any(|k| line.contains(k)), "{}: {}", name, line);
        }
    }
}

const ALL: &str = "a U8, b I8 OPTIONAL, c U16, d I16 OPTIONAL, e U32, f I32 OPTIONAL, g U64, h I64 OPTIONAL, i F32, j F64 OPTIONAL, k BOOL, l BOOL OPTIONAL, \
m STRING, n STRING OPTIONAL, o BYTES, p BYTES OPTIONAL, q DATETIME, r DATETIME OPTIONAL, s VEC<I64>, t VEC<STRING> OPTIONAL, \
u ARRAY<F32, 2, 3>, v ARRAY<BOOL, 4> OPTIONAL, w VEC<ARRAY<F32, 6>>, x VEC<VEC<BYTES>> OPTIONAL, y ARRAY<STRING, 2> OPTIONAL, z VEC<DATETIME>";

/// The same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> (self.0 >> 58)
    }

    fn value(&mut self, ty: &Type) -> Value {
        let bits = self.next();
        match ty.kind {
            Kind::U8 => Value::U8(bits as u8),
            Kind::I8 => Value::I8(bits as i8),
            Kind::U16 => Value::U16(bits as u16),
            Kind::I16 => Value::I16(bits as i16),
            Kind::U32 => Value::U32(bits as u32),
            Kind::I32 => Value::I32(bits as i32),
            Kind::U64 => Value::U64(bits),
            Kind::I64 => Value::I64(bits as i64),
            Kind::F32 => Value::F32([0.0, -1.5, f32::INFINITY, f32::MAX][bits as usize % 4]),
            Kind::F64 => Value::F64([0.0, -1.5, f64::NEG_INFINITY, f64::MIN_POSITIVE][bits as usize % 4]),
            Kind::Bool => Value::Bool(bits % 2 == 0),
            Kind::String => text(["", "text", "\u{e4}\u{20ac}\u{1F331}", "a\0b"][bits as usize % 4]),
            Kind::Bytes => Value::Bytes([&[][..], &[0x00, 0xFF, 0xC3, 0x28]][bits as usize % 2].to_vec()),
            Kind::Datetime => Value::Time(Time { since_epoch: bits as i64 }),
            Kind::Array | Kind::Vec => {
                let n = if ty.kind == Kind::Array { ty.length as usize } else { bits as usize % 4 };
                let element = ty.element.as_ref().expect("elements");
                Value::List((0..n).map(|_| self.value(element)).collect())
            }
        }
    }
}

#[test]
fn every_type_round_trips() {
    // req: W-056 half: through the reader and the writer of the kit
    let desc = Init { input: schema("in", ALL), outputs: vec![schema("out", ALL)], ..plain_init() };
    assert_eq!(desc.input.to_string(), ALL);
    let mut b = Bench::began(
        sketch(|call, batch| {
            let mut out = call.output();
            let route = out.route(Relay(0));
            for (i, c) in batch.columns().iter().enumerate() {
                let g = out.generate_at(Relay(0), i);
                (0..batch.rows()).for_each(|row| fill(&mut out[g], &read(c, row)));
                out[route].from_generated(&[g]);
            }
            out[route].carry_all(batch);
            call.emit(out)
        }),
        desc.clone(),
    );
    let mut dice = Dice(1);
    for rows in [0, 1, 2, 9, 64, 300] {
        let mut one = |f: &Field| if f.optional && dice.next() % 3 == 0 { Value::Null } else { dice.value(&f.ty) };
        let all: Vec<Vec<Value>> = (0..rows).map(|_| desc.input.fields.iter().map(&mut one).collect()).collect();
        let code = b.batch(&all);
        b.ok(code);
        let mut want = String::new();
        for i in 0..desc.input.fields.len() {
            let values: String = all.iter().map(|row| format!(" {:?}", row[i])).collect();
            want += &format!("gen{}{}\n", i, values);
        }
        assert_eq!(b.said().split_once('\n').expect("a route").1, want);
    }
}

#[test]
fn calls_of_the_host() {
    let mut b = Bench::began(
        sketch(|call, _| {
            let (one, two) = (call.after(Duration::seconds(2)), call.after(Duration::milliseconds(-1)));
            assert!(one != two && call.request_reset());
            assert_eq!(call.init().branch_key.as_deref(), Some(r#"{"tenant":"alpha"}"#));
            Ok(())
        }),
        plain_init(),
    );
    let code = b.batch(&[row("a", None)]);
    b.ok(code);
    assert_eq!(b.fake.borrow().delays, [2_000_000_000, -1_000_000]);
    assert_eq!((b.fake.borrow().resets, b.guest.reset_state()), (1, -6));
}
