//! Coercion: from the errors of a validation to changes that say the same value in the type that the schema takes.
//!
//! Only after validation has failed, only where the schema takes no value of the type that stands there, and only exact
//! spellings. Everything else is left to be refused.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::{JsonType, JsonTypeSet, ValidationError};
use serde_json::Value;

use crate::call::{CallPolicy, Change, Edits};
use crate::json::JsonText;
use crate::result::{Repair, RepairKind};

/// Errors that are looked at in one round.
const MAX_ERRORS: usize = 64;

/// The changes that the errors of one validation ask for.
struct Coercion<'a> {
    policy: &'a CallPolicy,
    edits: Edits,
    repairs: Vec<Repair>,
}

/// The types that a schema takes at the place of an error.
struct Wanted(JsonTypeSet);

/// The changes that these errors ask for, as far as the policy admits them.
pub(super) fn coerce<'e>(
    errors: impl Iterator<Item = ValidationError<'e>>,
    policy: &CallPolicy,
) -> (Edits, Vec<Repair>) {
    let mut coercion = Coercion { policy, edits: Edits::default(), repairs: Vec::new() };
    for error in errors.take(MAX_ERRORS) {
        coercion.consider(&error);
    }
    (coercion.edits, coercion.repairs)
}

// === impl Coercion ===

impl Coercion<'_> {
    fn consider(&mut self, error: &ValidationError<'_>) {
        if let Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } = error.kind() {
            if self.policy.strip_unknown {
                for key in unexpected {
                    let mut keys = keys(error);
                    keys.push(key.clone());
                    self.change(&keys, Change::Remove, RepairKind::Dropped);
                }
            }
            return;
        }
        let found = error.instance().as_ref();
        let Some(wanted) = Wanted::by(error) else {
            self.consider_branches(error);
            return;
        };
        if wanted.takes(found) {
            return;
        }
        if let Some((value, kind)) = wanted.spelling(found) {
            self.change(&keys(error), Change::Replace(value), kind);
        }
    }

    /// What a choice wants further down is only sure when a single one of its forms can be meant.
    fn consider_branches(&mut self, error: &ValidationError<'_>) {
        let can_be_meant = |inner: &ValidationError<'_>| {
            is_below(inner, error) && !matches!(inner.kind(), Kind::Constant { .. } | Kind::Enum { .. })
        };
        let mut meant = branches(error).filter(|branch| branch.iter().all(can_be_meant));
        if let (Some(branch), None) = (meant.next(), meant.next()) {
            branch.iter().for_each(|inner| self.consider(inner));
        }
    }

    fn change(&mut self, keys: &[String], change: Change, kind: RepairKind) {
        if !keys.is_empty() && kind.is_admitted(self.policy.profile) && self.edits.add(keys, change) {
            self.repairs.push(Repair { kind, pointer: crate::json::pointer(keys) });
        }
    }
}

// === impl Wanted ===

impl Wanted {
    /// The types that an error says would fit; nothing where it is not about the type.
    fn by(error: &ValidationError<'_>) -> Option<Self> {
        match error.kind() {
            Kind::Type { kind: TypeKind::Single(single) } => Some(Self(JsonTypeSet::empty().insert(*single))),
            Kind::Type { kind: TypeKind::Multiple(set) } => Some(Self(*set)),
            Kind::Enum { options } => {
                let options = options.as_array()?;
                Some(Self(options.iter().fold(JsonTypeSet::empty(), |set, option| set.insert(exact_type(option)))))
            }
            Kind::Constant { expected_value } => Some(Self(JsonTypeSet::empty().insert(exact_type(expected_value)))),
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
                let mut set = JsonTypeSet::empty();
                for branch in branches(error) {
                    let here = branch.iter().filter(|inner| inner.instance_path() == error.instance_path());
                    let types: Vec<Self> = here.filter_map(Self::by).collect();
                    // A branch that fails here for another reason than the type takes this type.
                    for type_in_set in types.first()?.0.iter() {
                        set = set.insert(type_in_set);
                    }
                }
                Some(Self(set))
            }
            _ => None,
        }
    }

    fn takes(&self, value: &Value) -> bool {
        match value {
            Value::Null => self.0.contains(JsonType::Null),
            Value::Bool(_) => self.0.contains(JsonType::Boolean),
            Value::Number(_) => false,
            Value::String(_) => self.0.contains(JsonType::String),
            Value::Array(_) => self.0.contains(JsonType::Array),
            Value::Object(_) => self.0.contains(JsonType::Object),
        }
    }

    /// The same value in a type that is taken.
    fn spelling(&self, found: &Value) -> Option<(JsonText, RepairKind)> {
        match found {
            Value::String(text) => self.of_string(text.trim_ascii()),
            // Floats have lost their digits here: the shortest form of the same double is not what the model wrote.
            Value::Number(number)
                if self.0.contains(JsonType::String)
                    && !self.0.contains(JsonType::Number)
                    && !self.0.contains(JsonType::Integer)
                    && !number.is_f64() =>
            {
                Some((JsonText::string(&number.to_string()), RepairKind::NumberToString))
            }
            _ => None,
        }
    }

    fn of_string(&self, text: &str) -> Option<(JsonText, RepairKind)> {
        let literal = JsonText::parse(text).ok();
        let first = text.bytes().next()?;
        if self.0.contains(JsonType::Boolean) {
            match text {
                "true" | "True" | "TRUE" => {
                    return Some((JsonText::from(Value::Bool(true)), RepairKind::StringToBoolean));
                }
                "false" | "False" | "FALSE" => {
                    return Some((JsonText::from(Value::Bool(false)), RepairKind::StringToBoolean));
                }
                _ => {}
            }
        }
        if self.0.contains(JsonType::Null) && text == "null" {
            return Some((literal?, RepairKind::StringToNull));
        }
        if is_integer(text) && (self.0.contains(JsonType::Integer) || self.0.contains(JsonType::Number)) {
            return Some((literal?, RepairKind::StringToInteger));
        }
        let is_number = first == b'-' || first.is_ascii_digit();
        if is_number && self.0.contains(JsonType::Number) {
            return Some((literal?, RepairKind::StringToNumber));
        }
        let nested =
            (first == b'[' && self.0.contains(JsonType::Array)) || (first == b'{' && self.0.contains(JsonType::Object));
        if nested {
            return Some((literal?, RepairKind::DoubleEncodedValue));
        }
        None
    }
}

/// The errors of each branch of a choice.
fn branches<'e>(error: &'e ValidationError<'_>) -> impl Iterator<Item = &'e Vec<ValidationError<'static>>> {
    let branches: &[Vec<ValidationError<'static>>] = match error.kind() {
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => context,
        _ => &[],
    };
    branches.iter()
}

/// Whether an error stands below the place of another.
fn is_below(inner: &ValidationError<'_>, outer: &ValidationError<'_>) -> bool {
    let rest = inner.instance_path().as_str().strip_prefix(outer.instance_path().as_str());
    rest.is_some_and(|rest| rest.starts_with('/'))
}

fn keys(error: &ValidationError<'_>) -> Vec<String> {
    error.instance_path().segments().map(|segment| segment.to_string()).collect()
}

fn exact_type(value: &Value) -> JsonType {
    match value {
        Value::Null => JsonType::Null,
        Value::Bool(_) => JsonType::Boolean,
        Value::Number(number) if number.is_f64() => JsonType::Number,
        Value::Number(_) => JsonType::Integer,
        Value::String(_) => JsonType::String,
        Value::Array(_) => JsonType::Array,
        Value::Object(_) => JsonType::Object,
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty()
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && (digits == "0" || !digits.starts_with('0'))
}
