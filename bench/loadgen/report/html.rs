//! The page: results with charts, titles in English and Chinese, readable without scripts.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

use super::chart::{Axis, Bar, Chart, Line, Scale, bars};
use super::distribution::Distribution;
use super::facts::PointFacts;
use super::page::{document, escape};
use super::results::Results;
use super::table::count_or_digits;
use super::units::{count, digits, mebibytes, milliseconds, percent, round_milliseconds};

/// Shares of a percentile chart, by the power of ten of those that are beyond: it begins at one half, and 2 is 99 %.
const HALF: f64 = std::f64::consts::LOG10_2;
const STEPS_A_POWER: u32 = 12;
const LAST_POWER: f64 = 5.0;

/// The results as one page.
pub(crate) fn page(results: &Results) -> String {
    let mut body = heading(results);
    body.push_str(&objectives(results));
    section(&mut body, "Latency percentiles", "延迟百分位", &percentiles(results));
    section(&mut body, "Latency", "延迟", &latencies(results));
    section(&mut body, "Latency of batches over time", "批次延迟随时间", &latency_over_time(&results.series));
    section(&mut body, "Throughput over time", "吞吐量随时间", &throughput(&results.series));
    section(&mut body, "How calls ended", "调用结果", &statuses(results));
    if results.phases.len() > 1 {
        section(&mut body, "Phases", "阶段", &phases(results));
    }
    body.push_str(&footing(results));
    document(&format!("{} – loadgen", results.scenario.name), &body)
}

fn section(body: &mut String, english: &str, chinese: &str, content: &str) {
    write!(body, "<section>\n<h2>{english}<span lang=\"zh\">{chinese}</span></h2>\n{content}</section>\n").ok();
}

fn heading(results: &Results) -> String {
    let scenario = &results.scenario;
    let place = scenario.url.as_deref().map(|url| format!(" {url}")).unwrap_or_default();
    let load = match scenario.rate {
        Some(rate) => format!("open loop, {} batches a second", count(rate)),
        None => format!("closed loop, {} sessions", count(f64::from(scenario.sessions))),
    };
    let early = if results.interrupted { ", ended early" } else { "" };
    let said = format!("{}{place}, {load}, {} s measured{early}", scenario.target, digits(results.measured_s));
    let mut body = format!("<h1>{}</h1>\n<p>{}</p>\n<dl>\n", escape(&scenario.name), escape(&said));
    let batch = &results.latency.batch.corrected;
    let facts = [
        ("Calls a second", "每秒调用", count(results.calls_per_s)),
        ("Calls", "调用", count(results.calls as f64)),
        ("Batch p50", "批次 p50", milliseconds(batch.p50_ms)),
        ("Batch p99", "批次 p99", milliseconds(batch.p99_ms)),
        ("Errors", "错误", percent(results.error_ratio)),
        ("Violations", "违例", count(results.violations as f64)),
    ];
    for (english, chinese, figure) in facts {
        let figure = escape(&figure);
        writeln!(body, "<div><dt>{english}<span lang=\"zh\">{chinese}</span></dt><dd>{figure}</dd></div>").ok();
    }
    body.push_str("</dl>\n");
    body
}

fn objectives(results: &Results) -> String {
    if results.objectives.is_empty() {
        return String::new();
    }
    let rows = results.objectives.iter().map(|objective| {
        let found = objective.found.map_or_else(|| "unknown".to_owned(), count_or_digits);
        let verdict =
            if objective.met { "<span class=\"met\">met</span>" } else { "<span class=\"missed\">missed</span>" };
        vec![escape(&objective.name), count_or_digits(objective.bound), found, verdict.to_owned()]
    });
    let mut body = String::new();
    section(&mut body, "Objectives", "目标", &rows_of(&["objective", "stated", "found", ""], rows));
    body
}

fn percentiles(results: &Results) -> String {
    let latency = &results.latency;
    let mut lines = vec![curve("batch", &latency.batch.corrected), curve("call", &latency.call.corrected)];
    if latency.correction != "none" {
        lines.push(curve("batch, not corrected", &latency.batch.raw));
        lines.push(curve("call, not corrected", &latency.call.raw));
    }
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|(_, ms)| *ms));
    let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let furthest = lines.iter().filter_map(|line| line.points.last()).map(|(power, _)| *power).fold(1.0, f64::max);
    let shares = [(HALF, "50 %"), (1.0, "90 %"), (2.0, "99 %"), (3.0, "99.9 %"), (4.0, "99.99 %"), (5.0, "99.999 %")];
    let to = furthest;
    let ticks = shares.iter().filter(|(power, _)| *power <= to).map(|(power, share)| (*power, (*share).to_owned()));
    let x = Axis { scale: Scale::Linear, from: HALF, to, ticks: ticks.collect() };
    let y = Axis::logarithmic(least, most, round_milliseconds);
    Chart { title: "Latency by percentile, logarithmic".to_owned(), lines, x, y }.svg()
}

/// Latency by the share of those that are beyond it, as a power of ten.
fn curve(name: &'static str, distribution: &Distribution) -> Line {
    let histogram = distribution.histogram().filter(|histogram| !histogram.is_empty());
    let points = histogram.as_ref().map(curve_points).unwrap_or_default();
    Line { name, points }
}

fn curve_points(histogram: &Histogram<u64>) -> Vec<(f64, f64)> {
    // Beyond this share there is only the largest value.
    let last = (histogram.len() as f64).log10().clamp(1.0, LAST_POWER);
    let steps = ((last - HALF) * f64::from(STEPS_A_POWER)).ceil() as u32;
    let powers = (0..=steps).map(|step| (HALF + f64::from(step) / f64::from(STEPS_A_POWER)).min(last));
    let at = |power: f64| histogram.value_at_quantile(1.0 - 10_f64.powf(-power)) as f64 / 1e6;
    powers.map(|power| (power, at(power))).collect()
}

fn latencies(results: &Results) -> String {
    let latency = &results.latency;
    let is_corrected = latency.correction != "none";
    let mut named = Vec::new();
    for (kind, pair) in [("batch", &latency.batch), ("call", &latency.call)] {
        if is_corrected {
            named.push((format!("{kind}, corrected"), &pair.corrected));
        }
        named.push((if is_corrected { format!("{kind}, from sending") } else { kind.to_owned() }, &pair.raw));
    }
    named.extend(latency.late.as_ref().map(|late| ("sent late by".to_owned(), late)));
    let rows = named.into_iter().map(|(name, distribution)| {
        let figures = distribution.figures().into_iter().map(|(_, ms)| milliseconds(ms));
        std::iter::once(name).chain(figures).collect()
    });
    rows_of(&["", "p50", "p90", "p99", "p99.9", "max", "mean"], rows)
}

fn latency_over_time(series: &[PointFacts]) -> String {
    let line = |name, value: fn(&PointFacts) -> f64| Line {
        name,
        // An interval in which nothing ended has no latency.
        points: series.iter().filter(|point| point.max_ms > 0.0).map(|point| (point.at_s, value(point))).collect(),
    };
    let lines = vec![line("p50", |p| p.p50_ms), line("p99", |p| p.p99_ms), line("max", |p| p.max_ms)];
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|(_, ms)| *ms));
    let y = Axis::logarithmic(values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max), round_milliseconds);
    Chart { title: "Latency of batches over time".to_owned(), lines, x: seconds(series), y }.svg()
}

fn throughput(series: &[PointFacts]) -> String {
    let line = |name, value: fn(&PointFacts) -> f64| Line {
        name,
        points: series.iter().map(|point| (point.at_s, value(point))).collect(),
    };
    let lines = vec![line("calls a second", |p| p.calls_per_s), line("batches a second", |p| p.batches_per_s)];
    let most = series.iter().map(|point| point.calls_per_s).fold(0.0, f64::max);
    let y = Axis::linear(most, count);
    Chart { title: "Throughput over time".to_owned(), lines, x: seconds(series), y }.svg()
}

/// To the end of the run, and not beyond.
fn seconds(series: &[PointFacts]) -> Axis {
    let end = series.last().map_or(1.0, |point| point.at_s);
    let mut axis = Axis::linear(end, |s| format!("{s} s"));
    axis.to = end;
    axis.ticks.retain(|(s, _)| *s <= end);
    axis
}

fn statuses(results: &Results) -> String {
    let bar = |name: String, calls: u64, is_good: bool| Bar {
        name,
        value: calls as f64,
        label: format!("{} · {}", count(calls as f64), percent(calls as f64 / results.calls.max(1) as f64)),
        is_good,
    };
    let ended = results.statuses.iter().map(|(status, calls)| bar(status.clone(), *calls, status == "ok"));
    let lost = results.lost.reasons.iter().map(|(reason, calls)| bar(format!("lost: {reason}"), *calls, false));
    bars(&ended.chain(lost).collect::<Vec<_>>())
}

fn phases(results: &Results) -> String {
    let rows = results.phases.iter().map(|phase| {
        let rate = if phase.seconds > 0.0 { phase.calls as f64 / phase.seconds } else { 0.0 };
        let times = [phase.batch.p50_ms, phase.batch.p99_ms, phase.batch.max_ms].map(milliseconds);
        [escape(&phase.name), count(rate), count(phase.errors as f64)].into_iter().chain(times).collect()
    });
    rows_of(&["", "calls/s", "errors", "p50", "p99", "max"], rows)
}

fn footing(results: &Results) -> String {
    let mut said = Vec::new();
    for (name, process) in [("loadgen", results.usage.loadgen), ("the target", results.usage.target)] {
        said.extend(process.map(|process| {
            let (cpu, each) = (digits(process.cpu_s), digits(process.cpu_us_per_call));
            let memory = mebibytes(process.peak_memory_bytes);
            format!("CPU of {name}: {cpu} s, {each} µs per call; memory at its peak: {memory}.")
        }));
    }
    if results.scenario.loop_kind == "open" {
        said.push(format!("Batches that found no place and were not sent: {}.", count(results.not_sent as f64)));
    }
    let correction = match results.latency.correction.as_str() {
        "from_due" => "Latencies are corrected: they count from when batches were due.",
        "expected_interval" => "Latencies are corrected by the interval in which sessions are expected to send.",
        _ => "Latencies are not corrected for coordinated omission.",
    };
    said.push(correction.to_owned());
    let host = &results.host;
    said.push(format!(
        "toolyard {}, {}, {} cores, {} workers, seed {}.",
        host.toolyard, host.os, host.cores, host.workers, results.scenario.seed
    ));
    said.iter().map(|line| format!("<p>{}</p>\n", escape(line))).collect()
}

/// A table whose cells are safe already.
fn rows_of(heading: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let heading: String = heading.iter().map(|name| format!("<th>{name}</th>")).collect();
    let rows = rows.map(|row| {
        let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr>{cells}</tr>\n")
    });
    format!("<div class=\"scroll\"><table>\n<tr>{heading}</tr>\n{}</table></div>\n", rows.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_page_stands_for_itself_and_shows_everything() {
        let page = page(&sample(100));
        for part in ["Latency percentiles", "延迟百分位", "吞吐量随时间", "调用结果", "lost: closed", "missed", "99.9"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert_eq!(page.matches("<svg").count(), 3);
        for outside in ["http://", "https://", "<script", "<link", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("width=device-width"));
    }

    #[test]
    fn what_the_scenario_and_the_target_say_cannot_become_part_of_the_page() {
        let mut results = sample(10);
        let hostile = "<script>alert('1')</script>\"&";
        results.scenario.name = hostile.to_owned();
        results.scenario.url = Some(format!("http://{hostile}"));
        results.lost.reasons.insert(hostile.to_owned(), 1);
        results.statuses.insert(hostile.to_owned(), 1);
        results.objectives[0].name = hostile.to_owned();
        results.host.os = hostile.to_owned();
        results.phases = vec![results.phases[0].clone(); 2];
        results.phases[0].name = hostile.to_owned();
        let page = page(&results);
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&quot;&amp;"));
    }

    #[test]
    fn a_run_that_gave_nothing_has_a_page_too() {
        let page = page(&sample(0));
        assert!(page.contains("</html>") && !page.contains("NaN") && !page.contains("inf"), "{page}");
    }
}
