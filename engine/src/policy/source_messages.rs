//! Which messages may be named as the source of a call.

use serde::{Deserialize, Serialize};

/// Which messages may be named as the source of a call, of those that people sent and stand by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceMessages {
    /// Those received in the turn of the call.
    #[default]
    Turn,
    /// All that the session remembers.
    Scene,
}
