use super::*;

fn answer(status: u16, content_type: &str, body: &[u8]) -> Answer {
    let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
    Answer { status: StatusCode::from_u16(status).unwrap(), content_type, body: body.to_vec() }
}

fn json(status: u16, body: &str) -> Answer {
    answer(status, "application/json; charset=utf-8", body.as_bytes())
}

fn pointer(text: &str) -> Option<Pointer> {
    Some(Pointer::parse(text).unwrap())
}

fn structured(result: &ToolExecutionResult) -> Option<&str> {
    result.structured_content.as_ref().map(JsonText::as_str)
}

#[test]
fn json_is_structured_content_and_asks_for_nothing() {
    let body = r#"{"id":123456789012345678901234567890,"stop_after_execution":true,"success":false,"content":"x"}"#;
    let result = ResponsePlan::default().result(json(200, body), Locale::En);
    assert!(result.success && result.content.is_empty() && !result.effects.stop_after_execution);
    assert_eq!(structured(&result), Some(body));
    assert_eq!(result.metadata["http_status"], 200);
}

#[test]
fn text_and_constants_are_mapped() {
    let plan = ResponsePlan {
        text: pointer("/message"),
        pick: Some(Pick::At(Pointer::parse("/data").unwrap())),
        add: vec![("source".to_owned(), JsonText::string("食堂系统"))],
        ..ResponsePlan::default()
    };
    let result = plan.result(json(200, r#"{"message":"好","data":{"n":1.50}}"#), Locale::En);
    assert_eq!((result.content.as_str(), structured(&result)), ("好", Some(r#"{"n":1.50,"source":"食堂系统"}"#)));
    let result = plan.result(json(200, r#"{"data":[1]}"#), Locale::En);
    assert_eq!(structured(&result), Some(r#"{"result":[1],"source":"食堂系统"}"#));
    let result = plan.result(json(200, r#"{"other":1}"#), Locale::En);
    assert!(!result.success && result.error_message.unwrap().contains("nothing of what it should have"));
}

#[test]
fn the_content_type_decides_what_a_body_is() {
    let plan = ResponsePlan::default();
    let text = plan.result(answer(200, "text/plain", "\u{feff}你好".as_bytes()), Locale::En);
    assert_eq!((text.content.as_str(), structured(&text)), ("你好", None));
    let untyped = plan.result(answer(200, "", b"[1]"), Locale::En);
    assert_eq!(structured(&untyped), Some("[1]"));
    let picture = plan.result(answer(200, "image/png", &[1, 2, 3]), Locale::En);
    assert_eq!(picture.content_items[0].image_base64(), Some(("image/png", "AQID")));
    let empty = plan.result(answer(204, "", b""), Locale::En);
    assert!(empty.success && empty.content.is_empty() && empty.structured_content.is_none());
    for (content_type, body, said) in [
        ("application/json", b"<html>".as_slice(), "not JSON"),
        ("application/zip", b"PK", "application/zip"),
        ("text/html; charset=gbk", &[0xc4, 0xe3], "gbk"),
    ] {
        let refused = plan.result(answer(200, content_type, body), Locale::En);
        assert!(!refused.success && refused.error_message.as_ref().unwrap().contains(said), "{refused:?}");
    }
    let plan = ResponsePlan { media: vec!["application/zip".to_owned()], ..ResponsePlan::default() };
    let zip = plan.result(answer(200, "application/zip", b"PK"), Locale::En);
    assert_eq!(zip.content_items[0].content_type, ContentType::Binary);
    let plan = ResponsePlan { body: BodyKind::Json, ..ResponsePlan::default() };
    assert_eq!(structured(&plan.result(answer(200, "text/html", b"{}"), Locale::En)), Some("{}"));
}

#[test]
fn failures_have_the_documents_message_then_the_services_own_then_the_status() {
    let plan = ResponsePlan {
        success: vec![StatusRange::parse("2xx").unwrap(), StatusRange::parse("401").unwrap()],
        error: pointer("/error/message"),
        errors: vec![(StatusRange::parse("403").unwrap(), "校园卡登录已失效".to_owned())],
        ..ResponsePlan::default()
    };
    let body = r#"{"error":{"message":"no such\ncanteen"}}"#;
    assert_eq!(plan.result(json(403, body), Locale::En).error_message.unwrap(), "校园卡登录已失效");
    assert_eq!(plan.result(json(404, body), Locale::En).error_message.unwrap(), "no such canteen");
    assert_eq!(
        plan.result(json(500, "oops"), Locale::En).error_message.unwrap(),
        "the service answered 500 Internal Server Error"
    );
    assert_eq!(
        plan.result(json(500, "{}"), Locale::Zh).error_message.unwrap(),
        "服务返回错误状态：500 Internal Server Error"
    );
    let recoverable = plan.result(json(401, r#"{"status":"verification_required"}"#), Locale::En);
    assert!(recoverable.success, "a status that the document takes is a result");
    let long = plan.result(json(404, &format!(r#"{{"error":{{"message":"{}"}}}}"#, "x".repeat(9000))), Locale::En);
    assert_eq!(long.error_message.unwrap().len(), MAX_MESSAGE);
}

#[test]
fn statuses_are_exact_or_of_a_kind() {
    let range = StatusRange::parse("4xx").unwrap();
    assert!(range.holds(StatusCode::NOT_FOUND) && !range.holds(StatusCode::BAD_GATEWAY));
    for text in ["", "0xx", "6xx", "99", "600", "x", "-1xx", "4XX "] {
        assert_eq!(StatusRange::parse(text), None, "{text}");
    }
}
