//! What the fuzz targets do with their bytes. `tests/system/fuzzing.rs` includes this file, so that every build checks it,
//! and runs it on inputs that are known.

use serde_json::Value;
use toolyard::{
    ArgumentSchema, CallPolicy, Dialect, HistoryForm, HistoryOptions, Limits, Profile, RawArguments, SchemaTarget,
    ToolBatch, ToolCall, check_history, normalise_schema, project_schema as project,
};

/// Bytes that an assembled stream may hold.
const MAX_STREAM: usize = 1 << 20;

/// A target by its name.
pub type Target = fn(&[u8]);

/// Every target.
pub const TARGETS: [(&str, Target); 6] = [
    ("parse", parse),
    ("assemble", assemble),
    ("repair", repair),
    ("validate", validate),
    ("project", project_schema),
    ("history", history),
];

/// Replies in any form: never a panic, one place in the turn for each call, ids made unique.
pub fn parse(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let _detected = Dialect::detect(text).ok();
    for dialect in Dialect::ALL {
        let Ok(parsed) = dialect.parse(text) else { continue };
        let batch = ToolBatch::new(parsed.calls);
        let mut ids: Vec<&str> = batch.calls.iter().map(|call| call.call_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), batch.calls.len(), "ids are unique");
        for call in &batch.calls {
            call.read(Profile::Lenient, &Limits::default()).ok();
        }
    }
}

/// Streams in any form, cut at line ends: what is put together is read, or refused with a reason.
pub fn assemble(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let Some(text) = text(rest) else { return };
    let dialect = Dialect::ALL[usize::from(*first) % Dialect::ALL.len()];
    dialect.parse_stream(text, MAX_STREAM).ok();
}

/// Arguments: what is read is an object, equal to what was written unless a repair says otherwise; what a strict reading
/// takes, a lenient one takes too, and without further repairs.
pub fn repair(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let limits = Limits::default();
    for raw in [RawArguments::text(text), RawArguments::Encoded(text.into())] {
        let call = ToolCall::new("c", "t", raw.clone());
        let lenient = call.read(Profile::Lenient, &limits);
        let strict = call.read(Profile::Strict, &limits);
        if let Ok((arguments, repairs)) = &lenient {
            let value: Value = serde_json::from_str(arguments.text()).expect("what is read is JSON");
            assert!(value.is_object(), "what is read is an object");
            if let (RawArguments::Text(_), true) = (&raw, repairs.is_empty()) {
                assert_eq!(arguments.text(), text.trim_ascii(), "nothing changes unseen");
            }
        }
        if let Ok((arguments, repairs)) = strict {
            let (also, more) = lenient.expect("what is strict is lenient");
            assert_eq!((arguments.text(), &repairs), (also.text(), &more));
        }
    }
}

/// A schema and arguments, one a line: what is admitted fits the schema.
pub fn validate(data: &[u8]) {
    let Some((schema, arguments)) = text(data).and_then(|text| text.split_once('\n')) else { return };
    let Ok(schema) = serde_json::from_str::<Value>(schema) else { return };
    let Ok(compiled) = ArgumentSchema::compile(&schema) else { return };
    let limits = Limits::default();
    let Ok((read, _)) = ToolCall::new("c", "t", RawArguments::text(arguments)).read(Profile::Lenient, &limits) else {
        return;
    };
    for strict in [false, true] {
        let policy = CallPolicy { strip_unknown: strict, drop_empty_optionals: strict, ..CallPolicy::default() };
        if let Ok((admitted, _)) = compiled.admit(read.clone(), &policy, &limits) {
            compiled.check(&admitted).expect("what is admitted fits");
        }
    }
}

/// A schema: every projection ends, is the same twice, and leaves the original alone.
pub fn project_schema(data: &[u8]) {
    let Some(text) = text(data) else { return };
    let Ok(schema) = serde_json::from_str::<Value>(text) else { return };
    let Ok(normalised) = normalise_schema(&schema) else { return };
    for target in SchemaTarget::ALL {
        let once = project(&normalised.schema, target);
        let twice = project(&normalised.schema, target);
        assert_eq!(once.schema.to_string(), twice.schema.to_string());
    }
}

/// A conversation in any form: what was repaired has no problems any more.
pub fn history(data: &[u8]) {
    let Some(text) = text(data) else { return };
    for form in HistoryForm::ALL {
        let Ok(report) = check_history(form, HistoryOptions::of(form), text) else { continue };
        let again = check_history(form, HistoryOptions::of(form), report.messages.as_str()).expect("it stays readable");
        assert!(again.problems.is_empty(), "{form}: {:?}", again.problems);
    }
}

fn text(data: &[u8]) -> Option<&str> {
    std::str::from_utf8(data).ok()
}
