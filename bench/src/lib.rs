//! What the benches share: the engine under test, the plain-tokio baseline beside it, and the work that both do.
#![expect(clippy::unwrap_used, reason = "a bench that cannot set itself up is over")]

mod baseline;
pub mod border;
mod engine;
mod policy;

pub use baseline::{Baseline, Calls};
pub use engine::Engine;
pub use policy::{caller, rules, usage};

/// Providers and tools of each that both sides know.
const PROVIDERS: usize = 5;
const TOOLS_PER_PROVIDER: usize = 10;

/// Arguments of every call: none, as what does nothing needs nothing.
const ARGUMENTS: &str = "{}";

/// The name of the tool that call `index` of a batch goes to: different tools, spread over the providers.
fn tool_of(index: usize) -> String {
    let tool = (index * 7) % (PROVIDERS * TOOLS_PER_PROVIDER);
    format!("p{}_tool{}", tool / TOOLS_PER_PROVIDER, tool % TOOLS_PER_PROVIDER)
}

fn tool_names() -> impl Iterator<Item = (String, Vec<String>)> {
    (0..PROVIDERS).map(|p| {
        let tools = (0..TOOLS_PER_PROVIDER).map(|tool| format!("p{p}_tool{tool}")).collect();
        (format!("p{p}"), tools)
    })
}
