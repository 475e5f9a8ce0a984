//! Load–latency curves: open-loop runs at increasing rates, the saturation point, and the knee.
//!
//! Latency is measured from the intended start, so it includes the time an I/O waits because
//! earlier I/Os are slow.

mod curve;
mod point;
mod rates;
#[cfg(test)]
mod tests;
mod written_bytes;

use crate::{
    load_curve::{
        curve::{MIN_IOS_P99, Summary, knee, summarize},
        point::Point,
    },
    procedure_run::ProcedureRun,
    trend::values::DISTURBANCES,
};
use leadline_protocol::{
    format::{bytes, latency, rate as rate_text},
    plan::job::ResolvedJob,
    report::stats::{DirectionStats, LatencyStats},
    study::load_curve::{
        CurveState, Knee, KneeState, LoadCurve, LoadCurveResults, LoadPoint, PointClass,
    },
};
use serde_json::Value;

pub use rates::MAX_EXTRA;

/// Minimum number of I/Os for a p99.9.
const MIN_IOS_P999: u64 = 10_000;
const NS_PER_MS: f64 = 1e6;
/// Minimum number of runs for treating a disturbance as a property of the host.
const MIN_RUNS: usize = 3;

/// The next step, as a study step document; `None` if the curve is complete. All runs must have
/// ended. `runs` are in the order of the steps.
pub fn next_step(curve: &LoadCurve, runs: &[Option<ProcedureRun>]) -> Option<Value> {
    let (probe_iops, points) = probe_and_points(curve, runs);
    let planned = rates::planned(curve, probe_iops.unwrap_or(0.0))?;
    let rate = rates::next(curve, &planned, &points)?;
    let is_allowed = !written_bytes::exceeds(curve, rate, runs);
    is_allowed.then(|| curve.step(rate, runs.len()))
}

/// The planned rates, and the duration of each in seconds, including its ramp.
pub fn planned_seconds(curve: &LoadCurve) -> Option<Vec<(f64, u32)>> {
    curve.rates.as_ref()?;
    let planned = rates::planned(curve, 0.0)?;
    let ramp = curve.ramp_seconds;
    let seconds = |rate: &f64| (*rate, curve.seconds_at(*rate) + ramp);
    Some(planned.iter().map(seconds).collect())
}

/// IOPS of the probe, and the points in the order of the runs.
fn probe_and_points(curve: &LoadCurve, runs: &[Option<ProcedureRun>]) -> (Option<f64>, Vec<Point>) {
    let mut runs = (1..).zip(runs);
    let mut probe_iops = None;
    if curve.rates.is_none()
        && let Some((_, probe)) = runs.next()
    {
        let report = probe.as_ref().and_then(|probe| probe.run.report);
        let iops = report.map(|report| report.read.iops + report.write.iops + report.trim.iops);
        probe_iops = iops.filter(|iops| *iops > 0.0);
    }
    let points = runs.filter_map(|(step, run)| Some(point(step, run.as_ref()?)));
    let mut points: Vec<Point> = points.collect();
    if is_always_disturbed(&points) {
        points
            .iter_mut()
            .for_each(|point| point.is_disturbed = false);
    }
    (probe_iops, points)
}

/// Whether most runs are disturbed. The disturbance is then a property of the host, as for trends,
/// and the runs are included.
fn is_always_disturbed(points: &[Point]) -> bool {
    let complete = points.iter().filter(|point| !point.is_missing).count();
    let disturbed = points.iter().filter(|point| point.is_disturbed).count();
    complete >= MIN_RUNS && disturbed * 2 > complete
}

fn point(step: u32, run: &ProcedureRun) -> Point {
    let job = run.run.resolved.first();
    let report = run.run.report.and_then(|report| report.jobs.first());
    let arrivals = report.and_then(|job| job.arrivals.as_ref());
    let mean = run.run.report.and_then(|report| report.achieved_depth);
    let depth = job.map_or(1.0, |job| f64::from(job.in_flight()));
    Point {
        step,
        offered: job.map_or(0.0, offered),
        is_missing: !run.run.is_complete(),
        is_disturbed: disturbance(run).is_some(),
        seconds: report.map_or(0.0, |job| job.duration_ms / 1000.0),
        due: arrivals.map_or(0, |arrivals| arrivals.due),
        completed: stats(run).map_or(0, |stats| stats.ios),
        is_cut_short: arrivals.is_some_and(|arrivals| arrivals.overload.is_some()),
        backlog: arrivals.map_or_else(Vec::new, |arrivals| arrivals.backlog.clone()),
        // Both the mean and the depth are per worker.
        in_flight: mean.map(|mean| (mean, depth)),
        latencies: stats(run)
            .and_then(|stats| Some((stats.lat_ns.mean?, stats.intended_lat_ns.as_ref()?.mean?))),
        p99_ms: percentile(run, "99", MIN_IOS_P99).map(|ns| ns / NS_PER_MS),
    }
}

fn disturbance<'a>(run: &ProcedureRun<'a>) -> Option<&'a str> {
    let mut findings = run.run.findings.iter();
    let found = findings.find(|finding| DISTURBANCES.contains(&finding.code.as_str()))?;
    Some(&found.sentence)
}

/// Nominal arrivals per second, summed over all workers.
fn offered(job: &ResolvedJob) -> f64 {
    let rates = &job.timing.rate_iops;
    let rate = rates.read.or(rates.write).or(rates.trim).unwrap_or(0);
    rate as f64 * f64::from(job.numjobs)
}

/// Statistics of the direction that the job uses.
fn stats<'a>(run: &ProcedureRun<'a>) -> Option<&'a DirectionStats> {
    let report = run.run.report?;
    let directions = [&report.read, &report.write, &report.trim];
    directions.into_iter().find(|stats| stats.is_used())
}

fn latencies<'a>(run: &ProcedureRun<'a>) -> Option<&'a LatencyStats> {
    stats(run)?.intended_lat_ns.as_ref()
}

/// `None` if there are fewer than `min` I/Os.
fn percentile(run: &ProcedureRun, percentile: &str, min: u64) -> Option<f64> {
    let found = latencies(run).filter(|stats| stats.count >= min)?;
    found.percentiles.get(percentile).map(|ns| *ns as f64)
}

pub(crate) fn results(curve: &LoadCurve, runs: &[Option<ProcedureRun>]) -> LoadCurveResults {
    let (probe_iops, points) = probe_and_points(curve, runs);
    let summary = summarize(&points);
    let knee = curve
        .p99_limit_ms
        .map(|limit_ms| knee(&points, &summary, limit_ms));
    let planned = rates::planned(curve, probe_iops.unwrap_or(0.0)).unwrap_or_default();
    let has_run = |rate: &f64| {
        points
            .iter()
            .any(|point| point.offered.total_cmp(rate).is_eq())
    };
    let has_ended = runs.iter().flatten().all(|run| run.run.status.is_final());
    let next = rates::next(curve, &planned, &points).filter(|_| has_ended);
    let ended_before = next.filter(|rate| written_bytes::exceeds(curve, *rate, runs));
    let bracket = summary.bracket(&points);
    let mut sentence = sentence(curve, &points, &summary, bracket, knee.as_ref());
    if let (Some(rate), Some(max_bytes)) = (ended_before, curve.max_bytes) {
        sentence += &format!(
            " The curve ended before {} IOPS, because that rate could exceed the write limit of {}.",
            rate_text(rate),
            bytes(max_bytes)
        );
    }
    LoadCurveResults {
        state: summary.state,
        sentence,
        warning: warning(runs),
        probe_iops,
        saturation: bracket.0,
        upper: bracket.1,
        knee,
        points: points
            .iter()
            .filter_map(|point| Some(load_point(point, runs[point.step as usize - 1].as_ref()?)))
            .collect(),
        not_run: planned.into_iter().filter(|rate| !has_run(rate)).collect(),
        ended_before,
    }
}

/// Counts the disturbed runs, and quotes the first disturbance.
fn warning(runs: &[Option<ProcedureRun>]) -> Option<String> {
    let found: Vec<&str> = runs.iter().flatten().filter_map(disturbance).collect();
    let first = found.first()?;
    let disturbed = found.len();
    let all = runs.iter().flatten().count();
    Some(format!("{disturbed} of {all} runs were disturbed: {first}"))
}

fn load_point(point: &Point, run: &ProcedureRun) -> LoadPoint {
    let class = point.class();
    let report = run.run.report.and_then(|report| report.jobs.first());
    let arrivals = report.and_then(|job| job.arrivals.as_ref());
    LoadPoint {
        step: point.step,
        offered: point.offered,
        achieved: stats(run)
            .map(|stats| stats.iops)
            .filter(|_| !point.is_missing),
        class,
        disturbance: disturbance(run).map(str::to_owned),
        due: (point.due > 0).then_some(point.due),
        backlog: point.backlog.clone(),
        overload: arrivals.and_then(|arrivals| arrivals.overload),
        lat_mean_ns: latencies(run).and_then(|stats| stats.mean),
        lat_p50_ns: percentile(run, "50", 20),
        lat_p99_ns: percentile(run, "99", MIN_IOS_P99),
        lat_p999_ns: percentile(run, "99.9", MIN_IOS_P999),
        is_lower_bound: class == PointClass::Overloaded,
    }
}

/// Summarizes a curve. If there is a saturation point, the sentence always includes its bracket and
/// the queue depth, which limits it.
fn sentence(
    curve: &LoadCurve,
    points: &[Point],
    summary: &Summary,
    (low, high): (Option<f64>, Option<f64>),
    knee: Option<&Knee>,
) -> String {
    let text = |rate: Option<f64>| rate.map_or("–".into(), rate_text);
    let (low, high) = (text(low), text(high));
    let depth = curve.depth();
    let in_flight = format!("{depth} {}", if depth > 1.0 { "I/Os" } else { "I/O" });
    let highest = text(summary.highest_sustained);
    let saturation = match summary.state {
        CurveState::NoResult if points.is_empty() => return "No rate has a result yet.".into(),
        CurveState::NoResult => {
            let disturbed = points.iter().filter(|point| point.is_disturbed).count();
            return format!(
                "No rate has a usable result: {disturbed} of {} runs were disturbed.",
                points.len()
            );
        }
        CurveState::Found => format!(
            "The saturation point is between {low} and {high} IOPS with {in_flight} in flight: {low} IOPS were sustained, {high} IOPS were not."
        ),
        CurveState::NotReached => {
            format!("The saturation point was not reached: {highest} IOPS were sustained.")
        }
        CurveState::SaturatedAtFirst => format!(
            "The saturation point is below {high} IOPS with {in_flight} in flight: no rate was sustained."
        ),
        CurveState::NonMonotone => format!(
            "A rate was overloaded although a higher rate was sustained: {}, and the highest sustained rate was {high} IOPS. Repeat the rates in between.",
            always_sustained(summary.saturation)
        ),
        CurveState::Bistable => format!(
            "The same rate was both sustained and overloaded: {}, and up to {} IOPS were sometimes sustained.",
            always_sustained(summary.saturation),
            text(highest_once_sustained(points))
        ),
        CurveState::GeneratorLimited if summary.highest_sustained.is_none() => {
            "The saturation point was not reached: the runner could not submit all I/Os on time at any rate.".into()
        }
        CurveState::GeneratorLimited => format!(
            "The saturation point was not reached: above {highest} IOPS, the runner could not submit more I/Os."
        ),
    };
    match knee {
        Some(knee) => format!("{saturation} {}", knee_sentence(knee)),
        None => saturation,
    }
}

fn always_sustained(rate: Option<f64>) -> String {
    match rate {
        Some(rate) => format!("up to {} IOPS were always sustained", rate_text(rate)),
        None => "no rate was always sustained".into(),
    }
}

/// The highest rate that was sustained at least once, even if another run at it was overloaded.
fn highest_once_sustained(points: &[Point]) -> Option<f64> {
    let sustained = points
        .iter()
        .filter(|point| point.class() == PointClass::Sustained);
    sustained.map(|point| point.offered).reduce(f64::max)
}

fn knee_sentence(knee: &Knee) -> String {
    let limit = latency(knee.limit_ms * NS_PER_MS);
    let rate = knee.rate.map_or("–".into(), rate_text);
    match knee.state {
        KneeState::Found => format!("Highest rate with a p99 of at most {limit}: {rate} IOPS."),
        KneeState::LimitedBySaturation => {
            format!("The p99 is at most {limit} up to the saturation point ({rate} IOPS).")
        }
        KneeState::AtLeast => format!("The p99 is at most {limit} at all rates up to {rate} IOPS."),
        KneeState::Never => format!("The p99 is above {limit} at all rates."),
        KneeState::NoP99 => format!("No rate has the {MIN_IOS_P99} I/Os required for a p99."),
    }
}
