//! Answer: what a line of a plugin says. The only place that knows how its lines look.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use toolyard::JsonText;

use super::fields::camel_case;
use super::line::Line;

/// The members by which an answer is known.
const KNOWN: [&str; 9] =
    ["result", "error", "content", "tools", "hooks", "enrichers", "hook_result", "channel_provider", "request_ids"];
/// The members that only an answer has.
const DECISIVE: [&str; 2] = ["result", "error"];

/// What a line of a plugin is.
#[derive(Debug)]
pub(super) enum Said {
    Answer(Answer),
    /// Something that nobody asked for and that no call waits for: a print, or a message to a host that shows widgets.
    Noise,
    Malformed(Malformed),
}

/// An answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) id: Option<u64>,
    members: Vec<(String, JsonText)>,
}

/// A line that should have been an answer.
#[derive(Debug)]
pub(super) struct Malformed {
    /// The request that it belongs to, if that much could be read.
    pub(super) id: Option<u64>,
    /// Whether it is an answer for certain, though one that cannot be used.
    pub(super) is_answer: bool,
    pub(super) why: String,
}

/// What of a broken object comes before the fault.
#[derive(Debug, Default)]
struct Beginning {
    id: Option<u64>,
    keys: Vec<String>,
}

/// Reads one line.
pub(super) fn read(line: &Line) -> Said {
    let bytes = line.bytes.trim_ascii();
    if bytes.first() != Some(&b'{') {
        return Said::Noise;
    }
    if line.is_cut() {
        let why = format!("its line has {} bytes; at most {} are read", line.written, line.bytes.len());
        return Said::Malformed(Malformed::new(bytes, why));
    }
    let json = match std::str::from_utf8(bytes) {
        Ok(text) => JsonText::parse(text).map_err(|error| format!("its line is no valid JSON: {error}")),
        Err(error) => Err(format!("its line is not UTF-8: {error}")),
    };
    match json {
        // A key may hold half a character.
        Ok(json) => of_object(json.members().or_else(|| json.with_whole_characters().members()).unwrap_or_default()),
        Err(why) => Said::Malformed(Malformed::new(bytes, why)),
    }
}

fn of_object(mut members: Vec<(String, JsonText)>) -> Said {
    let id = members.iter().position(|(key, _)| key == "id").map(|at| members.remove(at).1);
    let id = id.and_then(|id| id.to::<u64>().ok());
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    // A message to the host, as of xbot's channels, and not an answer to it.
    if (has("type") || has("method")) && !DECISIVE.into_iter().any(has) {
        return Said::Noise;
    }
    if members.is_empty() || KNOWN.into_iter().any(|name| has(name) || has(&camel_case(name))) {
        return Said::Answer(Answer { id, members });
    }
    let keys: Vec<String> = members.iter().take(8).map(|(key, _)| key.chars().take(32).collect()).collect();
    let why = format!("its line has neither `result` nor `error`, only: {}", keys.join(", "));
    Said::Malformed(Malformed { id, is_answer: false, why })
}

// === impl Answer ===

impl Answer {
    /// The member that is called `name`, which is given in snake_case. `null` counts as absent.
    pub(super) fn take(&mut self, name: &str) -> Option<JsonText> {
        let mut found = None;
        for spelling in [name, &camel_case(name)] {
            if let Some(at) = self.members.iter().position(|(key, _)| key == spelling) {
                let (_, value) = self.members.remove(at);
                found = found.or(Some(value).filter(|value| value.as_str() != "null"));
            }
        }
        found
    }

    /// Whatever has not been taken.
    pub(super) fn rest(self) -> Vec<(String, JsonText)> {
        self.members
    }

    /// The error that it reports, if any: text, or an object with a `message`.
    pub(super) fn take_error(&mut self) -> Option<String> {
        let error = self.take("error")?;
        let text = error.text().or_else(|| error.member("message").and_then(|message| message.text()));
        match (text, error.as_str()) {
            (Some(text), _) => Some(text).filter(|text| !text.is_empty()),
            (None, "false") => None,
            (None, json) => Some(json.to_owned()),
        }
    }
}

// === impl Malformed ===

impl Malformed {
    fn new(bytes: &[u8], why: String) -> Self {
        let mut beginning = Beginning::default();
        let text = String::from_utf8_lossy(bytes);
        beginning.deserialize(&mut serde_json::Deserializer::from_str(&text)).ok();
        let is_answer = beginning.keys.iter().any(|key| DECISIVE.contains(&key.as_str()));
        Self { id: beginning.id, is_answer, why }
    }
}

// === impl Beginning ===

impl<'de> DeserializeSeed<'de> for &mut Beginning {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Beginning {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "id" {
                self.id = Some(map.next_value()?);
                continue;
            }
            self.keys.push(key);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: impl AsRef<[u8]>) -> Said {
        let bytes = text.as_ref().to_vec();
        read(&Line { written: bytes.len(), bytes })
    }

    #[test]
    fn answers_are_known_by_their_members_in_either_spelling() {
        for text in [r#"{"result":"x"}"#, r#"{"error":"x"}"#, r#"{"tools":[]}"#, "{}", r#" {"hookResult":{}} "#] {
            assert!(matches!(said(text), Said::Answer(Answer { id: None, .. })), "{text}");
        }
        assert!(matches!(said(r#"{"id":7}"#), Said::Answer(Answer { id: Some(7), .. })));
    }

    #[test]
    fn prints_and_messages_to_other_hosts_are_noise() {
        let gbk: &[u8] = b"\xc4\xe3\xba\xc3";
        for text in [&b"starting\xe2\x80\xa6"[..], gbk, b"", b"[INFO] up", b"42", b"\"x\"", b"NaN", b"}"] {
            assert!(matches!(said(text), Said::Noise), "{text:?}");
        }
        for text in [r#"{"type":"web_ui","ui":[]}"#, r#"{"type":"channel_tools","tools":[]}"#, r#"{"method":"x"}"#] {
            assert!(matches!(said(text), Said::Noise), "{text}");
        }
    }

    #[test]
    fn broken_answers_say_why_and_whose_they_are() {
        for (text, id, is_answer, part) in [
            (&br#"{"result":NaN}"#[..], None, true, "no valid JSON"),
            (br#"{"id":7,"result":{"x":[1,-Infinity]}}"#, Some(7), true, "no valid JSON"),
            (br#"{"result":"x""#, None, true, "no valid JSON"),
            (b"{\"result\":\"\xff\"}", None, true, "not UTF-8"),
            (b"{", None, false, "no valid JSON"),
            (b"{'result': 'x'}", None, false, "no valid JSON"),
            (br#"{"id":7,"output":1}"#, Some(7), false, "only: output"),
        ] {
            let Said::Malformed(malformed) = said(text) else { panic!("{text:?} was taken") };
            assert_eq!((malformed.id, malformed.is_answer), (id, is_answer), "{text:?}");
            assert!(malformed.why.contains(part), "{}", malformed.why);
        }
    }

    #[test]
    fn a_line_that_is_too_long_still_tells_whose_it_is() {
        let line = Line { bytes: br#"{"id":3,"result":"aaaa"#.to_vec(), written: 2_000_000 };
        let Said::Malformed(malformed) = read(&line) else { panic!("it was taken") };
        assert_eq!((malformed.id, malformed.is_answer), (Some(3), true));
        assert!(malformed.why.contains("2000000 bytes"), "{}", malformed.why);
    }

    #[test]
    fn errors_are_text_or_have_a_message_and_may_be_empty() {
        for (text, error) in [
            (r#"{"error":"no"}"#, Some("no")),
            (r#"{"error":""}"#, None),
            (r#"{"error":null}"#, None),
            (r#"{"error":false}"#, None),
            (r#"{"error":{"code":1,"message":"no"}}"#, Some("no")),
            (r#"{"error":{"code":1}}"#, Some(r#"{"code":1}"#)),
            (r#"{"error":"no \ud83d","\ud83d":1}"#, Some("no \u{fffd}")),
        ] {
            let Said::Answer(mut answer) = said(text) else { panic!("{text} was not taken") };
            assert_eq!(answer.take_error().as_deref(), error, "{text}");
        }
    }
}
