//! ProcessUsage: what a process takes of the machine.

/// What one process takes of the machine. What it started in its turn is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ProcessUsage {
    /// Memory that it holds, in bytes.
    pub(crate) rss_bytes: u64,
    /// Processor time that it has had, in seconds.
    pub(crate) cpu_seconds: f64,
    /// Its threads.
    pub(crate) threads: u32,
}

// === impl ProcessUsage ===

impl ProcessUsage {
    /// Reads one small file. Nothing for a process that is gone, or where the system has no `/proc`.
    pub(super) fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let page = u64::try_from(rustix::param::page_size()).ok()?;
        Self::read(&stat, page, rustix::param::clock_ticks_per_second())
    }

    fn read(stat: &str, page: u64, ticks: u64) -> Option<Self> {
        // The second field is a name in brackets that may hold anything; the third is the first behind it.
        let mut fields = stat.rsplit_once(") ")?.1.split_ascii_whitespace();
        let user: u64 = fields.nth(11)?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        let threads = fields.nth(4)?.parse().ok()?;
        let pages: u64 = fields.nth(3)?.parse().ok()?;
        #[expect(clippy::cast_precision_loss, reason = "a process does not live for that long")]
        let cpu_seconds = user.saturating_add(system) as f64 / ticks.max(1) as f64;
        Some(Self { rss_bytes: pages.saturating_mul(page), cpu_seconds, threads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_found_behind_any_name() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 150 50 0 0 20 0 3 0 99 1000000 250 18446744073709551615 1";
        let usage = ProcessUsage::read(stat, 4096, 100).unwrap();
        assert_eq!(usage, ProcessUsage { rss_bytes: 250 * 4096, cpu_seconds: 2.0, threads: 3 });
        assert_eq!(ProcessUsage::read("7 (a) S 1", 4096, 100), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_living_process_takes_something() {
        let usage = ProcessUsage::of(std::process::id()).unwrap();
        assert!(usage.rss_bytes > 1 << 20 && usage.threads >= 1, "{usage:?}");
    }
}
