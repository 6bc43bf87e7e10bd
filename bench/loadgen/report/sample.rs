//! Results for tests: so many batches of 1, 2, 3 … ms with two calls each within 2 s; each tenth batch loses its calls.

use std::time::Duration;

use tokio::time::Instant;
use toolyard::CallStatus;

use super::{Results, RunFacts};
use crate::recording::{Recorder, Recording, Sample, Series};
use crate::scenario::Scenario;
use crate::target::{CallEnd, Loss};

pub(crate) fn sample(batches: u64) -> Results {
    let text = "name = \"sample\"\n[target]\nkind = \"embedded\"\n[load]\nduration_s = 2\n[objectives]\np99_ms = 20\n";
    let scenario = Scenario::parse(text).unwrap();
    let now = Instant::now();
    let recording = Recording::new(1, now, false);
    for ms in 1..=batches {
        let took = Duration::from_millis(ms);
        let ends = [CallEnd { status: Ok(CallStatus::Ok), took }; 2];
        recording.begin(2, now).end(&Sample { due: now, sent: now, ended: now + took, ends: &ends });
    }
    for _ in 0..batches / 10 {
        let ends = [CallEnd { status: Err(Loss::Closed), took: Duration::ZERO }; 2];
        recording.begin(2, now).end(&Sample { due: now, sent: now, ended: now, ends: &ends });
    }
    let (mut spare, mut interval) = (Recorder::new(false), Recorder::new(false));
    recording.take(&mut spare, &mut interval);
    let mut series = Series::new(false, vec![("all".to_owned(), 2.0)]);
    series.push(1.0, 1.0, 1, &interval);
    series.push(2.0, 1.0, 0, &Recorder::new(false));
    Results::new(&scenario, &series, RunFacts { measured: Duration::from_secs(2), ..RunFacts::default() })
}
