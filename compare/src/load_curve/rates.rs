//! The rates of a curve, and the next rate to run.

use crate::load_curve::{
    curve::{Summary, summarize},
    point::Point,
};
use leadline_protocol::study::load_curve::{CurveState, LoadCurve, PointClass};

/// Percentages of the probe's IOPS.
const PERCENTAGES: [f64; 10] = [
    10.0, 25.0, 50.0, 70.0, 80.0, 90.0, 95.0, 100.0, 105.0, 120.0,
];
/// Minimum number of I/Os at a rate.
const MIN_IOS: f64 = 1_000.0;
/// Minimum number of rates of a curve.
const MIN_RATES: usize = 3;
/// A bracket of the saturation point is narrow enough if its upper end is at most 5 % above its
/// lower end.
const MAX_BRACKET_RATIO: f64 = 1.05;
const MAX_BISECTIONS: usize = 4;
const MAX_HALVINGS: usize = 4;
const MAX_INCREASES: usize = 3;
const INCREASE: f64 = 1.5;
/// Maximum number of runs beyond the planned rates. Each rate may be overloaded and repeated.
pub const MAX_EXTRA: usize = 1 + 2 * (MAX_BISECTIONS + MAX_HALVINGS) + MAX_INCREASES;

/// The planned rates. `probe_iops`: result of the probe, if there is one. `None` if the storage is
/// too slow for a curve.
pub(crate) fn planned(curve: &LoadCurve, probe_iops: f64) -> Option<Vec<f64>> {
    if let Some(rates) = &curve.rates {
        let rates = rates.iter().map(|rate| curve.realizable(*rate as f64));
        return Some(rates.collect());
    }
    let rates = PERCENTAGES.map(|percent| rounded(curve, probe_iops * percent / 100.0));
    let mut rates: Vec<f64> = rates
        .into_iter()
        .filter(|rate| *rate * f64::from(curve.seconds_at(*rate)) >= MIN_IOS)
        .collect();
    rates.dedup_by(|a, b| a.total_cmp(b).is_eq());
    (rates.len() >= MIN_RATES).then_some(rates)
}

/// Rounds to three significant digits and whole I/Os.
fn rounded(curve: &LoadCurve, rate: f64) -> f64 {
    if rate < 1.0 {
        return 0.0;
    }
    let unit = 10_f64.powf(rate.log10().floor() - 2.0).max(1.0);
    curve.realizable((rate / unit).round() * unit)
}

/// The next rate; `None` if the curve is complete. `points` are in the order of the runs.
pub(crate) fn next(curve: &LoadCurve, planned: &[f64], points: &[Point]) -> Option<f64> {
    let last = points.last();
    let runs_at = |rate: f64| {
        points
            .iter()
            .filter(|point| is_equal(point.offered, rate))
            .count()
    };
    let is_overloaded = |point: &Point| point.class() == PointClass::Overloaded;
    // An overloaded rate is repeated once before the curve ends there.
    if let Some(point) = last.filter(|point| is_overloaded(point))
        && runs_at(point.offered) == 1
        && !point.is_limited_by_generator()
    {
        return Some(point.offered);
    }
    if let [.., a, b] = points
        && [a, b]
            .iter()
            .all(|point| point.class() == PointClass::Missing)
    {
        return None;
    }
    let summary = summarize(points);
    let is_limited = points
        .iter()
        .any(|point| is_overloaded(point) && point.is_limited_by_generator());
    if summary.upper.is_none() && !is_limited {
        let pending = planned.iter().copied().find(|rate| runs_at(*rate) == 0);
        return pending.or_else(|| higher(curve, planned, points, &summary));
    }
    bisected(curve, planned, points, &summary)
}

/// Continues above the planned rates if none of them was overloaded.
fn higher(curve: &LoadCurve, planned: &[f64], points: &[Point], summary: &Summary) -> Option<f64> {
    let highest = planned.last().copied()?;
    let extra = points
        .iter()
        .filter(|point| point.offered > highest)
        .count();
    let is_open = curve.rates.is_none() && summary.state == CurveState::NotReached;
    let top = points
        .iter()
        .map(|point| point.offered)
        .fold(highest, f64::max);
    (is_open && extra < MAX_INCREASES).then(|| rounded(curve, top * INCREASE))
}

/// Narrows the bracket of the saturation point.
fn bisected(
    curve: &LoadCurve,
    planned: &[f64],
    points: &[Point],
    summary: &Summary,
) -> Option<f64> {
    let is_extra = |point: &&Point| !planned.iter().any(|rate| is_equal(*rate, point.offered));
    let mut tried: Vec<f64> = points
        .iter()
        .filter(is_extra)
        .map(|point| point.offered)
        .collect();
    tried.sort_by(f64::total_cmp);
    tried.dedup_by(|a, b| is_equal(*a, *b));
    let rate = match (summary.state, summary.saturation, summary.upper?) {
        (CurveState::Found, Some(saturation), upper) if upper / saturation > MAX_BRACKET_RATIO => {
            (tried.len() < MAX_BISECTIONS + MAX_HALVINGS).then(|| (saturation * upper).sqrt())
        }
        (CurveState::SaturatedAtFirst, _, upper) => {
            (tried.len() < MAX_HALVINGS).then_some(upper / 2.0)
        }
        _ => None,
    };
    let rate = rounded(curve, rate?);
    let is_new = rate >= 1.0 && !points.iter().any(|point| is_equal(point.offered, rate));
    is_new.then_some(rate)
}

fn is_equal(a: f64, b: f64) -> bool {
    a.total_cmp(&b).is_eq()
}
