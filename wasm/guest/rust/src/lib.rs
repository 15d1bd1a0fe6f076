// SPDX-License-Identifier: Apache-2.0

//! Guests of Nervix WASM processors in Rust. README.md shows a first guest; docs/formats/guest.md of the repository is the contract on the wire;
//! wasm/guest/reference.md is a job that the guests of all languages do.
//!
//! A guest implements [`Processor`] and names it to [`export!`]. The crate owns everything the host calls or reads: the buffer, the messages, the
//! Arrow batches, the queue of emitted output, the error channel and the wrapping of saved state.
//!
//! - One instance is one branch. The host makes one call at a time; the fields of the processor are the state of the branch.
//! - A [`Batch`] lies in the input buffer. What it lends cannot outlive the callback; [`Held`] keeps entries, `to_owned` keeps bytes.
//! - A callback that fails, or reported a failure, emits nothing.
//! - A panic ends the instance: the host gets its text and makes a new instance from the state saved last.
//!
//! The crate needs `alloc` only. It has no dependencies and builds with Rust 1.63, which is the oldest with a `wasm32` library in a distribution
//! that this project builds on.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![warn(missing_docs)]
#![cfg_attr(not(any(target_arch = "wasm32", test)), allow(dead_code))] // the machine runs in modules and in tests

extern crate alloc;

mod arrow_read;
mod column;
mod entry;
mod envelope;
mod exports;
mod flat;
mod generated;
mod instance;
mod instant;
mod message;
mod output;
mod processor;
mod schema;
mod state;

#[cfg(test)]
mod tests;

pub use column::Column;
pub use entry::{Batch, Entry, Held};
#[cfg(not(feature = "std"))]
pub use exports::last_words;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub use exports::Module;
pub use generated::{Generated, GeneratedColumn};
pub use instant::{Duration, Time, Timeout};
pub use output::{Output, Route, Routed, Verdict};
pub use processor::{Call, Failure, Processor, Result};
pub use schema::{Field, Init, Kind, Relay, Schema, Type};
pub use state::{StateReader, StateWriter};
