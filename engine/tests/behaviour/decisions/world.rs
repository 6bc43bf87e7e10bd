//! World: one tool, one policy, one caller, and what becomes of it in a list and in a call.

use std::sync::Arc;

use serde_json::{Value, json};
use toolyard::{
    CallResult, CallStatus, ErrorCode, Executed, FunctionProvider, FunctionTool, Limits, LoadedSet, Policy,
    ProviderKind, ReceivedMessage, SessionKey, ToolBatch, ToolExecutionContext, ToolExecutionResult, ToolQuery,
    ToolRegistry, ToolSpec, TurnId, TurnStart,
};

use crate::fixture::{Probe, call_with, settings};

/// What a row of a table says of its tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// It is listed, and calls run.
    Runs,
    /// It is listed, and a person has to agree to calls.
    Asks,
    /// It is not listed, and calls are refused, for one reason.
    Refused(ErrorCode),
    /// It is listed; this call is refused, for what it says.
    OnlyListed(ErrorCode),
    /// It is not listed, for this reason; calls run all the same.
    OnlyRuns(ErrorCode),
}

/// What there was before the call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Before {
    /// No session.
    Nothing,
    /// A session that has done nothing.
    Session,
    /// One that has loaded the tool.
    Loaded,
    /// One that has loaded the tool's provider.
    LoadedProvider,
    /// One whose turn is tainted.
    Tainted,
    /// One whose turn was asked to stop.
    Stopped,
}

/// One line of a table: what differs from a plain tool called by a model without a session.
pub(super) struct Row {
    pub(super) why: &'static str,
    pub(super) tool: fn(&mut ToolSpec),
    pub(super) policy: fn(&mut Policy),
    pub(super) context: fn(&mut ToolExecutionContext),
    pub(super) before: Before,
    pub(super) verdict: Verdict,
}

/// A registry whose tools say how often they were entered.
pub(super) struct World {
    pub(super) registry: ToolRegistry,
    pub(super) probe: Probe,
}

// === impl Row ===

impl Row {
    /// A model that calls a plain tool.
    pub(super) const PLAIN: Self = Self {
        why: "nothing speaks against it",
        tool: |_| (),
        policy: |_| (),
        context: |_| (),
        before: Before::Nothing,
        verdict: Verdict::Runs,
    };

    /// Holds the row against listing and calling.
    pub(super) async fn hold(&self, kind: &'static str) {
        let mut spec = ToolSpec::new("act", "");
        (self.tool)(&mut spec);
        let world = World::new([("p", kind, vec![spec])]).await;
        let mut policy = Policy::default();
        (self.policy)(&mut policy);
        world.registry.set_policy(policy);
        let mut context = ToolExecutionContext::default();
        (self.context)(&mut context);
        let session = world.prepare(self.before).await;
        let found = world.verdict("act", &context, session.as_ref(), &json!({})).await;
        assert_eq!(found, self.verdict, "{}", self.why);
    }
}

// === impl World ===

impl World {
    /// Providers with their kinds and tools. Beside them, `fetch` of the provider `third` gives text of third parties, and
    /// `finish` of it asks to stop.
    pub(super) async fn new<'a>(providers: impl IntoIterator<Item = (&'a str, &'static str, Vec<ToolSpec>)>) -> Self {
        let world = Self { registry: ToolRegistry::new(Limits::default()), probe: Probe::default() };
        for (name, kind, specs) in providers {
            world.add(name, kind, specs).await;
        }
        let mut fetch = ToolSpec::new("fetch", "");
        fetch.flags.untrusted = true;
        world.add("third", "test", vec![fetch, ToolSpec::new("finish", "")]).await;
        world
    }

    pub(super) async fn add(&self, name: &str, kind: &'static str, specs: Vec<ToolSpec>) {
        let mut provider = FunctionProvider::with_kind(name, ProviderKind::new(kind));
        for spec in specs {
            provider.add_tool(self.tool(spec));
        }
        self.registry.register(Arc::new(provider), settings(|_| ())).await.unwrap();
    }

    /// A tool that gives back what it was given; `finish` asks to stop.
    fn tool(&self, spec: ToolSpec) -> FunctionTool {
        let probe = self.probe.clone();
        FunctionTool::new(spec, move |invocation, context| {
            let visit = probe.enter(&invocation, &context);
            let source = context.source_message().map(|message| message.id.to_string());
            let seen = json!({"arguments": invocation.arguments().value(), "source": source});
            let name = visit.finish();
            let result = ToolExecutionResult::success(seen.to_string());
            std::future::ready(Ok(if name == "finish" { result.stopping() } else { result }))
        })
    }

    /// Brings the session into this state.
    pub(super) async fn prepare(&self, before: Before) -> Option<SessionKey> {
        let key = session("t", "s");
        match before {
            Before::Nothing => return None,
            Before::Session => drop(self.registry.sessions().open(&key, None).await),
            Before::Loaded => self.load(&key, ["p.act"], []).await,
            Before::LoadedProvider => self.load(&key, [], ["p"]).await,
            Before::Tainted => drop(self.call("fetch", &ToolExecutionContext::default(), Some(&key)).await),
            Before::Stopped => {
                self.begin_turn(&key, "t1", []).await;
                drop(self.call("finish", &ToolExecutionContext::default(), Some(&key)).await);
            }
        }
        Some(key)
    }

    pub(super) async fn load<const T: usize, const P: usize>(
        &self,
        key: &SessionKey,
        tools: [&str; T],
        providers: [&str; P],
    ) {
        let set = LoadedSet {
            tools: tools.into_iter().map(Arc::from).collect(),
            providers: providers.into_iter().map(Arc::from).collect(),
        };
        self.registry.sessions().load(key, &set).await;
    }

    pub(super) async fn begin_turn<const N: usize>(&self, key: &SessionKey, id: &str, messages: [ReceivedMessage; N]) {
        let start = TurnStart { id: turn(id), messages: messages.into() };
        self.registry.sessions().begin_turn(key, start).await.unwrap();
    }

    /// Why a tool is not listed, if it is not.
    pub(super) fn unlisted(
        &self,
        tool: &str,
        context: &ToolExecutionContext,
        session: Option<&SessionKey>,
    ) -> Option<(ErrorCode, String)> {
        let query = ToolQuery { context, session };
        let is_listed = self.registry.list_tools(query).iter().any(|listed| *listed.model_name == *tool);
        let left_out = self.registry.unavailable_tools(query);
        let reason = left_out.into_iter().find(|left| *left.tool.model_name == *tool).map(|left| left.reason);
        assert_eq!(is_listed, reason.is_none(), "a tool is listed or left out");
        reason.map(|reason| (reason.code, reason.message.into_owned()))
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        context: &ToolExecutionContext,
        session: Option<&SessionKey>,
    ) -> CallResult {
        self.call_with(tool, &json!({}), context, session).await
    }

    /// Runs one call, and checks that the tool was entered exactly when the result says so.
    pub(super) async fn call_with(
        &self,
        tool: &str,
        arguments: &Value,
        context: &ToolExecutionContext,
        session: Option<&SessionKey>,
    ) -> CallResult {
        let mut batch = ToolBatch::new(vec![call_with("c", tool, arguments)]).with_context(Arc::new(context.clone()));
        batch.session = session.cloned();
        let before = self.probe.entered();
        let result = self.registry.dispatch(batch).await.results.remove(0);
        let was_entered = self.probe.entered() > before;
        let executed = if was_entered { Executed::Yes } else { Executed::No };
        assert_eq!((result.executed, result.status == CallStatus::Ok), (executed, was_entered), "{result:?}");
        result
    }

    /// What becomes of the tool in a list and in a call.
    pub(super) async fn verdict(
        &self,
        tool: &str,
        context: &ToolExecutionContext,
        session: Option<&SessionKey>,
        arguments: &Value,
    ) -> Verdict {
        let unlisted = self.unlisted(tool, context, session);
        let result = self.call_with(tool, arguments, context, session).await;
        match (unlisted, result.error.map(|error| *error)) {
            (None, None) => Verdict::Runs,
            (None, Some(error)) if error.code == ErrorCode::PolicyApprovalRequired => Verdict::Asks,
            (None, Some(error)) => Verdict::OnlyListed(error.code),
            (Some((code, message)), Some(error)) => {
                assert_eq!((code, message.as_str()), (error.code, &*error.message), "one reason for both");
                Verdict::Refused(code)
            }
            (Some((code, _)), None) => Verdict::OnlyRuns(code),
        }
    }
}

pub(super) fn session(tenant: &str, session: &str) -> SessionKey {
    SessionKey { tenant: tenant.into(), session: session.into() }
}

pub(super) fn turn(id: &str) -> TurnId {
    TurnId(id.into())
}

/// A message that a person sent.
pub(super) fn message(id: &str) -> ReceivedMessage {
    ReceivedMessage {
        id: id.into(),
        sender: "ann".into(),
        body: Arc::new(json!({"id": id})),
        ..ReceivedMessage::default()
    }
}
