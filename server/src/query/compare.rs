//! Runs side by side: their numbers against a baseline, only the settings and facts that differ, and whether they may
//! be compared at all. Pure; reading the runs is `compare::http`.
//!
//! What a number is, how it is read from a report and which way it is better is one line in a table (`metrics`).

pub(crate) mod metrics;
pub(crate) mod served;
pub(crate) mod settings;
#[cfg(test)]
pub(crate) mod tests;

use leadline_protocol::compare::{
    Comparable, ComparedRun, Comparison, Confidence, ConfidenceLevel, Difference,
};
use leadline_protocol::report::Report;
use leadline_protocol::run::Run;
use leadline_protocol::status::RunStatus;
use leadline_protocol::units::size;

/// Settings that may differ in repeats of one test.
const HARMLESS: &[&str] = &[
    "name",
    "targets.alignment",
    "targets.existed",
    "targets.layout_bytes",
    "sample_ms",
];

/// Differences that a sentence names; more are a list, not a sentence.
const NAMED: usize = 4;

/// Compares runs; `baseline` is the place of one of them in the list.
pub fn compare(runs: &[Run], baseline: usize) -> Comparison {
    // Where one run has jobs that another lacks, their number is the difference, not each of their settings.
    let jobs = runs
        .iter()
        .map(|run| run.resolved.as_ref().map_or(0, Vec::len))
        .min()
        .unwrap_or(0);
    let settings = settings::differences(
        &runs
            .iter()
            .map(|run| settings::of_run(run, jobs))
            .collect::<Vec<_>>(),
    );
    let host = settings::differences(&runs.iter().map(settings::of_host).collect::<Vec<_>>());
    Comparison {
        baseline: runs.get(baseline).map_or(0, |run| run.summary.number),
        runs: runs.iter().map(compared).collect(),
        metrics: metrics::table(runs, baseline),
        comparable: comparable(runs, &settings.differ, &host.differ),
        setting_differences: settings.differ,
        equal_settings: settings.equal,
        host_differences: host.differ,
        equal_host_facts: host.equal,
        confidence: Confidence {
            level: ConfidenceLevel::None,
            sentence: "One run each: the difference may be noise.".into(),
        },
    }
}

fn compared(run: &Run) -> ComparedRun {
    let report = run.report.as_ref();
    ComparedRun {
        run: run.summary.clone(),
        duration_ms: report.map(|report| report.duration_ms),
        read: report.map(|report| report.read.clone()),
        write: report.map(|report| report.write.clone()),
        trim: report.map(|report| report.trim.clone()),
        device: report.and_then(|report| report.device.clone()),
        storage: report.and_then(|report| report.storage),
        gauge: report.and_then(|report| report.gauge.clone()),
        verdict: run.verdict.clone(),
        cpu_ns_per_io: report.and_then(cpu_ns_per_io),
        profiled: report.is_some_and(|report| report.profile.is_some()),
    }
}

fn cpu_ns_per_io(report: &Report) -> Option<f64> {
    let ios = report.read.ios + report.write.ios + report.trim.ios;
    let cpu = report.cpu.as_ref().filter(|_| ios > 0)?;
    Some((cpu.user_ms + cpu.system_ms) * 1e6 / ios as f64)
}

fn comparable(runs: &[Run], settings: &[Difference], host: &[Difference]) -> Comparable {
    let differ: Vec<&Difference> = settings
        .iter()
        .filter(|difference| !is_harmless(&difference.name))
        .collect();
    let elsewhere = served::elsewhere(runs);
    let reasons: Vec<String> = runs.iter().filter_map(without_result).collect();
    let same_test = elsewhere.is_none()
        && differ.is_empty()
        && host.is_empty()
        && runs.iter().all(|run| without_result(run).is_none());
    let rerun = elsewhere.is_some().then(|| served::rerun(runs)).flatten();
    Comparable {
        same_test,
        sentence: sentence(same_test, elsewhere, &differ, host),
        reasons,
        rerun,
    }
}

fn is_harmless(name: &str) -> bool {
    // `jobs[1].name` is `name` of the second job.
    let name = name.split_once("].").map_or(name, |(_, name)| name);
    HARMLESS.contains(&name)
}

/// The first sentence: where the numbers came from matters more than what was set.
fn sentence(
    same_test: bool,
    elsewhere: Option<String>,
    settings: &[&Difference],
    host: &[Difference],
) -> String {
    if let Some(elsewhere) = elsewhere {
        return elsewhere;
    }
    match (same_test, settings.is_empty(), host.is_empty()) {
        (true, ..) => "The same test on the same host: what differs are the results.".into(),
        (_, false, _) => {
            let first = settings
                .iter()
                .any(|difference| difference.name == settings::HELD_DATA);
            let why = if first {
                " The first write to a file also allocates its blocks."
            } else {
                ""
            };
            format!(
                "Not the same test: {} differ.{why} Read the numbers as the effect of that.",
                named(settings)
            )
        }
        (_, true, false) => {
            format!(
                "The same test on a host in another state: {} differ.",
                named(&host.iter().collect::<Vec<_>>())
            )
        }
        (_, true, true) => "Not all of these runs have a whole result.".into(),
    }
}

/// The first differences with their values, and how many more there are: the table below has them all.
fn named(differences: &[&Difference]) -> String {
    let first = differences
        .iter()
        .take(NAMED)
        .map(|difference| format!("{} ({})", difference.name, shown(difference)));
    let more = differences.len().saturating_sub(NAMED);
    first
        .chain((more > 0).then(|| format!("{more} more")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn without_result(run: &Run) -> Option<String> {
    let number = run.summary.number;
    match (run.summary.status, &run.report) {
        (RunStatus::Done, Some(_)) => None,
        (status, Some(_)) => Some(format!(
            "#{number} is {}: its report covers a part.",
            status.as_str()
        )),
        (status, None) => Some(format!("#{number} is {} and has no report.", status.as_str())),
    }
}

fn shown(difference: &Difference) -> String {
    let shown = |value: &Option<String>| {
        value
            .as_deref()
            .map_or("nothing".into(), |value| in_units(&difference.name, value))
    };
    difference
        .values
        .iter()
        .map(shown)
        .collect::<Vec<_>>()
        .join(" / ")
}

/// Settings whose numbers are bytes, or bytes a second.
const BYTES: &[&str] = &[
    "bs",
    "blockalign",
    "io_size",
    "layout_bytes",
    "length",
    "offset",
    "offset_increment",
    "rate",
    "size",
];

/// A value as people write it: sizes as in fio (`4k-64k`), times with the unit that the name ends in.
fn in_units(name: &str, value: &str) -> String {
    let name = name.rsplit('.').next().unwrap_or(name);
    let unit = ["ms", "us", "ns"].into_iter().find(|unit| {
        name.strip_suffix(unit)
            .is_some_and(|name| name.ends_with('_'))
    });
    match unit {
        _ if BYTES.contains(&name) => sizes(value),
        Some(unit) if value.bytes().all(|byte| byte.is_ascii_digit()) => format!("{value} {unit}"),
        _ => value.to_owned(),
    }
}

/// Every number of a text as a size.
fn sizes(text: &str) -> String {
    let parts = text.split_inclusive(|letter: char| !letter.is_ascii_digit());
    let shown = parts.map(|part| {
        let digits = part.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        digits.parse().map_or_else(
            |_| part.to_owned(),
            |bytes| size(bytes) + &part[digits.len()..],
        )
    });
    shown.collect()
}
