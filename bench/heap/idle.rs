//! What is kept when nobody calls: by an engine, and by a session.

use tokio::runtime::Runtime;
use toolyard::{ExecutionClass, TurnId};
use toolyard_bench::{Engine, Setup};

const SESSIONS: usize = 2_048;

/// Bytes that a started engine keeps, and the most that it had while it started. What libraries make once for the whole
/// process is in it: this comes first.
pub(crate) fn engine(runtime: &Runtime) -> [usize; 2] {
    let _profiler = dhat::Profiler::builder().testing().build();
    let engine = runtime.block_on(Engine::start(Setup::of(ExecutionClass::Io)));
    let stats = dhat::HeapStats::get();
    drop(engine);
    [stats.curr_bytes, stats.max_bytes]
}

/// Bytes that a session keeps after a batch in a turn of its own.
pub(crate) fn session(runtime: &Runtime) -> f64 {
    let engine = runtime.block_on(Engine::start(Setup::of(ExecutionClass::Io))).in_sessions();
    let _profiler = dhat::Profiler::builder().testing().build();
    let before = dhat::HeapStats::get().curr_bytes;
    runtime.block_on(async {
        for session in 0..SESSIONS {
            let turn = TurnId(format!("turn_{session}").into());
            engine.dispatch(engine.batch(session, 0, 1).with_turn(turn)).await;
        }
    });
    let after = dhat::HeapStats::get().curr_bytes;
    after.saturating_sub(before) as f64 / SESSIONS as f64
}
