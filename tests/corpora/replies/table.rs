//! What each recording holds: its form, and its calls with their arguments.

use toolyard::Dialect;

/// A tool, and its arguments as JSON.
pub(super) type Call = (&'static str, &'static str);

/// A file, and the calls in it: a reply, or a stream of one or more.
pub(super) type Recording = (&'static str, &'static [Call]);

/// Files in a form that is not read, with the reason.
pub(super) const NOT_READ: [(&str, &str); 2] = [
    ("tool-call-step2.chunks.txt", "Gemini Interactions, which Toolyard does not speak; it holds no function call"),
    ("tool-call-step2.json", "Gemini Interactions, which Toolyard does not speak; it holds no function call"),
];

/// Whole replies whose stream was recorded another time, and called otherwise.
pub(super) const OTHER_GENERATIONS: [&str; 5] = [
    "amazon-bedrock-json-tool.1",
    "amazon-bedrock-json-tool.2",
    "amazon-bedrock-json-with-tools.1",
    "amazon-bedrock-tool-call.1",
    "anthropic-programmatic-tool-calling.1",
];

/// The recordings of each form.
pub(super) const RECORDINGS: [(Dialect, &[Recording]); 5] = [
    (Dialect::Anthropic, &ANTHROPIC),
    (Dialect::Bedrock, &BEDROCK),
    (Dialect::Gemini, &GEMINI),
    (Dialect::OpenAiChat, &OPENAI_CHAT),
    (Dialect::OpenAiResponses, &OPENAI_RESPONSES),
];

const ONE: Call = ("rollDie", r#"{"player":"player1"}"#);
const TWO: Call = ("rollDie", r#"{"player":"player2"}"#);
/// The model's program throws for both players in turn; each throw but the first comes in a message of its own.
const DICE: [Call; 14] = [ONE, TWO, ONE, TWO, ONE, TWO, ONE, TWO, ONE, TWO, ONE, TWO, ONE, TWO];

const ANTHROPIC: [Recording; 10] = [
    ("anthropic-programmatic-tool-calling.1.chunks.txt", &DICE),
    (
        "anthropic-programmatic-tool-calling.1.json",
        &[
            ("rollDie", r#"{"player":"player2"}"#),
            ("rollDie", r#"{"player":"player1"}"#),
            ("rollDie", r#"{"player":"player1"}"#),
            ("rollDie", r#"{"player":"player2"}"#),
        ],
    ),
    ("anthropic-tool-no-args.chunks.txt", &[("updateIssueList", "{}")]),
    ("anthropic-tool-no-args.json", &[("updateIssueList", "{}")]),
    ("anthropic-tool-search-bm25.1.chunks.txt", &[("get_weather", r#"{"location":"San Francisco, CA"}"#)]),
    ("anthropic-tool-search-bm25.1.json", &[("get_weather", r#"{"location":"San Francisco, CA"}"#)]),
    (
        "anthropic-tool-search-deferred-bm25.2.json",
        &[(
            "executeEditorOperation",
            r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7","operations":[{"op":"insert_node","at":{"type":"path","path":[1]},"type":"bulletedListItem","text":"bye"}]}"#,
        )],
    ),
    (
        "anthropic-tool-search-deferred-bm25.chunks.txt",
        &[
            ("readNoteTree", r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7"}"#),
            (
                "executeEditorOperation",
                r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7","operations":[{"op":"insert_node","type":"bulletedListItem","text":"bye","at":{"type":"path","path":[1]}}]}"#,
            ),
        ],
    ),
    (
        "anthropic-tool-search-deferred-regex.2.json",
        &[(
            "executeEditorOperation",
            r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7","operations":[{"op":"insert_node","at":{"type":"path","path":[1]},"type":"bulletedListItem","text":"bye"}]}"#,
        )],
    ),
    (
        "anthropic-tool-search-deferred-regex.chunks.txt",
        &[
            ("readNoteTree", r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7"}"#),
            (
                "executeEditorOperation",
                r#"{"noteId":"d10aa585-982b-4bd9-984e-420f9b3717f7","operations":[{"op":"insert","type":"bulletedListItem","text":"bye","at":{"type":"after","path":[0]}}]}"#,
            ),
        ],
    ),
];

const BEDROCK: [Recording; 18] = [
    ("amazon-bedrock-json-other-tool.1.chunks.txt", &[("get-weather", r#"{"location":"San Francisco"}"#)]),
    ("amazon-bedrock-json-other-tool.1.json", &[("get-weather", r#"{"location":"San Francisco"}"#)]),
    (
        "amazon-bedrock-json-tool-text-then-weather-then-json.1.chunks.txt",
        &[("weather", r#"{"location":"San Francisco"}"#), ("weather", r#"{"location":"London"}"#)],
    ),
    ("amazon-bedrock-json-tool-with-answer.1.json", &[("json", r#"{"firstName":"John","lastName":"Doe"}"#)]),
    ("amazon-bedrock-json-tool.1.chunks.txt", &[("json", r#"{"value":"test"}"#)]),
    (
        "amazon-bedrock-json-tool.1.json",
        &[(
            "json",
            r#"{"elements":[{"location":"San Francisco","temperature":-5,"condition":"snowy"},{"location":"London","temperature":0,"condition":"snowy"}]}"#,
        )],
    ),
    ("amazon-bedrock-json-tool.2.chunks.txt", &[("json", r#"{"value":"test"}"#)]),
    ("amazon-bedrock-json-tool.2.json", &[("json", r#"{"value":"test data"}"#)]),
    ("amazon-bedrock-json-tool.3.chunks.txt", &[("json", r#"{"result":42}"#)]),
    ("amazon-bedrock-json-tool.3.json", &[("json", r#"{"result":42}"#)]),
    (
        "amazon-bedrock-json-with-tool.1.chunks.txt",
        &[("get-weather", r#"{"location":"SF"}"#), ("json", r#"{"result":"data"}"#)],
    ),
    (
        "amazon-bedrock-json-with-tool.1.json",
        &[("get-weather", r#"{"location":"SF"}"#), ("json", r#"{"result":"data"}"#)],
    ),
    (
        "amazon-bedrock-json-with-tools.1.chunks.txt",
        &[("tool-a", r#"{"a":"1"}"#), ("tool-b", r#"{"b":"2"}"#), ("json", r#"{"final":"result"}"#)],
    ),
    (
        "amazon-bedrock-json-with-tools.1.json",
        &[("tool-a", r#"{"param":"a"}"#), ("tool-b", r#"{"param":"b"}"#), ("json", r#"{"final":"result"}"#)],
    ),
    ("amazon-bedrock-tool-call.1.chunks.txt", &[("test-tool", r#"{"value":"Sparkle Day"}"#)]),
    ("amazon-bedrock-tool-call.1.json", &[("bash", r#"{"command":"ls -l"}"#)]),
    ("amazon-bedrock-tool-no-args.chunks.txt", &[("updateIssueList", "{}")]),
    ("amazon-bedrock-tool-no-args.json", &[("updateIssueList", "{}")]),
];

const GEMINI: [Recording; 6] = [
    (
        "google-stream-tool-call-arguments.chunks.txt",
        &[("getWeather", r#"{"location":"Boston"}"#), ("getWeather", r#"{"location":"San Francisco"}"#)],
    ),
    (
        "google-stream-tool-call-array-arguments-missing-terminal-function-call.chunks.txt",
        &[(
            "writeItems",
            r#"{"operations":[{"action":"add","description":"Fresh red apple","itemid":"apple_001","price":0.5},{"action":"add","description":"Ripe yellow banana","itemid":"banana_001","price":0.3}]}"#,
        )],
    ),
    ("google-tool-call-gemini3.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("google-tool-call-gemini3.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("google-tool-call.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("google-tool-call.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
];

const OPENAI_CHAT: [Recording; 13] = [
    ("alibaba-tool-call.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("alibaba-tool-call.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("anthropic-fallback-tool-call.sse", &[("read_file", r#"{"path":"a.txt"}"#)]),
    ("deepseek-tool-call.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("deepseek-tool-call.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("groq-tool-call.chunks.txt", &[("weather", "{}")]),
    ("groq-tool-call.json", &[("weather", "{}")]),
    ("mistral-incremental-tool-call.chunks.txt", &[("webSearchTool", r#"{"query":"current Berlin weather"}"#)]),
    ("mistral-tool-call.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("mistral-tool-call.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("moonshotai-tool-call.json", &[("get_weather", r#"{"city":"Paris"}"#)]),
    ("xai-tool-call.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("xai-tool-call.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
];

const OPENAI_RESPONSES: [Recording; 29] = [
    ("azure-tool-call.1.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("azure-tool-call.1.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("lmstudio-tool-call.1.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("lmstudio-tool-call.1.json", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("lmstudio-tool-call.2.chunks.txt", &[("weather", r#"{"location":"San Francisco"}"#)]),
    ("openai-client-tool-search.1.chunks.txt", &[]),
    ("openai-client-tool-search.1.json", &[]),
    (
        "openai-client-tool-search.2.chunks.txt",
        &[("get_weather", r#"{"location":"San Francisco, CA","unit":"fahrenheit"}"#)],
    ),
    ("openai-client-tool-search.2.json", &[("get_weather", r#"{"location":"San Francisco, CA","unit":"fahrenheit"}"#)]),
    ("openai-custom-tool.1.chunks.txt", &[("write_sql", r#"{"input":"SELECT * FROM users WHERE age > 25"}"#)]),
    ("openai-custom-tool.1.json", &[("write_sql", r#"{"input":"SELECT * FROM users WHERE age > 25"}"#)]),
    ("openai-mcp-tool-approval.1.chunks.txt", &[]),
    ("openai-mcp-tool-approval.1.json", &[]),
    ("openai-mcp-tool-approval.2.chunks.txt", &[]),
    ("openai-mcp-tool-approval.2.json", &[]),
    ("openai-mcp-tool-approval.3.chunks.txt", &[]),
    ("openai-mcp-tool-approval.3.json", &[]),
    ("openai-mcp-tool-approval.4.chunks.txt", &[]),
    ("openai-mcp-tool-approval.4.json", &[]),
    ("openai-tool-search.1.chunks.txt", &[("get_weather", r#"{"location":"San Francisco, CA","unit":"fahrenheit"}"#)]),
    ("openai-tool-search.1.json", &[("get_weather", r#"{"location":"San Francisco, CA","unit":"fahrenheit"}"#)]),
    (
        "parallel-tool-call-wrapper.1.chunks.txt",
        &[(
            "parallel",
            r#"{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"location":"San Francisco"}},{"recipient_name":"functions.cityAttractions","parameters":{"city":"Rome"}}]}"#,
        )],
    ),
    (
        "parallel-tool-call-wrapper.1.json",
        &[(
            "parallel",
            r#"{"tool_uses":[{"recipient_name":"functions.weather","parameters":{"location":"San Francisco"}},{"recipient_name":"functions.cityAttractions","parameters":{"city":"Rome"}}]}"#,
        )],
    ),
    ("programmatic-tool-calling.1.chunks.txt", &[("getInventory", r#"{"sku":"sku_123"}"#)]),
    ("programmatic-tool-calling.1.json", &[("getInventory", r#"{"sku":"sku_123"}"#)]),
    ("programmatic-tool-calling.2.chunks.txt", &[("getDemand", r#"{"sku":"sku_123"}"#)]),
    ("programmatic-tool-calling.2.json", &[("getDemand", r#"{"sku":"sku_123"}"#)]),
    ("programmatic-tool-calling.3.chunks.txt", &[]),
    ("programmatic-tool-calling.3.json", &[]),
];
