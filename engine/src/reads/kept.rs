//! Kept: results that were read, until they are too old or too many.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use ahash::RandomState;
use tokio::time::Instant;

use super::ReadKey;
use crate::registry::PreparedTool;
use crate::result::CallResult;

/// What an entry takes besides its texts, about.
const OVERHEAD_BYTES: usize = 512;

/// The longest time that a result is kept, whoever asks.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// Results that were read. The oldest go first when there is no room.
#[derive(Debug)]
pub(super) struct Kept {
    max_entries: usize,
    max_bytes: usize,
    entries: HashMap<ReadKey, Entry, RandomState>,
    /// From the oldest; those that were replaced since stand here twice.
    order: VecDeque<(Instant, ReadKey)>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    result: Arc<CallResult>,
    tool: Weak<PreparedTool>,
    at: Instant,
    bytes: usize,
}

// === impl Kept ===

impl Kept {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self { max_entries, max_bytes, entries: HashMap::default(), order: VecDeque::new(), bytes: 0 }
    }

    pub(super) fn get(
        &self,
        key: &ReadKey,
        tool: &Arc<PreparedTool>,
        ttl: Duration,
    ) -> Option<(Arc<CallResult>, Duration)> {
        let entry = self.entries.get(key)?;
        let age = entry.at.elapsed();
        let is_its_own = Weak::as_ptr(&entry.tool) == Arc::as_ptr(tool);
        (age < ttl && is_its_own).then(|| (Arc::clone(&entry.result), age))
    }

    pub(super) fn keep(&mut self, key: ReadKey, tool: Weak<PreparedTool>, result: Arc<CallResult>) {
        let arguments = result.arguments.as_ref().map_or(0, |arguments| arguments.as_str().len());
        let bytes = result.result.size() + arguments + 2 * key.bytes() + OVERHEAD_BYTES;
        if bytes > self.max_bytes / 16 || self.max_entries == 0 {
            return;
        }
        self.remove(&key);
        while self.bytes + bytes > self.max_bytes || self.entries.len() >= self.max_entries {
            self.drop_oldest();
        }
        let at = Instant::now();
        self.bytes += bytes;
        self.order.push_back((at, key.clone()));
        self.entries.insert(key, Entry { result, tool, at, bytes });
        if self.order.len() > 2 * self.entries.len() + 16 {
            let entries = &self.entries;
            self.order.retain(|(at, key)| entries.get(key).is_some_and(|entry| entry.at == *at));
        }
    }

    pub(super) fn purge(&mut self, now: Instant) {
        let bytes = &mut self.bytes;
        self.entries.retain(|_, entry| {
            let stays = now.saturating_duration_since(entry.at) < LONGEST && entry.tool.strong_count() > 0;
            *bytes -= if stays { 0 } else { entry.bytes };
            stays
        });
        if self.entries.is_empty() {
            self.order.clear();
        }
    }

    fn drop_oldest(&mut self) {
        match self.order.pop_front() {
            Some((at, key)) if self.entries.get(&key).is_some_and(|entry| entry.at == at) => self.remove(&key),
            Some(_) => {}
            None => {
                self.entries.clear();
                self.bytes = 0;
            }
        }
    }

    fn remove(&mut self, key: &ReadKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
        }
    }
}
