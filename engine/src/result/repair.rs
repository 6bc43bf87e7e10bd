//! What was mended in a call, so that nothing changes unseen.

use serde::Serialize;

use crate::call::Profile;

/// One thing that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// What was done.
    pub kind: RepairKind,
    /// Where, as a JSON pointer into the arguments; empty for the arguments as a whole, or the name.
    pub pointer: String,
}

/// The closed list of repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RepairKind {
    /// Empty text, `null` or nothing at all was taken as `{}`.
    EmptyArguments,
    /// The object stood in a code fence.
    CodeFence,
    /// Line breaks and other control characters in strings were written as escapes.
    ControlCharacters,
    /// A comma before a closing bracket was left out.
    TrailingComma,
    /// Text after the object was left out. A second value after it is refused.
    TrailingText,
    /// The whole object stood in a JSON string and was decoded once.
    DoubleEncodedRoot,
    /// An array or object stood in a JSON string, where the schema takes no string, and was decoded once.
    DoubleEncodedValue,
    /// `"true"` or `"false"`, in any of their usual cases, where the schema takes a boolean and no string.
    StringToBoolean,
    /// The digits of an integer in a string, where the schema takes an integer and no string.
    StringToInteger,
    /// A JSON number in a string, where the schema takes a number and no string.
    StringToNumber,
    /// `"null"` where the schema takes null and no string.
    StringToNull,
    /// A number, written as a string digit for digit, where the schema takes a string and no number.
    NumberToString,
    /// `null` for an optional property that cannot be null was taken out, as strict definitions make models write it.
    NullOptional,
    /// A property was dropped because [`crate::CallPolicy`] says so.
    Dropped,
    /// The name led to the one tool that it differs from in a prefix, letter case or separators.
    ToolName,
}

// === impl Repair ===

impl Repair {
    /// A repair of the arguments as a whole, or of the name.
    pub(crate) fn whole(kind: RepairKind) -> Self {
        Self { kind, pointer: String::new() }
    }
}

// === impl RepairKind ===

impl RepairKind {
    /// Every kind, in the order in which they are tried.
    pub const ALL: [Self; 15] = [
        Self::ToolName,
        Self::EmptyArguments,
        Self::CodeFence,
        Self::ControlCharacters,
        Self::TrailingComma,
        Self::TrailingText,
        Self::DoubleEncodedRoot,
        Self::Dropped,
        Self::NullOptional,
        Self::DoubleEncodedValue,
        Self::StringToBoolean,
        Self::StringToInteger,
        Self::StringToNumber,
        Self::StringToNull,
        Self::NumberToString,
    ];

    /// The name in documents and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EmptyArguments => "empty_arguments",
            Self::CodeFence => "code_fence",
            Self::ControlCharacters => "control_characters",
            Self::TrailingComma => "trailing_comma",
            Self::TrailingText => "trailing_text",
            Self::DoubleEncodedRoot => "double_encoded_root",
            Self::DoubleEncodedValue => "double_encoded_value",
            Self::StringToBoolean => "string_to_boolean",
            Self::StringToInteger => "string_to_integer",
            Self::StringToNumber => "string_to_number",
            Self::StringToNull => "string_to_null",
            Self::NumberToString => "number_to_string",
            Self::NullOptional => "null_optional",
            Self::Dropped => "dropped",
            Self::ToolName => "tool_name",
        }
    }

    /// Whether a profile admits this repair. [`RepairKind::Dropped`] and [`RepairKind::ToolName`] also need their
    /// switch in [`crate::CallPolicy`].
    pub const fn is_admitted(self, profile: Profile) -> bool {
        match profile {
            Profile::Lenient => true,
            Profile::Strict => {
                matches!(self, Self::EmptyArguments | Self::NullOptional | Self::Dropped | Self::ToolName)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_document_name_once() {
        let names: std::collections::HashSet<&str> = RepairKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), RepairKind::ALL.len());
        for kind in RepairKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
