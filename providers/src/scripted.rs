//! Tools that are declared in configuration: for demos, tests and load.
//!
//! Each has a name, a schema, a reply (fixed, or an echo of its arguments), a latency and a failure rate.

mod config;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use toolyard::{
    CallContext, ErrorCode, FunctionProvider, FunctionTool, InvokeResult, JsonText, ProviderKind, ToolExecutionResult,
    ToolFailure, ToolInvocation, ToolSpec, result_from_json,
};

pub use config::{Reply, ScriptedConfig, ScriptedError, ScriptedTool};

const KIND: ProviderKind = ProviderKind::new("scripted");

/// Makes a provider of the configured tools.
///
/// # Errors
/// Names the tool and the setting that cannot be used.
pub fn scripted_provider(name: &str, config: ScriptedConfig) -> Result<FunctionProvider, ScriptedError> {
    config.check()?;
    let provider = FunctionProvider::with_kind(name, KIND);
    Ok(config.tools.into_iter().map(tool).fold(provider, FunctionProvider::with_tool))
}

/// What a call of a scripted tool does.
struct Script {
    reply: Answer,
    latency: Duration,
    /// Of 10,000 calls.
    failures: u64,
    breaks: bool,
    calls: AtomicU64,
}

enum Answer {
    Echo,
    Fixed(JsonText),
}

fn tool(config: ScriptedTool) -> FunctionTool {
    let mut spec = ToolSpec::new(config.name, config.description);
    if let Some(schema) = config.parameters {
        spec.parameters_schema = schema;
    }
    spec.title = config.title;
    spec.execution = config.execution;
    spec.timeout = config.timeout_ms.map(Duration::from_millis);
    spec.max_in_flight = config.max_in_flight;
    (spec.effect, spec.visibility) = (config.effect, config.visibility);
    (spec.flags.untrusted, spec.flags.user_only) = (config.untrusted, config.user_only);
    (spec.flags.on_demand, spec.flags.needs_source) = (config.on_demand, config.needs_source);
    let script = std::sync::Arc::new(Script {
        reply: match config.reply {
            Reply::Echo => Answer::Echo,
            Reply::Fixed(value) => Answer::Fixed(JsonText::from(value)),
        },
        latency: Duration::from_millis(config.latency_ms),
        failures: rate_per_10_000(config.failure_rate),
        breaks: config.breaks,
        calls: AtomicU64::new(0),
    });
    FunctionTool::new(spec, move |invocation, context| {
        let script = std::sync::Arc::clone(&script);
        async move { script.run(&invocation, &context).await }
    })
}

// === impl Script ===

impl Script {
    async fn run(&self, invocation: &ToolInvocation, _context: &CallContext) -> InvokeResult {
        if !self.latency.is_zero() {
            tokio::time::sleep(self.latency).await;
        }
        if self.fails_now() {
            return self.failure();
        }
        Ok(match &self.reply {
            Answer::Echo => ToolExecutionResult::structured(invocation.arguments().json().clone()),
            Answer::Fixed(reply) => result_from_json(reply),
        })
    }

    fn failure(&self) -> InvokeResult {
        if self.breaks {
            return Err(ToolFailure::new(ErrorCode::ProviderProtocol, "the scripted provider breaks here"));
        }
        Ok(ToolExecutionResult::failure("the scripted tool fails here"))
    }

    /// Spreads the failures evenly over the calls, so that a run can be repeated.
    fn fails_now(&self) -> bool {
        let n = self.calls.fetch_add(1, Ordering::Relaxed);
        let due = |calls: u64| calls * self.failures / 10_000;
        due(n + 1) > due(n)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the rate was checked to be 0 to 1")]
fn rate_per_10_000(rate: f64) -> u64 {
    (rate * 10_000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(failure_rate: f64) -> Script {
        Script {
            reply: Answer::Echo,
            latency: Duration::ZERO,
            failures: rate_per_10_000(failure_rate),
            breaks: false,
            calls: AtomicU64::new(0),
        }
    }

    #[test]
    fn failures_come_at_their_rate_and_evenly() {
        for (rate, expected) in [(0.0, 0), (0.25, 250), (1.0, 1000)] {
            let script = script(rate);
            let failed = (0..1000).filter(|_| script.fails_now()).count();
            assert_eq!(failed, expected, "{rate}");
        }
    }
}
