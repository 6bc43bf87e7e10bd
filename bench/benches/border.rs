//! The border between model and tool: reading replies, reading and checking arguments, rendering results, defining tools.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use toolyard::{
    ArgumentSchema, CallPolicy, DefinitionForm, Dialect, FunctionProvider, FunctionTool, JsonText, Limits,
    MessageOptions, ProviderSettings, RawArguments, ToolCall, ToolExecutionContext, ToolRegistry, ToolSpec,
};
use toolyard_bench::border::{CALLS, arguments, outcome, replies};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Tools of the registry whose definitions are made.
const TOOLS: usize = 500;
/// Bytes that an assembled stream may hold.
const MAX_STREAM: usize = 1 << 20;

fn parse(criterion: &mut Criterion) {
    let mut group = quick(criterion, "parse");
    group.throughput(Throughput::Elements(CALLS as u64));
    for (dialect, reply) in replies() {
        // What reading the JSON alone costs, without looking for calls.
        group.bench_function(format!("{dialect}/json"), |b| {
            b.iter(|| serde_json::from_str::<Value>(black_box(&reply)).unwrap());
        });
        group.bench_function(format!("{dialect}/calls"), |b| b.iter(|| dialect.parse(black_box(&reply)).unwrap()));
    }
    let stream = chat_stream();
    group.bench_function("openai-chat/stream", |b| {
        b.iter(|| Dialect::OpenAiChat.parse_stream(black_box(&stream), MAX_STREAM).unwrap());
    });
}

/// From a reply of 16 calls to the bytes of the 16 results in the history, beside reading and printing the same bytes as
/// values.
fn reply_and_results(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut group = quick(criterion, "reply-and-results");
    group.throughput(Throughput::Elements(CALLS as u64));
    for (dialect, reply) in replies() {
        let outcome = runtime.block_on(outcome(&dialect.parse(&reply).unwrap()));
        let messages = || dialect.messages(black_box(&outcome), MessageOptions::default());
        let values: Vec<Value> = messages().iter().map(|message: &JsonText| message.to().unwrap()).collect();
        group.bench_function(format!("{dialect}/json"), |b| {
            b.iter(|| {
                let reply: Value = serde_json::from_slice(black_box(reply.as_bytes())).unwrap();
                (reply, serde_json::to_vec(black_box(&values)).unwrap())
            });
        });
        group.bench_function(format!("{dialect}/toolyard"), |b| {
            b.iter(|| (dialect.parse(black_box(&reply)).unwrap(), serde_json::to_vec(&messages()).unwrap()));
        });
    }
}

fn validate(criterion: &mut Criterion) {
    let mut group = quick(criterion, "validate");
    let limits = Limits::default();
    let schema = schema();
    let compiled = ArgumentSchema::compile(&schema).unwrap();
    let policy = CallPolicy::default();
    group.bench_function("compile", |b| b.iter(|| ArgumentSchema::compile(black_box(&schema)).unwrap()));
    let cases = [
        ("fits", r#"{"query": "rust", "limit": 5, "tags": ["a", "b"]}"#),
        ("coerced", r#"{"query": "rust", "limit": "5", "tags": "[\"a\", \"b\"]"}"#),
        ("mended", "```json\n{\"query\": \"rust\", \"limit\": 5, \"tags\": [\"a\", \"b\"],}\n```"),
        ("refused", r#"{"limit": {}, "tags": 7}"#),
    ];
    for (name, arguments) in cases {
        let call = ToolCall::new("c", "t", RawArguments::text(arguments));
        group.bench_function(name, |b| {
            b.iter(|| {
                let (read, _) = black_box(&call).read(policy.profile, &limits).unwrap();
                compiled.admit(read, &policy, &limits).ok()
            });
        });
    }
}

fn define(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let registry = runtime.block_on(async {
        let registry = ToolRegistry::new(Limits::default());
        let tool = |n: usize| {
            let spec = ToolSpec::new(format!("tool_{n}"), "Searches for things.").with_parameters(schema());
            FunctionTool::new(spec, |_, _| std::future::ready(Ok(toolyard::ToolExecutionResult::success(""))))
        };
        let provider = (0..TOOLS).map(tool).fold(FunctionProvider::new("bench"), FunctionProvider::with_tool);
        registry.register(std::sync::Arc::new(provider), ProviderSettings::default()).await.unwrap();
        registry
    });
    let context = ToolExecutionContext::default();
    let mut group = quick(criterion, "define");
    group.throughput(Throughput::Elements(TOOLS as u64));
    for form in DefinitionForm::ALL {
        group.bench_function(form.as_str(), |b| b.iter(|| registry.get_llm_definitions(black_box(&context), form)));
    }
}

fn quick<'c>(criterion: &'c mut Criterion, name: &str) -> BenchmarkGroup<'c, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2)).sample_size(30);
    group
}

fn schema() -> Value {
    json!({"type": "object", "required": ["query"], "additionalProperties": false, "properties": {
        "query": {"type": "string", "description": "What to look for.", "minLength": 1},
        "limit": {"type": "integer", "description": "How many.", "minimum": 1, "maximum": 100, "default": 10},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sort": {"enum": ["new", "best"]},
    }})
}

/// The same calls as chat completions stream them: a head, then the arguments in pieces of eight characters.
fn chat_stream() -> String {
    let mut lines = Vec::new();
    for n in 0..CALLS {
        let head = json!({"index": n, "id": format!("call_{n}"), "function": {"name": "search", "arguments": ""}});
        lines.push(json!({"choices": [{"delta": {"tool_calls": [head]}}]}).to_string());
        let text = arguments(n).to_string();
        for piece in text.as_bytes().chunks(8) {
            let piece = String::from_utf8_lossy(piece);
            let delta = json!({"index": n, "function": {"arguments": piece}});
            lines.push(json!({"choices": [{"delta": {"tool_calls": [delta]}}]}).to_string());
        }
    }
    lines.push(json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}).to_string());
    lines.join("\n")
}

criterion_group!(benches, parse, reply_and_results, validate, define);
criterion_main!(benches);
