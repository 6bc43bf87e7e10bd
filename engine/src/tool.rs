//! What a tool is: its declaration, its names, and how it wants to be run.

mod def;
mod name;
mod spec;

pub use def::{ToolDef, ToolParam};
pub(crate) use name::ModelNames;
pub use name::{NameForm, ToolId, model_name};
pub use spec::{ExecutionClass, ToolAnnotation, ToolIcon, ToolSpec};
