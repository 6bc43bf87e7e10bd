//! What comes back: results, statuses, errors, media, and the text that goes into the model's history.

mod base64;
mod blocks;
mod content;
mod data_uri;
mod error;
mod execution;
mod format;
mod history;
mod kept;
mod media;
mod metadata;
mod normalise;
mod outcome;
mod repair;
mod shorten;
mod status;

pub use content::{ContentItem, ContentType};
pub use error::{CallError, ErrorCode, Sent, ToolFailure};
pub use execution::{ResultEffects, ToolExecutionResult};
pub use format::{ToolResultBuilder, format_error_result, format_list_result, format_tool_result};
pub(crate) use history::EMPTY_RESULT;
pub use history::media_reference;
pub use kept::KeptResult;
pub(crate) use kept::KeptResults;
pub use metadata::Metadata;
pub use normalise::{content_items_from_json, result_from_json, result_from_mcp};
pub use outcome::{BatchOutcome, CallResult, Executed, ToolOrigin};
pub use repair::{Repair, RepairKind};
pub(crate) use shorten::{Shortened, TextLimit, shorten, truncate_middle};
pub use status::CallStatus;
