//! Keeping a panic where it happens.

use std::fmt;
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A tool's code panicked. Its message stays out: it may hold secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Something that others wrote and that whoever comes last drops: a batch, an actor. A panic of its drop stays here.
pub(crate) struct Isolated<T>(Option<T>);

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

// === impl Isolated ===

impl<T> Isolated<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Some(value))
    }
}

impl<T> fmt::Debug for Isolated<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Isolated")
    }
}

impl<T> Deref for Isolated<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect("the value is taken out only when this is dropped")
    }
}

impl<T> Drop for Isolated<T> {
    fn drop(&mut self) {
        let value = self.0.take();
        catch(move || drop(value)).ok();
    }
}
