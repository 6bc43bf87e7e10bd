//! What no-op calls allocate, by place.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use toolyard::ExecutionClass;
use toolyard_bench::{BASE_CALLS, Engine, Setup};

/// Batches before those that count, so that what is made once is there.
const WARM_UP: usize = 64;
const BATCHES: usize = 64;

/// What calls of one class allocate, each.
#[derive(Serialize)]
pub(crate) struct OfCalls {
    pub(crate) class: &'static str,
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
    /// The same by place, most first.
    pub(crate) places: Vec<OfPlace>,
}

/// What one place in the code allocates, for each call.
#[derive(Serialize)]
pub(crate) struct OfPlace {
    pub(crate) place: String,
    pub(crate) allocations: f64,
    pub(crate) bytes: f64,
}

/// The part of dhat's file that is read.
#[derive(Deserialize)]
struct Profile {
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

/// One stack from which memory was allocated.
#[derive(Deserialize)]
struct Point {
    /// Bytes and blocks in total.
    tb: u64,
    tbk: u64,
    /// Its frames, innermost first, as places in the table.
    fs: Vec<usize>,
}

/// One frame of a stack.
struct Frame<'a> {
    function: &'a str,
    /// File and line.
    line: &'a str,
}

/// Counts what the calls of whole batches allocate, the batches themselves aside.
pub(crate) fn count(runtime: &Runtime, name: &'static str, class: ExecutionClass) -> Result<OfCalls, Box<dyn Error>> {
    let mut setup = Setup::of(class);
    // Counting takes time, which must not turn calls into tasks.
    setup.limits.in_place_budget = Duration::from_secs(3600);
    let engine = runtime.block_on(Engine::start(setup));
    let run = |batches: Vec<_>| {
        runtime.block_on(async {
            for batch in batches {
                engine.dispatch(batch).await;
            }
        });
    };
    let make = |turns: std::ops::Range<usize>| turns.map(|turn| engine.batch(0, turn, BASE_CALLS)).collect();
    run(make(0..WARM_UP));
    let batches = make(WARM_UP..WARM_UP + BATCHES);
    let file = tempfile::NamedTempFile::new()?;
    let profiler = dhat::Profiler::builder().file_name(file.path()).trim_backtraces(None).build();
    run(batches);
    drop(profiler);
    let profile: Profile = serde_json::from_reader(std::io::BufReader::new(file.reopen()?))?;
    Ok(profile.of_calls(name))
}

// === impl Profile ===

impl Profile {
    fn of_calls(&self, class: &'static str) -> OfCalls {
        let mut by_place: HashMap<String, (u64, u64)> = HashMap::new();
        for point in &self.pps {
            let sum = by_place.entry(self.place(point)).or_default();
            *sum = (sum.0 + point.tbk, sum.1 + point.tb);
        }
        let each = |sum: u64| sum as f64 / (BATCHES * BASE_CALLS) as f64;
        let mut places: Vec<OfPlace> = by_place
            .into_iter()
            .map(|(place, (blocks, bytes))| OfPlace { place, allocations: each(blocks), bytes: each(bytes) })
            .collect();
        places.sort_by(|a, b| b.allocations.total_cmp(&a.allocations).then_with(|| a.place.cmp(&b.place)));
        let of_all = |what: fn(&Point) -> u64| each(self.pps.iter().map(what).sum());
        OfCalls { class, allocations: of_all(|point| point.tbk), bytes: of_all(|point| point.tb), places }
    }

    /// What is made, as far as names of types of ours say it, and the line of the engine that makes it.
    fn place(&self, point: &Point) -> String {
        let frames = point.fs.iter().filter_map(|&frame| self.ftbl.get(frame)).filter_map(|frame| Frame::read(frame));
        let frames: Vec<Frame<'_>> = frames.collect();
        let made = frames.iter().find(|frame| frame.function.contains("toolyard")).map(|frame| short(frame.function));
        let line = frames.iter().find(|frame| frame.is_of_engine()).map_or("elsewhere", |frame| frame.line);
        format!("{line}: {}", made.unwrap_or_default())
    }
}

// === impl Frame ===

impl<'a> Frame<'a> {
    /// Reads `0xADDRESS: FUNCTION (FILE:LINE:COLUMN)`.
    fn read(text: &'a str) -> Option<Self> {
        let (_address, rest) = text.split_once(": ")?;
        let (function, place) = rest.rsplit_once(" (")?;
        let (line, _column) = place.trim_end_matches(')').rsplit_once(':')?;
        Some(Self { function, line })
    }

    /// Whether there is such a file in the engine. dhat leaves out all but the last folders.
    fn is_of_engine(&self) -> bool {
        let engine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine");
        let file = self.line.rsplit_once(':').map_or(self.line, |(file, _line)| file);
        let file = file.strip_prefix("engine/").unwrap_or(file);
        engine.join(file).is_file() || engine.join("src").join(file).is_file()
    }
}

/// A name without the modules of what it names.
fn short(name: &str) -> String {
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    let mut path = String::new();
    for c in name.chars().chain(['\0']) {
        if is_of_path(c) {
            path.push(c);
        } else {
            short.push_str(path.rsplit("::").find(|part| !part.is_empty()).unwrap_or_default());
            path.clear();
            short.push(c);
        }
    }
    short.trim_end_matches('\0').replace("{closure}", "…")
}
