//! The saturation point and the knee of a curve.

use crate::load_curve::point::Point;
use leadline_protocol::study::load_curve::{CurveState, Knee, KneeState, PointClass};

/// Minimum number of I/Os for a p99.
pub(crate) const MIN_IOS_P99: u64 = 1_000;

/// The result of a curve, derived from all of its points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    pub state: CurveState,
    /// Highest sustained nominal rate below all overloaded rates.
    pub saturation: Option<f64>,
    /// Lowest overloaded nominal rate. If classes contradict each other, the upper end of the
    /// contradictory range.
    pub upper: Option<f64>,
    pub highest_sustained: Option<f64>,
}

/// Rates by the classes of their repeats, each list in ascending order.
#[derive(Default)]
struct Rates {
    sustained: Vec<f64>,
    overloaded: Vec<f64>,
    both: Vec<f64>,
    /// Rates at which the runner was the bottleneck.
    generator: Vec<f64>,
}

impl Rates {
    fn new(points: &[Point]) -> Self {
        let mut rates = Self::default();
        let mut classified: Vec<(f64, PointClass)> = Vec::new();
        for point in points {
            match point.class() {
                PointClass::Overloaded if point.is_limited_by_generator() => {
                    rates.generator.push(point.offered);
                }
                class @ (PointClass::Sustained | PointClass::Overloaded) => {
                    classified.push((point.offered, class));
                }
                _ => {}
            }
        }
        classified.sort_by(|a, b| a.0.total_cmp(&b.0));
        for repeats in classified.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let all_are = |class| repeats.iter().all(|(_, other)| *other == class);
            let rates = if all_are(PointClass::Sustained) {
                &mut rates.sustained
            } else if all_are(PointClass::Overloaded) {
                &mut rates.overloaded
            } else {
                &mut rates.both
            };
            rates.push(repeats[0].0);
        }
        rates.generator.sort_by(f64::total_cmp);
        rates
    }
}

impl Summary {
    /// The bracket of the saturation point in I/Os per second: the completion rate at the highest
    /// sustained rate, and the arrival rate at the lowest overloaded one. With Poisson arrivals,
    /// both differ randomly from the nominal rate.
    pub(crate) fn bracket(&self, points: &[Point]) -> (Option<f64>, Option<f64>) {
        let runs = |rate: Option<f64>, class: PointClass| {
            let is_at = move |point: &&Point| {
                rate.is_some_and(|rate| point.offered.total_cmp(&rate).is_eq())
                    && point.class() == class
            };
            points.iter().filter(is_at)
        };
        let sustained = runs(self.saturation, PointClass::Sustained);
        let overloaded = runs(self.upper, PointClass::Overloaded);
        let low = sustained.map(Point::sustained_rate).reduce(f64::max);
        let high = overloaded.map(Point::overloading_rate).reduce(f64::min);
        (low.or(self.saturation), high.or(self.upper))
    }
}

pub(crate) fn summarize(points: &[Point]) -> Summary {
    let rates = Rates::new(points);
    let highest = rates.sustained.last().copied();
    let lowest_overloaded = rates.overloaded.first().copied();
    let decided = |state, saturation, upper| Summary {
        state,
        saturation,
        upper,
        highest_sustained: highest,
    };
    let is_reversed = highest
        .zip(lowest_overloaded)
        .is_some_and(|(sustained, overloaded)| sustained > overloaded);
    if !rates.both.is_empty() || is_reversed {
        let lowest = rates.overloaded.iter().chain(&rates.both);
        let lowest = lowest.copied().fold(f64::INFINITY, f64::min);
        let below = rates.sustained.iter().rev().find(|rate| **rate < lowest);
        let all = rates.sustained.iter().chain(&rates.overloaded);
        let most = all.chain(&rates.both).copied().fold(0.0, f64::max);
        return match rates.both.is_empty() {
            true => decided(CurveState::NonMonotone, below.copied(), highest),
            false => decided(CurveState::Bistable, below.copied(), Some(most)),
        };
    }
    match (highest, lowest_overloaded) {
        (None, None) if rates.generator.is_empty() => decided(CurveState::NoResult, None, None),
        (None, None) => decided(CurveState::GeneratorLimited, None, None),
        (Some(highest), None) => {
            let is_limited = rates.generator.first().is_some_and(|rate| *rate > highest);
            match is_limited {
                true => decided(CurveState::GeneratorLimited, None, None),
                false => decided(CurveState::NotReached, None, None),
            }
        }
        (None, Some(upper)) => decided(CurveState::SaturatedAtFirst, None, Some(upper)),
        (Some(_), Some(upper)) => decided(CurveState::Found, highest, Some(upper)),
    }
}

/// The last rate before the p99 first exceeds the limit, starting at the sustained rate with the
/// lowest p99.
pub(crate) fn knee(points: &[Point], summary: &Summary, limit_ms: f64) -> Knee {
    let sustained = Rates::new(points).sustained;
    let mut usable: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| point.class() == PointClass::Sustained)
        .filter(|point| sustained.contains(&point.offered) && point.completed >= MIN_IOS_P99)
        .filter(|point| summary.saturation.is_none_or(|most| point.offered <= most))
        .filter_map(|point| Some((point.offered, point.p99_ms?)))
        .collect();
    usable.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut knee = Knee {
        state: KneeState::NoP99,
        limit_ms,
        rate: None,
        slow_at: Vec::new(),
    };
    let indexed = usable.iter().enumerate();
    let Some((fastest, _)) = indexed.min_by(|a, b| a.1.1.total_cmp(&b.1.1)) else {
        return knee;
    };
    let is_within = |point: &&(f64, f64)| point.1 <= limit_ms;
    let within = usable[fastest..].iter().take_while(is_within).count();
    if within == 0 {
        knee.state = KneeState::Never;
        return knee;
    }
    let last = fastest + within - 1;
    let is_open = matches!(
        summary.state,
        CurveState::NotReached | CurveState::GeneratorLimited
    );
    knee.rate = Some(usable[last].0);
    knee.state = match (last + 1 == usable.len(), is_open) {
        (false, _) => KneeState::Found,
        (true, true) => KneeState::AtLeast,
        (true, false) => KneeState::LimitedBySaturation,
    };
    let slower = usable[..fastest].iter().filter(|point| !is_within(point));
    knee.slow_at = slower.map(|point| point.0).collect();
    knee
}
