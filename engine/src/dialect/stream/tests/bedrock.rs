//! Events of Bedrock.

use serde_json::{Value, json};

use super::{assemble, assemble_texts};
use crate::dialect::stream::Dialect;

#[test]
fn the_whole_form_is_what_the_vendor_sends_without_streaming() {
    let events = [
        r#"{"messageStart":{"role":"assistant"}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"th"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"ink"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"s\/="}}}}"#,
        r#"{"contentBlockStop":{"contentBlockIndex":0}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"text":"h"},"p":"abc"}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":1,"delta":{"text":"m"}}}"#,
        r#"{"contentBlockStart":{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"t1","name":"f"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a\":"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":2,"delta":{"toolUse":{"input":"1}"}}}}"#,
        r#"{"contentBlockStop":{"contentBlockIndex":2}}"#,
        r#"{"contentBlockStart":{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"t2","name":"g"}}}}"#,
        r#"{"contentBlockDelta":{"contentBlockIndex":3,"delta":{"toolUse":{"input":""}}}}"#,
        r#"{"contentBlockStop":{"contentBlockIndex":3}}"#,
        r#"{"messageStop":{"stopReason":"tool_use"}}"#,
        r#"{"metadata":{"usage":{"totalTokens":9}}}"#,
    ];
    let assembled = assemble_texts(Dialect::Bedrock, &events);
    let reply: Value = assembled.reply.to().unwrap();
    assert_eq!(
        reply,
        json!({
            "output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "think", "signature": "s/="}}},
                {"text": "hm"},
                {"toolUse": {"toolUseId": "t1", "name": "f", "input": "{\"a\":1}"}},
                {"toolUse": {"toolUseId": "t2", "name": "g", "input": {}}},
            ]}},
            "stopReason": "tool_use",
            "usage": {"totalTokens": 9},
        })
    );
    assert!(assembled.ended && assembled.warnings.is_empty(), "{:?}", assembled.warnings);
}

#[test]
fn a_call_that_the_stream_broke_off_counts_as_cut_off() {
    let start =
        json!({"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "t", "name": "f"}}}});
    let stop = json!({"contentBlockStop": {"contentBlockIndex": 0}});
    let (reply, assembled) = assemble(Dialect::Bedrock, std::slice::from_ref(&start));
    assert_eq!(reply["stopReason"], "max_tokens");
    assert!(!assembled.ended);
    let (reply, _) = assemble(Dialect::Bedrock, &[start, stop]);
    assert_eq!(reply["stopReason"], Value::Null);
}

#[test]
fn a_piece_of_a_call_without_a_start_is_left_out_with_a_warning() {
    let piece = json!({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "{}"}}}});
    let (reply, assembled) = assemble(Dialect::Bedrock, &[piece]);
    assert_eq!(reply["output"]["message"]["content"], json!([]));
    assert_eq!(assembled.warnings.len(), 1);
}
