//! Reads replies and renders results, for a program that counts instructions:
//! `border <work> <rounds> [dialect]`, where `json` and `values` are what `serde_json` alone takes to read a reply and to
//! print the messages.
//!
//! Instructions do not depend on what else the machine does. The difference between two runs of different lengths, divided
//! by the difference in rounds, is what one reply of 16 calls costs.
#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on has failed")]

use std::hint::black_box;

use serde_json::Value;
use toolyard::{Dialect, JsonText, Limits, MessageOptions, Profile, result_from_mcp};
use toolyard_bench::border;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let work = arguments.next().unwrap();
    let rounds: usize = arguments.next().unwrap().parse().unwrap();
    let dialect: Dialect = arguments.next().map_or(Dialect::OpenAiChat, |name| name.parse().unwrap());
    let (_, reply) = border::replies().into_iter().find(|(form, _)| *form == dialect).unwrap();
    let parsed = dialect.parse(&reply).unwrap();
    let outcome = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = outcome.block_on(border::outcome(&parsed));
    let options = MessageOptions::default();
    let values = serde_json::to_value(dialect.messages(&outcome, options)).unwrap();
    let limits = Limits::default();
    let answer =
        JsonText::parse(r#"{"content": [{"type": "text", "text": "1. One\n2. Two"}], "isError": false}"#).unwrap();
    for _ in 0..rounds {
        match work.as_str() {
            "json" => drop(black_box(serde_json::from_slice::<Value>(black_box(reply.as_bytes())).unwrap())),
            "parse" => drop(black_box(dialect.parse(black_box(&reply)).unwrap())),
            "values" => drop(black_box(serde_json::to_vec(black_box(&values)).unwrap())),
            "messages" => drop(black_box(serde_json::to_vec(&dialect.messages(black_box(&outcome), options)).unwrap())),
            "assistant" => drop(black_box(dialect.assistant(black_box(&parsed.turn), &outcome, options))),
            "arguments" => parsed.calls.iter().for_each(|call| {
                drop(black_box(black_box(call).read(Profile::Lenient, &limits).unwrap()));
            }),
            "answers" => (0..border::CALLS).for_each(|_| drop(black_box(result_from_mcp(black_box(&answer))))),
            other => panic!("there is no work `{other}`"),
        }
    }
}
