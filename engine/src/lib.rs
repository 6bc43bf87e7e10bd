//! Toolyard runs the tool calls that a bot's language model makes: every call of a batch in parallel on its provider,
//! under deadlines, cancellable, with exactly one result per call in call order and the batch's stop flag.
//!
//! ```
//! use std::sync::Arc;
//! use toolyard::{
//!     FunctionProvider, FunctionTool, Limits, ProviderSettings, RawArguments, ToolBatch, ToolCall, ToolRegistry,
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let greet = FunctionTool::from_fn("greet", "Greets.", |_arguments| async { Ok("hello".to_owned()) });
//! let registry = ToolRegistry::new(Limits::default());
//! registry.register(Arc::new(FunctionProvider::new("demo").with_tool(greet)), ProviderSettings::default()).await?;
//!
//! let call = ToolCall::new("call_1", "greet", RawArguments::text("{}"));
//! let outcome = registry.dispatch(ToolBatch::new(vec![call])).await;
//! assert_eq!(outcome.results[0].history_content(), "hello");
//! # registry.close(std::time::Duration::ZERO).await;
//! # Ok(())
//! # }
//! ```
//!
//! Install a `metrics` recorder before the first [`ToolRegistry`] is made: handles are resolved once and kept.
#![warn(missing_docs)]

mod actor;
mod approval;
mod call;
mod context;
mod dialect;
mod discovery;
mod dispatch;
mod engine;
mod function;
mod gate;
mod history;
mod isolate;
mod json;
mod limits;
mod metrics;
mod middleware;
mod policy;
mod provider;
mod reads;
mod registry;
mod result;
mod schema;
mod session;
mod shards;
mod short_hash;
mod text;
mod tool;
mod usage;

pub use tokio_util::sync::CancellationToken;

pub use approval::{
    Approval, ApprovalControl, ApprovalDecision, ApprovalError, ApprovalEvents, ApprovalFilter, ApprovalId,
    ApprovalNotice, ApprovalOutcome, ApprovalPlace, ApprovalRecord, ApprovalRequest, ApprovalScope, ApprovalState,
    ApprovalStore,
};
pub use call::{
    Actor, Arguments, BatchId, CallContext, CallHold, CallId, CallPolicy, Locale, Profile, RawArguments, SessionKey,
    Stage, ToolAvailabilityContext, ToolBatch, ToolCall, ToolExecutionContext, ToolInvocation, TurnId, UnknownProfile,
};
pub use context::{
    ContextFact, ContextProvider, ContextQuery, ContextRequest, GatheredContext, KeyValueStore, MemoryKeyValues,
    PluginStore, StoreSpace,
};
pub use dialect::{
    AssembledReply, AssistantTurn, DefinedTool, DefinitionForm, Definitions, Dialect, IdRule, MediaMode,
    MessageOptions, ParsedReply, ReplyError, StreamAssembler, StreamError, StrictMode, UnknownIdRule,
};
pub use discovery::{
    Catalogue, CatalogueEntry, CataloguePlugin, FoundTool, Guide, Guides, LeftOut, Preview, PreviewState,
    PreviewedTool, SearchError,
};
pub use dispatch::{BatchEvent, BatchEvents, BatchHandle, CheckedCall, Progress};
pub use function::{FunctionProvider, FunctionTool, HandlerError};
pub use gate::AskReason;
pub use history::{
    HistoryError, HistoryForm, HistoryOptions, HistoryProblem, HistoryReport, ProblemKind, check_history,
};
pub use json::{JsonText, Unreadable};
pub use limits::Limits;
pub use metrics::{HistogramHandle, HistogramRecorder, LATENCY_BUCKETS_SECONDS, describe_metrics};
pub use middleware::{CallLog, Middleware, MiddlewareCall, MiddlewareFn, Next, Retry};
pub use policy::{
    ApprovalMode, ApprovalPolicy, ContextPolicy, Decision, DenyRule, DiscoveryPolicy, EffectChoices, EffectPolicy,
    EffectRules, Policy, Ranking, SceneRule, SourceMessages, ToolNames, Undiscovered, UsageLimit, UsagePer, UsageRate,
};
pub use provider::{
    Backoff, Breaker, GuideRule, HostCaller, HostPort, HostRequest, InvokeResult, NoHost, ProviderConnector,
    ProviderEvent, ProviderKind, ProviderSettings, Reason, Remarks, ToolHandler, ToolProvider,
};
pub use registry::{
    CachedRead, Invoke, ListedTool, ProviderState, ProviderStatus, RegistryError, RejectedTool, ToolQuery,
    ToolRegistry, ToolWarning, UnavailableTool,
};
pub use result::{
    BatchOutcome, CallError, CallResult, CallStatus, ContentItem, ContentType, ErrorCode, Executed, KeptResult,
    Metadata, Repair, RepairKind, ResultEffects, Sent, ToolExecutionResult, ToolFailure, ToolOrigin, ToolResultBuilder,
    content_items_from_json, format_error_result, format_list_result, format_tool_result, media_reference,
    result_from_json, result_from_mcp,
};
pub use schema::{
    ArgumentSchema, Loss, Normalised, Projection, SchemaError, SchemaTarget, normalise as normalise_schema,
    project as project_schema, project_strict, strict_compatible, strip_titles,
};
pub use session::{
    LoadedSet, MemoryStore, ReceivedMessage, SessionControl, SessionProfile, SessionRecord, SessionState, SessionStore,
    SessionUnknown, StoreError, Stores, TurnOver, TurnRecord, TurnStart,
};
pub use tool::{
    ActionsError, ChatScope, DeclaredText, Effect, ExecutionClass, ImportError, ImportedDefinitions, ImportedTool,
    LocalText, LocalTime, LocalTimeError, NameError, NameForm, ParameterError, RejectedDefinition,
    SOURCE_MESSAGE_PARAMETER, SourceMessageError, SummaryError, ToolAnnotation, ToolDef, ToolFlags, ToolIcon, ToolId,
    ToolParam, ToolParamType, ToolParameterInfo, ToolScope, ToolSpec, ToolText, UnknownParamType, Visibility, actions,
    check_source_message, check_summary, check_tool_name, import_definitions, legacy_action, local_time_parameter,
    model_name, parameter_text, parameters_schema, parse_local, with_source_message,
};
