//! KeptResults: the whole of results that were cut, for as long as somebody may come back for them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use tokio::time::Instant;
use uuid::Uuid;

use crate::json::JsonText;

/// What a result takes besides its text, about.
const OVERHEAD_BYTES: usize = 256;

/// The whole of a result that was cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptResult {
    /// What would have stood in the model's history.
    pub text: Arc<str>,
    /// The structured content, where the result is without it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<JsonText>,
}

/// Whole results by reference, in memory: the oldest go first when there is no room, all go when their time is over.
#[derive(Debug)]
pub(crate) struct KeptResults {
    max_bytes: usize,
    ttl: Duration,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    by_reference: HashMap<Arc<str>, Arc<KeptResult>>,
    /// From the oldest.
    order: VecDeque<(Instant, Arc<str>)>,
    bytes: usize,
}

// === impl KeptResult ===

impl KeptResult {
    fn bytes(&self) -> usize {
        self.text.len() + self.structured_content.as_ref().map_or(0, |json| json.as_str().len()) + OVERHEAD_BYTES
    }
}

// === impl KeptResults ===

impl KeptResults {
    pub(crate) fn new(max_bytes: usize, ttl: Duration) -> Self {
        Self { max_bytes, ttl, kept: Mutex::default() }
    }

    /// Gives the reference, or nothing when the result alone is more than there is room for.
    pub(crate) fn keep(&self, result: KeptResult) -> Option<Arc<str>> {
        let bytes = result.bytes();
        if bytes > self.max_bytes || self.ttl.is_zero() {
            return None;
        }
        let reference: Arc<str> = format!("result_{}", Uuid::now_v7().simple()).into();
        let mut kept = self.purged();
        while kept.bytes + bytes > self.max_bytes {
            kept.drop_oldest();
        }
        kept.bytes += bytes;
        kept.order.push_back((Instant::now(), Arc::clone(&reference)));
        kept.by_reference.insert(Arc::clone(&reference), Arc::new(result));
        Some(reference)
    }

    pub(crate) fn get(&self, reference: &str) -> Option<Arc<KeptResult>> {
        self.purged().by_reference.get(reference).cloned()
    }

    /// Drops what is over; otherwise it would stay until the next result is cut.
    pub(crate) fn purge(&self) {
        drop(self.purged());
    }

    fn purged(&self) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        while kept.order.front().is_some_and(|(since, _)| now.duration_since(*since) >= self.ttl) {
            kept.drop_oldest();
        }
        kept
    }
}

// === impl Kept ===

impl Kept {
    fn drop_oldest(&mut self) {
        match self.order.pop_front().and_then(|(_, reference)| self.by_reference.remove(&reference)) {
            Some(result) => self.bytes = self.bytes.saturating_sub(result.bytes()),
            None => self.bytes = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> KeptResult {
        KeptResult { text: text.into(), structured_content: None }
    }

    #[tokio::test(start_paused = true)]
    async fn a_result_is_there_until_its_time_is_over() {
        let store = KeptResults::new(10_000, Duration::from_secs(60));
        let first = store.keep(result("first")).unwrap();
        tokio::time::advance(Duration::from_secs(30)).await;
        let second = store.keep(result("second")).unwrap();
        assert_ne!(first, second);
        assert_eq!(&*store.get(&first).unwrap().text, "first");
        tokio::time::advance(Duration::from_secs(30)).await;
        assert_eq!((store.get(&first), store.get("result_0")), (None, None));
        assert_eq!(&*store.get(&second).unwrap().text, "second");
        tokio::time::advance(Duration::from_secs(60)).await;
        store.purge();
        assert_eq!(store.kept.lock().unwrap().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_goes_first_when_there_is_no_room() {
        let store = KeptResults::new(2 * (OVERHEAD_BYTES + 100), Duration::from_secs(60));
        let text = "x".repeat(100);
        let references: Vec<_> = (0..3).map(|_| store.keep(result(&text)).unwrap()).collect();
        let there: Vec<bool> = references.iter().map(|reference| store.get(reference).is_some()).collect();
        assert_eq!(there, [false, true, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_more_than_all_room_is_not_kept_and_displaces_nothing() {
        let store = KeptResults::new(OVERHEAD_BYTES + 100, Duration::from_secs(60));
        let small = store.keep(result("small")).unwrap();
        assert_eq!(store.keep(result(&"x".repeat(101))), None);
        assert!(store.get(&small).is_some());
        assert_eq!(KeptResults::new(10_000, Duration::ZERO).keep(result("x")), None);
    }
}
