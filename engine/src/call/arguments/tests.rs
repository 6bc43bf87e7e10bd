use super::*;
use crate::call::Profile;
use crate::limits::Limits;
use crate::result::{CallError, ErrorCode, Repair, RepairKind};

fn read(text: &str) -> Result<(Arguments, Vec<Repair>), CallError> {
    read_arguments(RawArguments::text(text), Profile::Strict, &Limits::default())
}

fn code_of(text: &str) -> ErrorCode {
    read(text).unwrap_err().code
}

#[test]
fn text_is_kept_digit_for_digit() {
    let text = r#"{"id":653247040368672768123456789,"x":1.50}"#;
    assert_eq!(read(text).unwrap().0.text(), text);
}

#[test]
fn nothing_means_an_object_without_keys_and_is_recorded() {
    for text in ["", "  \n", "null"] {
        let (arguments, repairs) = read(text).unwrap();
        assert_eq!((arguments.text(), repairs[0].kind), ("{}", RepairKind::EmptyArguments));
    }
}

#[test]
fn only_objects_are_arguments() {
    for text in ["[]", "1", "\"{}\"", "true"] {
        assert_eq!(code_of(text), ErrorCode::ArgumentsNotObject, "{text}");
    }
}

#[test]
fn cut_off_text_is_told_from_broken_text() {
    for text in [r#"{"a": "b"#, r#"{"a": "#, "{", r#"{"a": [1,"#, r#"{"a": tru"#] {
        assert_eq!(code_of(text), ErrorCode::ArgumentsTruncated, "{text}");
    }
    for text in ["{a: 1}", r#"{"a": NaN}"#, r#"{"a": 1} and more"#, r#"{"a": "\ud800"}"#] {
        assert_eq!(code_of(text), ErrorCode::ArgumentsSyntax, "{text}");
    }
}

#[test]
fn a_reply_that_was_cut_off_never_gives_arguments_even_when_they_look_complete() {
    let error = read_arguments(RawArguments::CutOff("{}".into()), Profile::Lenient, &Limits::default()).unwrap_err();
    assert_eq!(error.code, ErrorCode::ArgumentsTruncated);
}

#[test]
fn duplicate_keys_are_refused_at_any_depth() {
    assert_eq!(code_of(r#"{"a": 1, "a": 2}"#), ErrorCode::ArgumentsDuplicateKey);
    assert_eq!(code_of(r#"{"x": [{"a": 1, "\u0061": 2}]}"#), ErrorCode::ArgumentsDuplicateKey);
}

#[test]
fn depth_and_size_have_limits() {
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    assert_eq!(code_of(&deep), ErrorCode::ArgumentsTooDeep);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(Limits::default().max_argument_bytes));
    assert_eq!(code_of(&large), ErrorCode::ArgumentsTooLarge);
}

#[test]
fn an_object_that_was_encoded_twice_is_decoded_once_when_lenient() {
    let twice = RawArguments::text(r#""{\"n\": 653247040368672768123}""#);
    let (arguments, repairs) = read_arguments(twice, Profile::Lenient, &Limits::default()).unwrap();
    assert_eq!(arguments.text(), r#"{"n": 653247040368672768123}"#);
    assert_eq!(repairs[0].kind, RepairKind::DoubleEncodedRoot);
    assert_eq!(code_of(r#""{}""#), ErrorCode::ArgumentsNotObject);
    let thrice = RawArguments::text(r#""\"{}\"""#);
    assert!(read_arguments(thrice, Profile::Lenient, &Limits::default()).is_err());
}
