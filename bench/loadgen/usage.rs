//! What processes have used: CPU time and peak memory, by `/proc`. Unknown elsewhere than on Linux.

/// What a process has used since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    pub(crate) cpu_s: f64,
    pub(crate) peak_memory_bytes: u64,
}

// === impl Usage ===

impl Usage {
    /// Of this process.
    pub(crate) fn own() -> Option<Self> {
        Self::read("self")
    }

    pub(crate) fn of(pid: u32) -> Option<Self> {
        Self::read(&pid.to_string())
    }

    #[cfg(target_os = "linux")]
    fn read(process: &str) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Self::parse(&stat, &status, ticks)
    }

    #[cfg(not(target_os = "linux"))]
    fn read(_process: &str) -> Option<Self> {
        None
    }

    /// The name in the second field of `stat` may hold spaces and brackets; the fields behind it do not.
    fn parse(stat: &str, status: &str, ticks_per_s: f64) -> Option<Self> {
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let user: f64 = fields.nth(11)?.parse().ok()?;
        let system: f64 = fields.next()?.parse().ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let peak_kib: u64 = peak.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(Self { cpu_s: (user + system) / ticks_per_s, peak_memory_bytes: peak_kib << 10 })
    }

    /// What was used since an earlier look; the peak stays what it is.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self { cpu_s: (self.cpu_s - earlier.cpu_s).max(0.0), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_peak_are_read_whatever_the_process_is_called() {
        let stat = "7 (a) b) S 1 7 7 0 -1 0 90 0 0 0 150 50 0 0 20 0 8 0 100 1000 200";
        let usage = Usage::parse(stat, "Name:\ta\nVmHWM:\t   2048 kB\n", 100.0).unwrap();
        assert_eq!(usage, Usage { cpu_s: 2.0, peak_memory_bytes: 2 << 20 });
        assert_eq!(usage.since(Usage { cpu_s: 0.5, peak_memory_bytes: 1 }).peak_memory_bytes, 2 << 20);
        assert_eq!(Usage::parse("7 (a S 1", "", 100.0), None);
    }
}
