//! ApiLink: other plugins' way into this one.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::json;
use toolyard::JsonText;

use super::calls::{Caller, Reply};
use super::link::Link;
use super::provider::CancelOnDrop;
use crate::plugin::capability::{ApiCall, PluginLink, Refusal};
use crate::plugin::dialect::CallBody;
use crate::plugin::wire;

/// Runs APIs in one runner.
#[derive(Debug)]
pub(super) struct ApiLink {
    pub(super) link: Arc<Link>,
    pub(super) max_frame_bytes: usize,
}

// === impl ApiLink ===

impl PluginLink for ApiLink {
    fn call_api(&self, call: ApiCall) -> BoxFuture<'_, Result<JsonText, Refusal>> {
        Box::pin(self.call(call))
    }
}

impl ApiLink {
    async fn call(&self, ApiCall { name, version, arguments, caller, deadline }: ApiCall) -> Result<JsonText, Refusal> {
        let gone = || Refusal::plugin_crashed(format!("the plugin of the API `{name}` went away"));
        let caller = Caller { what: name.as_str().into(), host: caller, deadline };
        let (id, answer) = self.link.calls.add(caller).ok_or_else(gone)?;
        let context = JsonText::from(json!({"component_type": "API", "version": version}));
        let frame = wire::call(id, &name, &CallBody { arguments, context });
        if frame.len() > self.max_frame_bytes {
            self.link.calls.withdraw(id);
            return Err(Refusal::bad_payload(format!("the arguments of the API `{name}` are over the size limit")));
        }
        if !self.link.try_send(frame) {
            self.link.calls.withdraw(id);
            return Err(Refusal::back_pressure(format!("too many calls wait for the plugin of the API `{name}`")));
        }
        match CancelOnDrop::wait(&self.link, None, id, answer).await {
            Ok(Reply::Returned(value)) => Ok(value),
            Ok(Reply::Raised { message, .. }) => Err(Refusal::failed(format!("the API `{name}` failed: {message}"))),
            Err(_gone) => Err(gone()),
        }
    }
}
