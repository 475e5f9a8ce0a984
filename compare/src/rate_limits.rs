//! Runs that reached their rate limit measure the limit, not the storage.

use crate::group::{ComparedRun, Group};
use leadline_protocol::{
    format::{bandwidth, rate},
    job::{direction::PerDirection, fio::printed_options::PREFIX},
    plan::job::ResolvedJob,
    report::stats::DirectionStats,
};

/// A run that reaches at least this share of a limit counts as having reached it. Slower runs were
/// limited by something else.
const REACHED_SHARE: f64 = 0.98;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Limit {
    Iops(f64),
    BytesPerSecond(f64),
}

/// An I/O direction, with accessors for its job option and its statistics.
struct Direction {
    name: &'static str,
    option: fn(&PerDirection<Option<u64>>) -> Option<u64>,
    stats: fn(&ComparedRun) -> Option<DirectionStats>,
}

const DIRECTIONS: [Direction; 2] = [
    Direction {
        name: "read",
        option: |options| options.read,
        stats: |run| run.report.map(|report| report.read.clone()),
    },
    Direction {
        name: "write",
        option: |options| options.write,
        stats: |run| run.report.map(|report| report.write.clone()),
    },
];

/// Text to append to answers if the groups reached different rate limits.
pub(crate) fn caution(groups: &[Group]) -> Option<&'static str> {
    let differ =
        |direction| reached(groups, direction).is_some_and(|reached| reached.limits.len() > 1);
    DIRECTIONS.iter().any(differ).then_some(
        " The groups have different rate limits and reached them, so the change reflects this setting, not the speed of the storage.",
    )
}

/// Why IOPS and bandwidth reflect a setting; `None` unless most runs of each group reached a rate
/// limit.
pub(crate) fn reason(groups: &[Group]) -> Option<String> {
    let sentences: Vec<String> = DIRECTIONS
        .iter()
        .filter_map(|direction| sentence(groups, direction))
        .collect();
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// Limits that most runs of each group reached.
struct Reached {
    limits: Vec<Limit>,
    by_all_runs: bool,
}

/// `None` if a group has no limit, or if at least half of its runs did not reach it.
fn reached(groups: &[Group], direction: &Direction) -> Option<Reached> {
    let mut reached = Reached {
        limits: Vec::new(),
        by_all_runs: true,
    };
    for group in groups {
        let (mut runs, mut slower) = (0, 0);
        for run in group.included() {
            runs += 1;
            match reached_limit(run, direction) {
                Some(limit) if !reached.limits.contains(&limit) => reached.limits.push(limit),
                Some(_) => {}
                None => slower += 1,
            }
        }
        if 2 * slower >= runs && runs > 0 {
            return None;
        }
        reached.by_all_runs &= slower == 0;
    }
    (!reached.limits.is_empty()).then_some(reached)
}

fn sentence(groups: &[Group], direction: &Direction) -> Option<String> {
    let Reached {
        limits,
        by_all_runs,
    } = reached(groups, direction)?;
    let name = direction.name;
    let runs = match (&limits[..], by_all_runs) {
        ([_], true) => "All runs",
        ([_], false) => "Most runs",
        (_, true) => "The runs",
        (_, false) => "Most of the runs",
    };
    Some(match &limits[..] {
        [limit] => format!(
            "{runs} reached their {name} rate limit ({}), so {name} IOPS and bandwidth do not show the speed of the storage.",
            text(*limit)
        ),
        limits => {
            let limits: Vec<String> = limits.iter().copied().map(text).collect();
            format!(
                "{runs} reached different {name} rate limits ({}): {name} IOPS and bandwidth reflect this setting, and latencies were measured under different loads.",
                limits.join(" / ")
            )
        }
    })
}

fn reached_limit(run: &ComparedRun, direction: &Direction) -> Option<Limit> {
    let limit = limit(run.resolved, direction).or_else(|| fio_limit(run))?;
    let stats = (direction.stats)(run)?;
    let is_reached = match limit {
        Limit::Iops(limit) => stats.iops >= REACHED_SHARE * limit,
        Limit::BytesPerSecond(limit) => stats.bytes_per_second >= REACHED_SHARE * limit,
    };
    is_reached.then_some(limit)
}

/// Sum of the limits of all workers; `None` if a job has none.
fn limit(jobs: &[ResolvedJob], direction: &Direction) -> Option<Limit> {
    let sum = |limit: fn(&ResolvedJob) -> &PerDirection<Option<u64>>| {
        let limits = jobs.iter().map(|job| {
            let per_worker = (direction.option)(limit(job))?;
            Some(per_worker as f64 * f64::from(job.numjobs))
        });
        limits.sum::<Option<f64>>().filter(|sum| *sum > 0.0)
    };
    let iops = sum(|job| &job.timing.rate_iops).map(Limit::Iops);
    iops.or_else(|| sum(|job| &job.timing.rate).map(Limit::BytesPerSecond))
}

/// The limit of a fio result with one job and one value for all directions.
fn fio_limit(run: &ComparedRun) -> Option<Limit> {
    let settings = run.foreign_settings()?;
    if settings.keys().any(|name| name.starts_with("jobs[")) {
        return None;
    }
    let number = |name: &str| -> Option<f64> {
        let value = settings.get(&format!("{}{name}", PREFIX))?;
        value.parse().ok().filter(|value| *value > 0.0)
    };
    let workers = number("numjobs").unwrap_or(1.0);
    let iops = number("rate_iops").map(|rate| Limit::Iops(rate * workers));
    iops.or_else(|| number("rate").map(|rate| Limit::BytesPerSecond(rate * workers)))
}

fn text(limit: Limit) -> String {
    match limit {
        Limit::Iops(iops) => format!("{} IOPS", rate(iops)),
        Limit::BytesPerSecond(bytes) => bandwidth(bytes),
    }
}
