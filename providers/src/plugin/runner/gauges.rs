//! What a plugin's process takes of the machine, as metrics.

use metrics::{Gauge, Unit, describe_gauge, gauge};

use crate::process::ProcessUsage;

const MEMORY: &str = "toolyard_plugin_memory_bytes";
const CPU: &str = "toolyard_plugin_cpu_seconds";
const THREADS: &str = "toolyard_plugin_threads";

/// The gauges of one plugin. Dropped with its process, they say zero.
pub(super) struct ProcessGauges {
    memory: Gauge,
    cpu: Gauge,
    threads: Gauge,
}

/// Tells the installed recorder what each metric of plugins means.
pub fn describe_plugin_metrics() {
    describe_gauge!(MEMORY, Unit::Bytes, "Resident memory of a plugin's process.");
    describe_gauge!(CPU, Unit::Seconds, "Processor time that a plugin's process has taken since it started.");
    describe_gauge!(THREADS, Unit::Count, "Threads of a plugin's process.");
}

// === impl ProcessGauges ===

impl ProcessGauges {
    pub(super) fn of(provider: &str) -> Self {
        let labels = [("provider", provider.to_owned())];
        Self { memory: gauge!(MEMORY, &labels), cpu: gauge!(CPU, &labels), threads: gauge!(THREADS, &labels) }
    }

    pub(super) fn set(&self, usage: &ProcessUsage) {
        self.memory.set(usage.rss_bytes as f64);
        self.cpu.set(usage.cpu_seconds);
        self.threads.set(usage.threads as f64);
    }
}

impl Drop for ProcessGauges {
    fn drop(&mut self) {
        for gauge in [&self.memory, &self.cpu, &self.threads] {
            gauge.set(0.0);
        }
    }
}
