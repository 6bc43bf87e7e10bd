//! Signature: by which the backend knows that a request comes from Toolyard.

use std::fmt::{self, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::config::SecretText;

/// Signs bodies with a shared secret.
pub(super) struct Signer(Hmac<Sha256>);

/// What goes into the headers of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Signature {
    /// Seconds since 1970.
    pub(super) timestamp: String,
    /// `v1=` and the HMAC-SHA256 of `<timestamp>.<body>` in hexadecimal.
    pub(super) value: String,
}

// === impl Signer ===

impl Signer {
    pub(super) fn new(secret: &SecretText) -> Option<Self> {
        Hmac::new_from_slice(secret.reveal().as_bytes()).ok().map(Self)
    }

    pub(super) fn sign_now(&self, body: &str) -> Signature {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.sign(now.as_secs(), body)
    }

    pub(super) fn sign(&self, timestamp: u64, body: &str) -> Signature {
        let timestamp = timestamp.to_string();
        let mut mac = self.0.clone();
        for part in [&timestamp, ".", body] {
            mac.update(part.as_bytes());
        }
        let mut value = "v1=".to_owned();
        for byte in mac.finalize().into_bytes() {
            // Writing into text never fails.
            write!(value, "{byte:02x}").ok();
        }
        Signature { timestamp, value }
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_what_every_other_language_computes() {
        let signer = Signer::new(&SecretText::new("0123456789abcdef0123456789abcdef")).unwrap();
        let signature = signer.sign(1_764_489_600, r#"{"capability":"send.text"}"#);
        assert_eq!(signature.timestamp, "1764489600");
        assert_eq!(signature.value, "v1=1d0d7e69599199524c9bf5c62d150fe8412656a4105a39aa35830b7b6ddce5f9");
        assert!(!format!("{signer:?}").contains("0123"));
    }
}
