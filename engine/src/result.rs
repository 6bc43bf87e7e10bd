//! What comes back: results, statuses, errors, media, and the text that goes into the model's history.

mod content;
mod error;
mod execution;
mod format;
mod history;
mod normalise;
mod outcome;
mod repair;
mod status;

pub use content::{ContentItem, ContentType};
pub use error::{CallError, ErrorCode, Sent, ToolFailure};
pub use execution::{ResultEffects, ToolExecutionResult};
pub use format::{ToolResultBuilder, format_error_result, format_list_result, format_tool_result};
pub use history::media_reference;
pub(crate) use history::{EMPTY_RESULT, truncate_middle};
pub use normalise::result_from_json;
pub use outcome::{BatchOutcome, CallResult, Executed, ToolOrigin};
pub use repair::{Repair, RepairKind};
pub use status::CallStatus;
