//! Why the registry refuses a request.

/// Why the registry refuses a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The registry is closed.
    #[error("the registry is closed")]
    Closed,
    /// The registry has no time to answer.
    #[error("the registry did not answer in time")]
    Busy,
    /// No provider has this name.
    #[error("there is no provider `{0}`")]
    UnknownProvider(String),
    /// A provider's name must be usable in tool names.
    #[error("`{0}` is no name for a provider: 1 to 64 characters of letters, digits, `_`, `-` and `.` are")]
    InvalidName(String),
    /// The provider did not start.
    #[error("provider `{name}` did not start: {reason}")]
    StartFailed {
        /// Its name.
        name: String,
        /// What went wrong.
        reason: String,
    },
    /// A batch with this id is in flight.
    #[error("batch `{0}` is in flight already")]
    DuplicateBatch(String),
    /// Too many batches are in flight.
    #[error("{0} batches are in flight; no more are taken")]
    TooManyBatches(usize),
}
