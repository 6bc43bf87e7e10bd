//! Membership: what a tool remembers of the sets that it was looked for in.
//!
//! A policy names sets of tools, and each call asks of some of them whether its tool is in it. What the answer is changes
//! with the policy only, so a tool looks once and remembers, without a lock and without knowing the policy.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::ToolNames;

/// Sets that share one word: 16 bits for what is known, 16 for what it is.
const SETS_OF_WORD: u32 = 16;
/// Words of a tool. The sets of a policy beyond what they hold are searched each time.
const WORDS: usize = 4;

/// Where tools remember whether they are in a set. No two sets that differ have the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Never given again: words that hold another are out of date.
    stamp: u32,
    word: usize,
    bit: u32,
}

/// The place of a set, where it has one. Says nothing about what is in the set, so all are equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlaceOf(pub(super) Option<Place>);

/// Gives out the places of one policy.
pub(super) struct Places {
    stamp: u32,
    given: u32,
}

/// What a tool remembers of the sets that it was looked for in.
///
/// A word is a stamp (32 bits), what is known (16), what it is (16), and is written whole: whoever reads it reads answers
/// of one policy. Two batches under different policies overwrite each other's words, and look again.
#[derive(Debug, Default)]
pub(crate) struct Memberships([AtomicU64; WORDS]);

static NEXT_STAMP: AtomicU32 = AtomicU32::new(1);

// === impl PlaceOf ===

impl PartialEq for PlaceOf {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PlaceOf {}

// === impl Places ===

impl Places {
    pub(super) fn new() -> Self {
        Self { stamp: NEXT_STAMP.fetch_add(1, Ordering::Relaxed), given: 0 }
    }

    /// A place of its own for the next set; none where all are taken.
    pub(super) fn next(&mut self) -> Option<Place> {
        let word = (self.given / SETS_OF_WORD) as usize;
        if word >= WORDS {
            return None;
        }
        let bit = self.given % SETS_OF_WORD;
        self.given += 1;
        Some(Place { stamp: self.stamp, word, bit })
    }
}

// === impl Memberships ===

impl Memberships {
    /// Whether the tool is in a set: as `search` says, which is asked once for each policy.
    pub(crate) fn is_in(&self, set: &ToolNames, search: impl FnOnce() -> bool) -> bool {
        let Some((place, word)) = set.place().and_then(|place| Some((place, self.0.get(place.word)?))) else {
            return search();
        };
        let remembered = word.load(Ordering::Relaxed);
        let known = if remembered >> 32 == u64::from(place.stamp) { remembered } else { u64::from(place.stamp) << 32 };
        let is_known = 1 << (place.bit + SETS_OF_WORD);
        let is_in = 1 << place.bit;
        if known & is_known != 0 {
            return known & is_in != 0;
        }
        let found = search();
        // Of two that write at once one is lost, and looked for again.
        word.store(known | is_known | if found { is_in } else { 0 }, Ordering::Relaxed);
        found
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    fn sets(count: usize) -> Vec<ToolNames> {
        let mut places = Places::new();
        let set = |number| {
            let mut set = ToolNames::new([format!("p.{number}").as_str()]);
            set.settle(&mut places);
            set
        };
        (0..count).map(set).collect()
    }

    #[test]
    fn a_tool_is_looked_for_once_in_each_set_of_a_policy() {
        let (tool, searches) = (Memberships::default(), Cell::new(0));
        let is_in = |set: &ToolNames, found| {
            tool.is_in(set, || {
                searches.set(searches.get() + 1);
                found
            })
        };
        for policy in 1..=3 {
            let sets = sets(64);
            for round in 0..3 {
                for (number, set) in sets.iter().enumerate() {
                    // What a search would say later is not asked for.
                    assert_eq!(is_in(set, (number % 3 == 0) == (round == 0)), number % 3 == 0);
                }
            }
            assert_eq!(searches.get(), 64 * policy);
        }
    }

    #[test]
    fn sets_of_an_older_policy_are_looked_for_again_and_nothing_is_mixed() {
        let (tool, old, new) = (Memberships::default(), sets(20), sets(20));
        for _ in 0..3 {
            for number in 0..20 {
                assert!(tool.is_in(&old[number], || true));
                assert!(!tool.is_in(&new[number], || false));
            }
        }
    }

    #[test]
    fn a_set_without_a_place_is_searched_each_time() {
        let (tool, many, own) = (Memberships::default(), sets(65), ToolNames::new(["p.own"]));
        for set in [&many[64], &own] {
            assert!(tool.is_in(set, || true));
            assert!(!tool.is_in(set, || false));
        }
    }
}
