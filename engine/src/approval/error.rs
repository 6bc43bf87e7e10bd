//! Why an approval cannot be decided.

use super::ApprovalState;
use crate::session::StoreError;

/// Why an approval cannot be decided, or not at this moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// There is none with this id, or it is over for so long that it was forgotten.
    #[error("there is no approval `{0}`")]
    Unknown(String),
    /// Nobody decided in time (`policy.approval_expired`).
    #[error("nobody decided in time; the approval has expired")]
    Expired,
    /// It is decided, or withdrawn.
    #[error("the approval is {} already", .0.as_str())]
    Decided(ApprovalState),
    /// The call has no session that could be agreed to.
    #[error("the call belongs to no session; approve the call alone")]
    NoSession,
    /// The tool cannot run at this moment. The approval stays as it is.
    #[error("the call cannot run now and stays pending: {0}")]
    NotNow(String),
    /// The store cannot be written or read. Nothing ran, and the approval stays as it is.
    #[error("nothing ran, since the approval cannot be kept: {0}; it stays pending")]
    Store(StoreError),
    /// The registry is closed, or about to.
    #[error("the registry is closed")]
    Closed,
}
