//! ToolRegistry: acting without a model, for screens and schedulers.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::{RoutingTable, ToolRegistry};
use crate::call::{Actor, Profile, RawArguments, SessionKey, ToolBatch, ToolCall, ToolExecutionContext};
use crate::dispatch::check_in;
use crate::gate::Charging;
use crate::json::JsonText;
use crate::reads::{Read, ReadKey, Seat, canonical};
use crate::result::{CallError, CallResult, ErrorCode, Executed};
use crate::text;
use crate::tool::{Effect, ToolId};

/// Id of the one call of its batch.
const CALL_ID: &str = "invoke";

/// A tool to run for somebody who is no model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Invoke {
    /// The tool, by its id (`<provider>.<name>`) or by the name that a model calls it by.
    pub tool: Arc<str>,
    /// Its arguments: a JSON object, which is checked by the tool's schema as it is and not mended.
    pub input: JsonText,
    /// Who acts, whatever the context says. [`Actor::User`] needs no approval. [`Actor::Scheduler`] is refused where a
    /// person would be asked. [`Actor::Model`] is a model's call without a model's reply.
    pub actor: Actor,
    /// For whom, and from where.
    pub context: Arc<ToolExecutionContext>,
    /// The session, where there is one.
    pub session: Option<SessionKey>,
    /// Time for the call. Without it the tool's own holds alone.
    pub deadline: Option<Duration>,
}

/// What a read gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CachedRead {
    /// The result, shared with whoever else asks.
    pub result: Arc<CallResult>,
    /// How old it is, where it was there already.
    pub age: Option<Duration>,
}

// === impl Invoke ===

impl Invoke {
    /// A tool to run for this actor, in an empty context.
    pub fn new(tool: impl Into<Arc<str>>, input: JsonText, actor: Actor) -> Self {
        Self { tool: tool.into(), input, actor, context: Arc::default(), session: None, deadline: None }
    }

    /// The same in this context.
    #[must_use]
    pub fn with_context(mut self, context: Arc<ToolExecutionContext>) -> Self {
        self.context = context;
        self
    }

    /// The same in this session.
    #[must_use]
    pub fn with_session(mut self, session: SessionKey) -> Self {
        self.session = Some(session);
        self
    }

    /// The same with this much time.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    fn batch(&self, table: &RoutingTable) -> ToolBatch {
        let name = match table.find_by_id(&self.tool) {
            Some(route) => &table.routes[route].model_name,
            None => &self.tool,
        };
        let call = ToolCall::new(CALL_ID, Arc::clone(name), RawArguments::text(self.input.as_str()));
        let mut context = Arc::clone(&self.context);
        if context.actor != self.actor {
            Arc::make_mut(&mut context).actor = self.actor;
        }
        let mut batch = ToolBatch::new(vec![call]).with_context(context).with_policy(Profile::Strict);
        batch.session.clone_from(&self.session);
        batch
    }
}

// === impl ToolRegistry ===

impl ToolRegistry {
    /// The id of the tool that has this id, else of the one that a model calls by this name.
    pub fn tool_id(&self, id_or_name: &str) -> Option<ToolId> {
        let table = self.engine.table.load();
        table.find_by_id(id_or_name).map(|route| table.routes[route].tool.origin.tool_id.clone())
    }

    /// Runs a tool for a person at a screen or for a scheduler, in the caller's own task. Every gate holds that does not
    /// ask for a model or an approval: roles, rules, limits, and the tool's schema.
    ///
    /// Dropping the future cancels the call.
    pub async fn invoke_as(&self, invoke: Invoke) -> CallResult {
        let mut batch = invoke.batch(&self.engine.table.load());
        batch.deadline = invoke.deadline;
        self.run_one(batch, &invoke.tool).await
    }

    /// Reads through the cache: a success of the same tool, input, tenant and user that is younger than `ttl` is given
    /// again. Whoever asks while it is being read shares the one run; one who leaves does not end it for the others.
    ///
    /// Only for tools that declare the effect [`Effect::Read`]; others are denied. Gates are passed each time, but a
    /// result that is there already uses nothing up of [`crate::Policy::usage`]. Failures are given to those who wait and
    /// not kept. A reload of the provider, and a change of the tool's declaration, end what was kept. Nothing is kept
    /// longer than 24 hours; with a `ttl` of zero the tool is always run. The deadline is this caller's own: the run
    /// itself has the tool's.
    ///
    /// A tool that reads anything of the chat but its user should take it as an argument: it is no part of the key.
    pub async fn read_cached(&self, invoke: Invoke, ttl: Duration) -> CachedRead {
        let table = self.engine.table.load_full();
        let batch = invoke.batch(&table);
        if let Some(key) = &batch.session {
            self.engine.sessions.open(key, Instant::now()).await;
        }
        let Some(route) = table.find_by_id(&invoke.tool) else { return fresh(self.invoke_as(invoke).await) };
        let tool = &table.routes[route].tool;
        if tool.spec.effect != Some(Effect::Read) {
            let error = text::not_a_read(invoke.context.locale, &tool.spec.name);
            return fresh(CallResult::without_batch(&invoke.tool, Some(Arc::clone(&tool.origin)), error));
        }
        let checked = check_in(&self.engine, &table, &batch, Charging::Ignored).pop();
        let Some(arguments) = checked.and_then(|checked| checked.arguments).filter(|_| !ttl.is_zero()) else {
            return fresh(self.invoke_as(invoke).await);
        };
        // What the session's profile says of the user counts as if the caller had said it.
        let mut context = Arc::clone(&batch.context);
        if let Some(session) = batch.session.as_ref().and_then(|key| self.engine.sessions.get(key)) {
            session.fill(&mut context);
        }
        let key = ReadKey {
            tenant: context.tenant.as_str().into(),
            user: context.user_id.as_str().into(),
            tool_id: tool.origin.tool_id.as_str().into(),
            input: canonical(&arguments).into(),
        };
        let seat = match self.engine.reads.get(&key, tool, ttl) {
            Read::Kept(result, age) => return CachedRead { result, age: Some(age) },
            Read::Joined(seat) => seat,
            Read::Started(seat) => {
                self.fly(&seat, batch, &invoke.tool);
                seat
            }
        };
        let result = wait(seat, &invoke).await;
        let failed = |error| Arc::new(CallResult::without_batch(&invoke.tool, Some(Arc::clone(&tool.origin)), error));
        let result = result.unwrap_or_else(|error| {
            let mut result = failed(error);
            Arc::make_mut(&mut result).executed = Executed::Unknown;
            result
        });
        CachedRead { result, age: None }
    }

    /// Runs a read in a task of its own, so that no caller takes it along.
    fn fly(&self, seat: &Seat, batch: ToolBatch, tool: &Arc<str>) {
        let (registry, pilot, tool) = (self.clone(), seat.pilot(), Arc::clone(tool));
        let batch = batch.with_cancel(pilot.cancel().clone());
        self.engine.tracker.spawn(async move {
            let result = registry.run_one(batch, &tool).await;
            registry.engine.reads.landed(&pilot, Arc::new(result));
        });
    }

    async fn run_one(&self, batch: ToolBatch, tool: &Arc<str>) -> CallResult {
        let locale = batch.context.locale;
        let result = self.dispatch(batch).await.results.pop();
        result.unwrap_or_else(|| CallResult::without_batch(tool, None, text::panicked(locale)))
    }
}

fn fresh(result: CallResult) -> CachedRead {
    CachedRead { result: Arc::new(result), age: None }
}

/// What a shared run gives, within the caller's own time.
async fn wait(mut seat: Seat, invoke: &Invoke) -> Result<Arc<CallResult>, CallError> {
    let locale = invoke.context.locale;
    let result = match invoke.deadline {
        Some(time) => {
            tokio::time::timeout(time, seat.result()).await.map_err(|_| text::deadline(locale, time, true))?
        }
        None => seat.result().await,
    };
    result.ok_or_else(|| text::cancelled(locale, ErrorCode::CancelledShutdown))
}
