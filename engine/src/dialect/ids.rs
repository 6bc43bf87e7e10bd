//! Call ids as vendors take them.

use std::borrow::Cow;

/// What a vendor takes as the id of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IdRule {
    /// Any id, as it is.
    #[default]
    AsGiven,
}

// === impl IdRule ===

impl IdRule {
    /// The id in the form that the vendor takes.
    pub fn apply(self, id: &str) -> Cow<'_, str> {
        Cow::Borrowed(id)
    }
}
