// SPDX-License-Identifier: Apache-2.0

//! FlatBuffers: a reader for buffers that may be damaged, and a writer from front to back. It knows no schema.

use alloc::vec::Vec;

pub(crate) fn get16(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

pub(crate) fn get32(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

pub(crate) fn get64(b: &[u8], at: usize) -> u64 {
    u64::from(get32(b, at)) | u64::from(get32(b, at + 4)) << 32
}

/// Takes one buffer apart. The first fault sets `bad`; from then on everything reads as absent, so that callers look at it once, at the end.
/// Alignment counts from the first byte.
pub(crate) struct Reader<'a> {
    pub bytes: &'a [u8],
    /// The position behind the last byte that belongs to something seen.
    pub end: usize,
    pub bad: bool,
    /// A table has a member behind those its caller knows.
    pub unknown: bool,
}

/// A table that was found; the default is absent.
#[derive(Clone, Copy, Default)]
pub(crate) struct Table {
    pub at: usize,
    pub vtable: usize,
    vtable_size: usize,
    pub size: usize,
}

/// The elements of a vector.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    pub at: usize,
    pub count: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, end: 0, bad: bytes.len() < 8 || bytes.len() > 1 << 30, unknown: false }
    }

    pub fn fail(&mut self) -> usize {
        self.bad = true;
        0
    }

    pub fn saw(&mut self, end: usize) {
        self.end = self.end.max(end);
    }

    /// The target of the offset at a place; 0 is nowhere.
    pub fn follow(&mut self, at: usize) -> usize {
        if self.bad || at == 0 {
            return 0;
        }
        let last = self.bytes.len() - 4;
        if at % 4 != 0 || at > last {
            return self.fail();
        }
        let distance = get32(self.bytes, at) as usize;
        if distance == 0 || distance % 4 != 0 || distance > last - at {
            return self.fail();
        }
        at + distance
    }

    /// Judges the table at a place that `follow` gave. `members` is how many the caller knows.
    pub fn table(&mut self, at: usize, members: usize) -> Table {
        if self.bad || at == 0 {
            return Table::default();
        }
        let (len, distance) = (self.bytes.len(), get32(self.bytes, at) as i32);
        let vtable = at as i64 - i64::from(distance);
        if vtable < 0 || vtable > len as i64 - 4 || vtable % 2 != 0 {
            self.bad = true;
            return Table::default();
        }
        let vtable = vtable as usize;
        let t = Table { at, vtable, vtable_size: get16(self.bytes, vtable).into(), size: get16(self.bytes, vtable + 2).into() };
        if t.vtable_size < 4 || t.vtable_size % 2 != 0 || t.vtable_size > len - vtable || t.size < 4 || t.size > len - at {
            self.bad = true;
            return Table::default();
        }
        for slot in members.. {
            if 4 + 2 * slot >= t.vtable_size {
                break;
            }
            self.unknown |= get16(self.bytes, vtable + 4 + 2 * slot) != 0;
        }
        self.saw(vtable + t.vtable_size);
        self.saw(at + t.size);
        t
    }

    /// The place of a member of some bytes; 0 if it is absent.
    pub fn member(&mut self, t: &Table, slot: usize, size: usize) -> usize {
        if self.bad || t.at == 0 || 4 + 2 * slot >= t.vtable_size {
            return 0;
        }
        let offset = usize::from(get16(self.bytes, t.vtable + 4 + 2 * slot));
        if offset == 0 {
            return 0;
        }
        if offset < 4 || offset + size > t.size || (t.at + offset) % size != 0 {
            return self.fail();
        }
        t.at + offset
    }

    pub fn u8(&mut self, t: &Table, slot: usize) -> u8 {
        match self.member(t, slot, 1) {
            0 => 0,
            at => self.bytes[at],
        }
    }

    pub fn u16(&mut self, t: &Table, slot: usize) -> u16 {
        match self.member(t, slot, 2) {
            0 => 0,
            at => get16(self.bytes, at),
        }
    }

    pub fn u32(&mut self, t: &Table, slot: usize) -> u32 {
        match self.member(t, slot, 4) {
            0 => 0,
            at => get32(self.bytes, at),
        }
    }

    pub fn u64(&mut self, t: &Table, slot: usize) -> u64 {
        match self.member(t, slot, 8) {
            0 => 0,
            at => get64(self.bytes, at),
        }
    }

    fn required(&mut self, t: &Table, slot: usize) -> usize {
        match self.member(t, slot, 4) {
            0 => self.fail(),
            at => self.follow(at),
        }
    }

    /// The table that a member refers to; it must be there.
    pub fn child(&mut self, t: &Table, slot: usize, members: usize) -> Table {
        let at = self.required(t, slot);
        self.table(at, members)
    }

    /// Table `i` of a vector of tables.
    pub fn element(&mut self, s: Span, i: usize, members: usize) -> Table {
        let at = self.follow(s.at + 4 * i);
        self.table(at, members)
    }

    /// Judges a vector with elements of some bytes.
    pub fn vector_at(&mut self, at: usize, size: usize) -> Span {
        if self.bad || at == 0 {
            return Span::default();
        }
        let count = get32(self.bytes, at) as usize;
        if count > (self.bytes.len() - at - 4) / size || (count > 0 && (at + 4) % size.min(8) != 0) {
            self.bad = true;
            return Span::default();
        }
        self.saw(at + 4 + count * size);
        Span { at: at + 4, count }
    }

    /// The vector that a member refers to; it must be there.
    pub fn vector(&mut self, t: &Table, slot: usize, size: usize) -> Span {
        let at = self.required(t, slot);
        self.vector_at(at, size)
    }

    pub fn slice(&self, s: Span) -> &'a [u8] {
        if self.bad {
            return &[];
        }
        &self.bytes[s.at..s.at + s.count]
    }

    /// The text that a member refers to; it must be there, be UTF-8 and end with a zero.
    pub fn text(&mut self, t: &Table, slot: usize) -> &'a str {
        let s = self.vector(t, slot, 1);
        if self.bad || s.count >= self.bytes.len() - s.at || self.bytes[s.at + s.count] != 0 {
            self.bad = true;
            return "";
        }
        self.saw(s.at + s.count + 1);
        core::str::from_utf8(self.slice(s)).unwrap_or_else(|_| {
            self.bad = true;
            ""
        })
    }

    /// Whether nothing is wrong with what was read, and nothing stands behind it but zeros of padding; behind unknown members anything may stand.
    pub fn closed(&self) -> bool {
        if self.bad || self.unknown {
            return !self.bad;
        }
        let rest = &self.bytes[self.end..];
        rest.len() < 8 && rest.iter().all(|b| *b == 0)
    }
}

/// Builds a buffer from front to back: a member that refers to something is filled in, by `point`, when that thing is written next. Vtables are
/// written by the caller before the tables that use them.
#[derive(Default)]
pub(crate) struct Writer {
    pub b: Vec<u8>,
}

impl Writer {
    pub fn len(&self) -> usize {
        self.b.len()
    }

    pub fn pad(&mut self, to: usize) {
        let n = (self.len() + to - 1) / to * to;
        self.b.resize(n, 0);
    }

    /// Appends words of zero until the length leaves a rest.
    pub fn pad_to(&mut self, rest: usize, of: usize) {
        self.pad(4);
        while self.len() % of != rest {
            self.add32(0);
        }
    }

    pub fn add16s(&mut self, v: &[u16]) {
        for one in v {
            self.b.extend_from_slice(&one.to_le_bytes());
        }
    }

    pub fn add32(&mut self, v: u32) -> usize {
        self.b.extend_from_slice(&v.to_le_bytes());
        self.len() - 4
    }

    pub fn add64(&mut self, v: u64) {
        self.b.extend_from_slice(&v.to_le_bytes());
    }

    pub fn put16(&mut self, at: usize, v: u16) {
        self.b[at..at + 2].copy_from_slice(&v.to_le_bytes());
    }

    pub fn put32(&mut self, at: usize, v: u32) {
        self.b[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }

    pub fn put64(&mut self, at: usize, v: u64) {
        self.b[at..at + 8].copy_from_slice(&v.to_le_bytes());
    }

    pub fn zeros(&mut self, n: usize) -> usize {
        let at = self.len();
        self.b.resize(at + n, 0);
        at
    }

    /// Lets the member at a place refer to what is written next, which the caller has aligned.
    pub fn point(&mut self, at: usize) {
        self.point_at(at, self.len());
    }

    /// Lets the member at a place refer to something behind it.
    pub fn point_at(&mut self, at: usize, to: usize) {
        self.put32(at, (to - at) as u32);
    }

    /// Begins a table of some bytes, all zero but for the distance to its vtable.
    pub fn table(&mut self, vtable: usize, size: usize) -> usize {
        let at = self.zeros(size);
        self.put32(at, (at - vtable) as u32);
        at
    }

    /// Begins a vector of `n` offsets and says where the first is.
    pub fn offsets(&mut self, n: usize) -> usize {
        self.add32(n as u32);
        self.zeros(4 * n)
    }

    /// A text with its length and its end, padded to 4.
    pub fn text(&mut self, s: &str) {
        self.add32(s.len() as u32);
        self.b.extend_from_slice(s.as_bytes());
        self.b.push(0);
        self.pad(4);
    }

    /// Sees to it that the elements of the vector that comes next lie at a multiple of 8.
    pub fn align_vector8(&mut self) {
        self.pad_to(4, 8);
    }

    /// A vector of numbers of 64 bits, after `align_vector8`.
    pub fn words(&mut self, v: &[u64]) {
        self.add32(v.len() as u32);
        for one in v {
            self.add64(*one);
        }
    }
}
