//! Plausible answers: a bot without chats, messages and people.

use serde_json::{Value, json};
use toolyard::JsonText;

/// Length of simulated embeddings.
const DIMENSIONS: usize = 16;
const TEXT: &str = "(simulated answer: no bot backend is connected)";
/// One transparent pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=";

/// The answer to a known capability. `number` tells what is "sent" apart.
pub(super) fn plausible(name: &str, payload: &JsonText, number: u64) -> Option<JsonText> {
    if let Some(lenbot) = name.strip_prefix("lenbot.") {
        return of_lenbot(lenbot, number).map(JsonText::from);
    }
    if name.starts_with("send.") {
        let id = format!("simulated-{number}");
        return Some(JsonText::from(mark(json!({"success": true, "sent": true, "message_id": id}))));
    }
    let answer = of_model(name, payload).or_else(|| of_bot(name)).or_else(|| of_statistics(name));
    answer.map(|answer| JsonText::from(mark(answer)))
}

/// A recorded answer, with the mark where it is a document for the plugin's SDK to take apart.
pub(super) fn marked(recorded: &JsonText) -> JsonText {
    match recorded.members() {
        Some(mut members) if members.iter().any(|(key, _)| key == "success") => {
            members.retain(|(key, _)| key != "simulated");
            members.push(("simulated".to_owned(), JsonText::boolean(true)));
            JsonText::object(members.iter().map(|(key, value)| (key.as_str(), value.clone())))
        }
        Some(_) | None => recorded.clone(),
    }
}

fn mark(mut answer: Value) -> Value {
    if let Value::Object(members) = &mut answer {
        members.insert("simulated".to_owned(), Value::Bool(true));
    }
    answer
}

fn of_model(name: &str, payload: &JsonText) -> Option<Value> {
    Some(match name {
        "llm.generate" | "llm.generate_with_tools" => json!({
            "success": true, "response": TEXT, "reasoning": "", "model_name": "simulated", "tool_calls": [],
            "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0,
        }),
        "llm.embed" => embedding(payload),
        "llm.transcribe_audio" => json!({"success": true, "text": TEXT, "content": TEXT}),
        "llm.get_available_models" => json!({"success": true, "models": ["simulated"]}),
        "maisaka.reply.generate" => json!({"success": true, "text": TEXT, "selected_expression_ids": []}),
        _ => return None,
    })
}

fn of_bot(name: &str) -> Option<Value> {
    Some(match name {
        "message.get_by_time" | "message.get_by_time_in_chat" | "message.get_recent" => {
            json!({"success": true, "messages": []})
        }
        "message.get_by_id" => json!({"success": true, "message": null}),
        "message.count_new" | "emoji.get_count" => json!({"success": true, "count": 0}),
        "message.build_readable" => json!({"success": true, "text": ""}),
        "chat.get_all_streams" | "chat.get_group_streams" | "chat.get_private_streams" => {
            json!({"success": true, "streams": []})
        }
        "chat.get_stream_by_group_id" | "chat.get_stream_by_user_id" => json!({"success": true, "stream": null}),
        "chat.get_avatar" => {
            json!({"success": true, "avatar": {"status": "unsupported", "url": null, "expires_at": 0.0}})
        }
        "chat.open_session" => json!({"success": true, "session_id": "simulated", "stream_id": "simulated"}),
        "person.get_id" | "person.get_id_by_name" => json!({"success": true, "person_id": ""}),
        "person.get_value" | "config.get" => json!({"success": true, "value": null}),
        "emoji.get_random" | "emoji.get_all" => json!({"success": true, "emojis": []}),
        "emoji.get_by_description" => json!({"success": true, "emoji": null}),
        "emoji.get_info" => {
            json!({"success": true, "info": {"current_count": 0, "max_count": 0, "available_emojis": 0}})
        }
        "emoji.get_emotions" => json!({"success": true, "emotions": []}),
        "frequency.get_current_talk_value" | "frequency.get_adjust" => json!({"success": true, "value": 1.0}),
        "knowledge.search" => json!({"success": true, "content": ""}),
        "emoji.register"
        | "emoji.delete"
        | "maisaka.context.resolve_image"
        | "webui.claim_upload"
        | "market.search"
        | "market.get_detail"
        | "market.get_readme" => {
            json!({"success": false, "error": "this is simulated: there is no bot backend"})
        }
        "frequency.set_adjust" | "maisaka.context.append" | "maisaka.proactive.trigger" => json!({"success": true}),
        "render.html2png" => json!({"success": true, "result": {
            "image_base64": PIXEL, "mime_type": "image/png", "width": 1, "height": 1, "simulated": true,
        }}),
        "host.route_message" | "host.update_message_gateway_state" => json!({"success": true, "accepted": true}),
        _ => return None,
    })
}

fn of_statistics(name: &str) -> Option<Value> {
    Some(match name.strip_prefix("statistics.local.")? {
        "models" => json!({"success": true, "models": []}),
        "token_distribution" => json!({"success": true, "distribution": {"items": [], "simulated": true}}),
        "model_trend" | "token_trend" | "message_trend" | "online_time_trend" => {
            json!({"success": true, "series": {"labels": [], "items": [], "simulated": true}})
        }
        _ => return None,
    })
}

/// `lenbot.*`: what the other side takes as it is. What needs a model or a memory is not there.
fn of_lenbot(name: &str, number: u64) -> Option<Value> {
    Some(match name {
        "send" => {
            let report = format!("simulated: nothing was sent ({number})");
            json!({"status": "simulated", "report": report, "message_ids": []})
        }
        "messages_between" | "recent_messages" | "owners" => json!([]),
        "message" | "emit_event" => Value::Null,
        _ => return None,
    })
}

/// Equal texts have equal vectors of length 1.
fn embedding(payload: &JsonText) -> Value {
    let payload = payload.to::<Value>().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match payload.get("texts").and_then(Value::as_array) {
        Some(texts) => {
            let results: Vec<Value> = texts
                .iter()
                .map(|item| json!({"success": true, "text": text(item), "embedding": vector(&text(item)), "model_name": "simulated"}))
                .collect();
            json!({"success": true, "results": results, "model_name": "simulated"})
        }
        None => {
            let text = payload.get("text").map(text).unwrap_or_default();
            json!({"success": true, "embedding": vector(&text), "model_name": "simulated"})
        }
    }
}

fn vector(text: &str) -> Vec<f64> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let mut next = move || {
        hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(hash >> 32).unwrap_or(0)) / f64::from(u32::MAX) - 0.5
    };
    let values: Vec<f64> = (0..DIMENSIONS).map(|_| next()).collect();
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.iter().map(|value| value / length).collect()
}
