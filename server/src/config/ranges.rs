//! Which numbers a configuration may hold. A limit under which nothing can work is a mistake like a misspelt key, and
//! found as early.

use std::ops;

use toml::de::{DeTable, DeValue};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// More of anything that waits or runs cannot be told from a flood.
const MANY: u64 = 1 << 20;

/// Of `[server]`.
const SERVER: [NumberRange; 3] =
    [between("max_body_bytes", KIB, GIB), between("max_requests", 1, MANY), between("shutdown_grace_ms", 0, HOUR)];

/// Of `[limits]`.
const LIMITS: [NumberRange; 17] = [
    between("max_batch_calls", 1, 65_536),
    between("max_argument_bytes", 256, GIB),
    between("max_argument_depth", 1, 100),
    between("max_result_chars", 0, GIB),
    between("max_result_text_bytes", KIB, GIB),
    between("max_result_bytes", KIB, GIB),
    between("max_kept_result_bytes", 0, 1024 * GIB),
    between("kept_result_ttl_ms", 0, 7 * DAY),
    between("max_kept_approvals", 1, MANY),
    between("max_kept_approval_bytes", 0, 1024 * GIB),
    between("kept_approval_ttl_ms", 0, 7 * DAY),
    between("max_in_flight", 1, 16 * MANY),
    between("max_batches", 1, 16 * MANY),
    between("tool_timeout_default_ms", 10, DAY),
    between("max_tools_per_provider", 1, MANY),
    between("max_sessions", 1, 16 * MANY),
    between("session_ttl_ms", 1_000, 365 * DAY),
];

/// Of `[policy]`.
const POLICY: [NumberRange; 8] = [
    between("approvals.timeout_ms", 1_000, 7 * DAY),
    between("approvals.max_pending", 1, MANY),
    between("approvals.max_per_session", 1, MANY),
    between("context.timeout_ms", 1, MINUTE),
    between("context.max_bytes", 1, 1024 * KIB),
    between("discovery.search_limit", 1, 1_000),
    between("retry.max_attempts", 1, 100),
    between("retry.first_wait_ms", 0, MINUTE),
];

/// Of `[backend]`.
const BACKEND: [NumberRange; 3] = [
    between("max_in_flight", 1, MANY),
    between("max_response_bytes", KIB, GIB),
    between("connect_grace_ms", 0, 10 * MINUTE),
];

/// Of `[mcp]`.
const MCP: [NumberRange; 2] = [between("max_sessions", 1, MANY), between("session_idle_ms", 1, DAY)];

/// Of each of `[[providers]]`, whatever its kind: no two kinds mean different things by one key.
pub(super) const PROVIDER: [NumberRange; 28] = [
    between("tool_timeout_ms", 10, DAY),
    between("max_in_flight", 1, MANY),
    between("max_queued", 0, MANY),
    between("start_timeout_ms", 10, HOUR),
    between("drain_ms", 0, HOUR),
    between("close_timeout_ms", 10, HOUR),
    between("breaker.failures", 0, MANY),
    between("breaker.open_ms", 10, DAY),
    between("breaker.max_open_ms", 10, DAY),
    between("breaker.reset_after_ms", 10, 7 * DAY),
    zero_or("limits.memory_bytes", MIB, 1 << 50),
    zero_or("limits.processes", 1, 1 << 22),
    zero_or("limits.open_files", 16, MANY),
    zero_or("limits.file_bytes", KIB, 1 << 50),
    between("limits.nice", 0, 19),
    between("health_interval_ms", 100, HOUR),
    between("health_timeout_ms", 100, HOUR),
    between("cancel_grace_ms", 10, HOUR),
    between("unload_ms", 10, HOUR),
    between("max_frame_bytes", 64 * KIB, GIB),
    between("max_requests", 1, 65_536),
    between("max_line_bytes", 4 * KIB, GIB),
    between("deactivate_grace_ms", 10, HOUR),
    between("max_response_bytes", KIB, GIB),
    between("max_message_bytes", KIB, GIB),
    between("max_sessions", 1, 10_000),
    between("session_idle_ms", 1, DAY),
    between("idle_timeout_ms", 1, DAY),
];

/// Which numbers a key may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumberRange {
    /// `table.key` where it stands in a table of its own.
    key: &'static str,
    least: u64,
    most: u64,
    /// Whether 0 means that there is no limit.
    zero: bool,
}

/// A number that is out of its range: where it stands, and what is wrong.
pub(super) type OutOfRange = (ops::Range<usize>, String);

const fn between(key: &'static str, least: u64, most: u64) -> NumberRange {
    NumberRange { key, least, most, zero: false }
}

const fn zero_or(key: &'static str, least: u64, most: u64) -> NumberRange {
    NumberRange { zero: true, ..between(key, least, most) }
}

/// The ranges of a section that is one table.
pub(super) fn of_section(section: &str) -> &'static [NumberRange] {
    match section {
        "server" => &SERVER,
        "limits" => &LIMITS,
        "policy" => &POLICY,
        "backend" => &BACKEND,
        "mcp" => &MCP,
        _ => &[],
    }
}

/// Takes the numbers out that are out of their range, so that the rest can be read. What is no whole number is left
/// alone.
pub(super) fn take(table: &mut DeTable<'_>, ranges: &[NumberRange]) -> Vec<OutOfRange> {
    ranges.iter().filter_map(|range| range.take(table)).collect()
}

// === impl NumberRange ===

impl NumberRange {
    fn take(&self, table: &mut DeTable<'_>) -> Option<OutOfRange> {
        let (table, key) = match self.key.split_once('.') {
            None => (table, self.key),
            Some((inner, key)) => match table.get_mut(inner)?.get_mut() {
                DeValue::Table(table) => (table, key),
                _ => return None,
            },
        };
        let value = table.get(key)?;
        let DeValue::Integer(number) = value.get_ref() else { return None };
        if i128::from_str_radix(number.as_str(), number.radix()).is_ok_and(|number| self.allows(number)) {
            return None;
        }
        let Self { key: name, least, most, zero } = self;
        let or_zero = if *zero { "0 (no limit) or " } else { "" };
        let fault = (value.span(), format!("{name}: must be {or_zero}{least} to {most}, not {number}"));
        table.remove(key);
        Some(fault)
    }

    fn allows(&self, number: i128) -> bool {
        (self.zero && number == 0) || (i128::from(self.least)..=i128::from(self.most)).contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader;
    use super::*;

    /// Configurations of which one knows each key.
    const SECTIONS: [(&str, &str, &[NumberRange]); 11] = [
        ("[server]", "", &SERVER),
        ("[limits]", "", &LIMITS),
        ("[policy]", "", &POLICY),
        ("[backend]", "kind = \"http\"\nurl = \"http://a/\"\nsecret = { env = \"A\" }", &BACKEND),
        ("[backend]", "kind = \"events\"", &BACKEND),
        ("[mcp]", "", &MCP),
        ("[[providers]]", "name = \"p\"\nkind = \"demo\"", &PROVIDER),
        ("[[providers]]", "name = \"p\"\nkind = \"lenbot\"\npath = \"x\"", &PROVIDER),
        ("[[providers]]", "name = \"p\"\nkind = \"xbot\"\npath = \"x\"", &PROVIDER),
        ("[[providers]]", "name = \"p\"\nkind = \"http\"\nfile = \"x.toml\"", &PROVIDER),
        ("[[providers]]", "name = \"p\"\nkind = \"mcp\"\ncommand = \"x\"", &PROVIDER),
    ];

    /// What is wrong with this number there.
    fn fault(section: &str, keys: &str, range: &NumberRange, number: &str) -> Option<((usize, usize), String)> {
        let line = match range.key.split_once('.') {
            None => format!("{} = {number}", range.key),
            Some((table, key)) => format!("{table} = {{ {key} = {number} }}"),
        };
        let refused = reader::read("test.toml", &format!("{section}\n{line}\n{keys}\n")).err()?;
        let first = refused.errors().first().unwrap();
        Some((first.place.unwrap(), format!("{}: {}", first.section, first.message)))
    }

    #[test]
    fn every_number_is_held_to_its_range_and_told_with_its_place() {
        let mut known = Vec::new();
        for (section, keys, ranges) in SECTIONS {
            for range in ranges {
                if fault(section, keys, range, &range.least.to_string()).is_some() {
                    // A key of another kind.
                    continue;
                }
                known.push((section, range.key));
                assert_eq!(fault(section, keys, range, &range.most.to_string()), None, "{range:?}");
                let beyond = [(range.most + 1).to_string(), "-1".to_owned()];
                let below = range.least.checked_sub(1).filter(|below| *below > 0 || !range.zero);
                for number in beyond.into_iter().chain(below.map(|below| below.to_string())) {
                    let (place, said) = fault(section, keys, range, &number).unwrap_or_else(|| panic!("{range:?}"));
                    assert_eq!(place.0, 2, "{said}");
                    let told = format!("{} to {}, not {number}", range.least, range.most);
                    assert!(said.contains(range.key) && said.contains(&told), "{said}");
                }
                assert_eq!(fault(section, keys, range, "0").is_none(), range.zero || range.least == 0, "{range:?}");
            }
        }
        for (section, _, ranges) in SECTIONS {
            for range in ranges {
                assert!(known.contains(&(section, range.key)), "nobody knows {} in {section}", range.key);
            }
        }
    }

    #[test]
    fn all_that_is_out_of_range_is_told_at_once_beside_other_mistakes() {
        let text = "[limits]\nmax_batches = 0\n[[providers]]\nname = \"p\"\nkind = \"maibot\"\npath = \"x\"\n\
                    max_frame_bytes = 1\nhealth_interval_ms = 0x0\nbreaker = { open_ms = 0 }\ncolour = 1\n";
        let refused = reader::read("test.toml", text).unwrap_err().to_string();
        for told in [
            "test.toml:2:15: limits: max_batches: must be 1 to 16777216, not 0",
            "test.toml:7:19: providers/0 (p): max_frame_bytes: must be 65536 to 1073741824, not 1",
            "test.toml:8:22: providers/0 (p): health_interval_ms: must be 100 to 3600000, not 0x0",
            "test.toml:9:23: providers/0 (p): breaker.open_ms: must be 10 to 86400000, not 0",
            "test.toml:10:1: providers/0 (p): unknown key `colour`",
        ] {
            assert!(refused.contains(told), "{told}\n{refused}");
        }
    }
}
