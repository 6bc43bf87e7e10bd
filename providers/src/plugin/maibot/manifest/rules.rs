//! The rules of a manifest, one function a part of it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::fields::{Faults, Fields};
use super::{Manifest, ManifestFault, Package};
use crate::plugin::maibot::config::MaiBotConfig;
use crate::plugin::maibot::version::{Admission, NoVersion, Version, VersionRange};

/// Keys that a manifest may have.
const KEYS: [&str; 19] = [
    "$schema",
    "author",
    "capabilities",
    "changelog",
    "dependencies",
    "description",
    "display",
    "host_application",
    "i18n",
    "id",
    "license",
    "llm_providers",
    "manifest_version",
    "name",
    "plugin_type",
    "sdk",
    "type",
    "urls",
    "version",
];
/// Characters of an id, which names folders.
const MAX_ID: usize = 128;

/// Checks everything, so that an author learns of all faults at once.
pub(super) fn check(document: &Value, config: &MaiBotConfig) -> Result<Manifest, Vec<ManifestFault>> {
    let mut faults = Faults::default();
    let Value::Object(map) = document else {
        faults.add("", "the manifest must be a JSON object");
        return Err(faults.0);
    };
    let fields = Fields::root(map);
    if !check_manifest_version(&fields, &mut faults) {
        return Err(faults.0);
    }
    let mut warnings = Vec::new();
    for key in fields.others(&KEYS) {
        faults.add(key, "is no key of a manifest");
    }
    let id = id(&fields, &mut faults);
    let version = fields.text("version", &mut faults).and_then(|word| version("version", word, &mut faults));
    let name = fields.text("name", &mut faults);
    fields.text("description", &mut faults);
    fields.text("license", &mut faults);
    check_author(&fields, &mut faults, &mut warnings);
    check_urls(&fields, &mut faults);
    check_host(&fields, config, &mut faults, &mut warnings);
    check_sdk(&fields, config, &mut faults);
    let capabilities = capabilities(&fields, &mut faults);
    if let Some(i18n) = fields.object("i18n", &mut faults) {
        i18n.text("default_locale", &mut faults);
    }
    let (packages, plugins) = dependencies(&fields, id.unwrap_or_default(), &mut faults);
    fields.list("llm_providers", &mut faults);
    let plugin_type = plugin_type(&fields, &mut faults);
    match (id, version, name, faults.0) {
        (Some(id), Some(version), Some(name), faults) if faults.is_empty() => Ok(Manifest {
            id: id.to_owned(),
            version,
            name: name.to_owned(),
            plugin_type: plugin_type.to_owned(),
            capabilities,
            packages,
            plugins,
            warnings,
        }),
        (.., faults) => Err(faults),
    }
}

/// Whether the rest can be read by these rules.
fn check_manifest_version(fields: &Fields<'_>, faults: &mut Faults) -> bool {
    const KEY: &str = "manifest_version";
    match fields.get(KEY).map(|value| (value, value.as_u64())) {
        Some((_, Some(2))) => true,
        Some((_, Some(1))) => {
            faults.add(
                KEY,
                "is 1, the form of MaiBot before 1.0; write 2 and add `id`, `urls.repository`, \
                 `host_application.min_version` and `.max_version`, `sdk.min_version` and `.max_version`, \
                 `capabilities` and `i18n.default_locale`; `repository_url` and `homepage_url` move into `urls`, \
                 `keywords`, `categories` and `plugin_info` go",
            );
            false
        }
        Some((other, _)) => {
            faults.add(KEY, format!("must be 2, not {other}"));
            false
        }
        None => {
            faults.add(KEY, "is missing; a manifest of today has 2 there");
            false
        }
    }
}

/// Letters, digits and `_` in parts that `.` or `-` joins, two parts at least.
fn id<'a>(fields: &Fields<'a>, faults: &mut Faults) -> Option<&'a str> {
    let id = fields.text("id", faults)?;
    let mut parts = id.split(['.', '-']);
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if id.len() <= MAX_ID && parts.clone().count() >= 2 && parts.all(is_part) {
        return Some(id);
    }
    faults.add(
        "id",
        format!(
            "`{}` must be parts of letters, digits and `_`, joined by `.` or `-`, such as `author.plugin-name`",
            short(id)
        ),
    );
    None
}

fn version(key: &str, word: &str, faults: &mut Faults) -> Option<Version> {
    word.parse().map_err(|error: NoVersion| faults.add(key, error.to_string())).ok()
}

fn check_author(fields: &Fields<'_>, faults: &mut Faults, warnings: &mut Vec<String>) {
    let Some(author) = fields.object("author", faults) else { return };
    author.text("name", faults);
    if let Some(url) = author.text("url", faults) {
        check_url(&author.path("url"), url, faults);
    }
    warn_of_others(&author, &["name", "url"], warnings);
}

fn check_urls(fields: &Fields<'_>, faults: &mut Faults) {
    let Some(urls) = fields.object("urls", faults) else { return };
    urls.text("repository", faults);
    for key in ["repository", "homepage", "documentation", "issues"] {
        // Authors leave what they have not got as an empty text.
        let url = urls.get(key).and_then(Value::as_str).map(str::trim).filter(|url| !url.is_empty());
        if let Some(url) = url {
            check_url(&urls.path(key), url, faults);
        }
    }
}

fn check_url(key: &str, url: &str, faults: &mut Faults) {
    let is_web =
        ["http://", "https://"].iter().any(|scheme| url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    if !is_web || url.contains(char::is_whitespace) {
        faults.add(key, "must be an address that begins with http:// or https://");
    }
}

fn check_host(fields: &Fields<'_>, config: &MaiBotConfig, faults: &mut Faults, warnings: &mut Vec<String>) {
    const KEY: &str = "host_application";
    let Some(range) = range(fields, KEY, faults, warnings) else { return };
    match config.host_version.within(range) {
        Admission::Inside(_) => {}
        Admission::NewerPatch(version) => {
            warnings.push(format!("`{KEY}` admits MaiBot {range}; {version}, which is claimed, is a newer patch of it"));
        }
        Admission::Outside => faults.add(
            KEY,
            format!(
                "admits MaiBot {range}, and {} is claimed; set `host_version` to a version in that range to load the plugin \
                 all the same",
                config.host_version
            ),
        ),
    }
}

fn check_sdk(fields: &Fields<'_>, config: &MaiBotConfig, faults: &mut Faults) {
    const KEY: &str = "sdk";
    let Some(range) = range(fields, KEY, faults, &mut Vec::new()) else { return };
    if !config.sdk_version.strictly_within(range) {
        let claimed = &config.sdk_version;
        faults.add(KEY, format!("admits the SDK {range}, and {claimed} is claimed; `sdk_version` claims another"));
    }
}

fn range(fields: &Fields<'_>, key: &str, faults: &mut Faults, warnings: &mut Vec<String>) -> Option<VersionRange> {
    let object = fields.object(key, faults)?;
    warn_of_others(&object, &["min_version", "max_version"], warnings);
    let mut end = |end: &str| {
        let word = object.text(end, faults)?;
        version(&object.path(end), word, faults)
    };
    let (min, max) = (end("min_version"), end("max_version"));
    let range = VersionRange { min: min?, max: max? };
    if range.min > range.max {
        faults.add(key, format!("is the empty range {range}"));
        return None;
    }
    Some(range)
}

fn capabilities(fields: &Fields<'_>, faults: &mut Faults) -> BTreeSet<String> {
    const KEY: &str = "capabilities";
    fields.get(KEY).is_none().then(|| faults.missing(KEY));
    let mut capabilities = BTreeSet::new();
    for (place, value) in fields.list(KEY, faults) {
        match value.as_str().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) => {
                capabilities.insert(name.to_owned());
            }
            None => faults.add(place, "must be the name of a capability, such as `send.text`"),
        }
    }
    capabilities
}

fn dependencies(fields: &Fields<'_>, own_id: &str, faults: &mut Faults) -> (Vec<Package>, Vec<String>) {
    let (mut packages, mut plugins) = (Vec::new(), Vec::new());
    for (place, value) in fields.list("dependencies", faults) {
        let Some(dependency) = Fields::item(place, value, faults) else { continue };
        let version_spec = dependency.get("version_spec").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        match dependency.text("type", faults) {
            Some("python_package") => {
                let name = dependency.text("name", faults).map(str::to_owned);
                packages.extend(name.map(|name| Package { name, version_spec }));
            }
            Some("plugin") => match dependency.text("id", faults) {
                Some(id) if id == own_id => faults.add(dependency.path("id"), "is the plugin itself"),
                id => plugins.extend(id.map(str::to_owned)),
            },
            Some(_) => faults.add(dependency.path("type"), "must be `plugin` or `python_package`"),
            None => {}
        }
    }
    (packages, plugins)
}

fn plugin_type<'a>(fields: &Fields<'a>, faults: &mut Faults) -> &'a str {
    let (long, short) = (fields.optional_text("plugin_type", faults), fields.optional_text("type", faults));
    if let (Some(long), Some(short)) = (long, short)
        && long != short
    {
        faults.add("type", format!("is `{short}`, and `plugin_type` is `{long}`; one is enough"));
    }
    long.or(short).unwrap_or("extension")
}

/// Inside its parts a manifest may say more than is read; it is told, for it may be a misspelling.
fn warn_of_others(fields: &Fields<'_>, known: &[&str], warnings: &mut Vec<String>) {
    warnings.extend(fields.others(known).map(|key| format!("`{}` is not read", fields.path(key))));
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}
