//! Documents of declarative plugins: everything that is wrong with one, whatever it costs.

use super::Finding;
use crate::http::{DocumentError, DocumentErrors, DocumentFormat, check_document};

/// Everything that is wrong with a document, with its places. Looks at no secret and connects to nothing.
pub fn lint_document(text: &str, format: DocumentFormat) -> Vec<Finding> {
    check_document(text, format).err().iter().flat_map(DocumentErrors::iter).map(finding).collect()
}

fn finding(error: &DocumentError) -> Finding {
    let place = error.place.map(|(line, column)| format!("{line}:{column}"));
    let path = Some(error.path.clone()).filter(|path| !path.is_empty());
    let place = place.into_iter().chain(path).collect::<Vec<_>>().join(" ");
    let found = Finding::error(code(error), error.message.clone()).at(place);
    match &error.tool {
        Some(tool) => found.of(tool),
        None => found,
    }
}

fn code(error: &DocumentError) -> &'static str {
    let misses = |key: &str| error.message == format!("the key `{key}` is missing");
    if misses("title") {
        "title.missing"
    } else if misses("description") {
        "description.missing"
    } else if misses("effect") {
        "effect.missing"
    } else if error.path.ends_with("/summary") {
        "summary.unfit"
    } else if error.message.contains("camelCase") {
        "name.unfit"
    } else {
        "document.invalid"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_checklist_names_has_a_code_of_its_own() {
        let long = "长".repeat(81);
        let text = format!(
            "plugin = \"p\"\ntitle = \"标题\"\n[[tools]]\nname = \"Bad\"\nsummary = \"{long}\"\n\
             request = {{ url = \"https://example.com/\" }}\n"
        );
        let findings = lint_document(&text, DocumentFormat::Toml);
        let mut codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, ["description.missing", "effect.missing", "name.unfit", "summary.unfit", "title.missing"]);
        assert!(findings.iter().all(|finding| finding.tool.as_deref() == Some("Bad")), "{findings:?}");
    }
}
