//! The deck: which shape the next batch has, and which tools its calls go to, by the scenario's weights.

use std::sync::Arc;

use crate::scenario::Scenario;

/// The weights of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Deck {
    shapes: Arc<Weighted<Shape>>,
}

#[derive(Debug)]
struct Shape {
    calls: usize,
    tools: Weighted<usize>,
}

/// Things with their weights summed up.
#[derive(Debug)]
struct Weighted<T> {
    things: Vec<(f64, T)>,
}

// === impl Deck ===

impl Deck {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let shapes = scenario.batches.iter().map(|batch| {
            let tools = batch.tools_of(&scenario.tools).map(|(index, tool)| (tool.weight, index));
            (f64::from(batch.weight), Shape { calls: batch.calls, tools: Weighted::new(tools) })
        });
        Self { shapes: Arc::new(Weighted::new(shapes)) }
    }

    /// Puts the tools of the next batch's calls into `hand`.
    pub(crate) fn deal(&self, random: &mut fastrand::Rng, hand: &mut Vec<usize>) {
        hand.clear();
        if let Some(shape) = self.shapes.choose(random) {
            hand.extend((0..shape.calls).filter_map(|_| shape.tools.choose(random).copied()));
        }
    }
}

// === impl Weighted ===

impl<T> Weighted<T> {
    fn new(weighted: impl Iterator<Item = (f64, T)>) -> Self {
        let mut sum = 0.0;
        let things = weighted.filter(|(weight, _)| *weight > 0.0).map(|(weight, thing)| {
            sum += weight;
            (sum, thing)
        });
        Self { things: things.collect() }
    }

    fn choose(&self, random: &mut fastrand::Rng) -> Option<&T> {
        let (all, last) = self.things.last()?;
        if self.things.len() == 1 {
            return Some(last);
        }
        let at = random.f64() * all;
        let index = self.things.partition_point(|(sum, _)| *sum <= at);
        self.things.get(index).map(|(_, thing)| thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deck() -> Deck {
        let text = "[target]\nkind = \"embedded\"\n[[batches]]\nweight = 3\ncalls = 8\ntools = [\"a\"]\n\
                    [[batches]]\ncalls = 2\n[[tools]]\nname = \"a\"\n[[tools]]\nname = \"b\"\nweight = 4\n";
        Deck::new(&Scenario::parse(text).unwrap())
    }

    #[test]
    fn shapes_and_tools_come_as_often_as_they_weigh() {
        let (deck, mut random, mut hand) = (deck(), fastrand::Rng::with_seed(1), Vec::new());
        let (mut large, mut small, mut second) = (0, 0, 0);
        for _ in 0..8_000 {
            deck.deal(&mut random, &mut hand);
            match hand.len() {
                8 => {
                    assert!(hand.iter().all(|tool| *tool == 0));
                    large += 1;
                }
                2 => {
                    small += 1;
                    second += hand.iter().filter(|tool| **tool == 1).count();
                }
                other => panic!("{other}"),
            }
        }
        assert!((5_800..6_200).contains(&large) && large + small == 8_000, "{large}");
        let share = second as f64 / (2.0 * f64::from(small));
        assert!((share - 0.8).abs() < 0.03, "{share}");
    }

    #[test]
    fn one_seed_deals_the_same_batches() {
        let deal = |seed| {
            let (deck, mut random) = (deck(), fastrand::Rng::with_seed(seed));
            let hand = |_| {
                let mut hand = Vec::new();
                deck.deal(&mut random, &mut hand);
                hand
            };
            (0..50).map(hand).collect::<Vec<_>>()
        };
        assert_eq!(deal(5), deal(5));
        assert_ne!(deal(5), deal(6));
    }
}
