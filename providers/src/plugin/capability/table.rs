//! The published table of capabilities: who answers each, and which keys its answer has.
//!
//! `docs/capabilities.md` shows the same rows; a test holds the two together.

/// One row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Capability {
    pub(super) name: &'static str,
    pub(super) by: By,
    pub(super) reply: Reply,
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Toolyard itself.
    Toolyard,
    /// The bot backend.
    Bot,
}

/// What the plugin's side makes of an answer, and so what the answer must have.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    /// The plugin gets what stands under this key.
    Key(&'static str, Shape),
    /// The plugin gets a boolean, or `sent` and `message_id` when it asks for details.
    Done,
    /// The plugin gets the whole document.
    Document(Document),
}

/// What a whole document needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document {
    /// A success has one of these. A bare value is put under the first.
    pub(super) one_of: &'static [&'static str],
    /// Put in where they are missing, with their JSON text: plugins read them without asking.
    pub(super) filled: &'static [(&'static str, &'static str)],
}

/// What kind of value stands under a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    List,
    /// An object, or null for "none".
    Object,
    /// Text, or null for "none".
    Text,
    Number,
    Any,
}

use By::{Bot, Toolyard};
use Reply::{Done, Key};
use Shape::{Any, List, Number, Object, Text};

const GENERATED: Reply =
    document(&["response"], &[("response", "\"\""), ("reasoning", "\"\""), ("model_name", "\"\"")]);
const GENERATED_WITH_TOOLS: Reply = document(
    &["response", "tool_calls"],
    &[("response", "\"\""), ("reasoning", "\"\""), ("model_name", "\"\""), ("tool_calls", "[]")],
);
const SUCCESS: Reply = document(&[], &[]);

/// Every capability that is known, by family.
pub(super) const CAPABILITIES: &[Capability] = &[
    row("config.get", Toolyard, Key("value", Any)),
    row("config.get_plugin", Toolyard, Key("value", Object)),
    row("config.get_all", Toolyard, Key("value", Object)),
    row("component.get_all_plugins", Toolyard, Key("plugins", Object)),
    row("component.get_plugin_info", Toolyard, Key("plugin", Object)),
    row("component.get_plugin_config_schema", Toolyard, document(&["schema"], &[])),
    row("component.list_loaded_plugins", Toolyard, Key("plugins", List)),
    row("component.list_registered_plugins", Toolyard, Key("plugins", List)),
    row("component.enable", Toolyard, SUCCESS),
    row("component.disable", Toolyard, SUCCESS),
    row("component.load_plugin", Toolyard, SUCCESS),
    row("component.unload_plugin", Toolyard, SUCCESS),
    row("component.reload_plugin", Toolyard, SUCCESS),
    row("tool.get_definitions", Toolyard, Key("tools", List)),
    row("api.call", Toolyard, Key("result", Any)),
    row("api.get", Toolyard, Key("api", Object)),
    row("api.list", Toolyard, Key("apis", List)),
    row("api.replace_dynamic", Toolyard, SUCCESS),
    row("database.query", Toolyard, Key("result", Any)),
    row("database.save", Toolyard, Key("result", Object)),
    row("database.get", Toolyard, Key("result", Any)),
    row("database.delete", Toolyard, Key("result", Number)),
    row("database.count", Toolyard, Key("count", Number)),
    row("statistics.local.tool_trend", Toolyard, Key("series", Object)),
    row("statistics.local.models", Bot, Key("models", List)),
    row("statistics.local.model_trend", Bot, Key("series", Object)),
    row("statistics.local.token_trend", Bot, Key("series", Object)),
    row("statistics.local.token_distribution", Bot, Key("distribution", Object)),
    row("statistics.local.message_trend", Bot, Key("series", Object)),
    row("statistics.local.online_time_trend", Bot, Key("series", Object)),
    row("send.text", Bot, Done),
    row("send.emoji", Bot, Done),
    row("send.image", Bot, Done),
    row("send.forward", Bot, Done),
    row("send.hybrid", Bot, Done),
    row("send.command", Bot, Done),
    row("send.custom", Bot, Done),
    row("llm.generate", Bot, GENERATED),
    row("llm.generate_with_tools", Bot, GENERATED_WITH_TOOLS),
    row("llm.embed", Bot, document(&["embedding", "results"], &[])),
    row("llm.transcribe_audio", Bot, document(&["text", "content"], &[])),
    row("llm.get_available_models", Bot, Key("models", List)),
    row("message.get_by_time", Bot, Key("messages", List)),
    row("message.get_by_time_in_chat", Bot, Key("messages", List)),
    row("message.get_by_id", Bot, Key("message", Object)),
    row("message.get_recent", Bot, Key("messages", List)),
    row("message.count_new", Bot, Key("count", Number)),
    row("message.build_readable", Bot, Key("text", Text)),
    row("chat.get_all_streams", Bot, Key("streams", List)),
    row("chat.get_group_streams", Bot, Key("streams", List)),
    row("chat.get_private_streams", Bot, Key("streams", List)),
    row("chat.get_stream_by_group_id", Bot, Key("stream", Object)),
    row("chat.get_stream_by_user_id", Bot, Key("stream", Object)),
    row("chat.get_avatar", Bot, Key("avatar", Object)),
    row("chat.open_session", Bot, SUCCESS),
    row("person.get_id", Bot, Key("person_id", Text)),
    row("person.get_id_by_name", Bot, Key("person_id", Text)),
    row("person.get_value", Bot, Key("value", Any)),
    row("emoji.get_random", Bot, Key("emojis", List)),
    row("emoji.get_by_description", Bot, Key("emoji", Object)),
    row("emoji.get_count", Bot, Key("count", Number)),
    row("emoji.get_info", Bot, Key("info", Object)),
    row("emoji.get_emotions", Bot, Key("emotions", List)),
    row("emoji.get_all", Bot, Key("emojis", List)),
    row("emoji.register", Bot, SUCCESS),
    row("emoji.delete", Bot, SUCCESS),
    row("frequency.get_current_talk_value", Bot, Key("value", Number)),
    row("frequency.get_adjust", Bot, Key("value", Number)),
    row("frequency.set_adjust", Bot, Done),
    row("knowledge.search", Bot, Key("content", Any)),
    row("maisaka.context.append", Bot, SUCCESS),
    row("maisaka.context.resolve_image", Bot, document(&["image"], &[])),
    row("maisaka.proactive.trigger", Bot, SUCCESS),
    row("maisaka.reply.generate", Bot, document(&["text"], &[("selected_expression_ids", "[]")])),
    row("render.html2png", Bot, Key("result", Object)),
    row("market.search", Bot, Key("result", Object)),
    row("market.get_detail", Bot, Key("result", Object)),
    row("market.get_readme", Bot, Key("result", Object)),
    row("webui.claim_upload", Bot, Key("upload", Object)),
    row("host.route_message", Bot, document(&["accepted"], &[])),
    row("host.update_message_gateway_state", Bot, document(&["accepted"], &[])),
];

/// The row of a capability; nothing for those that nobody has published.
pub(super) fn find(name: &str) -> Option<&'static Capability> {
    CAPABILITIES.iter().find(|capability| capability.name == name)
}

/// Whether Toolyard has the whole family, so that a name that is not in the table is a mistake.
pub(super) fn is_own_family(name: &str) -> bool {
    let family = name.split('.').next().unwrap_or(name);
    ["config", "component", "tool", "api", "database"].contains(&family)
}

/// Whether a plugin may use it without saying so in its manifest: its own APIs, what MaiBot's plugins reach without a
/// capability, and dialects that have no such list.
pub(super) fn is_free(name: &str) -> bool {
    name == "api.replace_dynamic" || name.starts_with("host.") || name.starts_with("lenbot.")
}

const fn row(name: &'static str, by: By, reply: Reply) -> Capability {
    Capability { name, by, reply }
}

const fn document(one_of: &'static [&'static str], filled: &'static [(&'static str, &'static str)]) -> Reply {
    Reply::Document(Document { one_of, filled })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fmt::Write as _;

    use super::*;

    /// The rows as the document has them.
    fn rendered() -> String {
        let mut text = String::from("| capability | answered by | keys of the answer |\n|---|---|---|\n");
        for Capability { name, by, reply } in CAPABILITIES {
            let by = if *by == Toolyard { "Toolyard" } else { "the bot" };
            writeln!(text, "| `{name}` | {by} | {} |", keys(reply)).unwrap();
        }
        text
    }

    fn keys(reply: &Reply) -> String {
        match reply {
            Key(key, List) => format!("`{key}`: a list"),
            Key(key, Object) => format!("`{key}`: an object, or null"),
            Key(key, Text) => format!("`{key}`: text, or null"),
            Key(key, Number) => format!("`{key}`: a number"),
            Key(key, Any) => format!("`{key}`: any value"),
            Done => "`success`; `sent`, `message_id`".to_owned(),
            Reply::Document(document) => {
                let quoted = |key: &&str| format!("`{key}`");
                let one_of: Vec<String> = document.one_of.iter().map(quoted).collect();
                let filled: Vec<String> =
                    document.filled.iter().map(|(key, value)| format!("`{key}` ({value})")).collect();
                let mut text = String::from("`success`");
                if !one_of.is_empty() {
                    write!(text, "; {}", one_of.join(" or ")).unwrap();
                }
                if !filled.is_empty() {
                    write!(text, "; filled in: {}", filled.join(", ")).unwrap();
                }
                text
            }
        }
    }

    #[test]
    fn the_document_shows_the_table_of_the_code() {
        let document = include_str!("../../../../docs/capabilities.md");
        assert!(document.contains(&rendered()), "docs/capabilities.md needs this table:\n{}", rendered());
    }

    #[test]
    fn each_capability_stands_there_once() {
        let names: BTreeSet<&str> = CAPABILITIES.iter().map(|capability| capability.name).collect();
        assert_eq!(names.len(), CAPABILITIES.len());
    }

    #[test]
    fn texts_that_are_filled_in_are_json() {
        for capability in CAPABILITIES {
            if let Reply::Document(document) = capability.reply {
                for (_, text) in document.filled {
                    serde_json::from_str::<serde_json::Value>(text).unwrap();
                }
            }
        }
    }
}
