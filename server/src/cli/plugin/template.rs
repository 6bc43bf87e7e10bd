//! The plugins that `plugin new` writes.

use super::PluginDialect;

/// What stands for the plugin's name in a template.
const NAME: &str = "__NAME__";
/// What stands for its id, which is longer in MaiBot.
const ID: &str = "__ID__";

const MAIBOT: [(&str, &str); 3] = [
    ("_manifest.json", include_str!("templates/maibot/_manifest.json")),
    ("plugin.py", include_str!("templates/maibot/plugin.py")),
    ("README.md", include_str!("templates/maibot/README.md")),
];
const LENBOT: [(&str, &str); 2] = [
    ("plugin.toml", include_str!("templates/lenbot/plugin.toml")),
    ("__init__.py", include_str!("templates/lenbot/__init__.py")),
];
const XBOT: [(&str, &str); 2] =
    [("plugin.json", include_str!("templates/xbot/plugin.json")), ("main.py", include_str!("templates/xbot/main.py"))];
const HTTP: &str = include_str!("templates/http/plugin.toml");

/// The files of a plugin, by name.
pub(super) fn files(dialect: PluginDialect, name: &str) -> Vec<(String, String)> {
    let id = if dialect == PluginDialect::MaiBot && !name.contains(['.', '-']) {
        format!("example.{name}")
    } else {
        name.to_owned()
    };
    let filled = |text: &str| text.replace(NAME, name).replace(ID, &id);
    let all = |files: &[(&str, &str)]| files.iter().map(|(file, text)| ((*file).to_owned(), filled(text))).collect();
    match dialect {
        PluginDialect::MaiBot => all(&MAIBOT),
        PluginDialect::LenBot => all(&LENBOT),
        PluginDialect::Xbot => all(&XBOT),
        PluginDialect::Http => vec![(format!("{name}.toml"), filled(HTTP))],
    }
}

/// What its author does next.
pub(super) fn next_steps(dialect: PluginDialect, path: &str) -> Vec<String> {
    let path = quoted(path);
    let call = r#"--call roll_dice --arguments '{"sides": 6}'"#;
    match dialect {
        PluginDialect::MaiBot => vec![
            "  put your name, addresses and licence into _manifest.json".to_owned(),
            "  pip install maibot-plugin-sdk          in the Python that --python names".to_owned(),
            format!("  toolyard plugin check {path} --python python3 {call}"),
        ],
        PluginDialect::LenBot => vec![
            "  put your name and licence into plugin.toml".to_owned(),
            "  pip install pydantic                   in the Python that --python names".to_owned(),
            format!("  toolyard plugin check {path} --python python3 {call}"),
        ],
        PluginDialect::Xbot => vec![format!("  toolyard plugin check {path} {call}")],
        PluginDialect::Http => vec![
            "  put the address of your service into the document".to_owned(),
            format!(r#"  toolyard plugin check {path} --call rollDice --arguments '{{"sides": 6}}'"#),
        ],
    }
}

/// A path as a shell takes it.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if path.chars().all(is_plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
