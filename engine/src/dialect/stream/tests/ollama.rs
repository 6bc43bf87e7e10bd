//! Lines of Ollama.

use serde_json::json;

use super::{assemble, assemble_texts};
use crate::dialect::stream::Dialect;

#[test]
fn calls_of_several_lines_add_up() {
    let lines = concat!(
        "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"h\",\"thinking\":\"t\"},\"done\":false}\n",
        "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"m\",\"tool_calls\":[",
        "{\"id\":\"c1\",\"function\":{\"index\":0,\"name\":\"f\",\"arguments\":{\"n\":653247040368672768123}}}]},\"done\":false}\n",
        "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[",
        "{\"function\":{\"name\":\"f\",\"arguments\":{}}},{\"function\":{\"name\":\"g\",\"arguments\":{}}}]},\"done\":false}\n",
        "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n",
    );
    let assembled = assemble_texts(Dialect::Ollama, &[lines]);
    assert_eq!(
        assembled.reply.as_str(),
        concat!(
            r#"{"model":"q","done_reason":"stop","message":{"role":"assistant","content":"hm","thinking":"t","tool_calls":["#,
            r#"{"id":"c1","function":{"index":0,"name":"f","arguments":{"n":653247040368672768123}}},"#,
            r#"{"function":{"name":"f","arguments":{}}},{"function":{"name":"g","arguments":{}}}]},"done":true}"#
        )
    );
    assert!(assembled.ended && assembled.warnings.is_empty());
}

#[test]
fn a_stream_without_its_last_line_has_not_ended() {
    let (reply, assembled) = assemble(Dialect::Ollama, &[json!({"message": {"content": "h"}, "done": false})]);
    assert_eq!(reply, json!({"message": {"role": "assistant", "content": "h"}, "done": false}));
    assert!(!assembled.ended);
}
