//! Histograms as Prometheus reads them: its text format, version 0.0.4.

use std::fmt::{Display, Write};

use metrics::Key;

use super::Family;

/// Writes all series of a name. A name without series, which was only described, is left out.
pub(super) fn write_family(text: &mut String, name: &str, family: &Family, bounds: &[f64]) {
    if family.by_labels.is_empty() {
        return;
    }
    if let Some(description) = &family.description {
        text.push_str("# HELP ");
        text.push_str(name);
        text.push(' ');
        escape(text, description, false);
        text.push('\n');
    }
    writeln!(text, "# TYPE {name} histogram").ok();
    for (labels, series) in &family.by_labels {
        let snapshot = series.snapshot();
        let separator = if labels.is_empty() { "" } else { "," };
        let infinity = std::iter::once("+Inf".to_owned());
        let bounds = bounds.iter().map(f64::to_string).chain(infinity);
        for (bound, count) in bounds.zip(&snapshot.cumulative) {
            writeln!(text, "{name}_bucket{{{labels}{separator}le=\"{bound}\"}} {count}").ok();
        }
        write_value(text, name, "sum", labels, snapshot.sum);
        // Of the buckets, not counted beside them: the two must not differ.
        write_value(text, name, "count", labels, snapshot.cumulative.last().copied().unwrap_or_default());
    }
    text.push('\n');
}

fn write_value(text: &mut String, name: &str, suffix: &str, labels: &str, value: impl Display) {
    match labels {
        "" => writeln!(text, "{name}_{suffix} {value}"),
        labels => writeln!(text, "{name}_{suffix}{{{labels}}} {value}"),
    }
    .ok();
}

/// A name with `_` in the place of what Prometheus does not take.
pub(super) fn metric_name(name: &str) -> String {
    legal(name, |c| c == '_' || c == ':')
}

/// The labels of a key as they are written between braces, sorted.
pub(super) fn labels(key: &Key) -> String {
    let mut labels: Vec<_> = key.labels().map(|label| (legal(label.key(), |c| c == '_'), label.value())).collect();
    labels.sort();
    let mut text = String::new();
    for (name, value) in labels {
        let separator = if text.is_empty() { "" } else { "," };
        write!(text, "{separator}{name}=\"").ok();
        escape(&mut text, value, true);
        text.push('"');
    }
    text
}

fn legal(name: &str, is_sign: impl Fn(char) -> bool) -> String {
    let is_legal = |place, c: char| is_sign(c) || c.is_ascii_alphabetic() || (place > 0 && c.is_ascii_digit());
    name.chars().enumerate().map(|(place, c)| if is_legal(place, c) { c } else { '_' }).collect()
}

fn escape(text: &mut String, raw: &str, is_label: bool) {
    for c in raw.chars() {
        match c {
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '"' if is_label => text.push_str("\\\""),
            c => text.push(c),
        }
    }
}
