//! What no-op calls allocate, by place.

use std::collections::HashMap;
use std::error::Error;
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

    /// The innermost function of ours, with its line.
    fn place(&self, point: &Point) -> String {
        let frames = point.fs.iter().filter_map(|&frame| self.ftbl.get(frame));
        let ours = frames.filter_map(|frame| frame.split_once(": ")).map(|(_address, function)| function);
        let place = ours.into_iter().find(|function| function.contains("toolyard"));
        place.unwrap_or("elsewhere").replace("{{closure}}", "…")
    }
}
