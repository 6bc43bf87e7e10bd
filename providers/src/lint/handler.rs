//! Handlers of MaiBot's plugins: they and the declarations of their tools must agree.

use serde_json::Value;
use toolyard::ListedTool;

use super::Finding;
use crate::plugin::{HandlerFault, faults_of};

pub(super) fn check(document: &Value, tools: &[ListedTool]) -> Vec<Finding> {
    let find = |name: &str| tools.iter().map(|tool| &tool.spec).find(|spec| *spec.name == *name);
    let faults = faults_of(document, find).into_iter();
    faults
        .map(|(tool, fault)| {
            let place = fault.parameter().map(|name| format!("/properties/{name}")).unwrap_or_default();
            Finding::error(code(&fault), fault.to_string()).of(&tool).at(place)
        })
        .collect()
}

fn code(fault: &HandlerFault) -> &'static str {
    match fault {
        HandlerFault::Missing => "handler.missing",
        HandlerFault::Refused { .. } => "handler.refuses_parameter",
        HandlerFault::Undeclared { .. } => "handler.undeclared_parameter",
        HandlerFault::Optional { .. } => "handler.optional_parameter",
    }
}
