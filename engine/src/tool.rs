//! What a tool is: its declaration, its names, and how it wants to be run.

mod actions;
mod def;
mod description;
mod exposure;
mod import;
mod legacy_action;
mod local_time;
mod name;
mod name_rule;
mod parameter;
mod source_message;
mod spec;

pub(crate) use actions::mark_discriminator;
pub use actions::{ActionsError, actions};
pub use def::{ToolDef, ToolParam};
pub use description::{DeclaredText, LocalText, SummaryError, ToolText, check_summary, parameter_text};
pub use exposure::{ChatScope, Effect, ToolFlags, ToolScope, Visibility};
pub use import::{ImportError, ImportedDefinitions, ImportedTool, RejectedDefinition, import_definitions};
pub use legacy_action::legacy_action;
pub use local_time::{LocalTime, LocalTimeError, local_time_parameter, parse_local};
pub(crate) use name::ModelNames;
pub use name::{NameForm, ToolId, model_name};
pub use name_rule::{NameError, check_tool_name};
pub use parameter::{ParameterError, ToolParamType, ToolParameterInfo, UnknownParamType, parameters_schema};
pub use source_message::{SOURCE_MESSAGE_PARAMETER, SourceMessageError, check_source_message, with_source_message};
pub use spec::{ExecutionClass, ToolAnnotation, ToolIcon, ToolSpec};
