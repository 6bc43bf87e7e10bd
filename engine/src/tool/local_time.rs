//! Times as a model writes them: `YYYY-MM-DD HH:mm`, local to the people of the chat (seed 003).

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The form, as a description names it.
const FORM: &str = "YYYY-MM-DD HH:mm";
/// What a validator can check of the form; the calendar is checked when the time is read.
const PATTERN: &str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]$";
/// An example for the model.
const EXAMPLE: &str = "2026-10-10 08:30";

/// A minute of the calendar without a time zone.
///
/// Typed handlers can have it in their arguments: its JSON Schema is that of [`local_time_parameter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LocalTime {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
}

/// Why a text is not a local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocalTimeError {
    /// It does not have the form.
    #[error("a time is written \"{FORM}\", such as \"{EXAMPLE}\"")]
    Form,
    /// The calendar has no such day.
    #[error("there is no such day in the calendar")]
    Day,
    /// The day has no such minute.
    #[error("the time of day is between 00:00 and 23:59")]
    Minute,
}

// === impl LocalTime ===

impl LocalTime {
    /// A minute of the calendar.
    ///
    /// # Errors
    /// There is no such day between the years 1 and 9999, or no such minute in it.
    pub const fn new(year: u16, month: u8, day: u8, hour: u8, minute: u8) -> Result<Self, LocalTimeError> {
        if year == 0 || year > 9999 || day == 0 || day > days_in(year, month) {
            return Err(LocalTimeError::Day);
        }
        if hour > 23 || minute > 59 {
            return Err(LocalTimeError::Minute);
        }
        Ok(Self { year, month, day, hour, minute })
    }

    /// The year, 1 to 9999.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub const fn day(self) -> u8 {
        self.day
    }

    /// The hour, 0 to 23.
    pub const fn hour(self) -> u8 {
        self.hour
    }

    /// The minute, 0 to 59.
    pub const fn minute(self) -> u8 {
        self.minute
    }
}

/// Reads `YYYY-MM-DD HH:mm`, strictly: no other form, no white space around it, and a day that exists.
///
/// # Errors
/// Says whether the form, the day or the time of day is wrong.
pub fn parse_local(text: &str) -> Result<LocalTime, LocalTimeError> {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, b' ', h0, h1, b':', n0, n1] = *text.as_bytes() else {
        return Err(LocalTimeError::Form);
    };
    let two = |tens: u8, ones: u8| Some(digit(tens)? * 10 + digit(ones)?);
    let fields = || {
        let year = u16::from(two(y0, y1)?) * 100 + u16::from(two(y2, y3)?);
        Some((year, two(m0, m1)?, two(d0, d1)?, two(h0, h1)?, two(n0, n1)?))
    };
    let (year, month, day, hour, minute) = fields().ok_or(LocalTimeError::Form)?;
    LocalTime::new(year, month, day, hour, minute)
}

/// The JSON Schema of a parameter that is a local time. The description says what the time means, such as
/// `departure, Beijing time, default now`; the form is added to it.
pub fn local_time_parameter(description: &str) -> Value {
    let description = description.trim();
    let description = match description {
        "" => format!("\"{FORM}\""),
        _ if description.contains(FORM) => description.to_owned(),
        _ => format!("{description} (\"{FORM}\")"),
    };
    json!({"type": "string", "pattern": PATTERN, "description": description, "examples": [EXAMPLE]})
}

impl FromStr for LocalTime {
    type Err = LocalTimeError;

    fn from_str(text: &str) -> Result<Self, LocalTimeError> {
        parse_local(text)
    }
}

impl TryFrom<String> for LocalTime {
    type Error = LocalTimeError;

    fn try_from(text: String) -> Result<Self, LocalTimeError> {
        parse_local(&text)
    }
}

impl From<LocalTime> for String {
    fn from(time: LocalTime) -> Self {
        time.to_string()
    }
}

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02} {:02}:{:02}", self.year, self.month, self.day, self.hour, self.minute)
    }
}

impl JsonSchema for LocalTime {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LocalTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        Schema::try_from(local_time_parameter("")).unwrap_or_default()
    }
}

const fn digit(byte: u8) -> Option<u8> {
    if byte.is_ascii_digit() { Some(byte - b'0') } else { None }
}

/// How many days a month has; none where there is no such month.
const fn days_in(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_day_that_exists_is_read_and_written_back() {
        for text in ["2026-10-10 08:30", "2024-02-29 00:00", "2000-02-29 23:59", "0001-01-01 00:00", "9999-12-31 23:59"]
        {
            assert_eq!(parse_local(text).map(|time| time.to_string()), Ok(text.to_owned()));
        }
        let time = parse_local("2026-10-09 08:31").unwrap();
        assert_eq!((time.year(), time.month(), time.day(), time.hour(), time.minute()), (2026, 10, 9, 8, 31));
    }

    #[test]
    fn other_forms_and_days_that_do_not_exist_are_refused() {
        let cases = [
            ("", LocalTimeError::Form),
            ("2026-10-10", LocalTimeError::Form),
            ("2026-10-10T08:30", LocalTimeError::Form),
            ("2026-10-10 08:30:00", LocalTimeError::Form),
            (" 2026-10-10 08:30", LocalTimeError::Form),
            ("2026-10-10 8:30", LocalTimeError::Form),
            ("２026-10-10 08:3", LocalTimeError::Form),
            ("+026-10-10 08:30", LocalTimeError::Form),
            ("2026-02-29 08:30", LocalTimeError::Day),
            ("1900-02-29 08:30", LocalTimeError::Day),
            ("2026-04-31 08:30", LocalTimeError::Day),
            ("2026-13-01 08:30", LocalTimeError::Day),
            ("2026-00-01 08:30", LocalTimeError::Day),
            ("2026-01-00 08:30", LocalTimeError::Day),
            ("0000-01-01 08:30", LocalTimeError::Day),
            ("2026-10-10 24:00", LocalTimeError::Minute),
            ("2026-10-10 08:60", LocalTimeError::Minute),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_local(text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn the_parameter_names_its_form_once() {
        let schema = local_time_parameter("departure, Beijing time");
        assert_eq!(schema["description"], "departure, Beijing time (\"YYYY-MM-DD HH:mm\")");
        let said = "Beijing time \"YYYY-MM-DD HH:mm\", default now";
        assert_eq!(local_time_parameter(said)["description"], said);
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&schema["examples"][0]));
        assert!(!validator.is_valid(&json!("2026-10-10T08:30")));
    }

    #[test]
    fn typed_arguments_can_hold_a_local_time() {
        #[derive(Deserialize, JsonSchema)]
        struct Arguments {
            /// departure
            at: LocalTime,
        }
        let schema = schemars::schema_for!(Arguments).to_value();
        assert_eq!(schema["properties"]["at"]["pattern"], PATTERN);
        assert_eq!(schema["properties"]["at"]["description"], "departure");
        let read: Arguments = serde_json::from_value(json!({"at": "2026-10-10 08:30"})).unwrap();
        assert_eq!(serde_json::to_value(read.at).unwrap(), "2026-10-10 08:30");
        assert!(serde_json::from_value::<Arguments>(json!({"at": "2026-02-30 08:30"})).is_err());
    }

    proptest! {
        #[test]
        fn every_minute_that_exists_survives_being_written(
            year in 1_u16..=9999, month in 0_u8..=13, day in 0_u8..=32, hour in 0_u8..=25, minute in 0_u8..=61,
        ) {
            let made = LocalTime::new(year, month, day, hour, minute);
            let text = format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}");
            prop_assert_eq!(parse_local(&text), made);
            let pattern = jsonschema::validator_for(&local_time_parameter("")).unwrap();
            prop_assert!(made.is_err() || pattern.is_valid(&json!(text)));
        }

        #[test]
        fn whatever_is_read_is_written_back_as_it_was(text in "[0-9]{3,5}-[0-9]{2}-[0-3][0-9] [0-2][0-9]:[0-9]{1,2}|.{0,20}") {
            if let Ok(time) = parse_local(&text) {
                prop_assert_eq!(time.to_string(), text);
            }
        }
    }
}
