//! The end of a child's standard error, kept for the case that it dies.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::AsyncReadExt;
use tokio::process::ChildStderr;

/// Bytes that are kept.
const KEPT: usize = 64 << 10;
/// Characters that are shown.
const SHOWN: usize = 400;

/// The last bytes that a child wrote to its standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Vec<u8>>>);

// === impl Tail ===

impl Tail {
    /// Reads to the end, whatever comes, so that the child never blocks on its own noise.
    pub(super) async fn drain(self, mut stderr: ChildStderr) {
        let mut buffer = vec![0; 8 << 10];
        while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
            self.keep(&buffer[..read]);
        }
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        if kept.len() > KEPT {
            let excess = kept.len() - KEPT;
            kept.drain(..excess);
        }
    }

    /// The last lines, short enough for a sentence.
    pub(super) fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&kept);
        let text = text.trim();
        let start = text.len().saturating_sub(SHOWN);
        let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        text[start..].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_and_shown() {
        let tail = Tail::default();
        for _ in 0..100 {
            tail.keep(&[b'x'; 4096]);
        }
        tail.keep("末尾\n".as_bytes());
        assert!(tail.0.lock().unwrap().len() <= KEPT);
        assert!(tail.text().len() <= SHOWN && tail.text().ends_with("末尾"));
    }
}
