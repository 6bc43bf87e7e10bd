//! Inputs that fuzz targets start from or found something with once: all of them through every target.

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets need them public")]
mod targets;

use targets::TARGETS;

const INPUTS: [&str; 12] = [
    "",
    "{}",
    "null",
    "[]",
    "{\"a\":\"\\ud800\"}",
    "```json\n{\"a\":1,}\n```",
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}}}\n{\"a\":\"7\",\"b\":null}",
    "{\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{\"$ref\":\"#/$defs/a\"}]}},\"$ref\":\"#/$defs/a\"}\n{}",
    "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"\",\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}",
    "{\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"args\":{}}}]}}]}",
    "[{\"role\":\"tool\",\"tool_call_id\":\"x\"},{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"x\"},{\"id\":\"x\"}]}]",
    "[{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\"}]},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\"}]}]",
];

#[test]
fn no_target_finds_anything_in_inputs_that_are_known() {
    for (name, target) in TARGETS {
        for input in INPUTS {
            for prefix in ["", "\0", "\u{1}", "\u{2}", "\u{3}", "\u{4}", "\u{5}"] {
                let run = std::panic::catch_unwind(|| target(format!("{prefix}{input}").as_bytes()));
                assert!(run.is_ok(), "{name}: {prefix:?} {input}");
            }
        }
    }
}
