//! How the calls of a batch are read: what may be mended, and what is refused.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the names and arguments of calls are read. Whatever is mended is recorded as a [`crate::Repair`]; what cannot be
/// mended without loss or doubt is refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CallPolicy {
    /// Which repairs are admitted.
    pub profile: Profile,
    /// Whether a name that is not listed may lead to the one tool whose name differs from it only in a known prefix
    /// (`functions.`, `default_api:`), in letter case or in separators. Default false.
    pub lenient_names: bool,
    /// Whether properties that a tool's schema does not allow are dropped. Default false: they are refused.
    pub strip_unknown: bool,
    /// Whether optional properties that are `""`, `[]`, `{}` or `null` are dropped. Default false: they are passed on.
    pub drop_empty_optionals: bool,
}

/// How arguments are read. Neither profile loses anything or guesses; [`crate::RepairKind::is_admitted`] says which
/// repairs each admits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Only what has no other meaning is mended: empty text, `null` and absence are `{}`, and a `null` that strict
    /// definitions ask for is taken out again.
    Strict,
    /// Also text around the object, values that were encoded twice, and spellings of the right value in the wrong type.
    #[default]
    Lenient,
}

/// There is no profile of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{0}`; the profiles are strict and lenient")]
pub struct UnknownProfile(String);

// === impl Profile ===

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        match name {
            "strict" => Ok(Self::Strict),
            "lenient" => Ok(Self::Lenient),
            other => Err(UnknownProfile(other.to_owned())),
        }
    }
}

impl From<Profile> for CallPolicy {
    fn from(profile: Profile) -> Self {
        Self { profile, ..Self::default() }
    }
}
