// SPDX-License-Identifier: Apache-2.0

//! Saved state. Numbers are little-endian; texts and bytes have their length before them.

use alloc::format;
use alloc::vec::Vec;

use crate::{Failure, Result, Time};

/// Writes state.
#[derive(Default)]
pub struct StateWriter {
    pub(crate) out: Vec<u8>,
}

impl StateWriter {
    /// Writes bytes without their length.
    pub fn raw(&mut self, v: &[u8]) {
        self.out.extend_from_slice(v);
    }

    /// Writes a number.
    pub fn u8(&mut self, v: u8) {
        self.out.push(v);
    }

    /// Writes a number.
    pub fn u32(&mut self, v: u32) {
        self.raw(&v.to_le_bytes());
    }

    /// Writes a number.
    pub fn u64(&mut self, v: u64) {
        self.raw(&v.to_le_bytes());
    }

    /// Writes a number.
    pub fn i64(&mut self, v: i64) {
        self.raw(&v.to_le_bytes());
    }

    /// Writes a number.
    pub fn f64(&mut self, v: f64) {
        self.raw(&v.to_le_bytes());
    }

    /// Writes an instant.
    pub fn time(&mut self, v: Time) {
        self.i64(v.since_epoch);
    }

    /// Writes bytes.
    pub fn bytes(&mut self, v: &[u8]) {
        self.u32(v.len() as u32);
        self.raw(v);
    }

    /// Writes a text.
    pub fn str(&mut self, v: &str) {
        self.bytes(v.as_bytes());
    }
}

/// Reads in the same order. Behind the end everything reads as zero, and [`StateReader::end`] fails.
pub struct StateReader<'a> {
    state: &'a [u8],
    at: usize,
    short: bool,
}

impl<'a> StateReader<'a> {
    pub(crate) fn new(state: &'a [u8]) -> Self {
        StateReader { state, at: 0, short: false }
    }

    /// All of the state.
    pub fn state(&self) -> &'a [u8] {
        self.state
    }

    fn take(&mut self, n: usize) -> &'a [u8] {
        if self.short || n > self.state.len() - self.at {
            self.short = true;
            return &[];
        }
        self.at += n;
        &self.state[self.at - n..self.at]
    }

    fn number<const N: usize>(&mut self) -> [u8; N] {
        let mut b = [0; N];
        let taken = self.take(N);
        b[..taken.len()].copy_from_slice(taken);
        b
    }

    /// Reads a number.
    pub fn u8(&mut self) -> u8 {
        self.number::<1>()[0]
    }

    /// Reads a number.
    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.number())
    }

    /// Reads a number.
    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.number())
    }

    /// Reads a number.
    pub fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.number())
    }

    /// Reads a number.
    pub fn f64(&mut self) -> f64 {
        f64::from_le_bytes(self.number())
    }

    /// Reads an instant.
    pub fn time(&mut self) -> Time {
        Time { since_epoch: self.i64() }
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> &'a [u8] {
        let n = self.u32() as usize;
        self.take(n)
    }

    /// Reads a text. One that is not UTF-8 counts as the end of the state.
    pub fn str(&mut self) -> &'a str {
        core::str::from_utf8(self.bytes()).unwrap_or_else(|_| {
            self.short = true;
            ""
        })
    }

    /// Succeeds if the state was read exactly to its end: return it from `restore`.
    pub fn end(&self) -> Result {
        let n = self.state.len();
        if self.short {
            return Err(Failure::new(format!("the state ends early, after {} bytes", n)));
        }
        if self.at < n {
            return Err(Failure::new(format!("the state has {} bytes more than this guest wrote", n - self.at)));
        }
        Ok(())
    }
}
