use super::*;
use crate::plugin::capability::table::find;

fn answer(name: &str, text: &str) -> Result<String, String> {
    let answer = normalise(find(name).unwrap(), JsonText::parse(text).unwrap());
    answer.map(|answer| answer.as_str().to_owned()).map_err(|refusal| {
        assert_eq!(refusal.code, "E_CAPABILITY_FAILED");
        refusal.message
    })
}

#[test]
fn exact_answers_are_passed_on_to_the_letter() {
    for (name, text) in [
        ("message.get_recent", r#"{"success":true,"messages":[{"id":12345678901234567890123}],"simulated":true}"#),
        ("person.get_id", r#"{"success":true,"person_id":null}"#),
        ("send.text", r#"{"success":false,"error":"muted"}"#),
        ("config.get", r#"{"success":true,"value":{"success":true}}"#),
    ] {
        assert_eq!(answer(name, text).unwrap(), text, "{name}");
    }
}

#[test]
fn a_lazy_success_never_reaches_a_plugin_as_its_value() {
    let message = answer("person.get_id", r#"{"success":true}"#).unwrap_err();
    assert_eq!(message, "the bot backend's answer to `person.get_id` has no `person_id`");
    let message = answer("llm.generate", r#"{"success":true,"text":"hi"}"#).unwrap_err();
    assert_eq!(message, "the bot backend's answer to `llm.generate` has no `response`");
    let message = answer("llm.embed", r#"{"success":true}"#).unwrap_err();
    assert_eq!(message, "the bot backend's answer to `llm.embed` has no `embedding` or `results`");
    assert!(answer("send.text", "{}").unwrap_err().contains("`success` or `sent`"));
    assert!(answer("llm.generate", "null").unwrap_err().contains("`response`"));
}

#[test]
fn a_failure_is_raised_with_the_backends_reason() {
    let failed = answer("message.get_by_id", r#"{"success":false,"error":"no such chat"}"#).unwrap_err();
    assert_eq!(failed, "`message.get_by_id` failed: no such chat");
    let failed = answer("message.get_by_id", r#"{"success":false,"message":null}"#).unwrap_err();
    assert_eq!(failed, "`message.get_by_id` failed, and the bot backend does not say why");
}

#[test]
fn bare_values_are_put_under_their_key() {
    for (name, bare, wrapped) in [
        ("message.get_recent", "[]", r#"{"success":true,"messages":[]}"#),
        ("message.count_new", "3", r#"{"success":true,"count":3}"#),
        ("message.get_by_id", "null", r#"{"success":true,"message":null}"#),
        ("chat.get_stream_by_group_id", r#"{"stream_id":"s"}"#, r#"{"success":true,"stream":{"stream_id":"s"}}"#),
        ("chat.get_all_streams", r#"{"streams":[]}"#, r#"{"success":true,"streams":[]}"#),
        ("person.get_id", r#""p1""#, r#"{"success":true,"person_id":"p1"}"#),
        ("send.text", "true", r#"{"success":true,"sent":true}"#),
        ("send.text", r#""m1""#, r#"{"success":true,"sent":true,"message_id":"m1"}"#),
        ("send.text", r#"{"sent":false}"#, r#"{"success":false,"sent":false}"#),
        ("llm.generate", r#""hi""#, r#"{"success":true,"response":"hi","reasoning":"","model_name":""}"#),
        ("emoji.delete", "false", r#"{"success":false}"#),
        ("host.route_message", "true", r#"{"success":true,"accepted":true}"#),
    ] {
        assert_eq!(answer(name, bare).unwrap(), wrapped, "{name}: {bare}");
    }
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    let message = answer("message.get_recent", r#"{"success":true,"messages":{}}"#).unwrap_err();
    let expected = "the bot backend answered `message.get_recent` with an object; it has to be a list under `messages`";
    assert_eq!(message, expected);
    for (name, text) in [
        ("message.get_recent", r#"{"items":[]}"#),
        ("message.count_new", r#""3""#),
        ("person.get_id", "7"),
        ("chat.get_stream_by_user_id", "[]"),
        ("send.image", "null"),
        ("emoji.register", "7"),
    ] {
        assert!(answer(name, text).is_err(), "{name}: {text}");
    }
}

#[test]
fn what_plugins_read_without_asking_is_filled_in() {
    let generated = answer("llm.generate_with_tools", r#"{"success":true,"tool_calls":[1]}"#).unwrap();
    assert_eq!(generated, r#"{"success":true,"tool_calls":[1],"response":"","reasoning":"","model_name":""}"#);
    let failed = answer("llm.generate", r#"{"success":false,"error":"quota"}"#).unwrap();
    assert_eq!(failed, r#"{"success":false,"error":"quota","response":"","reasoning":"","model_name":""}"#);
}
