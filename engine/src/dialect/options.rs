//! How results are rendered as history messages.

use std::fmt;
use std::str::FromStr;

use super::{IdRule, ReplyError};

/// How results are rendered as history messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageOptions {
    /// What ids of calls become, on calls and results alike. The dialect's own rule where absent.
    pub ids: Option<IdRule>,
    /// Where pictures go.
    pub media: MediaMode,
}

/// Where pictures of results go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MediaMode {
    /// Into the result where the vendor takes them there, else into one user message after all results.
    #[default]
    Together,
    /// Into a user message each, after all results (seed 000).
    Each,
    /// Nowhere: the model reads text only, and a line that names each picture.
    None,
}

// === impl MessageOptions ===

impl MessageOptions {
    /// The same options with this rule for ids.
    #[must_use]
    pub fn with_ids(mut self, ids: IdRule) -> Self {
        self.ids = Some(ids);
        self
    }

    /// The same options with pictures going there.
    #[must_use]
    pub fn with_media(mut self, media: MediaMode) -> Self {
        self.media = media;
        self
    }
}

// === impl MediaMode ===

impl MediaMode {
    /// The name on the command line and in the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Together => "together",
            Self::Each => "each",
            Self::None => "none",
        }
    }
}

impl fmt::Display for MediaMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MediaMode {
    type Err = ReplyError;

    fn from_str(name: &str) -> Result<Self, ReplyError> {
        match name {
            "together" => Ok(Self::Together),
            "each" => Ok(Self::Each),
            "none" => Ok(Self::None),
            other => Err(ReplyError::UnknownMedia(other.to_owned())),
        }
    }
}
