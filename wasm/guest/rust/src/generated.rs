// SPDX-License-Identifier: Apache-2.0

//! Generated columns.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::column::{octets, Number};
use crate::flat::Writer;
use crate::{Kind, Time, Type};

/// A generated column of an [`crate::Output`]: `output[column]` takes its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generated(pub(crate) usize);

/// The values of a generated column, one call a row, or one call an element of what [`GeneratedColumn::list`] gives. A mistake is reported when
/// the output is emitted.
pub struct GeneratedColumn {
    pub(crate) ty: Type,
    pub(crate) optional: bool,
    pub(crate) rows: usize,
    pub(crate) nulls: usize,
    pub(crate) validity: Vec<u8>,
    /// Numbers, bits, or offsets: ends of texts, begins of lists.
    pub(crate) values: Writer,
    /// Of texts and bytes.
    pub(crate) data: Vec<u8>,
    /// Of ARRAY and VEC.
    pub(crate) element: Option<Box<GeneratedColumn>>,
    pub(crate) wrong: Option<&'static str>,
}

/// Appends bit `n` - 1 to a bitmap that has `n` bits from then on.
fn set_bit(bits: &mut Vec<u8>, n: usize, bit: bool) {
    let n = n - 1;
    if n / 8 >= bits.len() {
        bits.push(0);
    }
    bits[n / 8] |= u8::from(bit) << (n % 8);
}

macro_rules! put {
    ($name:ident, $all:ident, $ty:ty, $kind:ident) => {
        /// Puts a value.
        pub fn $name(&mut self, v: $ty) {
            self.put(Kind::$kind, v);
        }

        /// Puts many values.
        pub fn $all(&mut self, v: &[$ty]) {
            if self.is(Kind::$kind) {
                self.values.b.extend_from_slice(octets(v));
                for _ in v {
                    self.row(true);
                }
            }
        }
    };
}

impl GeneratedColumn {
    pub(crate) fn new(ty: &Type, optional: bool) -> Self {
        let mut values = Writer::default();
        if ty.kind == Kind::String || ty.kind == Kind::Bytes {
            values.add32(0);
        }
        let element = ty.element.as_deref().map(|e| Box::new(GeneratedColumn::new(e, false)));
        GeneratedColumn { ty: ty.clone(), optional, rows: 0, nulls: 0, validity: Vec::new(), values, data: Vec::new(), element, wrong: None }
    }

    fn mistake(&mut self, what: &'static str) {
        self.wrong.get_or_insert(what);
    }

    fn is(&mut self, kind: Kind) -> bool {
        if self.ty.kind != kind {
            self.mistake("a value of another type is put into a generated column");
        }
        self.ty.kind == kind
    }

    fn row(&mut self, valid: bool) {
        self.rows += 1;
        if valid && self.nulls == 0 {
            return;
        }
        if self.nulls == 0 {
            for i in 1..self.rows {
                set_bit(&mut self.validity, i, true);
            }
        }
        set_bit(&mut self.validity, self.rows, valid);
        self.nulls += usize::from(!valid);
    }

    fn put<T: Number>(&mut self, kind: Kind, v: T) {
        if self.is(kind) {
            self.values.b.extend_from_slice(octets(&[v]));
            self.row(true);
        }
    }

    put!(u8, u8s, u8, U8);
    put!(i8, i8s, i8, I8);
    put!(u16, u16s, u16, U16);
    put!(i16, i16s, i16, I16);
    put!(u32, u32s, u32, U32);
    put!(i32, i32s, i32, I32);
    put!(u64, u64s, u64, U64);
    put!(i64, i64s, i64, I64);
    put!(f32, f32s, f32, F32);
    put!(f64, f64s, f64, F64);

    /// Puts an instant into a DATETIME column.
    pub fn time(&mut self, v: Time) {
        self.put(Kind::Datetime, v.since_epoch);
    }

    /// Puts a value into a BOOL column.
    pub fn bool(&mut self, v: bool) {
        if self.is(Kind::Bool) {
            self.row(true);
            set_bit(&mut self.values.b, self.rows, v);
        }
    }

    /// Puts a text into a STRING column.
    pub fn str(&mut self, v: &str) {
        if self.is(Kind::String) {
            self.data_row(v.as_bytes());
        }
    }

    /// Puts bytes into a BYTES column.
    pub fn bytes(&mut self, v: &[u8]) {
        if self.is(Kind::Bytes) {
            self.data_row(v);
        }
    }

    fn data_row(&mut self, v: &[u8]) {
        self.data.extend_from_slice(v);
        self.values.add32(self.data.len() as u32);
        self.row(true);
    }

    /// Begins a row of an ARRAY or VEC column; the elements of the row go into the column that it returns.
    pub fn list(&mut self) -> &mut GeneratedColumn {
        if self.element.is_none() {
            self.mistake("a list is put into a generated column that has none");
            return self;
        }
        self.full();
        let begins = self.element.as_ref().map_or(0, |e| e.rows);
        self.values.add32(begins as u32);
        self.row(true);
        self.element.as_mut().expect("a list has elements")
    }

    /// Notes a row of an ARRAY that has not its number of elements.
    fn full(&mut self) {
        let n = self.element.as_ref().map_or(0, |e| e.rows);
        if self.ty.kind == Kind::Array && n as u64 != self.rows as u64 * u64::from(self.ty.length) {
            self.mistake("a row of an ARRAY has another number of elements than its type");
        }
    }

    /// Puts a null into a column of an optional field.
    pub fn null(&mut self) {
        if !self.optional {
            self.mistake("a null is put into a generated column that is not optional");
            return;
        }
        self.zero();
        self.row(false);
    }

    /// Puts what stands behind a null, and in the elements of a null ARRAY.
    fn zero(&mut self) {
        match self.ty.kind {
            Kind::String | Kind::Bytes => {
                self.values.add32(self.data.len() as u32);
            }
            Kind::Bool => set_bit(&mut self.values.b, self.rows + 1, false),
            Kind::Array | Kind::Vec => {
                self.full();
                let n = if self.ty.kind == Kind::Array { self.ty.length } else { 0 };
                if let Some(e) = &mut self.element {
                    self.values.add32(e.rows as u32);
                    for _ in 0..n {
                        e.zero();
                        e.row(true);
                    }
                }
            }
            kind => {
                self.values.zeros(kind.width());
            }
        }
    }

    /// Completes a column for writing and gives the first mistake made with it.
    pub(crate) fn finish(&mut self) -> Option<&'static str> {
        if self.element.is_some() {
            self.full();
        }
        let mut wrong = self.wrong;
        if let Some(e) = &mut self.element {
            if self.ty.kind == Kind::Vec {
                self.values.add32(e.rows as u32);
            }
            wrong = wrong.or(e.finish());
        }
        wrong
    }

    /// Lists the buffers of the column in Arrow's order, and counts its nodes.
    pub(crate) fn buffers<'a>(&'a self, all: &mut Vec<&'a [u8]>) -> u32 {
        all.push(&self.validity);
        if self.ty.kind != Kind::Array {
            all.push(&self.values.b);
        }
        if self.ty.kind == Kind::String || self.ty.kind == Kind::Bytes {
            all.push(&self.data);
        }
        1 + self.element.as_ref().map_or(0, |e| e.buffers(all))
    }
}
