//! A run: opens the target, lets the load loose, adds up what is recorded, and gives the results.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::load::{Load, Stop, Timeline};
use crate::progress::Progress;
use crate::recording::{Recorder, Recording, Series};
use crate::report::{Results, RunFacts};
use crate::scenario::Scenario;
use crate::target::{Target, TargetError};
use crate::usage::Usage;

/// How often progress is shown, at most.
const SHOWN_EVERY: Duration = Duration::from_millis(500);

/// Adds up what the threads record.
struct Collector<'a> {
    scenario: &'a Scenario,
    recording: &'a Recording,
    series: Series,
    progress: Progress,
    interval: Duration,
    /// What has been taken, and not been added to the point.
    tick: Recorder,
    /// What has been taken since the last point.
    point: Recorder,
    spare: Recorder,
    last_tick: Instant,
    last_point: Instant,
}

/// Runs a scenario on `workers` threads.
pub(crate) async fn run(scenario: &Scenario, workers: usize, is_quiet: bool) -> Result<Results, TargetError> {
    let target = Arc::new(Target::open(scenario).await?);
    let started_at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let start = Instant::now();
    let timeline = Timeline::new(&scenario.load, &scenario.phases);
    let recording = Arc::new(Recording::new(workers + 1, start + timeline.warm_up(), scenario.load.is_open()));
    let stop = Stop::default();
    let listening = AbortOnDropHandle::new(tokio::spawn(listen(stop.clone())));
    let load = Load::new(scenario, Arc::clone(&target), Arc::clone(&recording), start, stop.clone());
    let running = tokio::spawn(load.run());
    let progress = Progress::new(is_quiet, start, timeline.end());
    let collector = Collector::new(scenario, &timeline, &recording, progress);
    let facts = collector.collect(running, &stop, start + timeline.end()).await;
    drop(listening);
    // Every task of the load has ended, so nobody else has it.
    if let Some(target) = Arc::into_inner(target) {
        target.close().await;
    }
    let (series, facts) = facts;
    Ok(Results::new(scenario, &series, RunFacts { workers, started_at, ..facts }))
}

/// The first signal ends the load, the second gives up what is under way.
async fn listen(stop: Stop) {
    signal().await;
    stop.begun.cancel();
    signal().await;
    stop.at_once.cancel();
}

async fn signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    if let Ok(mut terminated) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = interrupted => {}
            _ = terminated.recv() => {}
        }
        return;
    }
    interrupted.await.ok();
}

// === impl Collector ===

impl<'a> Collector<'a> {
    fn new(scenario: &'a Scenario, timeline: &Timeline, recording: &'a Recording, progress: Progress) -> Self {
        let is_open = recording.is_open();
        let mut until_s = 0.0;
        let phases = scenario.phases.iter().enumerate().map(|(index, phase)| {
            until_s += phase.duration_s;
            (phase.name.clone().unwrap_or_else(|| format!("phase {}", index + 1)), until_s)
        });
        let from = recording.measured_from();
        Self {
            scenario,
            recording,
            series: Series::new(is_open, phases.collect()),
            progress,
            interval: Series::interval(timeline.end().saturating_sub(timeline.warm_up())),
            tick: Recorder::new(is_open),
            point: Recorder::new(is_open),
            spare: Recorder::new(is_open),
            last_tick: from,
            last_point: from,
        }
    }

    /// Until the load has ended and everything is added up.
    async fn collect(
        mut self,
        mut running: tokio::task::JoinHandle<()>,
        stop: &Stop,
        end: Instant,
    ) -> (Series, RunFacts) {
        let from = self.recording.measured_from();
        let (mut before, mut stopped_at) = (None, None);
        let period = self.interval.min(SHOWN_EVERY);
        let mut next = Instant::now() + period;
        loop {
            let wakes = if before.is_none() { next.min(from) } else { next };
            tokio::select! {
                // In this order: a load that is stopped may have ended before anybody looks.
                biased;
                () = stop.begun.cancelled(), if stopped_at.is_none() => stopped_at = Some(Instant::now()),
                _ended = &mut running => break,
                () = tokio::time::sleep_until(wakes) => {
                    let now = Instant::now();
                    if now < from {
                        self.progress.warm_up(self.recording.batches_under_way());
                    } else if before.is_none() {
                        before = Some(self.usage());
                    } else {
                        self.tick(false);
                    }
                    next = now + period;
                }
            }
        }
        self.tick(true);
        self.progress.finish();
        let (own_before, target_before) = before.unwrap_or_default();
        let (own, target) = self.usage();
        let since = |now: Option<Usage>, before: Option<Usage>| now.map(|now| now.since(before.unwrap_or_default()));
        let load_ended = stopped_at.unwrap_or(end).min(end);
        let facts = RunFacts {
            measured: load_ended.saturating_duration_since(from),
            is_interrupted: stopped_at.is_some_and(|at| at < end),
            warm_up: self.recording.warm_up(),
            own: since(own, own_before),
            // Should the daemon have died, nothing can be said of it.
            target: target.and_then(|now| target_before.map(|before| now.since(before))),
            ..RunFacts::default()
        };
        (self.series, facts)
    }

    /// Takes what was recorded, shows it, and makes a point of it when it is time.
    fn tick(&mut self, is_last: bool) {
        let now = Instant::now();
        let seconds = |since: Instant| now.saturating_duration_since(since).as_secs_f64();
        self.recording.take(&mut self.spare, &mut self.tick);
        let under_way = self.recording.batches_under_way();
        let errors = self.series.total.errors() + self.point.errors() + self.tick.errors();
        if now > self.last_tick {
            self.progress.tick(&self.tick, seconds(self.last_tick), under_way, errors);
        }
        self.point.add(&self.tick);
        self.tick.clear();
        self.last_tick = now;
        let is_due = now.saturating_duration_since(self.last_point) >= self.interval;
        if !is_due && !is_last || now <= self.last_point {
            return;
        }
        let at_s = now.saturating_duration_since(self.recording.measured_from()).as_secs_f64();
        // What is left over at the end may be too short for rates.
        if now - self.last_point < self.interval / 2 && !self.series.points.is_empty() {
            self.series.push_unseen(at_s, seconds(self.last_point), &self.point);
        } else {
            self.series.push(at_s, seconds(self.last_point), under_way, &self.point);
        }
        self.point.clear();
        self.last_point = now;
    }

    /// Of this process and of the target's, where its id is known.
    fn usage(&self) -> (Option<Usage>, Option<Usage>) {
        (Usage::own(), self.scenario.target.pid.and_then(Usage::of))
    }
}
