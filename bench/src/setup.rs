//! Setup: what is registered, and what its tools do.

use std::sync::Arc;

use toolyard::{ExecutionClass, Limits};

use crate::Work;

/// What is registered, and what its tools do. The baselines take from it what concerns them.
#[derive(Clone, Debug)]
pub struct Setup {
    /// How the calls are run.
    pub class: ExecutionClass,
    /// Providers.
    pub providers: usize,
    /// Tools of all of them together.
    pub tools: usize,
    /// What every tool does.
    pub work: Work,
    /// Bytes of text in each call's arguments and in its result. With 0 the arguments are empty and the result is one word.
    pub payload: usize,
    /// Whether tools have a schema.
    pub schema: bool,
    /// Limits of the engine.
    pub limits: Limits,
}

// === impl Setup ===

impl Setup {
    /// The base case: 50 tools in 5 providers that do nothing.
    pub fn of(class: ExecutionClass) -> Self {
        let mut limits = Limits::default();
        // 10,000 sessions of 16 calls at once.
        limits.max_in_flight = 1 << 20;
        Self { class, providers: 5, tools: 50, work: Work::Nothing, payload: 0, schema: true, limits }
    }

    /// The name of a tool, counted so that neighbours belong to different providers.
    pub(crate) fn tool(&self, number: usize) -> String {
        let number = number % self.tools;
        format!("p{}_tool{}", number % self.providers, number / self.providers)
    }

    /// The tools of one provider.
    pub(crate) fn tools_of(&self, provider: usize) -> impl Iterator<Item = String> {
        (provider..self.tools).step_by(self.providers).map(|number| self.tool(number))
    }

    /// Arguments of every call.
    pub(crate) fn arguments(&self) -> Arc<str> {
        match self.payload {
            0 => "{}".into(),
            bytes => serde_json::json!({"text": "a".repeat(bytes)}).to_string().into(),
        }
    }

    /// What every tool answers.
    pub(crate) fn answer(&self) -> String {
        if self.payload == 0 { "done".to_owned() } else { "a".repeat(self.payload) }
    }
}
