//! LenBot plugins that cannot be loaded: each says why, and leaves the others up.

use serde_json::json;
use toolyard::{CallStatus, ProviderState};
use toolyard_tests::HANG;

use super::fixture::Bot;

const HEAD: &str = "from len_bot.plugin import Invocation, Plugin, tool\n";

/// Code whose one tool has this method.
fn with_tool(method: &str) -> String {
    format!("{HEAD}class P(Plugin):\n    @tool(\"t\", \"d\")\n    {method}\n")
}

fn broken() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let plain = format!("{HEAD}class P(Plugin):\n    pass\n");
    let tools = |first: &str, second: &str| {
        format!(
            "{HEAD}class P(Plugin):\n    @tool({first})\n    async def a(self, ctx): pass\n    {second}\n    async def b(self, ctx): pass\n"
        )
    };
    vec![
        ("no_plugin", HEAD.to_owned(), "", "找到 0 个"),
        ("two_plugins", format!("{plain}class Q(Plugin):\n    pass\n"), "", "找到 2 个"),
        ("no_package", "raise ImportError('missing piece')\n".to_owned(), "", "missing piece"),
        ("leaves", "raise SystemExit(0)\n".to_owned(), "", "SystemExit"),
        ("bad_name", tools("'a b', 'd'", ""), "", "工具名只能使用字母、数字、下划线和连字符，最长 64"),
        ("long_name", tools("'a' * 65, 'd'", ""), "", "最长 64"),
        ("twice", tools("'a', 'd'", "@tool('a', 'd')"), "", "工具名 a 与核心工具或其他插件工具重复"),
        ("two_marks", tools("'a', 'd')\n    @tool('b', 'd'", ""), "", "一个方法只能使用一个入口装饰器"),
        ("not_async", with_tool("def t(self, ctx): pass"), "", "必须是 async 方法"),
        ("untyped", with_tool("async def t(self, ctx, x): pass"), "", "参数 x 缺少类型注解"),
        ("variadic", with_tool("async def t(self, ctx, **x: int): pass"), "", "参数 x 必须是普通具名参数"),
        ("positional", with_tool("async def t(self, ctx, x: int, /): pass"), "", "参数 x 必须是普通具名参数"),
        (
            "reserved",
            with_tool("async def t(self, ctx, source_message_id: str): pass"),
            "",
            "不能声明 source_message_id",
        ),
        ("unknown_type", with_tool("async def t(self, ctx, x: 'Nowhere'): pass"), "", "类型注解不能解析"),
        ("absolute_guide", plain.clone(), "[model]\ninstructions = \"/etc/hostname\"\n", "必须是相对路径"),
        ("outer_guide", plain.clone(), "[model]\ninstructions = \"../x.md\"\n", "不能含 .."),
        ("linked_guide", plain.clone(), "[model]\ninstructions = \"out.md\"\n", "指向插件目录以外"),
        ("no_guide", plain.clone(), "[model]\ninstructions = \"none.md\"\n", "不能读取"),
        (
            "unconfigured",
            plain.clone(),
            "[config.a]\ntype = \"string\"\n[config.b]\ntype = \"url\"\n",
            "缺少必填配置：a、b",
        ),
        ("other_interface", plain.clone(), "", "interface 2 is not supported"),
        (
            "bad_start",
            format!("{plain}    async def start(self):\n        raise OSError('port taken')\n"),
            "",
            "OSError: port taken",
        ),
        (
            "bad_create",
            format!("{plain}    def __init__(self, ctx):\n        raise ValueError('bad value')\n"),
            "",
            "bad value",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_plugin_that_cannot_be_loaded_says_why_and_leaves_the_others_up() {
    let bot = Bot::new();
    let good = bot.write("good", &with_tool("async def t(self, ctx) -> str: return 'here'"), "");
    bot.launch("good", &good, json!({})).await;
    let cases = broken();
    for (name, code, manifest, _) in &cases {
        let path = bot.write(name, code, manifest);
        match *name {
            "linked_guide" => std::os::unix::fs::symlink("/etc/hostname", path.join("out.md")).unwrap(),
            "other_interface" => {
                let text = std::fs::read_to_string(path.join("plugin.toml")).unwrap();
                std::fs::write(path.join("plugin.toml"), text.replace("interface = 1", "interface = 2")).unwrap();
            }
            _ => {}
        }
        bot.launch(name, &path, json!({})).await;
    }
    bot.registry.wait_started(HANG).await;
    for (name, _, _, expected) in &cases {
        let reason = bot.reason(name).unwrap_or_default();
        assert!(reason.contains(expected), "{name}: {reason}");
    }
    let providers = bot.registry.providers();
    let good = providers.iter().find(|provider| &*provider.name == "good").unwrap();
    assert_eq!(good.state, ProviderState::Up, "{:?}", good.reason);
    assert_eq!(bot.text("t", json!({})).await, (CallStatus::Ok, "here".to_owned()));
    bot.registry.close(std::time::Duration::from_secs(5)).await;
}
