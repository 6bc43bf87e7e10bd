//! Keeping a panic where it happens.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// A tool's code panicked. Its message stays out: it may hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Runs `work` and catches its panic.
///
/// Unwind safety is asserted: whatever the work borrowed is either dropped with it or never looked at again.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        // A payload's own drop can panic too; what that throws is not dropped again.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
        Panicked
    })
}
