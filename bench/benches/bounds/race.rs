//! Race: subjects run in turn, and how they compare.

/// One subject: takes a sample and gives what it cost, in nanoseconds for each call.
pub(crate) type Lane<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// What one subject cost, sample by sample.
#[derive(Debug)]
pub(crate) struct Samples(Vec<f64>);

/// A figure: the median, and the middle half of the samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// Samples of each subject, taken in turn. Each round begins with another subject. The first samples warm up.
pub(crate) fn race<const N: usize>(rounds: usize, mut lanes: [Lane<'_>; N], mut between: impl FnMut()) -> [Samples; N] {
    let mut samples: [Samples; N] = std::array::from_fn(|_| Samples(Vec::with_capacity(rounds)));
    let warm_up = (rounds / 10).clamp(1, 10);
    for round in 0..warm_up + rounds {
        for step in 0..N {
            let lane = (round + step) % N;
            let cost = lanes[lane]();
            if round >= warm_up {
                samples[lane].0.push(cost);
            }
        }
        between();
    }
    samples
}

// === impl Samples ===

impl Samples {
    /// What was measured by itself.
    pub(crate) fn figure(&self) -> Figure {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        Figure { median: quantile(&sorted, 0.5), low: quantile(&sorted, 0.25), high: quantile(&sorted, 0.75) }
    }

    /// The ratio of the medians, with the middle half of the ratios of each round.
    pub(crate) fn over(&self, other: &Self) -> Figure {
        let of_rounds = Self(self.0.iter().zip(&other.0).map(|(own, other)| own / other).collect()).figure();
        Figure { median: self.figure().median / other.figure().median, ..of_rounds }
    }
}

fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = (q * sorted.len() as f64) as usize;
    sorted.get(place.min(sorted.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
}
