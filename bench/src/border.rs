//! What crosses the border between model and tool: replies of 16 calls in each form, and the outcome of a batch of them.

use serde_json::{Value, json};
use toolyard::{
    BatchOutcome, Dialect, ExecutionClass, FunctionProvider, FunctionTool, Limits, ParsedReply, ProviderSettings,
    ToolBatch, ToolExecutionResult, ToolRegistry, ToolSpec,
};

/// Calls of a reply.
pub const CALLS: usize = 16;

/// A reply of 16 calls in each form that vendors have.
pub fn replies() -> Vec<(Dialect, String)> {
    let all = |call: fn(usize) -> Value| -> Vec<Value> { (0..CALLS).map(call).collect() };
    let chat = all(|n| {
        let function = json!({"name": "search", "arguments": arguments(n).to_string()});
        json!({"id": format!("call_{n}"), "type": "function", "function": function})
    });
    let responses = all(|n| {
        json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": "search",
            "arguments": arguments(n).to_string(), "status": "completed"})
    });
    let anthropic =
        all(|n| json!({"type": "tool_use", "id": format!("toolu_{n}"), "name": "search", "input": arguments(n)}));
    let gemini = all(|n| json!({"functionCall": {"name": "search", "args": arguments(n)}, "thoughtSignature": "U0lH"}));
    let ollama = all(|n| json!({"function": {"name": "search", "arguments": arguments(n)}}));
    let bedrock =
        all(|n| json!({"toolUse": {"toolUseId": format!("tooluse_{n}"), "name": "search", "input": arguments(n)}}));
    let replies = vec![
        (Dialect::OpenAiChat, json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": chat}}]})),
        (Dialect::OpenAiResponses, json!({"status": "completed", "output": responses})),
        (Dialect::Anthropic, json!({"content": anthropic, "stop_reason": "tool_use"})),
        (Dialect::Gemini, json!({"candidates": [{"content": {"parts": gemini}, "finishReason": "STOP"}]})),
        (Dialect::Ollama, json!({"message": {"tool_calls": ollama}, "done": true})),
        (Dialect::Bedrock, json!({"output": {"message": {"content": bedrock}}, "stopReason": "tool_use"})),
    ];
    replies.into_iter().map(|(dialect, reply)| (dialect, reply.to_string())).collect()
}

/// The arguments of a call.
pub fn arguments(n: usize) -> Value {
    json!({"query": format!("number {n}"), "limit": n, "tags": ["a", "b"]})
}

/// What the calls of a reply gave: a few lines of text each.
pub async fn outcome(reply: &ParsedReply) -> BatchOutcome {
    let registry = ToolRegistry::new(Limits::default());
    let spec = ToolSpec::new("search", "Searches for things.");
    let tool = FunctionTool::new(spec, |invocation, _| {
        let said = invocation.arguments().value()["query"].as_str().unwrap_or_default();
        let found =
            format!("3 pages for \"{said}\":\n1. https://example.org/one\n2. https://example.org/two\n3. 第三页");
        std::future::ready(Ok(ToolExecutionResult::success(found)))
    });
    let provider = FunctionProvider::new("bench").with_tool(tool.with_execution(ExecutionClass::Inline));
    registry.register(std::sync::Arc::new(provider), ProviderSettings::default()).await.unwrap();
    let outcome = registry.dispatch(ToolBatch::new(reply.calls.clone())).await;
    assert!(outcome.results.iter().all(toolyard::CallResult::is_success));
    outcome
}
