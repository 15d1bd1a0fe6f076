// SPDX-License-Identifier: Apache-2.0

//! The messages between host and guest: what is common to them, init and saved state.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::flat::{get32, Reader, Table, Writer};
use crate::{Field, Init, Kind, Result, Schema, StateWriter, Type};

const IDENTIFIER: &[u8; 4] = b"NVWY";

/// The largest message or saved state, in bytes (W-044).
pub(crate) const MAX_MESSAGE: usize = 64 << 20;

/// Members of the union of all messages.
#[derive(Clone, Copy)]
pub(crate) enum Variant {
    Init = 1,
    Input = 2,
    Output = 3,
    Snapshot = 4,
}

/// Judges length, identifier and variant of a message and finds its payload, which has a number of members.
pub(crate) fn open(message: &[u8], variant: Variant, members: usize) -> (Reader<'_>, Table) {
    let mut r = Reader::new(message);
    if message.len() < 12 || get32(message, 0) as usize != message.len() - 4 || &message[8..12] != IDENTIFIER {
        r.bad = true;
        return (r, Table::default());
    }
    let root = r.follow(4);
    let root = r.table(root, 2);
    if r.u8(&root, 0) != variant as u8 {
        r.bad = true;
        return (r, Table::default());
    }
    let payload = r.child(&root, 1, members);
    (r, payload)
}

/// Takes an init payload apart; none if it is no such.
pub(crate) fn read_init(message: &[u8]) -> Option<Init> {
    let (mut r, t) = open(message, Variant::Init, 5);
    let domain_name = String::from(r.text(&t, 0));
    let domain_type = String::from(r.text(&t, 1));
    let mut branch_key = None;
    let key = r.member(&t, 2, 4);
    if key != 0 {
        let key = r.follow(key);
        let key = r.vector_at(key, 1);
        match core::str::from_utf8(r.slice(key)) {
            Ok(text) if !text.is_empty() => branch_key = Some(String::from(text)),
            _ => r.bad = true,
        }
    }
    let input = r.child(&t, 3, 2);
    let input = read_schema(&mut r, input);
    let span = r.vector(&t, 4, 4);
    let mut outputs = Vec::new();
    for i in 0..span.count {
        let one = r.element(span, i, 2);
        outputs.push(read_schema(&mut r, one));
        if r.bad {
            return None;
        }
    }
    if !r.closed() {
        return None;
    }
    Some(Init { domain_name, domain_type, branch_key, input, outputs })
}

fn read_schema(r: &mut Reader<'_>, t: Table) -> Schema {
    let name = String::from(r.text(&t, 0));
    let span = r.vector(&t, 1, 4);
    let mut fields = Vec::new();
    for i in 0..span.count {
        let one = r.element(span, i, 3);
        let name = String::from(r.text(&one, 0));
        let ty = r.child(&one, 1, 3);
        let ty = read_type(r, ty, 0);
        fields.push(Field { name, ty, optional: r.u8(&one, 2) != 0 });
        if r.bad {
            break;
        }
    }
    Schema { name, fields }
}

fn read_type(r: &mut Reader<'_>, t: Table, depth: usize) -> Type {
    let none = Type { kind: Kind::U8, length: 0, element: None };
    let kind = match Kind::of(r.u8(&t, 0)) {
        Some(kind) if depth <= 16 && !r.bad => kind,
        _ => {
            r.bad = true;
            return none;
        }
    };
    if kind != Kind::Array && kind != Kind::Vec {
        if r.member(&t, 1, 4) != 0 {
            r.child(&t, 1, 3);
        }
        return Type { kind, ..none };
    }
    let length = if kind == Kind::Array { r.u32(&t, 2) } else { 0 };
    let element = r.child(&t, 1, 3);
    Type { kind, length, element: Some(Box::new(read_type(r, element, depth + 1))) }
}

/// The vtables that all messages of a guest begin with.
const VTABLES: [u16; 31] = [
    8, 12, 8, 4, // Message: payload_type, payload
    8, 12, 4, 8, // OutputEnvelope, NackSet, MessageErrorSet, GuestSnapshot
    10, 16, 4, 8, 12, // RoutedOutput
    8, 12, 8, 4, // OutputColumnRef: source, column_index
    12, 20, 4, 8, 12, 16, // AckSidecar
    8, 16, 4, 8, // OutputRow
    6, 16, 4, 0, // OutputRow without source, AckTokenSet
];

// Where they lie.
pub(crate) const VT_MESSAGE: usize = 12;
pub(crate) const VT_PAIR: usize = VT_MESSAGE + 8;
pub(crate) const VT_ROUTED: usize = VT_PAIR + 8;
pub(crate) const VT_REF: usize = VT_ROUTED + 10;
pub(crate) const VT_SIDECAR: usize = VT_REF + 8;
pub(crate) const VT_ROW: usize = VT_SIDECAR + 12;
pub(crate) const VT_TOKENS: usize = VT_ROW + 8;

/// Writes the head of a message whose payload is a table of two members, and says where that is.
pub(crate) fn begin_message(w: &mut Writer, variant: Variant) -> usize {
    w.zeros(8);
    w.b.extend_from_slice(IDENTIFIER);
    w.add16s(&VTABLES);
    w.pad(4);
    let message = w.table(VT_MESSAGE, 12);
    w.put32(4, message as u32 - 4);
    w.b[message + 8] = variant as u8;
    w.point(message + 4);
    w.table(VT_PAIR, 12)
}

/// Writes the length.
pub(crate) fn end_message(w: &mut Writer) {
    let n = w.len() as u32 - 4;
    w.put32(0, n);
}

/// Wraps the state that `write` appends, with the init payload of the instance (W-310).
pub(crate) fn snapshot(mut w: Writer, init: &[u8], write: impl FnOnce(&mut StateWriter) -> Result) -> Result<Writer> {
    let t = begin_message(&mut w, Variant::Snapshot);
    w.point(t + 4);
    w.add32(init.len() as u32);
    w.b.extend_from_slice(init);
    w.pad(4);
    w.point(t + 8);
    let length = w.add32(0);
    let mut state = StateWriter { out: w.b };
    write(&mut state)?;
    w.b = state.out;
    let n = w.len() - length - 4;
    w.put32(length, n as u32);
    end_message(&mut w);
    Ok(w)
}

/// Finds what `snapshot` wrapped; the reason says why it is none of this branch.
pub(crate) fn read_snapshot<'a>(message: &'a [u8], of: &Init) -> core::result::Result<&'a [u8], &'static str> {
    let (mut r, t) = open(message, Variant::Snapshot, 2);
    let init = r.vector(&t, 0, 1);
    let application = r.vector(&t, 1, 1);
    if !r.closed() {
        return Err("the saved bytes are no snapshot");
    }
    match read_init(r.slice(init)) {
        None => Err("the snapshot does not say which branch it is of"),
        Some(saved) if !saved.same_branch(of) => Err("the snapshot is of another branch, or of other schemas"),
        Some(_) => Ok(r.slice(application)),
    }
}
