// SPDX-License-Identifier: Apache-2.0

//! The functions of a module.

/// Makes a type the processor of this module. It implements [`crate::Processor`] and `Default`; write it once, in the crate that becomes the module.
///
/// ```
/// # use nervix_guest::{Batch, Call, Processor, Result};
/// #[derive(Default)]
/// struct Nothing;
///
/// impl Processor for Nothing {
///     fn process_batch(&mut self, _: &mut Call, _: &Batch) -> Result {
///         Err("this guest does nothing".into())
///     }
/// }
///
/// nervix_guest::export!(Nothing);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($processor:ty) => {
        const _: fn() -> $processor = <$processor as ::core::default::Default>::default;

        #[cfg(target_arch = "wasm32")]
        mod nervix_exports {
            #[allow(unused_imports)]
            use super::*;

            static MODULE: $crate::Module<$processor> = $crate::Module::new();

            $crate::export!(@ MODULE
                nervix_buffer_ptr() -> i32, nervix_buffer_len() -> i32, nervix_buffer_capacity() -> i32, nervix_alloc(size: i32) -> i32,
                nervix_init(ptr: i32, size: i32) -> i32, nervix_current_domain_time_nanos() -> i64, nervix_process_batch(ptr: i32, size: i32) -> i32,
                nervix_on_timeout(handle: i64) -> i32, nervix_flush() -> i32, nervix_read_emit() -> i32, nervix_dump_state() -> i32,
                nervix_load_state(ptr: i32, size: i32) -> i32, nervix_reset_state() -> i32,
                nervix_global_error_ptr() -> i32, nervix_global_error_len() -> i32, nervix_clear_global_error() -> i32);
        }
    };
    (@ $module:ident $($name:ident($($arg:ident: $ty:ty),*) -> $result:ty),*) => {
        $(
            #[no_mangle]
            pub extern "C" fn $name($($arg: $ty),*) -> $result {
                $module.$name($($arg),*)
            }
        )*
    };
}

#[cfg(target_arch = "wasm32")]
pub use module::Module;

#[cfg(all(target_arch = "wasm32", not(feature = "std")))]
pub use module::last_words;

/// Leaves the text of a panic for the host. A guest without `std` calls it from its panic handler, before it traps.
#[cfg(all(not(target_arch = "wasm32"), not(feature = "std")))]
pub fn last_words(_: &core::panic::PanicInfo<'_>) {}

#[cfg(target_arch = "wasm32")]
mod module {
    use alloc::boxed::Box;
    use alloc::string::String;
    use core::cell::UnsafeCell;

    use crate::instance::{Host, Instance};
    use crate::Processor;

    #[link(wasm_import_module = "env")]
    extern "C" {
        fn nervix_domain_time_nanos() -> i64;
        fn nervix_timeout_after_nanos(delay: i64) -> i64;
        fn nervix_request_state_reset() -> i32;
    }

    /// The reason that waits for the host. It is not part of the instance, because the host asks for it after a trap, too.
    struct Channel(UnsafeCell<String>);

    // SAFETY: a module has one thread, and no reference into the channel leaves a function of this module.
    unsafe impl Sync for Channel {}

    static CHANNEL: Channel = Channel(UnsafeCell::new(String::new()));

    impl Channel {
        fn set(&self, reason: String) {
            // SAFETY: see above.
            unsafe { *self.0.get() = reason }
        }

        fn span(&self) -> (i32, i32) {
            // SAFETY: see above.
            let text = unsafe { &*self.0.get() };
            (text.as_ptr() as i32, text.len() as i32)
        }
    }

    struct Env;

    impl Host for Env {
        fn now(&self) -> i64 {
            // SAFETY: the host's functions have these types; so have the two below.
            unsafe { nervix_domain_time_nanos() }
        }

        fn after(&mut self, delay: i64) -> i64 {
            // SAFETY: see now.
            unsafe { nervix_timeout_after_nanos(delay) }
        }

        fn request_reset(&mut self) -> i32 {
            // SAFETY: see now.
            unsafe { nervix_request_state_reset() }
        }

        fn latch(&mut self, reason: &str) {
            CHANNEL.set(reason.into());
        }

        fn latched(&self) -> bool {
            CHANNEL.span().1 > 0
        }
    }

    /// Leaves the text of a panic for the host. A guest without `std` calls it from its panic handler, before it traps.
    #[cfg(not(feature = "std"))]
    pub fn last_words(info: &core::panic::PanicInfo<'_>) {
        CHANNEL.set(alloc::format!("{}", info));
    }

    /// What a panic says, before the module traps (A01).
    #[cfg(feature = "std")]
    fn listen() {
        std::panic::set_hook(Box::new(|info| {
            let what = match (info.payload().downcast_ref::<&str>(), info.payload().downcast_ref::<String>()) {
                (Some(text), _) => text,
                (_, Some(text)) => text.as_str(),
                _ => "a value that is no text",
            };
            let at = info.location().map_or(String::new(), |l| alloc::format!(" ({}:{})", l.file(), l.line()));
            CHANNEL.set(alloc::format!("panic: {}{}", what, at));
        }));
    }

    /// The only instance of a module.
    pub struct Module<P>(UnsafeCell<Option<Instance<P>>>);

    // SAFETY: a module has one thread, and the host makes one call at a time.
    unsafe impl<P> Sync for Module<P> {}

    impl<P: Processor + Default> Module<P> {
        /// A module that begins with its first call.
        #[allow(clippy::new_without_default)]
        pub const fn new() -> Self {
            Module(UnsafeCell::new(None))
        }

        #[allow(clippy::mut_from_ref)]
        fn get(&self) -> &mut Instance<P> {
            // SAFETY: the functions below do not call one another, and the error channel does not come here.
            let slot = unsafe { &mut *self.0.get() };
            slot.get_or_insert_with(|| {
                #[cfg(feature = "std")]
                listen();
                Instance::new(P::default(), Box::new(Env))
            })
        }
    }

    /// The exported functions. An address of the module has 32 bits, as the numbers of the ABI do.
    #[allow(missing_docs)]
    impl<P: Processor + Default> Module<P> {
        pub fn nervix_buffer_ptr(&self) -> i32 {
            self.get().buffer.ptr() as i32
        }

        pub fn nervix_buffer_len(&self) -> i32 {
            self.get().buffer.len()
        }

        pub fn nervix_buffer_capacity(&self) -> i32 {
            self.get().buffer.capacity()
        }

        pub fn nervix_alloc(&self, size: i32) -> i32 {
            self.get().alloc(size).map_or_else(|code| code, |at| at as i32)
        }

        pub fn nervix_init(&self, ptr: i32, size: i32) -> i32 {
            self.get().init(ptr as usize, size)
        }

        pub fn nervix_current_domain_time_nanos(&self) -> i64 {
            Env.now()
        }

        pub fn nervix_process_batch(&self, ptr: i32, size: i32) -> i32 {
            self.get().process_batch(ptr as usize, size)
        }

        pub fn nervix_on_timeout(&self, handle: i64) -> i32 {
            self.get().on_timeout(handle)
        }

        pub fn nervix_flush(&self) -> i32 {
            self.get().flush()
        }

        pub fn nervix_read_emit(&self) -> i32 {
            self.get().read_emit()
        }

        pub fn nervix_dump_state(&self) -> i32 {
            self.get().dump_state()
        }

        pub fn nervix_load_state(&self, ptr: i32, size: i32) -> i32 {
            self.get().load_state(ptr as usize, size)
        }

        pub fn nervix_reset_state(&self) -> i32 {
            self.get().reset_state()
        }

        pub fn nervix_global_error_ptr(&self) -> i32 {
            CHANNEL.span().0
        }

        pub fn nervix_global_error_len(&self) -> i32 {
            CHANNEL.span().1
        }

        pub fn nervix_clear_global_error(&self) -> i32 {
            CHANNEL.set(String::new());
            0
        }
    }
}
