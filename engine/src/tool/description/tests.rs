use serde_json::json;

use super::*;

/// The parameters of seed 000's example.
fn search_schema() -> Value {
    json!({"type": "object", "properties": {
        "query": {"type": "string", "description": "搜索关键词"},
        "limit": {"type": "integer", "description": "返回结果数量上限", "default": 5},
    }, "required": ["query"]})
}

const GENERATED: &str =
    "参数说明：\n- query：string，必填。搜索关键词\n- limit：integer，可选。返回结果数量上限。默认值：5";

#[test]
fn parameters_are_described_in_the_seeds_words() {
    assert_eq!(parameter_text(&search_schema()), GENERATED);
}

#[test]
fn each_parameter_takes_one_line_whatever_it_is() {
    let cases = [
        (json!({"type": "number"}), "- p：number，可选"),
        (json!({"type": "number", "default": 0.5}), "- p：number，可选。默认值：0.5"),
        (
            json!({"type": "boolean", "description": "开关。", "default": false}),
            "- p：boolean，可选。开关。默认值：false",
        ),
        (
            json!({"type": "string", "description": "模式", "enum": ["a", "b"], "default": "a"}),
            "- p：string，可选。模式。可选值：a、b。默认值：a",
        ),
        (json!({"type": "string", "default": ""}), "- p：string，可选。默认值：\"\""),
        (json!({"type": ["string", "null"], "description": "两\n行"}), "- p：string|null，可选。两 行"),
        (json!({"$ref": "#/$defs/P"}), "- p：any，可选"),
        (json!(true), "- p：any，可选"),
    ];
    for (property, expected) in cases {
        let schema = json!({"type": "object", "properties": {"p": property}});
        assert_eq!(parameter_text(&schema), format!("参数说明：\n{expected}"));
    }
    for schema in [json!({"type": "object", "properties": {}}), json!({}), json!(null), json!({"properties": []})] {
        assert_eq!(parameter_text(&schema), "", "{schema}");
    }
}

#[test]
fn the_description_follows_the_order_of_the_seed() {
    let cases = [
        (("search", " 搜索互联网获取信息 ", "别的", ""), ("搜索互联网获取信息", "搜索互联网获取信息")),
        (("search_web", "", "搜索互联网获取信息", ""), ("搜索互联网获取信息", "搜索互联网获取信息")),
        (("search", "  ", "\n", ""), ("工具 search", "工具 search")),
        (
            ("search", "搜索互联网获取信息", "", "使用搜索引擎查找相关信息。"),
            ("搜索互联网获取信息", &*format!("搜索互联网获取信息\n\n{GENERATED}\n\n使用搜索引擎查找相关信息。")),
        ),
        (
            (
                "search",
                "搜索互联网获取信息",
                "",
                "使用搜索引擎查找相关信息。参数说明：\n- query：string，必填。搜索关键词。\n- limit：integer，可选。返回结果数量上限。",
            ),
            (
                "搜索互联网获取信息",
                "搜索互联网获取信息\n\n使用搜索引擎查找相关信息。参数说明：\n- query：string，必填。搜索关键词。\n- limit：integer，可选。返回结果数量上限。",
            ),
        ),
        (("search", "搜索", "", "搜索。不要用于聊天。参数说明：无"), ("搜索", "搜索。不要用于聊天。参数说明：无")),
        (("search", "搜索", "", "搜索"), ("搜索", "搜索")),
    ];
    for ((name, brief_description, description, detailed_description), (brief, full)) in cases {
        let text = DeclaredText { name, brief_description, description, detailed_description };
        let made = ToolText::declared(&text, &search_schema());
        assert_eq!((made.brief.as_str(), made.full.as_str()), (brief, full));
    }
}

#[test]
fn the_whole_description_stands_in_for_a_summary() {
    let summed = ToolText::layered(Some("查询本群最近几小时的消息数"), "统计当前群指定时段的消息数量。");
    assert_eq!(
        (summed.brief.as_str(), summed.full.as_str()),
        ("查询本群最近几小时的消息数", "统计当前群指定时段的消息数量。")
    );
    for summary in [None, Some(" ")] {
        let plain = ToolText::layered(summary, "统计消息。按时段。");
        assert_eq!((plain.brief.as_str(), plain.full.as_str()), ("统计消息。按时段。", "统计消息。按时段。"));
    }
}

#[test]
fn no_language_stands_in_for_another() {
    let chinese = LocalText { zh: Some("校园卡余额".to_owned()), en: Some(" ".to_owned()) };
    assert_eq!((chinese.get(Locale::Zh), chinese.get(Locale::En)), (Some("校园卡余额"), None));
    assert!(!chinese.is_empty() && LocalText::default().is_empty());
}

#[test]
fn a_summary_for_people_is_one_short_line() {
    assert_eq!(check_summary(&"字".repeat(80)), Ok(()));
    assert_eq!(check_summary(&"字".repeat(81)), Err(SummaryError::Long { characters: 81 }));
    assert_eq!(check_summary("a\nb"), Err(SummaryError::Lines));
    assert_eq!(check_summary(" "), Err(SummaryError::Empty));
}
