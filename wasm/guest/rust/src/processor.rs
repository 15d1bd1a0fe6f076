// SPDX-License-Identifier: Apache-2.0

//! What a guest implements, and the operation it is called in.

use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;

use crate::instance::Core;
use crate::{Batch, Duration, Init, Output, StateReader, StateWriter, Time, Timeout};

/// Why an operation fails: with a reason that the host shows (at most 4 KiB of it), or with a code alone. A callback that fails emits nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub(crate) code: i32,
    pub(crate) reason: Option<String>,
}

/// The result of everything that may fail.
pub type Result<T = (), E = Failure> = core::result::Result<T, E>;

// Codes of the crate itself. They are a convention; only the last two mean something to the host.
pub(crate) const BAD_SIZE: i32 = -1;
pub(crate) const BAD_RANGE: i32 = -2;
pub(crate) const NOT_READY: i32 = -3;
pub(crate) const BAD_BATCH: i32 = -4;
pub(crate) const BAD_MESSAGE: i32 = -5;
pub(crate) const REJECTED: i32 = -6;
pub(crate) const BAD_SNAPSHOT: i32 = -7;
pub(crate) const BAD_STATE: i32 = -8;

impl Failure {
    /// A failure with a reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Failure { code: REJECTED, reason: Some(reason.into()) }
    }

    /// A failure that the host sees as this negative number, without a reason (W-033).
    pub fn code(code: i32) -> Self {
        assert!(code < 0, "a failure needs a negative code");
        Failure { code, reason: None }
    }
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Failure::new(reason)
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure::new(reason)
    }
}

/// A guest. One value of it is one branch.
pub trait Processor {
    /// Called once, before anything else: check the schemas, keep what you need. A failure refuses this branch.
    fn create(&mut self, _call: &mut Call<'_>, _init: &Init) -> Result {
        Ok(())
    }

    /// An input batch.
    fn process_batch(&mut self, call: &mut Call<'_>, batch: &Batch<'_>) -> Result;

    /// A timeout of this instance is due.
    fn on_timeout(&mut self, _call: &mut Call<'_>, _timeout: Timeout) -> Result {
        Ok(())
    }

    /// The branch pauses or moves: emit what is buffered, now.
    fn flush(&mut self, _call: &mut Call<'_>) -> Result {
        Ok(())
    }

    /// Write what a successor has to know to go on: no buffered rows, entries or timeouts (W-121). Called after each callback.
    fn save_state(&self, _state: &mut StateWriter) -> Result {
        Ok(())
    }

    /// Take over what `save_state` wrote, after `create`. A failure refuses the state.
    fn restore(&mut self, state: &mut StateReader<'_>) -> Result {
        match state.state().len() {
            0 => Ok(()),
            n => Err(Failure::new(format!("this guest saves no state and cannot take {} bytes of it", n))),
        }
    }
}

/// The operation in progress.
pub struct Call<'a> {
    pub(crate) core: &'a mut Core,
}

impl Call<'_> {
    /// The domain time of the operation. It does not move during a callback.
    pub fn now(&self) -> Time {
        Time { since_epoch: self.core.host.now() }
    }

    /// Asks for `on_timeout` when a duration of domain time has passed.
    pub fn after(&mut self, delay: Duration) -> Timeout {
        Timeout { handle: self.core.host.after(delay.as_nanoseconds()) }
    }

    /// Asks for a new life of this branch's state; the host drops this instance when the callback is over. True if the request was taken, which
    /// `create` cannot have.
    pub fn request_reset(&mut self) -> bool {
        self.core.host.request_reset() == 0
    }

    /// What the host said about this branch.
    pub fn init(&self) -> &Init {
        &self.core.init
    }

    /// Begins an envelope.
    pub fn output(&self) -> Output {
        Output::new(Rc::clone(&self.core.init))
    }

    /// Checks an output and queues it.
    pub fn emit(&mut self, output: Output) -> Result {
        self.core.emit(output)
    }

    /// Fails the operation though the callback succeeds.
    pub fn report_global_error(&mut self, reason: &str) {
        self.core.latch(reason);
    }
}
