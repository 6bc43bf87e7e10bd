//! PreparedTool: a listed tool with everything that its calls need, made once.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::Value;

use super::{Permits, ProviderHandle};
use crate::call::{CallContext, Locale, ToolInvocation};
use crate::discovery::ProviderGuide;
use crate::isolate::{self, Isolated};
use crate::limits::Limits;
use crate::metrics::{ToolLabels, ToolMetrics};
use crate::policy::{Memberships, ToolNames};
use crate::provider::{InvokeResult, ProviderSettings, ToolHandler};
use crate::result::ToolOrigin;
use crate::schema::{ArgumentSchema, OutputSchema, normalise};
use crate::tool::{Effect, ExecutionClass, NameForm, ToolId, ToolSpec, check_source_message, with_source_message};
use crate::usage::ToolKeys;

/// A tool that can be called: its declaration, its compiled schema, its limits, and the handle of its provider.
#[derive(Debug)]
pub(crate) struct PreparedTool {
    pub(crate) spec: ToolSpec,
    pub(crate) origin: Arc<ToolOrigin>,
    /// The name that a model would call it by, before it is made legal.
    pub(crate) wanted_name: Arc<str>,
    pub(crate) name_form: NameForm,
    /// Whether no other provider can take its name.
    pub(crate) reserved_name: bool,
    pub(crate) schema: ArgumentSchema,
    /// Of structured results, where there is one that can be used.
    pub(crate) output: Option<OutputSchema>,
    /// Whether structured content that does not fit fails its call.
    pub(crate) strict_output: bool,
    /// Characters of a result that the model may see; 0 is no limit.
    pub(crate) max_result_chars: usize,
    pub(crate) class: ExecutionClass,
    /// Whether running it twice is the same as once.
    pub(crate) is_repeatable: bool,
    pub(crate) timeout: Duration,
    pub(crate) permits: Option<Arc<Permits>>,
    pub(crate) metrics: ToolMetrics,
    pub(crate) handle: Arc<ProviderHandle>,
    /// What runs its calls, where that is not its provider.
    handler: Option<Isolated<ToolHandler>>,
    /// What it adds to the keys by which usage is counted.
    pub(crate) usage_keys: ToolKeys,
    /// In which sets of the policy it is.
    memberships: Memberships,
}

/// Faults of one listing that are told, of each kind.
const MAX_TOLD: usize = 100;

/// A tool that is left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct RejectedTool {
    /// Its name within its provider.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Something about a tool that works all the same.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct ToolWarning {
    /// Its name within its provider.
    pub name: String,
    /// What is not as it should be.
    pub message: String,
}

/// The tools of one incarnation, in the order of the listing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Arc<PreparedTool>>,
    pub(crate) rejected: Vec<RejectedTool>,
    pub(crate) warnings: Vec<ToolWarning>,
    /// What the provider tells the model about all of its tools.
    pub(crate) guide: Option<ProviderGuide>,
}

/// The compiled schemas of one tool.
struct Schemas {
    arguments: ArgumentSchema,
    output: Option<OutputSchema>,
}

/// Makes a listing callable. A bad tool is left out, with its reason, and harms no other.
///
/// Tools of the same incarnation that have not changed since `before` are taken over as they are, so that calls in
/// flight and new ones share their limits.
pub(crate) fn prepare(
    specs: Vec<ToolSpec>,
    handle: &Arc<ProviderHandle>,
    settings: &ProviderSettings,
    limits: &Limits,
    labels: &ToolLabels,
    before: &[Arc<PreparedTool>],
) -> Listing {
    let mut listing = Listing::default();
    for mut spec in specs {
        spec.provider_name = Arc::clone(&handle.name);
        spec.provider_type = handle.kind.as_str().into();
        if !spec.enabled || settings.disabled_tools.iter().any(|name| **name == *spec.name) {
            continue;
        }
        let (schema, warnings) = match normalise(&spec.parameters_schema) {
            Ok(normalised) => (Ok(normalised.schema), normalised.warnings),
            Err(error) => (Err(error.to_string()), Vec::new()),
        };
        let compiled = schema.and_then(|schema| {
            spec.parameters_schema = with_source(schema, &spec)?;
            check(&spec, &listing, limits)
        });
        match compiled {
            Err(reason) => listing.rejected.push(RejectedTool { name: spec.name.to_string(), reason }),
            Ok(arguments) => {
                listing.warn(&spec, warnings);
                let output = listing.output_schema(&spec);
                let schemas = Schemas { arguments, output };
                let known = before.iter().find(|tool| Arc::ptr_eq(&tool.handle, handle) && tool.spec == spec);
                let tool =
                    known.map_or_else(|| Arc::new(build(spec, schemas, handle, settings, limits, labels)), Arc::clone);
                listing.tools.push(tool);
            }
        }
    }
    listing
}

// === impl PreparedTool ===

impl PreparedTool {
    /// Calls the tool. May panic, as whatever others wrote may.
    pub(crate) fn invoke(&self, invocation: ToolInvocation, context: CallContext) -> BoxFuture<'static, InvokeResult> {
        match &self.handler {
            Some(handler) => handler(invocation, context),
            None => Arc::clone(&self.handle.invoker).invoke(invocation, context),
        }
    }

    /// Whether it is one of these.
    pub(crate) fn is_in(&self, names: &ToolNames) -> bool {
        self.memberships
            .is_in(names, || names.contains(&self.handle.name, self.origin.tool_id.as_str(), &self.wanted_name))
    }
}

// === impl Listing ===

impl Listing {
    /// Leaves out what nobody would read: a listing may have a fault for each of a hundred thousand tools.
    pub(crate) fn shorten(&mut self) {
        if let Some(more) = self.rejected.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
            self.rejected.truncate(MAX_TOLD);
            let reason = "they are left out, too; only the first ones are named".to_owned();
            self.rejected.push(RejectedTool { name: format!("({more} more)"), reason });
        }
        if let Some(more) = self.warnings.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
            self.warnings.truncate(MAX_TOLD);
            let message = "only the first remarks are given".to_owned();
            self.warnings.push(ToolWarning { name: format!("({more} more)"), message });
        }
    }

    fn warn(&mut self, spec: &ToolSpec, warnings: Vec<String>) {
        let warnings = warnings.into_iter().map(|message| ToolWarning { name: spec.name.to_string(), message });
        self.warnings.extend(warnings);
    }

    /// A bad output schema costs its checks, not its tool.
    fn output_schema(&mut self, spec: &ToolSpec) -> Option<OutputSchema> {
        match OutputSchema::compile(spec.output_schema.as_ref()?) {
            Ok(schema) => Some(schema),
            Err(message) => {
                self.warnings.push(ToolWarning { name: spec.name.to_string(), message });
                None
            }
        }
    }
}

/// The parameter by which the model names the message that asked, where the tool needs one and its provider has not added
/// it.
fn with_source(schema: Value, spec: &ToolSpec) -> Result<Value, String> {
    if !spec.flags.needs_source || check_source_message(&schema).is_err() {
        return Ok(schema);
    }
    // Described in the language that the tool is described in.
    let is_chinese = spec.description.chars().any(|c| matches!(c, '\u{4e00}'..='\u{9fff}'));
    let locale = if is_chinese { Locale::Zh } else { Locale::En };
    with_source_message(&schema, locale).map_err(|error| error.to_string())
}

fn check(spec: &ToolSpec, listing: &Listing, limits: &Limits) -> Result<ArgumentSchema, String> {
    if spec.name.trim().is_empty() {
        return Err("it has no name".to_owned());
    }
    if listing.tools.iter().any(|tool| tool.spec.name == spec.name) {
        return Err("its provider lists the name twice; the first is used".to_owned());
    }
    if listing.tools.len() >= limits.max_tools_per_provider {
        return Err(format!("its provider has more than {} tools", limits.max_tools_per_provider));
    }
    ArgumentSchema::compile(&spec.parameters_schema).map_err(|error| error.to_string())
}

/// Hints are the provider's word, effects are what the operator or a trusted provider says.
fn is_repeatable(spec: &ToolSpec, settings: &ProviderSettings) -> bool {
    let is_idempotent = || spec.annotation.as_ref().is_some_and(|hints| hints.idempotent_hint == Some(true));
    spec.effect == Some(Effect::Read) || (settings.trusted && is_idempotent())
}

fn build(
    spec: ToolSpec,
    schemas: Schemas,
    handle: &Arc<ProviderHandle>,
    settings: &ProviderSettings,
    limits: &Limits,
    labels: &ToolLabels,
) -> PreparedTool {
    let origin = ToolOrigin { tool_id: ToolId::new(&handle.name, &spec.name), provider: Arc::clone(&handle.name) };
    let permits = |limit: NonZeroUsize| Arc::new(Permits::new(limit, settings.max_queued));
    PreparedTool {
        usage_keys: ToolKeys::of(&origin),
        origin: Arc::new(origin),
        wanted_name: settings.name_form.wanted(&handle.name, &spec.name).into(),
        name_form: settings.name_form,
        reserved_name: settings.reserved_names,
        schema: schemas.arguments,
        output: schemas.output,
        strict_output: settings.strict_output,
        max_result_chars: spec.max_result_chars.unwrap_or(limits.max_result_chars),
        is_repeatable: is_repeatable(&spec, settings),
        class: spec.execution.unwrap_or(settings.execution),
        timeout: spec.timeout.or(settings.tool_timeout).unwrap_or(limits.tool_timeout_default),
        permits: spec.max_in_flight.map(permits),
        metrics: ToolMetrics::new(Arc::clone(&handle.name), labels.label(&handle.name, &spec.name)),
        handler: isolate::catch(|| handle.invoker.handler(&spec)).ok().flatten().map(Isolated::new),
        handle: Arc::clone(handle),
        memberships: Memberships::default(),
        spec,
    }
}
