//! A model's reply with calls, in the form of OpenAI's chat completions.

use serde_json::{Value, json};

/// A whole reply whose calls go to the tools of these names, each with a number and a text as arguments.
pub fn openai_reply<'a>(tools: impl IntoIterator<Item = &'a str>) -> String {
    let calls: Vec<Value> = tools.into_iter().enumerate().map(|(index, tool)| call(index, tool)).collect();
    json!({
        "id": "chatcmpl-9f3b1c2d4e5f60718293a4b5c6d7e8f9",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": "gpt-5",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": null, "refusal": null, "tool_calls": calls},
            "logprobs": null,
            "finish_reason": "tool_calls"
        }],
        "usage": {"prompt_tokens": 1834, "completion_tokens": 412, "total_tokens": 2246}
    })
    .to_string()
}

fn call(index: usize, tool: &str) -> Value {
    let text = format!("what people say about number {index} in town");
    let arguments = json!({"n": index, "text": text}).to_string();
    let function = json!({"name": tool, "arguments": arguments});
    json!({"id": format!("call_Zk3v9QpLw7RtY1uI{index:08}"), "type": "function", "function": function})
}
