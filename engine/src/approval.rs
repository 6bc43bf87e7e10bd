//! Approvals: calls that a person has to agree to, from the asking to what came of them.
//!
//! pending -> approved -> started -> settled, or pending -> denied, expired, withdrawn. Every step is taken under one
//! lock, so that of two who decide at once one is first; the lock is never held while anything is awaited. A call that
//! needs no approval sees nothing of all this.

mod asked;
mod clock;
mod control;
mod error;
mod events;
mod id;
mod outcome;
mod record;
mod run;
mod slot;
mod steps;
mod store;
mod table;
mod view;
mod waiting;
mod writer;

pub(crate) use asked::Asked;
pub(crate) use clock::keep_time;
pub use control::{ApprovalControl, ApprovalFilter};
pub use error::ApprovalError;
pub use events::ApprovalEvents;
pub use id::ApprovalId;
pub use outcome::ApprovalOutcome;
pub(crate) use record::unix_millis;
pub use record::{ApprovalDecision, ApprovalRecord, ApprovalRequest, ApprovalScope, ApprovalState};
pub use store::ApprovalStore;
pub(crate) use table::Approvals;
pub use view::{Approval, ApprovalNotice, ApprovalPlace};
pub(crate) use waiting::Waiting;
pub(crate) use writer::{flush, write_behind};
