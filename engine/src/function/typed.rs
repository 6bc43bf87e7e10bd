//! Typed handlers: the arguments' JSON Schema comes from a Rust type.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::tool::json_result;
use super::{FunctionTool, HandlerError};
use crate::call::CallContext;
use crate::result::ToolExecutionResult;
use crate::tool::{ToolSpec, mark_discriminator};

// === impl FunctionTool ===

impl FunctionTool {
    /// A tool whose schema and arguments come from `A`; what the handler returns is printed as JSON.
    pub fn typed<A, T, F, Fut>(name: &str, description: &str, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    {
        Self::typed_with_context(name, description, move |_context, arguments| handler(arguments))
    }

    /// As [`FunctionTool::typed`], for handlers that want the call context.
    pub fn typed_with_context<A, T, F, Fut>(name: &str, description: &str, handler: F) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize,
        F: Fn(CallContext, A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
    {
        let spec = ToolSpec::new(name, description).with_parameters(schema_of::<A>());
        Self::new(spec, move |invocation, context| {
            let work = invocation.arguments().to::<A>().map(|arguments| handler(context, arguments));
            async move {
                match work {
                    Ok(work) => json_result(work.await),
                    Err(error) => {
                        Ok(ToolExecutionResult::failure(format!("the arguments do not fit the tool's type: {error}")))
                    }
                }
            }
        })
    }
}

fn schema_of<A: JsonSchema>() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<A>().to_value();
    if let Some(object) = schema.as_object_mut() {
        // The type's own name says nothing to a model.
        object.remove("title");
    }
    mark_discriminator(&mut schema);
    schema
}
