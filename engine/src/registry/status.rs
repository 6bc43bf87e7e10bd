//! The state of a provider, as people and programs see it.

use std::sync::Arc;

use serde::Serialize;

use super::{RejectedTool, ToolWarning};

/// A provider, as people and programs see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProviderStatus {
    /// Its name.
    pub name: Arc<str>,
    /// Its kind.
    pub kind: &'static str,
    /// How it stands.
    pub state: ProviderState,
    /// Why it is not up, or what else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How many tools it offers.
    pub tools: usize,
    /// Tools that are left out, with the reason for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedTool>,
    /// What is not as it should be with tools that work all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<ToolWarning>,
    /// How many incarnations have started.
    pub starts: u32,
    /// Calls in flight.
    pub in_flight: usize,
}

/// How a provider stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderState {
    /// Its first start is under way.
    Starting,
    /// It takes calls.
    Up,
    /// It is not there; it is tried again.
    Down,
    /// It failed too often in a row and is left alone for a while (see [`crate::Breaker`]). When the time is over it is
    /// `up` again, for one call to try it, or what fails is its start, which goes on being tried.
    BreakerOpen,
    /// It is given up until it is reloaded or registered anew.
    Failed,
}
