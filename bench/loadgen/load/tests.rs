//! Loops against a target that takes its time and stalls, in paused time.

use toolyard::CallStatus;

use super::*;
use crate::recording::Recorder;
use crate::target::Stalling;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a scenario against a target that takes 10 ms and answers nobody from second 1 to second 2.
async fn run(load: &str) -> Recorder {
    let text = format!("seed = 3\n[target]\nkind = \"embedded\"\n[load]\n{load}\n[[batches]]\ncalls = 2\n");
    let scenario = Scenario::parse(&text).unwrap();
    let start = Instant::now();
    let recording = Arc::new(Recording::new(1, start, scenario.load.is_open()));
    let target =
        Arc::new(Target::Stalling(Stalling { takes: ms(10), from: start + ms(1_000), until: start + ms(2_000) }));
    Load::new(&scenario, target, Arc::clone(&recording), start, Stop::default()).run().await;
    let (mut spare, mut total) = (Recorder::new(recording.is_open()), Recorder::new(recording.is_open()));
    recording.take(&mut spare, &mut total);
    assert_eq!(recording.batches_under_way(), 0);
    total
}

fn quantile_ms(histogram: &hdrhistogram::Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile) as f64 / 1e6
}

#[tokio::test(start_paused = true)]
async fn an_open_loop_sees_the_whole_of_a_stall_and_sends_what_was_due() {
    let total = run("rate = 100\nduration_s = 4").await;
    assert_eq!((total.batches, total.not_sent, total.ended(CallStatus::Ok)), (400, 0, 800));
    // A quarter of the batches came during the stall, and waited half a second in the middle.
    let corrected = total.batch.corrected(None);
    assert!((quantile_ms(&corrected, 0.875) - 510.0).abs() < 25.0, "{}", quantile_ms(&corrected, 0.875));
    assert!((quantile_ms(&corrected, 0.5) - 10.0).abs() < 2.0);
}

#[tokio::test(start_paused = true)]
async fn a_closed_loop_hides_a_stall_unless_it_is_corrected() {
    let total = run("sessions = 1\nduration_s = 4\nthink_ms = 10").await;
    // One batch alone met with the stall.
    assert!(quantile_ms(&total.batch.raw, 0.99) < 13.0, "{}", quantile_ms(&total.batch.raw, 0.99));
    assert!(quantile_ms(&total.batch.raw, 1.0) > 990.0);
    let corrected = total.batch.corrected(Some(ms(20)));
    assert!((quantile_ms(&corrected, 0.875) - 525.0).abs() < 60.0, "{}", quantile_ms(&corrected, 0.875));
}

#[tokio::test(start_paused = true)]
async fn what_finds_no_place_is_not_sent_and_counted() {
    let total = run("rate = 100\nduration_s = 4\nmax_outstanding = 30").await;
    assert_eq!(total.batches + total.not_sent, 400);
    // The stall holds up thirty batches, and seventy of its hundred arrive in vain.
    assert!((65..75).contains(&total.not_sent), "{}", total.not_sent);
}

#[tokio::test(start_paused = true)]
async fn sessions_come_one_after_the_other_on_a_ramp() {
    let whole = run("sessions = 10\nduration_s = 1").await;
    let ramped = run("sessions = 10\nduration_s = 1\nramp_s = 1").await;
    assert!((900..=1_000).contains(&whole.batches), "{}", whole.batches);
    assert!((400..=550).contains(&ramped.batches), "{}", ramped.batches);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_stopped_begins_nothing_and_gives_up_what_hangs() {
    let scenario = Scenario::parse("[target]\nkind = \"embedded\"\n[load]\nsessions = 3\nduration_s = 600\n").unwrap();
    let start = Instant::now();
    let recording = Arc::new(Recording::new(1, start, false));
    let hangs = Stalling { takes: ms(10), from: start, until: start + Duration::from_secs(86_400) };
    let stop = Stop::default();
    let load = Load::new(&scenario, Arc::new(Target::Stalling(hangs)), Arc::clone(&recording), start, stop.clone());
    let running = tokio::spawn(load.run());
    tokio::time::sleep(ms(50)).await;
    stop.begun.cancel();
    tokio::time::sleep(ms(50)).await;
    assert!(!running.is_finished());
    stop.at_once.cancel();
    running.await.unwrap();
    let (mut spare, mut total) = (Recorder::new(false), Recorder::new(false));
    recording.take(&mut spare, &mut total);
    assert_eq!((total.batches, total.lost_batches), (3, 3));
}
