// SPDX-License-Identifier: Apache-2.0

//! Input batches and their entries.

use alloc::vec::Vec;

use crate::column::{numbers, Column};
use crate::flat::{get16, get32, get64, Reader, Table};

/// What one row stands for: the input tokens it carries, and the token that its input columns are read from. A guest hands it on whole and never
/// makes one (W-307). It is lent by a batch or by [`Held`].
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub(crate) tokens: &'a [u64],
    pub(crate) source: Option<u64>,
}

impl Entry<'_> {
    /// How many inputs the row stands for; input rows have one.
    pub fn tokens(&self) -> usize {
        self.tokens.len()
    }
}

/// Entries that outlive the callback.
#[derive(Clone, Debug, Default)]
pub struct Held {
    tokens: Vec<u64>,
    entries: Vec<(Option<u64>, usize, usize)>,
}

impl Held {
    /// Copies an entry to the end.
    pub fn hold(&mut self, e: Entry<'_>) {
        let first = self.tokens.len();
        self.tokens.extend_from_slice(e.tokens);
        self.entries.push((e.source, first, self.tokens.len()));
    }

    /// How many are held.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is held.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lends an entry.
    pub fn entry(&self, i: usize) -> Entry<'_> {
        assert!(i < self.entries.len(), "entry {} of {} held ones", i, self.entries.len());
        let (source, first, end) = self.entries[i];
        Entry { tokens: &self.tokens[first..end], source }
    }

    /// Forgets all and keeps the room.
    pub fn clear(&mut self) {
        self.tokens.clear();
        self.entries.clear();
    }
}

/// An input batch.
pub struct Batch<'a> {
    pub(crate) rows: usize,
    pub(crate) columns: Vec<Column<'a>>,
    message: &'a [u8],
    entries: usize,
}

impl<'a> Batch<'a> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns, in the order of the input schema.
    pub fn columns(&self) -> &[Column<'a>] {
        &self.columns
    }

    /// A column, numbered as in the input schema.
    pub fn column(&self, i: usize) -> &Column<'a> {
        assert!(i < self.columns.len(), "column {} of a batch of {}", i, self.columns.len());
        &self.columns[i]
    }

    /// What a row stands for.
    pub fn entry(&self, row: usize) -> Entry<'a> {
        assert!(row < self.rows, "row {} of a batch of {} rows", row, self.rows);
        let m = self.message;
        let at = self.entries + 4 * row;
        let at = at + get32(m, at) as usize;
        let vtable = (at as i64 - i64::from(get32(m, at) as i32)) as usize;
        let tokens = at + usize::from(get16(m, vtable + 4));
        let tokens = tokens + get32(m, tokens) as usize;
        let count = get32(m, tokens) as usize;
        let mut source = None;
        if get16(m, vtable) > 6 && get16(m, vtable + 6) != 0 {
            source = Some(get64(m, at + usize::from(get16(m, vtable + 6))));
        }
        Entry { tokens: numbers(&m[tokens + 4..tokens + 4 + 8 * count]), source }
    }

    /// Judges the rows and decisions of a sidecar. `message` begins at a multiple of 8.
    pub(crate) fn read(r: &mut Reader<'a>, sidecar: &Table) -> Batch<'a> {
        let rows = r.vector(sidecar, 0, 4);
        let (mut last, mut tokens, mut i) = (Table::default(), 0, 0);
        while i < rows.count && !r.bad {
            if last.at != 0 && last.at % 8 == 0 {
                i += plain_rows(r, rows.at + 4 * i, rows.count - i, &last, tokens);
                if i == rows.count {
                    break;
                }
            }
            let row = r.element(rows, i, 2);
            r.vector(&row, 0, 8);
            r.member(&row, 1, 8);
            tokens = r.member(&row, 0, 4).wrapping_sub(row.at);
            last = row;
            i += 1;
        }
        for slot in 1..4 {
            read_sets(r, sidecar, slot);
        }
        Batch { rows: rows.count, columns: Vec::new(), message: r.bytes, entries: rows.at }
    }
}

/// Passes over rows that have the layout of the row before and one token each, and stops before the first other: hosts write nothing else, and
/// judging each table anew is half the cost of a batch.
fn plain_rows(r: &mut Reader<'_>, mut at: usize, n: usize, like: &Table, tokens: usize) -> usize {
    let b = r.bytes;
    let inline = like.size.max(12);
    if inline > b.len() {
        return 0;
    }
    let (last, mut end) = (b.len() - inline, r.end);
    for passed in 0..n {
        let row = at + get32(b, at) as usize;
        if row <= at || row > last || row % 8 != 0 || row.wrapping_sub(get32(b, row) as usize) != like.vtable {
            r.end = end;
            return passed;
        }
        let list = row + tokens;
        let list = list.wrapping_add(get32(b, list) as usize);
        if list <= row || list > last || list % 8 != 4 || get32(b, list) != 1 {
            r.end = end;
            return passed;
        }
        end = end.max(row + like.size).max(list + 12);
        at += 4;
    }
    r.end = end;
    n
}

/// Judges the decisions of a sidecar, of which an input has none.
fn read_sets(r: &mut Reader<'_>, sidecar: &Table, slot: usize) {
    let members = slot.min(2);
    let sets = r.vector(sidecar, slot, 4);
    for i in 0..sets.count {
        if r.bad {
            return;
        }
        let set = r.element(sets, i, members);
        r.vector(&set, 0, 8);
        if members == 2 {
            r.text(&set, 1);
        }
    }
}
