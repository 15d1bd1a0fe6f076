// SPDX-License-Identifier: Apache-2.0

//! Writing an output envelope and its generated batch.

use alloc::vec::Vec;

use crate::arrow_read::{arrow_type, signed, CONTINUATION, HEADER_BATCH, HEADER_SCHEMA, UNIT_NANOSECOND, ZONE};
use crate::flat::{get32, Writer};
use crate::message::*;
use crate::output::{Decision, Output, Routed, Source};
use crate::{Kind, Type};

/// Writes an output that was judged. Order: head, routes with their decisions, rows, generated batch.
pub(crate) fn write_output(w: &mut Writer, o: &mut Output, rows: usize, schemas: &mut SchemaCache) {
    let envelope = begin_message(w, Variant::Output);
    w.point(envelope + 8);
    let mut offset = w.offsets(o.routes.len());
    for r in &mut o.routes {
        let name = &o.init.schema(r.relay).name;
        write_route(w, offset, r, name);
        offset += 4;
    }
    for r in &mut o.routes {
        if r.same.is_none() {
            write_rows(w, r);
        }
    }
    for r in &o.routes {
        let of = r.same.map_or(r, |other| &o[other]);
        w.point_at(r.sidecar_at + 4, of.rows_at);
    }
    w.pad_to(12, 16); // the stream begins at a multiple of 16
    w.point(envelope + 4);
    let length = w.add32(0);
    if !o.columns.is_empty() {
        schemas.write(w, o);
        write_batch(w, o, rows);
        let n = w.len() - length - 4;
        w.put32(length, n as u32);
    }
    end_message(w);
}

/// Everything of a route but its rows.
fn write_route(w: &mut Writer, offset: usize, r: &mut Routed, relay: &str) {
    w.pad(4);
    w.point(offset);
    let t = w.table(VT_ROUTED, 16);
    w.point(t + 4);
    w.text(relay);
    w.point(t + 8);
    let mut at = w.offsets(r.columns.len());
    for c in &r.columns {
        w.point(at);
        let one = w.table(VT_REF, 12);
        let (source, index) = match *c {
            Source::Input(i) => (0, i),
            Source::Generated(i) => (1, i),
            Source::Uninitialized => (2, 0),
        };
        w.put32(one + 4, index as u32);
        w.b[one + 8] = source;
        at += 4;
    }
    w.point(t + 12);
    r.sidecar_at = w.table(VT_SIDECAR, 20);
    w.point(r.sidecar_at + 8);
    if r.acked.is_empty() {
        w.offsets(0);
    } else {
        let set = w.offsets(1);
        w.point(set);
        let table = w.table(VT_TOKENS, 16);
        w.align_vector8();
        w.point(table + 4);
        w.words(&r.acked);
    }
    write_decisions(w, r.sidecar_at + 12, &r.nacked);
    write_decisions(w, r.sidecar_at + 16, &r.failed);
}

fn write_decisions(w: &mut Writer, member: usize, all: &[Decision]) {
    w.pad(4);
    w.point(member);
    let mut offset = w.offsets(all.len());
    for d in all {
        w.point(offset);
        let t = w.table(VT_PAIR, 12);
        w.point(t + 8);
        w.text(&d.reason);
        w.align_vector8();
        w.point(t + 4);
        w.words(&d.tokens);
        offset += 4;
    }
}

pub(crate) fn write_rows(w: &mut Writer, r: &mut Routed) {
    const RECORD_HEAD: usize = 24;
    w.pad(4);
    r.rows_at = w.len();
    let mut offset = w.offsets(r.rows);
    w.pad(8);
    let mut at = w.len();
    w.b.extend_from_slice(&r.records.b);
    for _ in 0..r.rows {
        w.point_at(offset, at);
        let vtable = if get32(&w.b, at) != 0 { VT_ROW } else { VT_TOKENS };
        w.put32(at, (at - vtable) as u32);
        at += RECORD_HEAD + 8 * get32(&w.b, at + 20) as usize;
        offset += 4;
    }
}

// The vtables of Arrow's metadata, behind the offset of its root; those of Message and of tables of one member are in all metadata.
const META_MESSAGE: usize = 4;
const META_ONE: usize = META_MESSAGE + 12;
const META_HEADER: usize = 24;
const META_FIELD: usize = META_HEADER + 8;
const META_TWO: usize = META_FIELD + 16;
const META_NONE: usize = META_TWO + 8;

/// Begins an Arrow message and gives where its metadata begins; its header is written next.
fn begin_meta(w: &mut Writer, kind: u8, body: usize, header_vtables: &[u16]) -> usize {
    w.add32(CONTINUATION);
    w.add32(0); // the length, see end_meta
    let meta = w.add32(0);
    w.add16s(&[12, 20, 16, 18, 4, 8, 6, 8, 4, 0]); // Message, and a table of one member
    w.add16s(header_vtables);
    w.pad(8);
    w.point(meta);
    let t = w.table(meta + META_MESSAGE, 20);
    w.put64(t + 8, body as u64);
    w.put16(t + 16, 4); // version 5 of the metadata
    w.b[t + 18] = kind;
    w.pad(8);
    w.point(t + 4);
    meta
}

fn end_meta(w: &mut Writer, meta: usize) {
    w.pad(8);
    let n = w.len() - meta;
    w.put32(meta - 4, n as u32);
}

fn write_field(w: &mut Writer, meta: usize, ty: &Type, optional: bool, name: &str) {
    let field = w.table(meta + META_FIELD, 20);
    w.b[field + 16] = optional.into();
    w.b[field + 17] = arrow_type(ty.kind);
    w.point(field + 4);
    w.text(name);
    w.point(field + 8);
    match ty.kind {
        Kind::Bool | Kind::String | Kind::Bytes | Kind::Vec => {
            w.table(meta + META_NONE, 4);
        }
        Kind::F32 | Kind::F64 | Kind::Array => {
            let t = w.table(meta + META_ONE, 8);
            let precision = 1 + u32::from(ty.kind == Kind::F64);
            w.put32(t + 4, if ty.kind == Kind::Array { ty.length } else { precision });
        }
        Kind::Datetime => {
            // The unit has two bytes and the zone four.
            let own = w.len();
            w.add16s(&[8, 12, 4, 8]);
            w.point(field + 8);
            let t = w.table(own, 12);
            w.put16(t + 4, UNIT_NANOSECOND);
            w.point(t + 8);
            w.text(ZONE);
        }
        _ => {
            let t = w.table(meta + META_TWO, 12);
            w.put32(t + 4, 8 * ty.kind.width() as u32);
            w.b[t + 8] = signed(ty.kind).into();
        }
    }
    w.point(field + 12);
    match ty.element.as_deref() {
        None => {
            w.offsets(0);
        }
        Some(element) => {
            let child = w.offsets(1);
            w.point(child);
            write_field(w, meta, element, false, "item");
        }
    }
}

/// The schema message of the last output: a guest emits the same columns again and again.
#[derive(Default)]
pub(crate) struct SchemaCache {
    message: Writer,
    of: Vec<(Type, bool)>,
}

impl SchemaCache {
    pub fn write(&mut self, w: &mut Writer, o: &Output) {
        let held = self.of.len() == o.columns.len() && self.of.iter().zip(&o.columns).all(|(a, g)| a.0 == g.ty && a.1 == g.optional);
        if !held {
            let m = &mut self.message;
            m.b.clear();
            self.of.clear();
            // Schema, Field, tables of two members, tables of none
            let meta = begin_meta(m, HEADER_SCHEMA, 0, &[8, 8, 0, 4, 16, 20, 4, 16, 17, 8, 0, 12, 8, 12, 4, 8, 4, 4]);
            let t = m.table(meta + META_HEADER, 8);
            m.point(t + 4);
            let mut fields = m.offsets(o.columns.len());
            for g in &o.columns {
                m.point(fields);
                write_field(m, meta, &g.ty, g.optional, "");
                fields += 4;
                self.of.push((g.ty.clone(), g.optional));
            }
            end_meta(m, meta);
        }
        w.b.extend_from_slice(&self.message.b);
    }
}

fn up8(n: usize) -> usize {
    (n + 7) / 8 * 8
}

pub(crate) fn write_batch(w: &mut Writer, o: &Output, rows: usize) {
    let mut buffers = Vec::new();
    let mut nodes = 0;
    for g in &o.columns {
        nodes += g.buffers(&mut buffers);
    }
    let body = buffers.iter().map(|b| up8(b.len())).sum();
    let meta = begin_meta(w, HEADER_BATCH, body, &[10, 20, 8, 4, 16]); // RecordBatch
    let t = w.table(meta + META_HEADER, 20);
    w.put64(t + 8, rows as u64);
    w.align_vector8();
    w.point(t + 4);
    w.add32(nodes);
    for g in &o.columns {
        let mut next = Some(g);
        while let Some(e) = next {
            w.add64(e.rows as u64);
            w.add64(e.nulls as u64);
            next = e.element.as_deref();
        }
    }
    w.align_vector8();
    w.point(t + 16);
    w.add32(buffers.len() as u32);
    let mut at = 0;
    for b in &buffers {
        w.add64(at);
        w.add64(b.len() as u64);
        at += up8(b.len()) as u64;
    }
    end_meta(w, meta);
    for b in &buffers {
        w.b.extend_from_slice(b);
        w.pad(8);
    }
}
