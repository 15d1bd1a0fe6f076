// SPDX-License-Identifier: Apache-2.0

//! The machine behind the exported functions (W-243).

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;

use crate::arrow_read::{read_arrow, KnownSchema};
use crate::entry::Batch;
use crate::envelope::{write_output, SchemaCache};
use crate::flat::Writer;
use crate::message::{open, read_init, read_snapshot, snapshot, Variant, MAX_MESSAGE};
use crate::processor::*;
use crate::{Init, Output, Schema, StateReader, Timeout};

/// What surrounds an instance: in a module the functions that the host offers, in tests a fake one.
pub(crate) trait Host {
    fn now(&self) -> i64;
    fn after(&mut self, delay: i64) -> i64;
    fn request_reset(&mut self) -> i32;
    /// Puts a reason on the error channel.
    fn latch(&mut self, reason: &str);
    /// Whether a reason waits there.
    fn latched(&self) -> bool;
}

/// What callbacks use.
pub(crate) struct Core {
    pub host: Box<dyn Host>,
    pub init: Rc<Init>,
    /// What waits to be read.
    pub queue: VecDeque<Vec<u8>>,
    /// Room of messages that were read.
    spare: Vec<Vec<u8>>,
    schemas: SchemaCache,
}

impl Core {
    /// The first reason of an operation is the cause of what follows.
    pub fn latch(&mut self, reason: &str) {
        if !self.host.latched() {
            self.host.latch(if reason.is_empty() { "no reason given" } else { reason });
        }
    }

    fn fail(&mut self, code: i32, reason: &str) -> i32 {
        self.latch(reason);
        code
    }

    fn answer(&mut self, result: Result) -> i32 {
        match result {
            Ok(()) => 0,
            Err(f) => match f.reason {
                Some(reason) => self.fail(REJECTED, &reason),
                None => f.code,
            },
        }
    }

    fn keep(&mut self, mut room: Vec<u8>) {
        if self.spare.len() < 4 {
            room.clear();
            self.spare.push(room);
        }
    }

    fn room(&mut self) -> Writer {
        Writer { b: self.spare.pop().unwrap_or_default() }
    }

    fn drop_queue(&mut self) {
        while let Some(m) = self.queue.pop_front() {
            self.keep(m);
        }
    }

    pub fn emit(&mut self, mut output: Output) -> Result {
        let rows = output.judge()?;
        let mut w = self.room();
        write_output(&mut w, &mut output, rows, &mut self.schemas);
        self.queue.push_back(w.b);
        Ok(())
    }

    /// Turns the result of a callback into its answer. A callback that fails emits nothing.
    fn end(&mut self, result: Result) -> i32 {
        let answer = self.answer(result);
        if answer != 0 || self.host.latched() {
            self.drop_queue();
        }
        answer
    }
}

/// Memory for the host's messages: a multiple of 16 long, and aligned to it.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Block([u64; 2]);

/// The buffer that the host sees: a message that waits, or the room for its input.
#[derive(Default)]
pub(crate) struct Buffer {
    blocks: Vec<Block>,
    size: usize,
    shown: Option<Vec<u8>>,
}

impl Buffer {
    fn whole(&self) -> &[u8] {
        match &self.shown {
            Some(m) => m,
            // SAFETY: a block is 16 bytes without padding.
            None => unsafe { core::slice::from_raw_parts(self.blocks.as_ptr().cast(), 16 * self.blocks.len()) },
        }
    }

    pub fn ptr(&self) -> usize {
        self.whole().as_ptr() as usize
    }

    pub fn len(&self) -> i32 {
        self.shown.as_ref().map_or(self.size, |m| m.len()) as i32
    }

    pub fn capacity(&self) -> i32 {
        self.whole().len() as i32
    }

    /// A range that has to lie inside the buffer (W-045).
    fn at(&self, ptr: usize, size: i32) -> core::result::Result<&[u8], i32> {
        if size < 0 {
            return Err(BAD_SIZE);
        }
        let whole = self.whole();
        let from = ptr.wrapping_sub(whole.as_ptr() as usize);
        if whole.is_empty() || from > whole.len() || size as usize > whole.len() - from {
            return Err(BAD_RANGE);
        }
        Ok(&whole[from..from + size as usize])
    }

    #[cfg(test)]
    pub fn fill(&mut self, from: usize, bytes: &[u8]) {
        // SAFETY: as in whole.
        let all: &mut [u8] = unsafe { core::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), 16 * self.blocks.len()) };
        all[from..from + bytes.len()].copy_from_slice(bytes);
    }
}

/// Bytes that begin at a multiple of 8, copied if need be; hosts see to it that they do.
fn align<'a>(b: &'a [u8], room: &'a mut Vec<u64>) -> &'a [u8] {
    if b.as_ptr() as usize % 8 == 0 {
        return b;
    }
    room.clear();
    for part in b.chunks(8) {
        let mut word = [0; 8];
        word[..part.len()].copy_from_slice(part);
        room.push(u64::from_ne_bytes(word));
    }
    &crate::column::octets(room)[..b.len()]
}

/// One guest. Its methods are the exported functions, with addresses as wide as the machine's.
pub(crate) struct Instance<P> {
    pub processor: P,
    pub core: Core,
    pub buffer: Buffer,
    message: Vec<u8>,
    known: KnownSchema,
    ready: bool,
    worked: bool,
}

impl<P: Processor> Instance<P> {
    pub fn new(processor: P, host: Box<dyn Host>) -> Self {
        let none = Schema { name: String::new(), fields: Vec::new() };
        let init = Init { domain_name: String::new(), domain_type: String::new(), branch_key: None, input: none, outputs: Vec::new() };
        let core = Core { host, init: Rc::new(init), queue: VecDeque::new(), spare: Vec::new(), schemas: SchemaCache::default() };
        Instance { processor, core, buffer: Buffer::default(), message: Vec::new(), known: KnownSchema::default(), ready: false, worked: false }
    }

    /// Makes room for a message of the host.
    pub fn alloc(&mut self, size: i32) -> core::result::Result<usize, i32> {
        if size < 0 || size as usize > MAX_MESSAGE {
            return Err(BAD_SIZE);
        }
        let size = size as usize;
        if let Some(m) = self.buffer.shown.take() {
            self.core.keep(m);
        }
        if size > 16 * self.buffer.blocks.len() || self.buffer.blocks.is_empty() {
            self.buffer.blocks = Vec::new(); // given back before the new one is made
            self.buffer.blocks = alloc::vec![Block([0; 2]); (size + size / 8) / 16 + 64];
        }
        self.buffer.size = size;
        Ok(self.buffer.ptr())
    }

    /// Hands over what the host says about the branch. It is accepted once: an instance is one branch.
    pub fn init(&mut self, ptr: usize, size: i32) -> i32 {
        let message = match self.buffer.at(ptr, size) {
            Err(code) => return code,
            Ok(m) => m,
        };
        if self.ready {
            return self.core.fail(REJECTED, "the guest is initialized already");
        }
        self.message = message.to_vec();
        let init = match read_init(&self.message) {
            None => return self.core.fail(BAD_MESSAGE, "the init payload is damaged or of another kind"),
            Some(init) => Rc::new(init),
        };
        self.core.init = Rc::clone(&init);
        self.known = KnownSchema::default();
        let result = self.processor.create(&mut Call { core: &mut self.core }, &init);
        let answer = self.core.answer(result);
        self.core.drop_queue();
        self.ready = answer == 0 && !self.core.host.latched();
        answer
    }

    /// What every callback begins with. While a reason waits on the error channel nothing runs.
    fn begin(&mut self) -> i32 {
        self.core.drop_queue();
        if !self.ready {
            return NOT_READY;
        }
        if self.core.host.latched() {
            return REJECTED;
        }
        self.worked = true;
        0
    }

    /// Delivers an input message.
    pub fn process_batch(&mut self, ptr: usize, size: i32) -> i32 {
        if let Err(code) = self.buffer.at(ptr, size) {
            return code;
        }
        match self.begin() {
            0 => {}
            code => return code,
        }
        let init = Rc::clone(&self.core.init);
        let (mut whole, mut part) = (Vec::new(), Vec::new());
        let message = align(self.buffer.at(ptr, size).unwrap_or_default(), &mut whole);
        let (mut r, input) = open(message, Variant::Input, 2);
        let sidecar = r.child(&input, 1, 4);
        let mut batch = Batch::read(&mut r, &sidecar);
        let stream = r.vector(&input, 0, 1);
        let stream = align(r.slice(stream), &mut part);
        if !r.closed() {
            return self.core.fail(BAD_MESSAGE, "the input message is damaged or of another kind");
        }
        if read_arrow(stream, &mut self.known, &init, &mut batch).is_none() {
            return self.core.fail(BAD_BATCH, "the Arrow batch is damaged or has another schema than the input");
        }
        let result = self.processor.process_batch(&mut Call { core: &mut self.core }, &batch);
        self.core.end(result)
    }

    /// Delivers a handle that is due.
    pub fn on_timeout(&mut self, handle: i64) -> i32 {
        match self.begin() {
            0 => {
                let result = self.processor.on_timeout(&mut Call { core: &mut self.core }, Timeout { handle });
                self.core.end(result)
            }
            code => code,
        }
    }

    /// Asks for everything that is buffered.
    pub fn flush(&mut self) -> i32 {
        match self.begin() {
            0 => {
                let result = self.processor.flush(&mut Call { core: &mut self.core });
                self.core.end(result)
            }
            code => code,
        }
    }

    /// Puts a message into the place of the buffer.
    fn show(&mut self, m: Vec<u8>) -> i32 {
        let n = m.len() as i32;
        if let Some(before) = self.buffer.shown.replace(m) {
            self.core.keep(before);
        }
        n
    }

    /// Shows the next message that waits; 0 if none does.
    pub fn read_emit(&mut self) -> i32 {
        match self.core.queue.pop_front() {
            None => 0,
            Some(m) => self.show(m),
        }
    }

    /// Shows the state in its wrapping.
    pub fn dump_state(&mut self) -> i32 {
        if !self.ready {
            return NOT_READY;
        }
        let w = self.core.room();
        match snapshot(w, &self.message, |state| self.processor.save_state(state)) {
            Ok(w) => self.show(w.b),
            Err(f) => self.core.answer(Err(f)),
        }
    }

    /// Restores what `dump_state` showed. An instance that refused state runs nothing any more.
    pub fn load_state(&mut self, ptr: usize, size: i32) -> i32 {
        let message = match self.buffer.at(ptr, size) {
            Err(code) => return code,
            Ok(m) => m,
        };
        if !self.ready || self.worked || self.core.host.latched() {
            return NOT_READY;
        }
        self.ready = false;
        let state = match read_snapshot(message, &self.core.init) {
            Err(reason) => return self.core.fail(BAD_SNAPSHOT, reason),
            Ok(state) => state,
        };
        if let Err(f) = self.processor.restore(&mut StateReader::new(state)) {
            return self.core.fail(BAD_STATE, f.reason.as_deref().unwrap_or("the guest refuses the state"));
        }
        self.ready = true;
        0
    }

    /// Never called by a host: a new life of the state is a new instance.
    pub fn reset_state(&mut self) -> i32 {
        REJECTED
    }
}
