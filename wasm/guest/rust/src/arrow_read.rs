// SPDX-License-Identifier: Apache-2.0

//! Reading the Arrow stream of an input batch: one schema and one record batch, all of it judged before a value can be read.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::column::{numbers, Column};
use crate::entry::Batch;
use crate::flat::{get32, get64, Reader, Span, Table};
use crate::{Init, Kind, Schema, Type};

pub(crate) const HEADER_SCHEMA: u8 = 1;
pub(crate) const HEADER_BATCH: u8 = 3;
pub(crate) const CONTINUATION: u32 = 0xFFFF_FFFF;
pub(crate) const UNIT_NANOSECOND: u16 = 3;
pub(crate) const ZONE: &str = "+00:00";

/// The member of the union of Arrow's types.
pub(crate) fn arrow_type(kind: Kind) -> u8 {
    match kind {
        Kind::F32 | Kind::F64 => 3,
        Kind::Bytes => 4,
        Kind::String => 5,
        Kind::Bool => 6,
        Kind::Datetime => 10,
        Kind::Vec => 12,
        Kind::Array => 16,
        _ => 2,
    }
}

pub(crate) fn signed(kind: Kind) -> bool {
    matches!(kind, Kind::I8 | Kind::I16 | Kind::I32 | Kind::I64)
}

/// One message of a stream.
struct Message<'a> {
    meta: Reader<'a>,
    header: Table,
    body: &'a [u8],
}

/// Takes the next message of a stream apart. A header has at most four members.
fn next_message<'a>(stream: &mut &'a [u8], kind: u8) -> Option<Message<'a>> {
    let b = *stream;
    if b.len() < 16 || get32(b, 0) != CONTINUATION {
        return None;
    }
    let size = get32(b, 4) as usize;
    if size % 8 != 0 || size < 8 || size > b.len() - 8 {
        return None;
    }
    let rest = &b[8 + size..];
    let mut meta = Reader::new(&b[8..8 + size]);
    let at = get32(b, 8) as usize;
    if at < 4 || at % 4 != 0 || at > size - 4 {
        return None;
    }
    let root = meta.table(at, 5);
    let body = meta.u64(&root, 3);
    if meta.u8(&root, 1) != kind || body % 8 != 0 || body > rest.len() as u64 {
        return None;
    }
    let (body, rest) = rest.split_at(body as usize);
    let header = meta.child(&root, 2, 4);
    *stream = rest;
    if meta.bad {
        return None;
    }
    Some(Message { meta, header, body })
}

/// Holds a field of an Arrow schema against a type.
fn field_is(r: &mut Reader<'_>, t: Table, ty: &Type, optional: bool) -> bool {
    let detail = r.child(&t, 3, 2);
    if r.bad || (r.u8(&t, 1) != 0) != optional || r.u8(&t, 2) != arrow_type(ty.kind) || r.member(&t, 4, 4) != 0 {
        return false;
    }
    let same = match ty.kind {
        Kind::Bool | Kind::String | Kind::Bytes => true,
        Kind::F32 => r.u16(&detail, 0) == 1,
        Kind::F64 => r.u16(&detail, 0) == 2,
        Kind::Datetime => r.u16(&detail, 0) == UNIT_NANOSECOND && r.text(&detail, 1) == ZONE,
        Kind::Array | Kind::Vec => {
            if ty.kind == Kind::Array && r.u32(&detail, 0) != ty.length {
                return false;
            }
            let children = r.vector(&t, 5, 4);
            let child = r.element(children, 0, 7);
            let element = ty.element.as_deref();
            !r.bad && children.count == 1 && element.map_or(false, |e| field_is(r, child, e, false))
        }
        _ => r.u32(&detail, 0) as usize == 8 * ty.kind.width() && (r.u8(&detail, 1) != 0) == signed(ty.kind),
    };
    same && !r.bad
}

/// The schema message that was found right: a host sends the same with every batch.
#[derive(Default)]
pub(crate) struct KnownSchema(Vec<u8>);

impl KnownSchema {
    fn skip(&mut self, stream: &mut &[u8], schema: &Schema) -> Option<()> {
        let whole = *stream;
        if !self.0.is_empty() && whole.starts_with(&self.0) {
            *stream = &whole[self.0.len()..];
            return Some(());
        }
        let mut m = next_message(stream, HEADER_SCHEMA)?;
        if !m.body.is_empty() || m.meta.u16(&m.header, 0) != 0 {
            return None;
        }
        let fields = m.meta.vector(&m.header, 1, 4);
        if m.meta.bad || fields.count != schema.fields.len() {
            return None;
        }
        for (i, f) in schema.fields.iter().enumerate() {
            let field = m.meta.element(fields, i, 7);
            if !field_is(&mut m.meta, field, &f.ty, f.optional) {
                return None;
            }
        }
        self.0 = whole[..whole.len() - stream.len()].to_vec();
        Some(())
    }
}

/// Takes the columns of a batch whose entries were read. The stream begins at a multiple of 8.
pub(crate) fn read_arrow<'a>(mut stream: &'a [u8], known: &mut KnownSchema, init: &'a Init, b: &mut Batch<'a>) -> Option<()> {
    known.skip(&mut stream, &init.input)?;
    let mut m = next_message(&mut stream, HEADER_BATCH)?;
    if !stream.is_empty() && (stream.len() != 8 || get32(stream, 0) != CONTINUATION || get32(stream, 4) != 0) {
        return None;
    }
    let rows = m.meta.u64(&m.header, 0);
    let nodes = m.meta.vector(&m.header, 1, 16);
    let buffers = m.meta.vector(&m.header, 2, 16);
    if m.meta.member(&m.header, 3, 4) != 0 || m.meta.bad || rows != b.rows as u64 {
        return None;
    }
    let mut w = Walk { meta: m.meta.bytes, nodes, buffers, body: m.body };
    for f in &init.input.fields {
        b.columns.push(w.column(&f.ty, f.optional, rows, true)?);
    }
    if w.nodes.count == 0 && w.buffers.count == 0 {
        Some(())
    } else {
        None
    }
}

/// Goes through nodes and buffers of a batch in the order of its columns.
struct Walk<'a> {
    meta: &'a [u8],
    nodes: Span,
    buffers: Span,
    body: &'a [u8],
}

fn pair(meta: &[u8], s: &mut Span) -> Option<(u64, u64)> {
    if s.count == 0 {
        return None;
    }
    let at = s.at;
    *s = Span { at: at + 16, count: s.count - 1 };
    Some((get64(meta, at), get64(meta, at + 8)))
}

const MAX_ROWS: u64 = 0x7FFF_FFFF;

impl<'a> Walk<'a> {
    fn buffer(&mut self) -> Option<&'a [u8]> {
        let (at, size) = pair(self.meta, &mut self.buffers)?;
        let whole = self.body.len() as u64;
        if at % 8 != 0 || at > whole || size > whole - at {
            return None;
        }
        Some(&self.body[at as usize..(at + size) as usize])
    }

    /// Offsets that rise; the caller looks whether they stay inside what they name.
    fn offsets(&mut self, rows: usize) -> Option<&'a [i32]> {
        let raw = self.buffer()?;
        if rows == 0 && raw.is_empty() {
            return Some(&[0]);
        }
        let offsets = numbers::<i32>(raw).get(..rows + 1)?;
        let (mut before, mut bad) = (offsets[0], offsets[0]);
        for o in offsets {
            bad |= o | o.wrapping_sub(before);
            before = *o;
        }
        if bad < 0 {
            return None;
        }
        Some(offsets)
    }

    /// A column has exactly that many rows, or at least as many if it is the elements of a VEC.
    fn column(&mut self, ty: &'a Type, optional: bool, rows: u64, exact: bool) -> Option<Column<'a>> {
        let (length, nulls) = pair(self.meta, &mut self.nodes)?;
        if length < rows || (exact && length != rows) || length > MAX_ROWS || nulls > length || (nulls > 0 && !optional) {
            return None;
        }
        let rows = length as usize;
        let bits = self.buffer()?;
        let bitmap = (rows + 7) / 8;
        if (nulls > 0 || !bits.is_empty()) && bits.len() < bitmap {
            return None;
        }
        let validity = if nulls > 0 { bits } else { &[] };
        let mut c = Column { ty, rows, nulls: nulls as usize, validity, values: &[], offsets: &[], data: &[], element: None };
        match (ty.kind, ty.element.as_deref()) {
            (Kind::String | Kind::Bytes, _) => {
                c.offsets = self.offsets(rows)?;
                c.data = self.buffer()?;
                if c.offsets[rows] as usize > c.data.len() {
                    return None;
                }
            }
            (Kind::Vec, Some(element)) => {
                c.offsets = self.offsets(rows)?;
                c.element = Some(Box::new(self.column(element, false, c.offsets[rows] as u64, false)?));
            }
            (Kind::Array, Some(element)) => {
                let n = length * u64::from(ty.length);
                if n > MAX_ROWS {
                    return None;
                }
                c.element = Some(Box::new(self.column(element, false, n, true)?));
            }
            _ => {
                c.values = self.buffer()?;
                let need = if ty.kind == Kind::Bool { bitmap } else { rows.checked_mul(ty.kind.width())? };
                if c.values.len() < need {
                    return None;
                }
            }
        }
        Some(c)
    }
}
