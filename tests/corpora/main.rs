//! Tests over public recordings, in the folder named by `TOOLYARD_CORPORA`.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolyard::{
    Dialect, FunctionProvider, FunctionTool, Limits, ProviderSettings, ToolExecutionContext, ToolExecutionResult,
    ToolRegistry, ToolSpec,
};

fn recordings() -> PathBuf {
    std::env::var_os("TOOLYARD_CORPORA").map(PathBuf::from).expect("TOOLYARD_CORPORA names the recordings")
}

/// Each entry of a `tools.json` with a name and a schema, wherever it stands.
fn tools_in(value: &Value, found: &mut Vec<ToolSpec>) {
    match value {
        Value::Array(entries) => entries.iter().for_each(|entry| tools_in(entry, found)),
        Value::Object(entry) => match (entry.get("name"), entry.get("inputSchema").or(entry.get("input_schema"))) {
            (Some(Value::String(name)), Some(schema)) => {
                let description = entry.get("description").and_then(Value::as_str).unwrap_or_default();
                found.push(ToolSpec::new(name.as_str(), description).with_parameters(schema.clone()));
            }
            _ => entry.values().for_each(|entry| tools_in(entry, found)),
        },
        _ => {}
    }
}

#[tokio::test]
async fn every_public_tool_registers_and_is_exported_under_the_name_that_leads_back_to_it() {
    for corpus in ["toolsnaps", "livemcpbench"] {
        let text = std::fs::read_to_string(recordings().join(corpus).join("tools.json")).unwrap();
        let mut specs = Vec::new();
        tools_in(&serde_json::from_str(&text).unwrap(), &mut specs);
        assert!(specs.len() > 90, "{corpus}: only {} tools were found", specs.len());
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        specs.dedup_by(|a, b| a.name == b.name);
        let registry = ToolRegistry::new(Limits::default());
        let echo = |spec| FunctionTool::new(spec, |_, _| std::future::ready(Ok(ToolExecutionResult::success(""))));
        let provider = specs.iter().cloned().map(echo).fold(FunctionProvider::new(corpus), FunctionProvider::with_tool);
        registry.register(Arc::new(provider), ProviderSettings::default()).await.unwrap();
        let status = registry.providers().remove(0);
        assert_eq!((status.tools, &status.rejected[..]), (specs.len(), &[][..]), "{corpus}");
        let listed = registry.list_tools(&ToolExecutionContext::default());
        assert_eq!(listed.len(), specs.len(), "{corpus}: names clash");
        for tool in &listed {
            assert_eq!(registry.get_tool_spec(&tool.model_name).unwrap().name, tool.spec.name);
        }
        for dialect in Dialect::ALL {
            assert_eq!(dialect.definitions(&listed).as_array().unwrap().len(), specs.len());
        }
    }
}
