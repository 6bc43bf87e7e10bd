//! Runs batches of 16 no-op calls, for a program that counts instructions:
//! `instructions <task|inline> <batches> [session|policy|usage]`, in no session, in one, or in one under a policy
//! with rules or with limits on use.
//!
//! Instructions do not depend on what else the machine does. The difference between two runs of different lengths, divided
//! by the difference in calls, is what one call costs.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

use metrics_exporter_prometheus::PrometheusBuilder;
use toolyard::{ExecutionClass, LATENCY_BUCKETS_SECONDS};
use toolyard_bench::{Engine, caller, rules, usage};

const CALLS: usize = 16;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let class = match arguments.next().as_deref() {
        Some("inline") => ExecutionClass::Inline,
        _ => ExecutionClass::Task,
    };
    let batches: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(500);
    let wanted = arguments.next();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let recorder = PrometheusBuilder::new().set_buckets(&LATENCY_BUCKETS_SECONDS).unwrap().install_recorder();
    drop(recorder.unwrap());
    runtime.block_on(async {
        let mut engine = Engine::start(class).await;
        if wanted.is_some() {
            engine = engine.in_session("session", caller());
        }
        match wanted.as_deref() {
            Some("policy") => engine.set_policy(rules()),
            Some("usage") => engine.set_policy(usage()),
            _ => {}
        }
        for _ in 0..batches {
            engine.dispatch(engine.batch(CALLS)).await;
        }
    });
}
