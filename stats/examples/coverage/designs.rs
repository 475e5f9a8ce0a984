//! Simulated studies: the values that their runs measure, and which runs are A and which are B.

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};

/// Number of metrics per run.
pub(crate) const METRICS: usize = 6;
/// Correlation between metrics.
const CORRELATION: f64 = 0.7;

/// How the results of repeated runs vary.
#[derive(Clone, Copy)]
pub(crate) enum Noise {
    /// Normal with a standard deviation of 3 %.
    Normal,
    /// Log-normal; the standard deviation of the logarithm is 0.05.
    LogNormal,
    /// 30 % of the runs are 10 % slower; standard deviation 1 %.
    Bimodal,
    /// Normal with a standard deviation of 2 %, plus a drift: the study slows down by 10 % from its
    /// first to its last run.
    Drifting,
    /// Normal with a standard deviation of 3 %; successive runs have a correlation of 0.8.
    Autocorrelated,
    /// A: normal with a standard deviation of 3 %. B: same median, with a one-sided exponential
    /// tail of 10 %.
    OtherShape,
}

/// Which runs of a study are A and which are B.
#[derive(Clone, Copy)]
pub(crate) enum Design {
    /// Blocks with one run of A and one run of B, in random order.
    RandomPairs,
    /// Pairs in which A is always first.
    OrderedPairs,
    /// Two groups in random order.
    RandomGroups,
    /// All runs of A, then all runs of B.
    OrderedGroups,
}

impl Noise {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::LogNormal => "log-normal",
            Self::Bimodal => "bimodal",
            Self::Drifting => "drifting",
            Self::Autocorrelated => "autocorrelated",
            Self::OtherShape => "B skewed, A normal",
        }
    }

    /// Converts a standard normal variate into the value of a run.
    fn value(self, z: f64, progress: f64, is_b: bool) -> f64 {
        match self {
            Self::Normal | Self::Autocorrelated => 1.0 + 0.03 * z,
            Self::LogNormal => (0.05 * z).exp(),
            Self::Bimodal => {
                // The 70th percentile of the standard normal distribution.
                let is_slow = z > 0.524_400_5;
                let rank = normal_cdf(z);
                let within = if is_slow {
                    (rank - 0.7) / 0.3
                } else {
                    rank / 0.7
                };
                let mode = if is_slow { 1.1 } else { 1.0 };
                // Uniform within each mode, with a standard deviation of 1 %.
                mode * (1.0 + 0.01 * 12.0_f64.sqrt() * (within - 0.5))
            }
            Self::Drifting => (1.0 + 0.02 * z) * (1.0 + 0.1 * progress),
            Self::OtherShape if is_b => {
                let exponential = -(1.0 - normal_cdf(z)).max(1e-12).ln();
                1.0 + 0.1 * (exponential - std::f64::consts::LN_2)
            }
            Self::OtherShape => 1.0 + 0.03 * z,
        }
    }

    fn run_correlation(self) -> f64 {
        if matches!(self, Self::Autocorrelated) {
            0.8
        } else {
            0.0
        }
    }
}

impl Design {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RandomPairs => "pairs, random order",
            Self::OrderedPairs => "pairs, A first",
            Self::RandomGroups => "groups, random order",
            Self::OrderedGroups => "groups, A then B",
        }
    }

    pub(crate) fn is_paired(self) -> bool {
        matches!(self, Self::RandomPairs | Self::OrderedPairs)
    }

    /// Returns whether each run of a study belongs to B.
    fn labels(self, n: usize, random: &mut StdRng) -> Vec<bool> {
        let pair = |is_b_first: bool| [is_b_first, !is_b_first];
        match self {
            Self::RandomPairs => (0..n).flat_map(|_| pair(random.random())).collect(),
            Self::OrderedPairs => (0..n).flat_map(|_| pair(false)).collect(),
            Self::RandomGroups | Self::OrderedGroups => {
                let mut labels: Vec<bool> = (0..2 * n).map(|index| index >= n).collect();
                if matches!(self, Self::RandomGroups) {
                    labels.shuffle(random);
                }
                labels
            }
        }
    }
}

/// Returns the values of A and B for each metric, in run order.
pub(crate) fn study(
    noise: Noise,
    design: Design,
    n: usize,
    random: &mut StdRng,
) -> [[Vec<f64>; 2]; METRICS] {
    let labels = design.labels(n, random);
    let series: [Vec<f64>; METRICS] = correlated_series(noise.run_correlation(), 2 * n, random);
    series.map(|series| {
        let mut values = [Vec::with_capacity(n), Vec::with_capacity(n)];
        for (index, (z, is_b)) in series.iter().zip(&labels).enumerate() {
            let progress = index as f64 / (2 * n - 1) as f64;
            values[usize::from(*is_b)].push(noise.value(*z, progress, *is_b));
        }
        values
    })
}

/// Returns correlated normal AR(1) series with mean 0 and variance 1.
fn correlated_series(
    autocorrelation: f64,
    length: usize,
    random: &mut StdRng,
) -> [Vec<f64>; METRICS] {
    let common = ar1(autocorrelation, length, random);
    std::array::from_fn(|_| {
        let independent = ar1(autocorrelation, length, random);
        let mixed = |(common, independent): (&f64, f64)| {
            CORRELATION.sqrt() * common + (1.0 - CORRELATION).sqrt() * independent
        };
        common.iter().zip(independent).map(mixed).collect()
    })
}

/// Returns a stationary normal AR(1) series with mean 0 and variance 1.
pub(crate) fn ar1(autocorrelation: f64, length: usize, random: &mut impl Rng) -> Vec<f64> {
    let mut last: f64 = StandardNormal.sample(random);
    let innovation = (1.0 - autocorrelation * autocorrelation).sqrt();
    (0..length)
        .map(|_| {
            let z: f64 = StandardNormal.sample(random);
            last = autocorrelation * last + innovation * z;
            last
        })
        .collect()
}

/// Approximation 26.2.17 of Abramowitz and Stegun. The error is below 7.5e-8.
fn normal_cdf(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let coefficients = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let polynomial = coefficients.iter().fold(0.0, |sum, c| (sum + c) * t);
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z > 0.0 {
        1.0 - density * polynomial
    } else {
        density * polynomial
    }
}
