//! Activated: what a plugin says of itself in its answer to `activate`.

use serde_json::Value;
use toolyard::{JsonText, RejectedTool, Remarks, ToolDef, ToolSpec, ToolWarning, parameters_schema};

use super::answer::Answer;
use super::fields::{Fields, MAX_REMARKS, camel_case, unknown_key};
use super::manifest::{self, Manifest};

/// Where remarks about the answer itself stand.
const ACTIVATE: &str = "activate";
/// Declarations of things that only xbot has.
const NOT_RUN: [&str; 3] = ["hooks", "enrichers", "channel_provider"];

/// What a plugin says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Activated {
    pub(super) tools: Vec<ToolSpec>,
    pub(super) remarks: Remarks,
    /// The plugin takes requests with ids, many at once.
    pub(super) request_ids: bool,
}

// === impl Activated ===

impl Activated {
    /// Reads the answer to `activate`, each tool by itself, so that one that cannot be read costs no other.
    ///
    /// # Errors
    /// The plugin refused to start, in its own words, or its answer has no list of tools.
    pub(super) fn read(mut answer: Answer, manifest: &Manifest, prefix_descriptions: bool) -> Result<Self, String> {
        if let Some(error) = answer.take_error() {
            return Err(format!("it refused to start: {error}"));
        }
        let mut activated = Self { request_ids: manifest.request_ids, ..Self::default() };
        activated.remarks.warnings.clone_from(&manifest.warnings);
        if let Some(request_ids) = answer.take("request_ids") {
            activated.request_ids = request_ids.as_str() == "true";
        }
        answer.take("result");
        for name in NOT_RUN {
            if answer.take(name).is_some_and(|value| !matches!(value.as_str(), "[]" | "{}")) {
                activated.warn(ACTIVATE, format!("`{name}` are not used here: only tools are"));
            }
        }
        let tools = answer.take("tools").map(|tools| tools.to::<Vec<JsonText>>());
        let tools =
            tools.transpose().map_err(|_| "its answer to `activate` has `tools` that are no list".to_owned())?;
        for (key, _) in answer.rest().iter().take(MAX_REMARKS) {
            activated.warn(ACTIVATE, unknown_key(key));
        }
        let prefix = prefix_descriptions.then_some(manifest.id.as_str());
        activated.add_tools(&tools.unwrap_or_default(), manifest.why_no_tools().as_deref(), prefix);
        activated.compare(manifest);
        Ok(activated)
    }

    fn add_tools(&mut self, tools: &[JsonText], why_none: Option<&str>, prefix: Option<&str>) {
        for (index, tool) in tools.iter().enumerate() {
            let name = tool.member("name").and_then(|name| name.text()).unwrap_or_else(|| format!("tools/{index}"));
            let read = match why_none {
                None => tool_spec(tool, prefix),
                Some(reason) => Err(reason.to_owned()),
            };
            match read {
                Err(reason) => self.remarks.rejected.push(RejectedTool { name, reason }),
                Ok((spec, remarks)) => {
                    for remark in remarks {
                        self.warn(&name, remark);
                    }
                    self.tools.push(spec);
                }
            }
        }
    }

    /// What the manifest announces and the plugin does not have, people would look for in vain.
    fn compare(&mut self, manifest: &Manifest) {
        let has = |name: &String| {
            self.tools.iter().any(|tool| *tool.name == **name) || self.remarks.rejected.iter().any(|r| r.name == *name)
        };
        let missing: Vec<&String> = manifest.tools.iter().filter(|name| !has(name)).collect();
        for name in missing {
            let message = format!("it announces the tool `{name}`, which the plugin does not have");
            self.remarks.warnings.push(manifest::warning(message));
        }
    }

    fn warn(&mut self, name: &str, message: String) {
        self.remarks.warnings.push(ToolWarning { name: name.to_owned(), message });
    }
}

/// One tool, and what is not as it should be with it. A schema of its own is used as it is; else one is made of the
/// parameters.
fn tool_spec(written: &JsonText, prefix: Option<&str>) -> Result<(ToolSpec, Vec<String>), String> {
    let whole = written.clone().with_whole_characters();
    let tool: Value = whole.to().map_err(|error| format!("its declaration cannot be read: {error}"))?;
    let Value::Object(object) = tool else { return Err("its declaration is no object".to_owned()) };
    let mut fields = Fields::new(&object);
    let name = fields.text("name")?.filter(|name| !name.trim().is_empty()).ok_or("it has no name")?;
    let description = fields.text("description")?.unwrap_or_default();
    let version = fields.text("version")?.map(str::to_owned);
    let parameters = fields.take("parameters");
    let schema = match fields.take("input_schema") {
        Some(schema) => schema.clone(),
        None => parameters_schema(parameters.unwrap_or(&Value::Null)).map_err(|error| error.to_string())?,
    };
    let mut remarks = Vec::new();
    if whole != *written {
        remarks.push("half a character (a lone surrogate) in its declaration was replaced by U+FFFD".to_owned());
    }
    for name in ["ui", "channels"] {
        if fields.take(name).is_some() {
            remarks.push(format!("`{}` is not used here", camel_case(name)));
        }
    }
    remarks.extend(fields.remarks());
    let description = match prefix {
        Some(id) => format!("[{id} plugin] {description}").trim_end().to_owned(),
        None => description.to_owned(),
    };
    let definition =
        ToolDef { name: name.to_owned(), description, version, input_schema: Some(schema), ..ToolDef::default() };
    Ok((ToolSpec::from(definition), remarks))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::answer::{Said, read};
    use super::super::line::Line;
    use super::*;

    fn manifest(extra: &str) -> Manifest {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(r#"{{"id": "a.b", "version": "1.0.0", "runtime": "stdio", "entry": "x"{extra}}}"#);
        std::fs::write(folder.path().join(manifest::FILE), text).unwrap();
        Manifest::read(folder.path()).unwrap()
    }

    fn allowed() -> Manifest {
        manifest(r#", "permissions": ["tools.register"]"#)
    }

    fn activated(answer: &Value, manifest: &Manifest) -> Result<Activated, String> {
        let bytes = answer.to_string().into_bytes();
        let Said::Answer(answer) = read(&Line { written: bytes.len(), bytes }) else { panic!("no answer") };
        Activated::read(answer, manifest, true)
    }

    #[test]
    fn schemas_are_read_in_both_spellings_and_parameters_stand_in() {
        let schema = json!({"type": "object", "properties": {"x": {"type": "string", "minLength": 2}}});
        let parameters = json!([
            {"name": "rows", "type": "array", "description": "d", "required": true, "items": {"type": "number"}},
            {"name": "note", "type": "string", "description": ""},
        ]);
        let tools = json!([
            {"name": "camel", "description": "A.", "inputSchema": schema},
            {"name": "snake", "description": "B.", "input_schema": schema, "parameters": parameters},
            {"name": "list", "description": "C.", "parameters": parameters, "version": "1.2.0"},
            {"name": "none", "description": "D.", "parameters": null},
        ]);
        let activated = activated(&json!({"tools": tools}), &allowed()).unwrap();
        let [camel, snake, list, none] = &activated.tools[..] else { panic!("{activated:?}") };
        assert_eq!((&camel.parameters_schema, &snake.parameters_schema), (&schema, &schema));
        assert_eq!(camel.description, "[a.b plugin] A.");
        assert_eq!(list.parameters_schema["properties"]["rows"]["items"], json!({"type": "number"}));
        assert_eq!(list.parameters_schema["required"], json!(["rows"]));
        assert_eq!(list.metadata["version"], "1.2.0");
        assert_eq!(none.parameters_schema, json!({"type": "object", "properties": {}}));
        assert_eq!(activated.remarks, Remarks::default());
    }

    #[test]
    fn a_broken_tool_costs_no_other_and_unknown_keys_are_reported() {
        let tools = json!([{"name": "a", "description": "A.", "inptSchema": {}}, {"description": "x"}, 7]);
        let answer = json!({"tools": tools, "hooks": [{"event": "PreToolUse"}], "widgets": []});
        let activated = activated(&answer, &allowed()).unwrap();
        assert_eq!(activated.tools.len(), 1);
        let rejected: Vec<_> = activated.remarks.rejected.iter().map(|r| (&*r.name, &*r.reason)).collect();
        assert_eq!(rejected, [("tools/1", "it has no name"), ("tools/2", "its declaration is no object")]);
        let warnings: Vec<_> = activated.remarks.warnings.iter().map(|w| (&*w.name, &*w.message)).collect();
        assert_eq!(
            warnings,
            [
                ("activate", "`hooks` are not used here: only tools are"),
                ("activate", "unknown key `widgets` is ignored"),
                ("a", "unknown key `inptSchema` is ignored"),
            ]
        );
    }

    #[test]
    fn a_declaration_that_no_parser_takes_costs_itself_only() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(
            r#"{{"tools":[{{"name":"half","description":"a\ud800b"}},{{"name":"deep","input_schema":{deep}}},
                {{"name":"far","input_schema":{{"maximum":1e999}}}},{{"name":"fine","description":"F."}}]}}"#
        )
        .replace('\n', "");
        let Said::Answer(answer) = read(&Line { written: text.len(), bytes: text.into_bytes() }) else { panic!() };
        let activated = Activated::read(answer, &allowed(), false).unwrap();
        let tools: Vec<_> = activated.tools.iter().map(|tool| (&*tool.name, &*tool.description)).collect();
        assert_eq!(tools, [("half", "a\u{fffd}b"), ("fine", "F.")]);
        assert!(activated.remarks.warnings[0].message.contains("half a character"), "{activated:?}");
        let rejected: Vec<_> = activated.remarks.rejected.iter().map(|r| &*r.name).collect();
        assert_eq!(rejected, ["deep", "far"]);
        assert!(activated.remarks.rejected[0].reason.contains("cannot be read"), "{activated:?}");
    }

    #[test]
    fn tools_need_the_permission_and_announced_ones_are_missed() {
        let tools = json!({"tools": [{"name": "a", "description": "A."}]});
        let without = activated(&tools, &manifest("")).unwrap();
        assert!(without.tools.is_empty());
        assert!(without.remarks.rejected[0].reason.contains("permission denied"), "{without:?}");
        let announced = r#", "permissions": ["*"], "contributes": {"tools": [{"name": "b", "description": "B."}]}"#;
        let missing = activated(&tools, &manifest(announced)).unwrap();
        assert!(missing.remarks.warnings[0].message.contains("`b`"), "{missing:?}");
    }

    #[test]
    fn a_refusal_is_told_in_the_plugins_own_words() {
        let refused = activated(&json!({"error": "no database", "tools": []}), &allowed()).unwrap_err();
        assert_eq!(refused, "it refused to start: no database");
        assert!(activated(&json!({"tools": {}}), &allowed()).is_err());
        assert!(activated(&json!({"requestIds": true}), &allowed()).unwrap().request_ids);
    }
}
