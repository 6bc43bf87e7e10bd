//! From a model's reply to its calls, and from their results to messages, beside serde_json on the same bytes.

use std::hint::black_box;

use serde_json::Value;
use tokio::time::Instant;
use toolyard::{Dialect, ExecutionClass, JsonText, MessageOptions, ToolBatch};
use toolyard_bench::{BASE_CALLS, Setup, openai_reply};

use crate::Rounds;
use crate::race::{Lane, race};
use crate::report::Report;
use crate::scene::Scene;

/// Repetitions of one sample.
const TIMES: usize = 50;

/// An OpenAI reply with 16 calls, and the messages that answer it.
pub(crate) fn border(report: &mut Report, rounds: Rounds) {
    const DIALECT: Dialect = Dialect::OpenAiChat;
    let options = MessageOptions::default();
    let scene = Scene::one_thread();
    let engine = scene.engine(Setup { payload: 200, ..Setup::of(ExecutionClass::Io) });
    let names: Vec<String> = (0..BASE_CALLS).map(|number| engine.tool_name(number)).collect();
    let reply = openai_reply(names.iter().map(String::as_str));
    let parsed = DIALECT.parse(&reply).unwrap();
    let outcome = scene.runtime.block_on(engine.dispatch(ToolBatch::new(parsed.calls)));
    let messages = DIALECT.messages(&outcome, options);
    let values: Vec<Value> = messages.iter().map(|message| message.to().unwrap()).collect();
    let turn = parsed.turn;

    let lanes = [
        lane(|| drop(black_box(serde_json::from_str::<Value>(black_box(&reply)).unwrap()))),
        lane(|| drop(black_box(values.iter().map(Value::to_string).collect::<Vec<_>>()))),
        lane(|| {
            drop(black_box(serde_json::from_str::<Value>(black_box(&reply)).unwrap()));
            drop(black_box(values.iter().map(Value::to_string).collect::<Vec<_>>()));
        }),
        lane(|| drop(black_box(DIALECT.parse(black_box(&reply)).unwrap()))),
        lane(|| drop(black_box(DIALECT.messages(&outcome, options)))),
        lane(|| {
            drop(black_box(DIALECT.parse(black_box(&reply)).unwrap()));
            drop(black_box(DIALECT.messages(&outcome, options)));
        }),
        lane(|| drop(black_box::<Vec<JsonText>>(DIALECT.assistant(&turn, &outcome, options)))),
    ];
    let [from_json, to_json, both_json, parse, render, both, assistant] = race(rounds.of(300), lanes, || {});
    report.ratio(
        "parse of an OpenAI reply with 16 calls + render of the results, over serde_json",
        both.over(&both_json),
        3.0,
    );
    report.ratio("– the parse alone, over serde_json's", parse.over(&from_json), None);
    report.ratio("– the render alone, over serde_json's", render.over(&to_json), None);
    report.ratio("– the model's turn for the history, over serde_json's parse", assistant.over(&from_json), None);
}

fn lane<'a>(mut work: impl FnMut() + 'a) -> Lane<'a> {
    Box::new(move || {
        let started = Instant::now();
        for _ in 0..TIMES {
            work();
        }
        started.elapsed().as_secs_f64() * 1e9 / (TIMES * BASE_CALLS) as f64
    })
}
