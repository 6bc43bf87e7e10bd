use std::time::Duration;

use toolyard::CallStatus;

use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn end(status: Result<CallStatus, Loss>) -> CallEnd {
    CallEnd { status, took: ms(5) }
}

/// What has been recorded, added up.
fn total(recording: &Recording) -> Recorder {
    let (mut spare, mut total) = (Recorder::new(recording.is_open()), Recorder::new(recording.is_open()));
    recording.take(&mut spare, &mut total);
    assert!(spare.is_empty());
    total
}

fn quantile_ms(histogram: &hdrhistogram::Histogram<u64>, quantile: f64) -> f64 {
    histogram.value_at_quantile(quantile) as f64 / 1e6
}

#[tokio::test]
async fn every_call_is_counted_once_whatever_became_of_it() {
    let now = Instant::now();
    let recording = Recording::new(2, now, false);
    let batches: [&[CallEnd]; 3] = [
        &[end(Ok(CallStatus::Ok)), end(Ok(CallStatus::Timeout))],
        &[end(Ok(CallStatus::Ok)), end(Err(Loss::Closed))],
        &[end(Err(Loss::Violation))],
    ];
    for ends in batches {
        let under_way = recording.begin(ends.len(), now);
        assert_eq!(recording.batches_under_way(), 1);
        under_way.end(&Sample { due: now, sent: now, ended: now + ms(7), ends });
    }
    // Its task was ended.
    drop(recording.begin(4, now));
    let total = total(&recording);
    assert_eq!((total.batches, total.calls, total.lost_batches, total.violations), (4, 9, 3, 1));
    assert_eq!((total.ended(CallStatus::Ok), total.ended(CallStatus::Timeout), total.lost()), (2, 1, 6));
    assert_eq!(total.errors(), 7);
    assert_eq!(total.lost_calls[&Loss::Abandoned], 4);
    assert_eq!(total.statuses.iter().sum::<u64>() + total.lost(), total.calls);
    assert_eq!((total.batch.raw.len(), total.call.raw.len()), (1, 2));
    assert_eq!(recording.batches_under_way(), 0);
}

#[tokio::test]
async fn the_warm_up_is_counted_apart_and_not_measured() {
    let now = Instant::now();
    let recording = Recording::new(1, now + ms(100), true);
    let ends = [end(Ok(CallStatus::Ok)); 3];
    recording.begin(3, now).end(&Sample { due: now, sent: now, ended: now + ms(7), ends: &ends });
    recording.not_sent(now);
    recording.not_sent(now + ms(100));
    assert_eq!(recording.warm_up(), (1, 3));
    let total = total(&recording);
    assert_eq!((total.batches, total.not_sent), (0, 1));
}

#[tokio::test]
async fn an_open_loop_counts_from_when_a_batch_was_due() {
    let now = Instant::now();
    let recording = Recording::new(1, now, true);
    let ends = [end(Ok(CallStatus::Ok))];
    let sample = Sample { due: now, sent: now + ms(40), ended: now + ms(50), ends: &ends };
    recording.begin(1, now).end(&sample);
    let total = total(&recording);
    assert!((quantile_ms(&total.batch.raw, 0.5) - 10.0).abs() < 0.1);
    assert!((quantile_ms(&total.batch.corrected(None), 0.5) - 50.0).abs() < 0.1);
    assert!((quantile_ms(&total.call.corrected(None), 0.5) - 45.0).abs() < 0.1);
    assert!((quantile_ms(total.late.as_ref().unwrap(), 0.5) - 40.0).abs() < 0.1);
}

#[test]
fn a_closed_loop_puts_in_what_a_stall_kept_from_being_sent() {
    let mut latency = Latency::new(false);
    for _ in 0..99 {
        latency.record(ms(1), Duration::ZERO);
    }
    latency.record(ms(1_000), Duration::ZERO);
    assert!((quantile_ms(&latency.raw, 0.98) - 1.0).abs() < 0.1);
    let corrected = latency.corrected(Some(ms(10)));
    // 990, 980, … 10 ms: what sessions would have met with that come every 10 ms.
    assert_eq!(corrected.len(), 199);
    assert!((quantile_ms(&corrected, 0.75) - 505.0).abs() < 15.0);
    assert_eq!(latency.corrected(None).len(), 100);
}

#[test]
fn latencies_beyond_an_hour_count_as_an_hour() {
    let mut latency = Latency::new(true);
    latency.record(Duration::from_secs(7_000), Duration::from_secs(7_000));
    assert!((quantile_ms(&latency.raw, 1.0) / 3.6e6 - 1.0).abs() < 0.001);
}

#[test]
fn a_series_has_a_bounded_number_of_points_and_its_phases_add_up() {
    assert_eq!(Series::interval(Duration::from_secs(1)), ms(100));
    assert_eq!(Series::interval(Duration::from_secs(60)), ms(1_000));
    assert_eq!(Series::interval(Duration::from_secs(86_400)), Duration::from_secs(1_440));
    let mut series = Series::new(false, vec![("a".to_owned(), 1.0), ("b".to_owned(), 2.0)]);
    for at in [0.5, 1.0, 1.5, 2.0, 2.5] {
        let mut interval = Recorder::new(false);
        interval.lose(2, Loss::Closed);
        series.push(at, 0.5, 3, &interval);
    }
    let batches: Vec<u64> = series.phases.iter().map(|phase| phase.batches).collect();
    assert_eq!((batches, series.total.batches, series.total.calls), (vec![2, 3], 5, 10));
    assert_eq!((series.points.len(), series.points[4].errors), (5, 2));
}
