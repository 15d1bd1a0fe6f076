// SPDX-License-Identifier: Apache-2.0

//! Outputs: routes, rows and decisions.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

use crate::column::octets;
use crate::flat::Writer;
use crate::{Batch, Entry, Failure, Generated, GeneratedColumn, Init, Relay, Result, Type};

/// One envelope: routes whose rows agree, with one generated batch that they share. [`crate::Call::output`] begins it, [`crate::Call::emit`] sends
/// it. Outputs whose rows differ are outputs of their own.
pub struct Output {
    pub(crate) init: Rc<Init>,
    pub(crate) routes: Vec<Routed>,
    pub(crate) columns: Vec<GeneratedColumn>,
}

/// What goes to one relay: `output[route]` takes its columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route(usize);

impl Index<Route> for Output {
    type Output = Routed;
    fn index(&self, r: Route) -> &Routed {
        &self.routes[r.0]
    }
}

impl IndexMut<Route> for Output {
    fn index_mut(&mut self, r: Route) -> &mut Routed {
        &mut self.routes[r.0]
    }
}

impl Index<Generated> for Output {
    type Output = GeneratedColumn;
    fn index(&self, g: Generated) -> &GeneratedColumn {
        &self.columns[g.0]
    }
}

impl IndexMut<Generated> for Output {
    fn index_mut(&mut self, g: Generated) -> &mut GeneratedColumn {
        &mut self.columns[g.0]
    }
}

/// Where a column of a route comes from, as on the wire.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Input(usize),
    Generated(usize),
    Uninitialized,
}

/// One set of tokens with a reason.
pub(crate) struct Decision {
    pub tokens: Vec<u64>,
    pub reason: String,
}

fn decide(e: Entry<'_>, reason: impl Into<String>) -> Decision {
    Decision { tokens: e.tokens.to_vec(), reason: reason.into() }
}

/// Columns and rows of a route, and what becomes of the inputs that no row carries.
pub struct Routed {
    pub(crate) relay: Relay,
    pub(crate) columns: Vec<Source>,
    pub(crate) rows: usize,
    sourceless: bool,
    /// The tables of the rows as they go into the message, but for the distance to their vtable.
    pub(crate) records: Writer,
    pub(crate) same: Option<Route>,
    pub(crate) acked: Vec<u64>,
    pub(crate) nacked: Vec<Decision>,
    pub(crate) failed: Vec<Decision>,
    // In the message.
    pub(crate) rows_at: usize,
    pub(crate) sidecar_at: usize,
}

impl Routed {
    /// Takes columns of the input by their numbers, for the next fields of the relay. The host has their values: they are named, never copied.
    pub fn from_input(&mut self, columns: &[usize]) -> &mut Self {
        self.columns.extend(columns.iter().map(|c| Source::Input(*c)));
        self
    }

    /// Takes generated columns of this output for the next fields.
    pub fn from_generated(&mut self, columns: &[Generated]) -> &mut Self {
        self.columns.extend(columns.iter().map(|g| Source::Generated(g.0)));
        self
    }

    /// Leaves the next field to SET of the route; it is null otherwise.
    pub fn from_nothing(&mut self) -> &mut Self {
        self.columns.push(Source::Uninitialized);
        self
    }

    /// Adds a row, with its entry whole.
    pub fn carry(&mut self, e: Entry<'_>) {
        let w = &mut self.records;
        w.add32(e.source.is_some().into());
        w.add32(16); // from the member to the vector
        w.add64(e.source.unwrap_or(0));
        w.add32(0);
        w.add32(e.tokens.len() as u32);
        w.b.extend_from_slice(octets(e.tokens));
        self.rows += 1;
        self.sourceless |= e.source.is_none();
    }

    /// Adds all rows of a batch.
    pub fn carry_all(&mut self, batch: &Batch<'_>) {
        for i in 0..batch.rows() {
            self.carry(batch.entry(i));
        }
    }

    /// Gives the route the rows of another route of this output, those it has and those it will have.
    pub fn carry_same(&mut self, other: Route) {
        self.same = Some(other);
    }

    /// An input is done without a row. An input that is neither carried nor decided stays with the guest.
    pub fn ack(&mut self, e: Entry<'_>) {
        self.acked.extend_from_slice(e.tokens);
    }

    /// An input fails at once, so that its source may send it again.
    pub fn nack(&mut self, e: Entry<'_>, reason: impl Into<String>) {
        self.nacked.push(decide(e, reason));
    }

    /// An input fails by the route's ON MESSAGE ERROR.
    pub fn message_error(&mut self, e: Entry<'_>, reason: impl Into<String>) {
        self.failed.push(decide(e, reason));
    }

    /// Carries the rows of a batch that `keep` accepts, and acknowledges the others. Entries stay whole.
    pub fn filter(&mut self, batch: &Batch<'_>, mut keep: impl FnMut(usize) -> bool) {
        for i in 0..batch.rows() {
            if keep(i) {
                self.carry(batch.entry(i));
            } else {
                self.ack(batch.entry(i));
            }
        }
    }
}

/// What becomes of a row in [`Output::map`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Carry,
    /// [`Routed::ack`].
    Ack,
    /// [`Routed::nack`].
    Nack(String),
    /// [`Routed::message_error`].
    MessageError(String),
}

impl Output {
    pub(crate) fn new(init: Rc<Init>) -> Self {
        Output { init, routes: Vec::new(), columns: Vec::new() }
    }

    /// Makes a column with the type of a field of an output. Any route may use it, in several fields: make it once (W-245).
    pub fn generate(&mut self, relay: Relay, field: &str) -> Generated {
        let schema = self.init.schema(relay);
        match schema.find(field) {
            Some(i) => self.generate_at(relay, i),
            None => panic!("{} has no field {}", schema.name, field),
        }
    }

    /// [`Output::generate`] for a field by its number.
    pub fn generate_at(&mut self, relay: Relay, field: usize) -> Generated {
        let f = &self.init.schema(relay).fields[field];
        self.columns.push(GeneratedColumn::new(&f.ty, f.optional));
        Generated(self.columns.len() - 1)
    }

    /// Begins what goes to a relay.
    pub fn route(&mut self, relay: Relay) -> Route {
        self.routes.push(Routed {
            relay,
            columns: Vec::new(),
            rows: 0,
            sourceless: false,
            records: Writer::default(),
            same: None,
            acked: Vec::new(),
            nacked: Vec::new(),
            failed: Vec::new(),
            rows_at: 0,
            sidecar_at: 0,
        });
        Route(self.routes.len() - 1)
    }

    /// Lets `decide` judge every row of a batch. It puts one value into each generated column if it answers `Carry`. Entries stay whole.
    pub fn map(&mut self, route: Route, batch: &Batch<'_>, mut decide: impl FnMut(&mut Output, usize) -> Verdict) {
        for i in 0..batch.rows() {
            let verdict = decide(self, i);
            let (r, e) = (&mut self[route], batch.entry(i));
            match verdict {
                Verdict::Carry => r.carry(e),
                Verdict::Ack => r.ack(e),
                Verdict::Nack(reason) => r.nack(e, reason),
                Verdict::MessageError(reason) => r.message_error(e, reason),
            }
        }
    }

    /// Completes the columns and finds mistakes; gives the number of rows of the generated batch.
    pub(crate) fn judge(&mut self) -> Result<usize> {
        match self.mistake() {
            None => Ok(self.columns.first().map_or(0, |g| g.rows)),
            Some(what) => Err(Failure::new(format!("the guest emits an output that is wrong: {}", what))),
        }
    }

    fn mistake(&mut self) -> Option<&'static str> {
        if self.routes.is_empty() {
            return Some("it has no route");
        }
        let rows = self.columns.first().map_or(0, |g| g.rows);
        let mut used = alloc::vec![false; self.columns.len()];
        for g in &mut self.columns {
            let wrong = g.finish();
            if wrong.is_some() {
                return wrong;
            }
            if g.rows != rows {
                return Some("generated columns have different numbers of rows");
            }
        }
        let (mut inputs, mut sourceless) = (false, false);
        for (i, r) in self.routes.iter().enumerate() {
            let own = match r.same {
                None => r.rows,
                Some(other) if r.rows == 0 && other.0 != i && self.routes.get(other.0).map_or(false, |o| o.same.is_none()) => self[other].rows,
                Some(_) => return Some("a route takes over rows that it cannot have"),
            };
            let fields = &self.init.schema(r.relay).fields;
            if r.columns.len() != fields.len() {
                return Some("a route has another number of columns than its relay has fields");
            }
            for (c, f) in r.columns.iter().zip(fields) {
                let (ty, optional): (&Type, bool) = match *c {
                    Source::Uninitialized => continue,
                    Source::Input(i) => match self.init.input.fields.get(i) {
                        None => return Some("a route takes a column that the input does not have"),
                        Some(from) => (&from.ty, from.optional),
                    },
                    Source::Generated(i) => match self.columns.get(i) {
                        None => return Some("a route takes a generated column of another output"),
                        Some(_) if own != rows => return Some("a generated column has another number of rows than its route"),
                        Some(g) => {
                            used[i] = true;
                            (&g.ty, g.optional)
                        }
                    },
                };
                if *ty != f.ty || optional != f.optional {
                    return Some("a column has another type or nullability than its field");
                }
                inputs |= matches!(c, Source::Input(_));
            }
            sourceless |= r.sourceless;
        }
        if used.contains(&false) {
            return Some("a generated column is not used by any route");
        }
        if inputs && sourceless {
            return Some("a row without source stands beside columns of the input");
        }
        None
    }
}
