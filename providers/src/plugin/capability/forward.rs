//! Passes a request on to the bot backend.

use toolyard::{ErrorCode, HostPort, HostRequest, JsonText, ToolFailure};

use super::ask::{Ask, Refusal};

/// Asks the bot backend; its answer is as it gave it.
pub(super) async fn forward(host: &dyn HostPort, ask: &Ask) -> Result<JsonText, Refusal> {
    let request = HostRequest {
        capability: ask.name.clone(),
        payload: ask.arguments.clone(),
        provider: ask.plugin.clone(),
        caller: ask.caller.clone(),
        deadline: ask.deadline,
    };
    host.request(request).await.map_err(|failure| refusal(&ask.name, &failure))
}

fn refusal(name: &str, failure: &ToolFailure) -> Refusal {
    match failure.code {
        ErrorCode::ToolUnavailable => Refusal::failed(format!("unavailable: {}", failure.message)),
        ErrorCode::DeadlineExceeded => Refusal::timeout(failure.message.to_string()),
        ErrorCode::LimitInFlight | ErrorCode::LimitRate | ErrorCode::LimitQuota => {
            Refusal::back_pressure(failure.message.to_string())
        }
        ErrorCode::PolicyDenied => Refusal::denied(failure.message.to_string()),
        _ => Refusal::failed(format!("`{name}` failed: {}", failure.message)),
    }
}
