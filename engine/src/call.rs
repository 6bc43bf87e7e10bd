//! What is asked for: calls, their arguments, the context they run in, and the batch that holds them.

mod arguments;
mod batch;
mod context;
mod discovery;
mod id;
mod invocation;
mod policy;

pub use arguments::{Arguments, RawArguments};
pub(crate) use arguments::{Change, Edits, read_arguments, reread};
pub use batch::{ToolBatch, ToolCall};
pub use context::{Actor, Locale, Stage, ToolAvailabilityContext, ToolExecutionContext};
pub use id::{BatchId, CallId, SessionKey, TurnId};
pub use invocation::{CallContext, CallHold, ToolInvocation};
pub use policy::{CallPolicy, Profile, UnknownProfile};
