//! What the host says to the runner.

use std::path::Path;

use serde_json::{Value, json};
use toolyard::JsonText;

use crate::plugin::dialect::CallBody;

/// Which plugin to load, and how.
pub(in crate::plugin) struct LoadRequest<'a> {
    pub(in crate::plugin) dialect: &'static str,
    pub(in crate::plugin) path: &'a Path,
    pub(in crate::plugin) data_dir: &'a Path,
    pub(in crate::plugin) log_level: &'a str,
    pub(in crate::plugin) options: Value,
}

pub(in crate::plugin) fn load(request: LoadRequest<'_>) -> Vec<u8> {
    let plugin = json!({
        "dialect": request.dialect,
        "path": request.path.to_string_lossy(),
        "data_dir": request.data_dir.to_string_lossy(),
        "log_level": request.log_level,
        "options": request.options,
    });
    json!({"type": "load", "plugin": plugin}).to_string().into_bytes()
}

/// The type and the id come first: a runner that cannot read the rest can still say which call it was.
pub(in crate::plugin) fn call(id: u64, tool: &str, body: &CallBody) -> Vec<u8> {
    let (tool, arguments, context) = (JsonText::string(tool), body.arguments.as_str(), body.context.as_str());
    format!(r#"{{"type":"call","id":{id},"tool":{tool},"arguments":{arguments},"context":{context}}}"#).into_bytes()
}

pub(in crate::plugin) fn cancel(id: u64) -> Vec<u8> {
    format!(r#"{{"type":"cancel","id":{id}}}"#).into_bytes()
}

pub(in crate::plugin) fn answer(id: u64, value: &JsonText) -> Vec<u8> {
    format!(r#"{{"type":"answer","id":{id},"value":{value}}}"#).into_bytes()
}

pub(in crate::plugin) fn refusal(id: u64, code: &str, message: &str) -> Vec<u8> {
    json!({"type": "refusal", "id": id, "code": code, "message": message}).to_string().into_bytes()
}

pub(in crate::plugin) fn ping(id: u64) -> Vec<u8> {
    format!(r#"{{"type":"ping","id":{id}}}"#).into_bytes()
}

/// Without a configuration the plugin reads its own file again.
pub(in crate::plugin) fn configure(id: u64, scope: &str, config: Option<&Value>, version: &str) -> Vec<u8> {
    json!({"type": "configure", "id": id, "scope": scope, "config": config, "version": version})
        .to_string()
        .into_bytes()
}

pub(in crate::plugin) fn unload() -> Vec<u8> {
    br#"{"type":"unload"}"#.to_vec()
}
