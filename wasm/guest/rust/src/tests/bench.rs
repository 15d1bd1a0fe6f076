// SPDX-License-Identifier: Apache-2.0

//! A fake host around an instance, and the messages of a host.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use crate::arrow_read::{read_arrow, KnownSchema, CONTINUATION};
use crate::envelope::{write_batch, write_rows, SchemaCache};
use crate::flat::{Reader, Writer};
use crate::instance::{Host, Instance};
use crate::message::*;
use crate::*;

pub const FIRST_TOKEN: u64 = 1 << 40;

#[derive(Default)]
pub struct Fake {
    pub now: i64,
    pub delays: Vec<i64>,
    pub resets: usize,
    pub reason: String,
    pub latches: usize,
}

impl Host for Rc<RefCell<Fake>> {
    fn now(&self) -> i64 {
        self.borrow().now
    }

    fn after(&mut self, delay: i64) -> i64 {
        let mut fake = self.borrow_mut();
        fake.delays.push(delay);
        fake.delays.len() as i64
    }

    fn request_reset(&mut self) -> i32 {
        self.borrow_mut().resets += 1;
        0
    }

    fn latch(&mut self, reason: &str) {
        let mut fake = self.borrow_mut();
        fake.reason = reason.into();
        fake.latches += 1;
    }

    fn latched(&self) -> bool {
        !self.borrow().reason.is_empty()
    }
}

/// An instance with what the host knows about it.
pub struct Bench<P> {
    pub guest: Instance<P>,
    pub fake: Rc<RefCell<Fake>>,
    pub desc: Init,
    pub next: u64,
}

pub enum Entrance {
    Init,
    Batch,
    Load,
}

impl<P: Processor> Bench<P> {
    pub fn new(processor: P, desc: Init) -> Self {
        let fake = Rc::new(RefCell::new(Fake { now: 1000, ..Fake::default() }));
        Bench { guest: Instance::new(processor, Box::new(Rc::clone(&fake))), fake, desc, next: FIRST_TOKEN }
    }

    /// An instance after init.
    pub fn began(processor: P, desc: Init) -> Self {
        let mut b = Bench::new(processor, desc);
        let message = encode_init(&b.desc);
        let code = b.deliver(Entrance::Init, &message);
        b.ok(code);
        b
    }

    pub fn call(&mut self, to: Entrance, ptr: usize, size: i32) -> i32 {
        match to {
            Entrance::Init => self.guest.init(ptr, size),
            Entrance::Batch => self.guest.process_batch(ptr, size),
            Entrance::Load => self.guest.load_state(ptr, size),
        }
    }

    /// Does what a host does with a message.
    pub fn deliver(&mut self, to: Entrance, message: &[u8]) -> i32 {
        let ptr = self.guest.alloc(message.len() as i32).expect("room");
        self.guest.buffer.fill(0, message);
        self.call(to, ptr, message.len() as i32)
    }

    /// Delivers rows, each with a token of its own.
    pub fn batch(&mut self, rows: &[Vec<Value>]) -> i32 {
        let message = self.encode(rows);
        self.deliver(Entrance::Batch, &message)
    }

    pub fn encode(&mut self, rows: &[Vec<Value>]) -> Vec<u8> {
        let tokens: Vec<[u64; 1]> = (0..rows.len() as u64).map(|i| [self.next + i]).collect();
        self.next += rows.len() as u64;
        let entries: Vec<Entry> = tokens.iter().map(|t| Entry { tokens: t, source: Some(t[0]) }).collect();
        encode_input(&self.desc.input, rows, &entries)
    }

    /// Rows of two tokens each.
    pub fn encode_doubled(&mut self, rows: &[Vec<Value>]) -> Vec<u8> {
        let tokens: Vec<[u64; 2]> = (0..rows.len() as u64).map(|i| [self.next + 2 * i, self.next + 2 * i + 1]).collect();
        self.next += 2 * rows.len() as u64;
        let entries: Vec<Entry> = tokens.iter().map(|t| Entry { tokens: t, source: Some(t[1]) }).collect();
        encode_input(&self.desc.input, rows, &entries)
    }

    #[track_caller]
    pub fn ok(&self, code: i32) {
        assert!(code == 0 && self.fake.borrow().reason.is_empty(), "the call answers {}: {}", code, self.fake.borrow().reason);
    }

    /// The call was refused with a code and a reason; clears the channel as a host does.
    #[track_caller]
    pub fn refuses(&self, got: i32, code: i32, reason: &str) {
        let said = std::mem::take(&mut self.fake.borrow_mut().reason);
        assert_eq!((got, said.as_str()), (code, reason));
    }

    /// Reads and renders all that waits.
    pub fn said(&mut self) -> String {
        let mut all = String::new();
        while self.guest.read_emit() > 0 {
            let message = self.shown();
            all += &decode_output(&self.desc, &message);
        }
        all
    }

    pub fn shown(&self) -> Vec<u8> {
        // SAFETY: the instance says that its buffer is there.
        unsafe { std::slice::from_raw_parts(self.guest.buffer.ptr() as *const u8, self.guest.buffer.len() as usize) }.to_vec()
    }

    pub fn state(&mut self) -> Vec<u8> {
        let n = self.guest.dump_state();
        assert!(n > 0, "dump answers {}", n);
        self.shown()
    }
}

/// A plain value of any type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
    Time(Time),
    List(Vec<Value>),
}

pub fn text(s: &str) -> Value {
    Value::Text(s.into())
}

pub fn fill(g: &mut GeneratedColumn, v: &Value) {
    match v {
        Value::Null => g.null(),
        Value::U8(v) => g.u8(*v),
        Value::I8(v) => g.i8(*v),
        Value::U16(v) => g.u16(*v),
        Value::I16(v) => g.i16(*v),
        Value::U32(v) => g.u32(*v),
        Value::I32(v) => g.i32(*v),
        Value::U64(v) => g.u64(*v),
        Value::I64(v) => g.i64(*v),
        Value::F32(v) => g.f32(*v),
        Value::F64(v) => g.f64(*v),
        Value::Bool(v) => g.bool(*v),
        Value::Text(v) => g.str(v),
        Value::Bytes(v) => g.bytes(v),
        Value::Time(v) => g.time(*v),
        Value::List(all) => {
            let list = g.list();
            all.iter().for_each(|one| fill(list, one));
        }
    }
}

/// The inverse of `fill`.
pub fn read(c: &Column<'_>, row: usize) -> Value {
    if c.is_null(row) {
        return Value::Null;
    }
    match c.ty().kind {
        Kind::U8 => Value::U8(c.u8(row)),
        Kind::I8 => Value::I8(c.i8(row)),
        Kind::U16 => Value::U16(c.u16(row)),
        Kind::I16 => Value::I16(c.i16(row)),
        Kind::U32 => Value::U32(c.u32(row)),
        Kind::I32 => Value::I32(c.i32(row)),
        Kind::U64 => Value::U64(c.u64(row)),
        Kind::I64 => Value::I64(c.i64(row)),
        Kind::F32 => Value::F32(c.f32(row)),
        Kind::F64 => Value::F64(c.f64(row)),
        Kind::Bool => Value::Bool(c.bool(row)),
        Kind::String => text(c.str(row)),
        Kind::Bytes => Value::Bytes(c.bytes(row).to_vec()),
        Kind::Datetime => Value::Time(c.time(row)),
        Kind::Array | Kind::Vec => {
            let (elements, rows) = c.list(row);
            Value::List(rows.map(|i| read(elements, i)).collect())
        }
    }
}

/// A schema in the spelling in which it is displayed.
pub fn schema(name: &str, fields: &str) -> Schema {
    let fields = split(fields).into_iter().map(|f| {
        let (name, ty) = f.split_once(' ').expect("a type");
        let bare = ty.trim_end_matches(" OPTIONAL");
        Field { name: name.into(), ty: parse_type(bare), optional: bare != ty }
    });
    Schema { name: name.into(), fields: fields.collect() }
}

fn split(s: &str) -> Vec<&str> {
    let (mut all, mut depth, mut from) = (Vec::new(), 0, 0);
    for (i, c) in s.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                all.push(s[from..i].trim());
                from = i + 1;
            }
            _ => {}
        }
    }
    all.push(s[from..].trim());
    all
}

fn parse_type(s: &str) -> Type {
    if let Some(inner) = s.strip_prefix("VEC<") {
        return Type { kind: Kind::Vec, length: 0, element: Some(Box::new(parse_type(&inner[..inner.len() - 1]))) };
    }
    if let Some(inner) = s.strip_prefix("ARRAY<") {
        let parts = split(&inner[..inner.len() - 1]);
        let element = parse_type(parts[0]);
        return parts[1..].iter().rev().fold(element, |e, n| Type { kind: Kind::Array, length: n.parse().expect("a length"), element: Some(Box::new(e)) });
    }
    let kind = (0..16).filter_map(Kind::of).find(|k| k.to_string() == s).expect("a type");
    Type { kind, length: 0, element: None }
}

pub fn encode_init(i: &Init) -> Vec<u8> {
    const VT_INIT: usize = 20;
    const VT_SCHEMA: usize = 34;
    const VT_FIELD: usize = 42;
    const VT_TYPE: usize = 52;
    const VT_SCALAR: usize = 62;
    fn point_text(w: &mut Writer, at: usize, s: &str) {
        w.point(at);
        w.text(s);
    }
    fn ty(w: &mut Writer, at: usize, of: &Type) {
        w.point(at);
        match &of.element {
            None => {
                let t = w.table(VT_SCALAR, 8);
                w.b[t + 4] = of.kind as u8;
            }
            Some(element) => {
                let t = w.table(VT_TYPE, 16);
                w.b[t + 12] = of.kind as u8;
                w.put32(t + 8, of.length);
                ty(w, t + 4, element);
            }
        }
    }
    fn encode(w: &mut Writer, at: usize, s: &Schema) {
        w.point(at);
        let t = w.table(VT_SCHEMA, 12);
        point_text(w, t + 4, &s.name);
        w.point(t + 8);
        let mut offset = w.offsets(s.fields.len());
        for f in &s.fields {
            w.point(offset);
            let one = w.table(VT_FIELD, 16);
            w.b[one + 12] = f.optional.into();
            point_text(w, one + 4, &f.name);
            ty(w, one + 8, &f.ty);
            offset += 4;
        }
    }
    let mut w = Writer::default();
    w.zeros(8);
    w.b.extend_from_slice(b"NVWY");
    // Message, BranchInit, Schema, Field, Type, Type of a scalar
    w.add16s(&[8, 12, 8, 4, 14, 24, 4, 8, 12, 16, 20, 8, 12, 4, 8, 10, 16, 4, 8, 12, 10, 16, 12, 4, 8, 6, 8, 4]);
    w.pad(4);
    let message = w.table(12, 12);
    w.put32(4, message as u32 - 4);
    w.b[message + 8] = Variant::Init as u8;
    w.point(message + 4);
    let t = w.table(VT_INIT, 24);
    point_text(&mut w, t + 4, &i.domain_name);
    point_text(&mut w, t + 8, &i.domain_type);
    match &i.branch_key {
        None => w.put16(VT_INIT + 8, 0),
        Some(key) => point_text(&mut w, t + 12, key),
    }
    encode(&mut w, t + 16, &i.input);
    w.point(t + 20);
    let mut offset = w.offsets(i.outputs.len());
    for s in &i.outputs {
        encode(&mut w, offset, s);
        offset += 4;
    }
    end_message(&mut w);
    w.b
}

/// What a host would write, but that the fields of the stream have no names.
pub fn encode_input(s: &Schema, rows: &[Vec<Value>], entries: &[Entry<'_>]) -> Vec<u8> {
    let init = Init { domain_name: String::new(), domain_type: String::new(), branch_key: None, input: s.clone(), outputs: vec![s.clone()] };
    let mut o = Output::new(Rc::new(init));
    let route = o.route(Relay(0));
    for i in 0..s.fields.len() {
        let g = o.generate_at(Relay(0), i);
        rows.iter().for_each(|row| fill(&mut o[g], &row[i]));
        o[route].from_generated(&[g]);
    }
    entries.iter().for_each(|e| o[route].carry(*e));
    o.judge().expect("rows of the schema");
    let mut w = Writer::default();
    let t = begin_message(&mut w, Variant::Input);
    w.point(t + 8);
    let sidecar = w.table(VT_SIDECAR, 20);
    for member in [8, 12, 16] {
        w.point(sidecar + member);
        w.offsets(0);
    }
    write_rows(&mut w, &mut o[route]);
    w.point_at(sidecar + 4, o[route].rows_at);
    w.pad_to(12, 16);
    w.point(t + 4);
    let length = w.add32(0);
    SchemaCache::default().write(&mut w, &o);
    write_batch(&mut w, &o, rows.len());
    w.add32(CONTINUATION);
    w.add32(0);
    let n = w.len() - length - 4;
    w.put32(length, n as u32);
    end_message(&mut w);
    w.b
}

fn tokens_text(r: &Reader<'_>, at: usize, count: usize) -> String {
    let all: Vec<u64> = (0..count).map(|i| crate::flat::get64(r.bytes, at + 8 * i) - FIRST_TOKEN).collect();
    format!("{:?}", all)
}

/// Renders an envelope: every member, and nothing of its layout.
fn decode_output(desc: &Init, message: &[u8]) -> String {
    let (mut r, envelope) = open(message, Variant::Output, 2);
    let stream = r.vector(&envelope, 0, 1);
    let stream = r.slice(stream);
    let routes = r.vector(&envelope, 1, 4);
    let (mut said, mut rows) = (String::new(), 0);
    let mut pool: Vec<Option<Field>> = Vec::new();
    for k in 0..routes.count {
        let route = r.element(routes, k, 3);
        let name = r.text(&route, 0);
        let fields = &desc.outputs.iter().find(|s| s.name == name).expect("a relay").fields;
        write!(said, "{}:", name).unwrap();
        let columns = r.vector(&route, 1, 4);
        for (c, field) in fields.iter().enumerate().take(columns.count) {
            let one = r.element(columns, c, 2);
            let (source, index) = (usize::from(r.u8(&one, 0)), r.u32(&one, 1) as usize);
            write!(said, " {}{}", ["in", "gen", "none"][source], index).unwrap();
            if source == 1 {
                pool.resize(pool.len().max(index + 1), None);
                pool[index] = Some(field.clone());
            }
        }
        assert_eq!(columns.count, fields.len());
        let sidecar = r.child(&route, 2, 4);
        let batch = Batch::read(&mut r, &sidecar);
        for i in 0..batch.rows() {
            let e = batch.entry(i);
            let tokens: Vec<u64> = e.tokens.iter().map(|t| t - FIRST_TOKEN).collect();
            write!(said, " {:?}", tokens).unwrap();
            if let Some(source) = e.source {
                write!(said, "<{}", source - FIRST_TOKEN).unwrap();
            }
        }
        rows = rows.max(batch.rows());
        for (slot, word) in [(1, "acked"), (2, "nacked"), (3, "errors")] {
            let sets = r.vector(&sidecar, slot, 4);
            for i in 0..sets.count {
                let set = r.element(sets, i, 2);
                let tokens = r.vector(&set, 0, 8);
                write!(said, " {}{}", word, tokens_text(&r, tokens.at, tokens.count)).unwrap();
                if slot > 1 {
                    write!(said, "{:?}", r.text(&set, 1)).unwrap();
                }
            }
        }
        said.push('\n');
    }
    assert!(r.closed(), "the envelope is damaged");
    if !stream.is_empty() {
        let input = Schema { name: String::new(), fields: pool.into_iter().map(|f| f.expect("a column that is used")).collect() };
        let init = Init { input, ..desc.clone() };
        // Only the columns are of interest: rows without entries.
        let empty = encode_input(&init.input, &[], &[]);
        let (mut r, t) = open(&empty, Variant::Input, 2);
        let sidecar = r.child(&t, 1, 4);
        let mut batch = Batch::read(&mut r, &sidecar);
        batch.rows = rows;
        let mut room = vec![0u64; stream.len() / 8 + 1];
        for (i, part) in stream.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            room[i] = u64::from_ne_bytes(word);
        }
        let aligned = &crate::column::octets(&room)[..stream.len()];
        read_arrow(aligned, &mut KnownSchema::default(), &init, &mut batch).expect("a generated batch that fits the fields it is for");
        for (i, c) in batch.columns().iter().enumerate() {
            write!(said, "gen{}", i).unwrap();
            (0..rows).for_each(|row| write!(said, " {:?}", read(c, row)).unwrap());
            said.push('\n');
        }
    }
    said
}

pub fn plain_init() -> Init {
    Init {
        domain_name: "d".into(),
        domain_type: "unpaced".into(),
        branch_key: Some(r#"{"tenant":"alpha"}"#.into()),
        input: schema("incoming", "sensor STRING, value I64 OPTIONAL, at DATETIME"),
        outputs: vec![schema("out", "sensor STRING, value I64 OPTIONAL, at DATETIME"), schema("more", "number I64")],
    }
}

pub fn row(sensor: &str, value: Option<i64>) -> Vec<Value> {
    vec![text(sensor), value.map_or(Value::Null, Value::I64), Value::Time(Time::EPOCH)]
}

type OnBatch = Box<dyn FnMut(&mut Call<'_>, &Batch<'_>) -> Result>;

/// A processor made of one function.
pub struct Sketch(pub OnBatch);

pub fn sketch(f: impl FnMut(&mut Call<'_>, &Batch<'_>) -> Result + 'static) -> Sketch {
    Sketch(Box::new(f))
}

impl Processor for Sketch {
    fn process_batch(&mut self, call: &mut Call<'_>, batch: &Batch<'_>) -> Result {
        (self.0)(call, batch)
    }
}

/// Hands every row on.
pub fn pass(call: &mut Call<'_>, batch: &Batch<'_>) -> Result {
    let mut out = call.output();
    let route = out.route(Relay(0));
    out[route].from_input(&[0, 1, 2]).carry_all(batch);
    call.emit(out)
}
