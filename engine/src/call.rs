//! What is asked for: calls, their arguments, the context they run in, and the batch that holds them.

mod arguments;
mod batch;
mod context;
mod id;
mod invocation;

pub use arguments::{Arguments, Profile, RawArguments};
pub(crate) use arguments::{kind, read_arguments};
pub use batch::{ToolBatch, ToolCall};
pub use context::{Actor, Locale, Stage, ToolAvailabilityContext, ToolExecutionContext};
pub use id::{BatchId, CallId, SessionKey, TurnId};
pub use invocation::{CallContext, ToolInvocation};
