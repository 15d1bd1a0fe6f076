// SPDX-License-Identifier: Apache-2.0

//! Input columns.

use alloc::boxed::Box;
use core::ops::Range;

use crate::{Kind, Time, Type};

/// What a column of numbers holds: any bytes are such a number.
pub(crate) trait Number: Copy {}
impl Number for u8 {}
impl Number for i8 {}
impl Number for u16 {}
impl Number for i16 {}
impl Number for u32 {}
impl Number for i32 {}
impl Number for u64 {}
impl Number for i64 {}
impl Number for f32 {}
impl Number for f64 {}

/// The numbers that lie in bytes, which begin at a multiple of their size and are little-endian, as this machine is.
pub(crate) fn numbers<T: Number>(b: &[u8]) -> &[T] {
    let size = core::mem::size_of::<T>();
    if b.len() < size {
        return &[];
    }
    assert!(b.as_ptr() as usize % core::mem::align_of::<T>() == 0 && cfg!(target_endian = "little"), "numbers that are not aligned");
    // SAFETY: the bytes are there, aligned, borrowed as long as the result, and any of them make a number.
    unsafe { core::slice::from_raw_parts(b.as_ptr().cast(), b.len() / size) }
}

/// The bytes of numbers.
pub(crate) fn octets<T: Number>(v: &[T]) -> &[u8] {
    // SAFETY: numbers have no padding.
    unsafe { core::slice::from_raw_parts(v.as_ptr().cast(), core::mem::size_of_val(v)) }
}

/// A column of a batch, or the elements of one. Each reader has to be that of the column's type, and the row below [`Column::rows`]: the guest
/// panics otherwise. A null reads as anything.
pub struct Column<'a> {
    pub(crate) ty: &'a Type,
    pub(crate) rows: usize,
    pub(crate) nulls: usize,
    /// One bit a row; empty if no row is null.
    pub(crate) validity: &'a [u8],
    /// Numbers, instants or bits.
    pub(crate) values: &'a [u8],
    /// Rows + 1, of texts, bytes and VEC.
    pub(crate) offsets: &'a [i32],
    /// Of texts and bytes.
    pub(crate) data: &'a [u8],
    /// Of ARRAY and VEC.
    pub(crate) element: Option<Box<Column<'a>>>,
}

macro_rules! value {
    ($name:ident, $all:ident, $ty:ty, $kind:ident) => {
        /// The value of a row.
        pub fn $name(&self, row: usize) -> $ty {
            self.check(Kind::$kind, row);
            numbers::<$ty>(self.values)[row]
        }

        /// All values; what stands at a null means nothing.
        pub fn $all(&self) -> &'a [$ty] {
            self.is(Kind::$kind);
            &numbers::<$ty>(self.values)[..self.rows]
        }
    };
}

impl<'a> Column<'a> {
    /// The type of the values.
    pub fn ty(&self) -> &'a Type {
        self.ty
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many of them are null.
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    fn is(&self, kind: Kind) {
        assert!(self.ty.kind == kind, "a column of {} is read as one of {}", self.ty, kind);
    }

    fn inside(&self, row: usize) {
        assert!(row < self.rows, "row {} of a column of {} rows", row, self.rows);
    }

    fn check(&self, kind: Kind, row: usize) {
        self.is(kind);
        self.inside(row);
    }

    /// Whether a row is null.
    pub fn is_null(&self, row: usize) -> bool {
        self.inside(row);
        !self.validity.is_empty() && self.validity[row / 8] >> (row % 8) & 1 == 0
    }

    value!(u8, u8s, u8, U8);
    value!(i8, i8s, i8, I8);
    value!(u16, u16s, u16, U16);
    value!(i16, i16s, i16, I16);
    value!(u32, u32s, u32, U32);
    value!(i32, i32s, i32, I32);
    value!(u64, u64s, u64, U64);
    value!(i64, i64s, i64, I64);
    value!(f32, f32s, f32, F32);
    value!(f64, f64s, f64, F64);

    /// The value of a row of a DATETIME column.
    pub fn time(&self, row: usize) -> Time {
        self.check(Kind::Datetime, row);
        Time { since_epoch: numbers::<i64>(self.values)[row] }
    }

    /// The value of a row of a BOOL column.
    pub fn bool(&self, row: usize) -> bool {
        self.check(Kind::Bool, row);
        self.values[row / 8] >> (row % 8) & 1 == 1
    }

    /// The value of a row of a STRING or BYTES column, a slice of the input buffer (W-305).
    pub fn bytes(&self, row: usize) -> &'a [u8] {
        if self.ty.kind != Kind::String {
            self.is(Kind::Bytes);
        }
        self.inside(row);
        &self.data[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// The value of a row of a STRING column, a slice of the input buffer.
    pub fn str(&self, row: usize) -> &'a str {
        self.is(Kind::String);
        core::str::from_utf8(self.bytes(row)).expect("a STRING of the input is UTF-8")
    }

    /// The elements of a row of an ARRAY or VEC column: some rows of a column of elements.
    pub fn list(&self, row: usize) -> (&Column<'a>, Range<usize>) {
        let element = self.element.as_deref();
        if self.ty.kind == Kind::Array {
            self.inside(row);
            let n = self.ty.length as usize;
            return (element.expect("an ARRAY has elements"), row * n..(row + 1) * n);
        }
        self.check(Kind::Vec, row);
        (element.expect("a VEC has elements"), self.offsets[row] as usize..self.offsets[row + 1] as usize)
    }
}
