//! Instructions of a call, counted by callgrind: they do not depend on what else the machine does, so that a bound can
//! hold them. `cargo xtask instructions` installs what this needs, and runs it.
//!
//! 2,000 calls are made on one thread, in batches of 16. A bound is an eighth above what was counted when it was written; when
//! a count falls, its bound should follow.
#![expect(clippy::unwrap_used, reason = "a count that cannot set itself up is over")]
#![expect(clippy::exit, reason = "gungraun's main ends so")]

use std::hint::black_box;
use std::time::Duration;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};
use tokio::runtime::{Builder, Runtime};
use toolyard::{BatchOutcome, Dialect, ExecutionClass, MessageOptions, Policy, ToolBatch};
use toolyard_bench::{BASE_CALLS, Engine, Setup, caller, install_recorder, openai_reply, rules, usage};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Batches before those that are counted.
const WARM_UP: usize = 20;
/// Batches that are counted, and their calls.
const BATCHES: usize = 125;
const CALLS: u64 = (BATCHES * BASE_CALLS) as u64;

/// Batches that are ready to run.
struct Ready {
    runtime: Runtime,
    engine: Engine,
    batches: Vec<ToolBatch>,
}

/// A reply, and the outcome of its calls.
struct Answered {
    reply: String,
    outcome: BatchOutcome,
}

#[library_benchmark]
#[bench::io(args = (ExecutionClass::Io, None), setup = ready, config = at_most(4_930))]
#[bench::inline(args = (ExecutionClass::Inline, None), setup = ready, config = at_most(4_930))]
#[bench::task(args = (ExecutionClass::Task, None), setup = ready, config = at_most(8_380))]
#[bench::session(args = (ExecutionClass::Io, Some(no_rules)), setup = ready, config = at_most(5_100))]
#[bench::policy(args = (ExecutionClass::Io, Some(rules)), setup = ready, config = at_most(5_470))]
#[bench::usage(args = (ExecutionClass::Io, Some(limits)), setup = ready, config = at_most(5_850))]
fn dispatch(ready: Ready) -> Ready {
    let Ready { runtime, engine, mut batches } = ready;
    runtime.block_on(async {
        for batch in batches.drain(..) {
            black_box(engine.dispatch(batch).await);
        }
    });
    Ready { runtime, engine, batches }
}

#[library_benchmark]
#[bench::openai(setup = answered, config = at_most(14_520))]
fn parse_and_render(answered: Answered) -> Answered {
    for _ in 0..BATCHES {
        black_box(Dialect::OpenAiChat.parse(black_box(&answered.reply)).unwrap());
        black_box(Dialect::OpenAiChat.messages(black_box(&answered.outcome), MessageOptions::default()));
    }
    answered
}

/// What a call may cost, in instructions of the profile that CI builds by. Other profiles are counted and not held.
fn at_most(of_a_call: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    if cfg!(debug_assertions) {
        callgrind.hard_limits([(EventKind::Ir, of_a_call * CALLS)]);
    }
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

/// The policy of a setup.
type Rules = fn(&Setup) -> Policy;

/// An engine that has run for a while, and batches; in a session and under a policy, if there is one.
fn ready(class: ExecutionClass, policy: Option<Rules>) -> Ready {
    let runtime = runtime();
    install_recorder();
    let setup = setup(class);
    let policy = policy.map(|policy| policy(&setup));
    let mut engine = runtime.block_on(Engine::start(setup));
    if let Some(policy) = policy {
        engine = engine.in_session("session", caller());
        engine.set_policy(policy);
    }
    runtime.block_on(async {
        for turn in 0..WARM_UP {
            engine.dispatch(engine.batch(0, turn, BASE_CALLS)).await;
        }
    });
    let batches = (WARM_UP..WARM_UP + BATCHES).map(|turn| engine.batch(0, turn, BASE_CALLS)).collect();
    Ready { runtime, engine, batches }
}

fn answered() -> Answered {
    let runtime = runtime();
    let engine = runtime.block_on(Engine::start(Setup { payload: 200, ..setup(ExecutionClass::Io) }));
    let names: Vec<String> = (0..BASE_CALLS).map(|number| engine.tool_name(number)).collect();
    let reply = openai_reply(names.iter().map(String::as_str));
    let calls = Dialect::OpenAiChat.parse(&reply).unwrap().calls;
    let outcome = runtime.block_on(engine.dispatch(ToolBatch::new(calls)));
    Answered { reply, outcome }
}

fn setup(class: ExecutionClass) -> Setup {
    let mut setup = Setup::of(class);
    // A count must not depend on time, and callgrind takes fifty times as much of it.
    setup.limits.in_place_budget = Duration::from_secs(3600);
    setup
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn no_rules(_setup: &Setup) -> Policy {
    Policy::default()
}

fn limits(_setup: &Setup) -> Policy {
    usage()
}

library_benchmark_group!(name = path, benchmarks = dispatch);
library_benchmark_group!(name = border, benchmarks = parse_and_render);

main!(library_benchmark_groups = [path, border]);
