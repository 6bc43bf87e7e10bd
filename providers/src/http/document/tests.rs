use super::*;
use toolyard::{Effect, Locale};

const CANTEEN: &str = r#"
plugin = "canteen"
title = "食堂"
instructions = "问食堂人多不多，用 crowd。"

[secrets]
token = { env = "CANTEEN_TOKEN" }

[i18n.en]
title = "Canteens"
[i18n.en.tools.crowd]
title = "Canteen crowding"

[[tools]]
name = "crowd"
title = "食堂拥挤度"
summary = "查看各食堂现在有多少人。"
description = "Use when the user asks which canteen is least crowded."
effect = "read"
onDemand = true
timeout_ms = 5000
[tools.input]
type = "object"
required = ["campus"]
[tools.input.properties]
campus = { type = "string", maxLength = 20 }
sort = { type = "string", enum = ["least", "most"], default = "least" }
[tools.request]
url = "https://canteen.example.edu/v1/{campus}/crowd"
query = { sort = "{sort}", limit = 10 }
headers = { Authorization = "Bearer {secrets.token}" }
[tools.response]
pick = { time = "/data/time" }

[[tools]]
name = "reserveSeat"
title = "预约座位"
description = "Reserves a seat."
effect = "write"
userOnly = true
[tools.input]
type = "object"
properties = { seat = { type = "integer" } }
required = ["seat"]
[tools.request]
method = "POST"
url = "https://canteen.example.edu/v1/seats"
json = { seat = "{seat}" }
"#;

fn toml(text: &str) -> Result<HttpPlugin, DocumentErrors> {
    check_document(text, DocumentFormat::Toml)
}

/// What is wrong with the document when `from` in it is `to`.
fn wrong(from: &str, to: &str) -> Vec<String> {
    assert!(CANTEEN.contains(from), "{from}");
    let text = CANTEEN.replacen(from, to, 1);
    toml(&text).expect_err(&text).iter().map(ToString::to_string).collect()
}

#[test]
fn a_document_declares_a_plugin_and_its_tools() {
    let plugin = toml(CANTEEN).unwrap();
    assert_eq!((plugin.name(), plugin.instructions()), ("canteen", Some("问食堂人多不多，用 crowd。")));
    assert_eq!(*plugin.titles(), LocalText::new("食堂", "Canteens"));
    let tools: Vec<&ToolSpec> = plugin.tools().collect();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["crowd", "reserveSeat"]);
    let crowd = tools[0];
    assert_eq!((crowd.title_for(Locale::Zh), crowd.title_for(Locale::En)), ("食堂拥挤度", "Canteen crowding"));
    assert_eq!(crowd.summaries.get(Locale::Zh), Some("查看各食堂现在有多少人。"));
    assert_eq!(crowd.summaries.get(Locale::En), None, "no English summary, no line");
    assert_eq!((crowd.effect, crowd.timeout.unwrap().as_millis()), (Some(Effect::Read), 5000));
    assert!(crowd.flags.on_demand && !crowd.flags.user_only && tools[1].flags.user_only);
    let order: Vec<_> = crowd.parameters_schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(order, ["campus", "sort"]);
    let warned: Vec<&str> = plugin.warnings().iter().map(|warning| warning.name.as_str()).collect();
    assert_eq!(warned, ["reserveSeat"], "it has no English title");
}

#[test]
fn json_says_the_same() {
    let value: serde_json::Value = ::toml::from_str(CANTEEN).unwrap();
    let json = check_document(&value.to_string(), DocumentFormat::Json).unwrap();
    let toml = toml(CANTEEN).unwrap();
    let specs = |plugin: &HttpPlugin| plugin.tools().map(|tool| (tool.name.clone(), tool.effect)).collect::<Vec<_>>();
    assert_eq!(specs(&json), specs(&toml));
}

#[test]
fn everything_wrong_is_told_at_once_with_its_place_and_the_nearest_key() {
    let text = CANTEEN
        .replacen("instructions", "instruction", 1)
        .replacen("onDemand", "on_demand", 1)
        .replacen("method = \"POST\"", "methd = \"POST\"", 1)
        .replacen("effect = \"write\"", "effect = \"writes\"", 1);
    let errors = toml(&text).unwrap_err();
    let found: Vec<_> = errors.iter().map(|e| (e.place.unwrap(), e.path.as_str(), e.tool.as_deref())).collect();
    let expected = [
        ((4, 1), "", None),
        ((20, 1), "tools/0", Some("crowd")),
        ((39, 10), "tools/1/effect", Some("reserveSeat")),
        // A body without a method.
        ((45, 1), "tools/1/request", Some("reserveSeat")),
        ((46, 1), "tools/1/request", Some("reserveSeat")),
    ];
    assert_eq!(found, expected, "{errors}");
    let said = errors.to_string();
    for near in ["instructions", "onDemand", "write", "method"] {
        assert!(said.contains(&format!("did you mean `{near}`?")), "{near}: {said}");
    }
}

#[test]
fn each_rule_of_a_tool_is_checked() {
    let long = format!("summary = \"{}\"", "字".repeat(81));
    let cases = [
        ("name = \"crowd\"", "name = \"Crowd\"", "camelCase"),
        ("name = \"crowd\"", "name = \"crowd_now\"", "camelCase"),
        ("name = \"crowd\"", "name = \"拥挤\"", "camelCase"),
        ("name = \"reserveSeat\"", "name = \"crowd\"", "already"),
        ("title = \"食堂拥挤度\"\n", "", "`title` is missing"),
        ("effect = \"read\"\n", "", "`effect` is missing"),
        ("effect = \"read\"", "effect = [\"read\", \"write\"]", "must be text, not a list"),
        ("summary = \"查看各食堂现在有多少人。\"", long.as_str(), "81 characters"),
        ("summary = \"查看各食堂现在有多少人。\"", "summary = \"a\\nb\"", "one line"),
        ("title = \"Canteen crowding\"", "sumary = \"x\"", "did you mean `summary`?"),
        ("[i18n.en.tools.crowd]", "[i18n.en.tools.crowded]", "did you mean `crowd`?"),
        ("[i18n.en.tools.crowd]", "[i18n.zh]\n[i18n.en.tools.crowd]", "unknown key `zh`"),
        ("timeout_ms = 5000", "timeout_ms = 0", "from 1 to"),
        ("onDemand = true", "onDemand = \"yes\"", "true or false"),
        ("type = \"object\"\nrequired", "type = \"array\"\nrequired", "must be \"object\""),
        ("maxLength = 20", "maxLength = -1", "no JSON Schema"),
        ("{campus}", "{campsu}", "did you mean `campus`?"),
        ("{campus}", "{sort}{secrets.tokn}", "did you mean `token`?"),
        ("required = [\"campus\"]\n", "", "required or have a default"),
        ("https://canteen.example.edu/v1/{", "https://{campus}/v1/{", "only the path"),
        ("https://canteen.example.edu/v1/{", "ftp://canteen.example.edu/v1/{", "http"),
        ("https://canteen.example.edu/v1/{", "https://me:pw@canteen.example.edu/v1/{", "no user name"),
        ("Authorization =", "Host =", "the connection itself"),
        ("Authorization =", "\"a b\" =", "no name of a header"),
        ("method = \"POST\"", "method = \"TRACE\"", "`TRACE` is not known"),
        ("method = \"POST\"\n", "", "GET or HEAD request has no body"),
        ("json = {", "form = { a = \"b\" }\njson = {", "one body"),
        ("json = { seat = \"{seat}\" }", "json = { seat = \"{set}\" }", "did you mean `seat`?"),
        ("pick = { time = \"/data/time\" }", "pick = { time = \"data\" }", "JSON pointer"),
        ("pick = { time = \"/data/time\" }", "success = [99]", "a status"),
        ("pick = { time = \"/data/time\" }", "media = \"png\"", "content type"),
        ("{ env = \"CANTEEN_TOKEN\" }", "{ env = \"A\", file = \"b\" }", "either `env`"),
        ("{ env = \"CANTEEN_TOKEN\" }", "\"s3cret\"", "must be a table, not text"),
        ("plugin = \"canteen\"", "plugin = \"食堂\"", "a plugin's name"),
    ];
    for (from, to, said) in cases {
        let errors = wrong(from, to);
        assert!(errors.iter().any(|error| error.contains(said)), "{to}: {errors:#?}");
    }
}

#[test]
fn a_broken_tool_costs_only_itself_and_a_broken_document_everything() {
    let broken_tool = CANTEEN.replacen("effect = \"write\"", "effect = \"writes\"", 1);
    let plugin = HttpPlugin::read(&broken_tool, DocumentFormat::Toml).unwrap();
    assert_eq!(plugin.tools().map(|tool| &*tool.name).collect::<Vec<_>>(), ["crowd"]);
    assert_eq!(plugin.rejected[0].name, "reserveSeat");
    assert!(plugin.rejected[0].reason.contains("did you mean `write`"), "{}", plugin.rejected[0].reason);

    let broken_document = broken_tool.replacen("title = \"食堂\"\n", "titel = \"食堂\"\n", 1);
    let errors = HttpPlugin::read(&broken_document, DocumentFormat::Toml).unwrap_err().to_string();
    assert!(errors.contains("did you mean `title`") && errors.contains("did you mean `write`"), "{errors}");
}

#[test]
fn what_is_no_document_is_refused_with_its_place() {
    let place = |text: &str, format| check_document(text, format).unwrap_err().iter().next().unwrap().place;
    assert_eq!(place("plugin = \n", DocumentFormat::Toml).unwrap().0, 1);
    assert_eq!(place("{\n  \"plugin\": }", DocumentFormat::Json).unwrap().0, 2);
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    for text in ["[]", "7", r#"{"plugin":"a","plugin":"b"}"#, &deep, &" ".repeat(MAX_DOCUMENT_BYTES + 1)] {
        check_document(text, DocumentFormat::Json).unwrap_err();
    }
    let json = r#"{"plugin": "a", "title": "甲", "tools": [], "secret": {}}"#;
    let errors = check_document(json, DocumentFormat::Json).unwrap_err().to_string();
    assert!(errors.contains("did you mean `secrets`") && errors.contains("[[tools]]"), "{errors}");
}

#[test]
fn a_secret_in_plain_sight_and_a_dishonest_effect_are_remarked() {
    let text = CANTEEN
        .replacen("Bearer {secrets.token}", "Bearer abc", 1)
        .replacen("method = \"POST\"", "method = \"DELETE\"", 1)
        .replacen("effect = \"write\"", "effect = \"read\"", 1);
    let plugin = toml(&text).unwrap();
    let said: Vec<&str> = plugin.warnings().iter().map(|warning| warning.message.as_str()).collect();
    assert!(said.iter().any(|message| message.contains("write it with a secret")), "{said:?}");
    assert!(said.iter().any(|message| message.contains("DELETE")), "{said:?}");
}

#[test]
fn the_example_is_a_sound_document() {
    let plugin = toml(include_str!("../../../../examples/canteen.toml")).unwrap();
    assert_eq!(plugin.tools().map(|tool| &*tool.name).collect::<Vec<_>>(), ["crowd", "reserveSeat"]);
    assert_eq!(plugin.warnings(), []);
}
