// SPDX-License-Identifier: Apache-2.0

//! Types, schemas, and what the host says about a branch.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::{Failure, Result};

/// The kind of a type, numbered as on the wire.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    Bool,
    String,
    Bytes,
    Datetime,
    F32,
    F64,
    Array,
    Vec,
}

use Kind::*;

const KINDS: [(Kind, &str, usize); 16] = [
    (U8, "U8", 1),
    (I8, "I8", 1),
    (U16, "U16", 2),
    (I16, "I16", 2),
    (U32, "U32", 4),
    (I32, "I32", 4),
    (U64, "U64", 8),
    (I64, "I64", 8),
    (Kind::Bool, "BOOL", 0),
    (Kind::String, "STRING", 0),
    (Kind::Bytes, "BYTES", 0),
    (Datetime, "DATETIME", 8),
    (F32, "F32", 4),
    (F64, "F64", 8),
    (Array, "ARRAY", 0),
    (Kind::Vec, "VEC", 0),
];

impl Kind {
    pub(crate) fn of(n: u8) -> Option<Kind> {
        KINDS.get(usize::from(n)).map(|k| k.0)
    }

    /// The size of a value in bytes, 0 where values have none.
    pub(crate) fn width(self) -> usize {
        KINDS[self as usize].2
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(KINDS[*self as usize].1)
    }
}

/// The type of a field. An ARRAY of several axes is an `Array` of `Array`s, outer axis first. It is displayed in the spelling of NSPL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// What it is.
    pub kind: Kind,
    /// Of `Array`.
    pub length: u32,
    /// Of `Array` and `Vec`.
    pub element: Option<Box<Type>>,
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = match &self.element {
            None => return write!(f, "{}", self.kind),
            Some(element) => element,
        };
        if self.kind == Kind::Vec {
            return write!(f, "VEC<{}>", inner);
        }
        let (mut axes, mut last) = (format!(", {}", self.length), inner);
        while let (Array, Some(next)) = (last.kind, &last.element) {
            axes += &format!(", {}", last.length);
            last = next;
        }
        write!(f, "ARRAY<{}{}>", last, axes)
    }
}

/// A field of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether it may be null.
    pub optional: bool,
}

impl Field {
    fn spelling(&self) -> String {
        if self.optional {
            format!("{} OPTIONAL", self.ty)
        } else {
            format!("{}", self.ty)
        }
    }
}

/// The schema of the input, or of an output, whose name is then that of the relay. It is displayed as its fields in the words of NSPL:
/// `sensor STRING, value F64 OPTIONAL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Its name.
    pub name: String,
    /// Its fields, in order.
    pub fields: Vec<Field>,
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, field) in self.fields.iter().enumerate() {
            write!(f, "{}{} {}", if i > 0 { ", " } else { "" }, field.name, field.spelling())?;
        }
        Ok(())
    }
}

impl Schema {
    /// Whether the schema has exactly these fields. Names, types, nullability and order count, and the spelling is that of `Display`.
    pub fn is(&self, fields: &str) -> bool {
        format!("{}", self) == fields
    }

    /// The number of a field.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }

    /// The number of a field that has to have this type, for instance `F64 OPTIONAL`; an empty type accepts any.
    pub fn require(&self, name: &str, ty: &str) -> Result<usize> {
        let i = match self.find(name) {
            None => return Err(Failure::new(format!("{} has no field {}, which this guest needs", self.name, name))),
            Some(i) => i,
        };
        let have = self.fields[i].spelling();
        if ty.is_empty() || have == ty {
            return Ok(i);
        }
        Err(Failure::new(format!("field {} of {} is {}, this guest needs {}", name, self.name, have, ty)))
    }

    fn require_all(&self, what: &str, fields: &str) -> Result {
        if self.is(fields) {
            return Ok(());
        }
        Err(Failure::new(format!("the {} {} has the fields ({}), this guest needs ({})", what, self.name, self, fields)))
    }
}

/// An output of the processor, by its number in [`Init::outputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay(pub(crate) usize);

/// What the host says about this branch. It lives as long as the instance.
#[derive(Clone, Debug)]
pub struct Init {
    /// The name of the domain; state may move to a domain of another name.
    pub domain_name: String,
    /// A descriptive text.
    pub domain_type: String,
    /// The key as canonical JSON text, `{"tenant":"alpha"}` for instance; none if the processor is not branched.
    pub branch_key: Option<String>,
    /// The input.
    pub input: Schema,
    /// One for each TO, named like its relay.
    pub outputs: Vec<Schema>,
}

impl Init {
    /// Holds the input against what the guest was written for, spelled as a schema is displayed. The failure says both.
    pub fn require_input(&self, fields: &str) -> Result {
        self.input.require_all("input", fields)
    }

    /// Finds the output of a relay and holds it against what the guest was written for; empty fields accept any.
    pub fn require_output(&self, relay: &str, fields: &str) -> Result<Relay> {
        let i = match self.outputs.iter().position(|s| s.name == relay) {
            None => return Err(Failure::new(format!("the processor has no output {}, which this guest needs", relay))),
            Some(i) => i,
        };
        if !fields.is_empty() {
            self.outputs[i].require_all("output", fields)?;
        }
        Ok(Relay(i))
    }

    /// The output of a number.
    pub fn relay(&self, number: usize) -> Relay {
        assert!(number < self.outputs.len(), "output {} of a processor that has {}", number, self.outputs.len());
        Relay(number)
    }

    /// The schema of an output.
    pub fn schema(&self, relay: Relay) -> &Schema {
        &self.outputs[relay.0]
    }

    /// Whether state saved under this payload belongs to a branch with the other: all but the name of the domain agrees (W-125).
    pub(crate) fn same_branch(&self, o: &Init) -> bool {
        self.domain_type == o.domain_type && self.branch_key == o.branch_key && self.input == o.input && self.outputs == o.outputs
    }
}
