//! FunctionTool: a declaration and its handler.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::call::{CallContext, ToolInvocation};
use crate::isolate;
use crate::json::{JsonText, finite};
use crate::provider::{InvokeResult, ToolHandler};
use crate::result::{ErrorCode, ToolExecutionResult, ToolFailure, result_from_json};
use crate::tool::{ExecutionClass, ToolDef, ToolParam, ToolSpec};

/// What a handler may fail with: a sentence for the model, or any error.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;

/// Makes a description when tools are listed.
type Describe = Arc<dyn Fn() -> String + Send + Sync>;

/// A tool whose handler is in this process.
#[derive(Clone)]
pub struct FunctionTool {
    pub(super) spec: ToolSpec,
    pub(super) handler: ToolHandler,
    describe: Option<Describe>,
}

// === impl FunctionTool ===

impl FunctionTool {
    /// A tool from its declaration and an async handler that sees the whole call.
    pub fn new<F, Fut>(spec: ToolSpec, handler: F) -> Self
    where
        F: Fn(ToolInvocation, CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = InvokeResult> + Send + 'static,
    {
        let spec = with_default(spec, ExecutionClass::Task);
        let handler: ToolHandler = Arc::new(move |invocation, context| Box::pin(handler(invocation, context)));
        Self { spec, handler, describe: None }
    }

    /// A tool from its declaration and a handler that may block its thread. The handler should look at
    /// [`CallContext::is_cancelled`] when it takes long: a thread cannot be taken away from it.
    pub fn blocking<F>(spec: ToolSpec, handler: F) -> Self
    where
        F: Fn(ToolInvocation, CallContext) -> InvokeResult + Send + Sync + 'static,
    {
        let handler = Arc::new(handler);
        Self {
            spec: with_default(spec, ExecutionClass::Blocking),
            handler: Arc::new(move |invocation, context| {
                let handler = Arc::clone(&handler);
                Box::pin(async move { handler(invocation, context) })
            }),
            describe: None,
        }
    }

    /// Plain text in, plain text out, no declared parameters (seed 004, `ToolFromFunc`). The handler gets the arguments
    /// as JSON text.
    pub fn from_fn<F, Fut>(name: &str, description: &str, handler: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, HandlerError>> + Send + 'static,
    {
        Self::new(ToolSpec::new(name, description), move |invocation, _context| {
            let work = handler(invocation.arguments().text().to_owned());
            async move { Ok(text_result(work.await)) }
        })
    }

    /// As [`FunctionTool::from_fn`], for handlers that want the call context (seed 004, `PluginToolV2`).
    pub fn from_fn_with_context<F, Fut>(name: &str, description: &str, handler: F) -> Self
    where
        F: Fn(CallContext, String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<String, HandlerError>> + Send + 'static,
    {
        Self::new(ToolSpec::new(name, description), move |invocation, context| {
            let work = handler(context, invocation.arguments().text().to_owned());
            async move { Ok(text_result(work.await)) }
        })
    }

    /// JSON in, anything that serialises out, the schema made from the parameters (seed 004, `ToolFromJSONFunc`).
    pub fn from_json_fn<T, F, Fut>(name: &str, description: &str, parameters: Vec<ToolParam>, handler: F) -> Self
    where
        T: Serialize,
        F: Fn(JsonText) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    {
        Self::new(ToolDef::build(name, description, parameters).into(), move |invocation, _context| {
            let work = handler(invocation.arguments().json().clone());
            async move { json_result(work.await) }
        })
    }

    /// As [`FunctionTool::from_json_fn`], for handlers that want the call context (seed 004, `PluginToolV2`).
    pub fn from_json_fn_with_context<T, F, Fut>(
        name: &str,
        description: &str,
        parameters: Vec<ToolParam>,
        handler: F,
    ) -> Self
    where
        T: Serialize,
        F: Fn(CallContext, JsonText) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    {
        Self::new(ToolDef::build(name, description, parameters).into(), move |invocation, context| {
            let work = handler(context, invocation.arguments().json().clone());
            async move { json_result(work.await) }
        })
    }

    /// The same tool, run in this way.
    #[must_use]
    pub fn with_execution(mut self, class: ExecutionClass) -> Self {
        self.spec.execution = Some(class);
        self
    }

    /// The same tool with its declaration changed.
    #[must_use]
    pub fn map_spec(mut self, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Self {
        self.spec = change(self.spec);
        self
    }

    /// The same tool with a description that is made anew whenever tools are listed, from services of the host that the
    /// closure holds (seed 003). It must answer at once. Should it panic or say nothing, the declared description stands.
    #[must_use]
    pub fn with_computed_description(mut self, describe: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.describe = Some(Arc::new(describe));
        self
    }

    /// The declaration, as it was made.
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// The declaration for a listing.
    pub(super) fn listed(&self) -> ToolSpec {
        let mut spec = self.spec.clone();
        let computed = self.describe.as_ref().and_then(|describe| isolate::catch(|| describe()).ok());
        if let Some(description) = computed.filter(|description| !description.trim().is_empty()) {
            spec.description = description;
        }
        spec
    }
}

fn with_default(mut spec: ToolSpec, class: ExecutionClass) -> ToolSpec {
    spec.execution.get_or_insert(class);
    spec
}

fn text_result(returned: Result<String, HandlerError>) -> ToolExecutionResult {
    match returned {
        Ok(text) => ToolExecutionResult::success(text),
        Err(error) => ToolExecutionResult::failure(error.to_string()),
    }
}

/// A value with a number that JSON cannot hold fails the call: printed, it would be `null` and look like a result.
pub(super) fn json_result<T: Serialize>(returned: Result<T, HandlerError>) -> InvokeResult {
    let value = match returned {
        Ok(value) => value,
        Err(error) => return Ok(ToolExecutionResult::failure(error.to_string())),
    };
    match JsonText::from_serialize(&value) {
        Ok(json) => Ok(result_from_json(&json)),
        Err(error) => match finite::check(&value) {
            Err(not_finite) => Err(ToolFailure::new(ErrorCode::ToolResultInvalid, not_finite.to_string())),
            Ok(()) => Ok(ToolExecutionResult::failure(format!("marshal result: {error}"))),
        },
    }
}

impl fmt::Debug for FunctionTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionTool").field("name", &self.spec.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn tool() -> FunctionTool {
        FunctionTool::from_fn("show", "Shows a native UI.", |_| async { Ok(String::new()) })
    }

    #[test]
    fn a_computed_description_is_made_for_each_listing() {
        let listings = AtomicUsize::new(0);
        let tool = tool()
            .with_computed_description(move || format!("Components: {}", listings.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(tool.listed().description, "Components: 0");
        assert_eq!(tool.listed().description, "Components: 1");
    }

    #[test]
    fn a_description_that_panics_or_is_empty_leaves_the_declared_one() {
        assert_eq!(tool().with_computed_description(|| panic!("no catalogue")).listed(), *tool().spec());
        assert_eq!(tool().with_computed_description(|| " ".to_owned()).listed(), *tool().spec());
    }
}
