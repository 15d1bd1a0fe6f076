// SPDX-License-Identifier: Apache-2.0

//! Tests of the kit on the machine that builds it. `cargo test` runs them; what a module does is proved by the conformance kit.

mod bench;
mod guest;
mod state;
mod values;
