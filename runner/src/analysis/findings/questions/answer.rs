//! Phrases what a run measured as the answer to a question.

use crate::analysis::findings::questions::workload::Workload;
use leadline_protocol::{
    format::{bandwidth, bytes, latency, rate},
    report::{
        Report,
        stats::{DirectionStats, LatencyStats},
    },
};
use serde_json::{Value, json};

pub(crate) struct Answer {
    pub sentence: String,
    /// A JSON object.
    pub evidence: Value,
}

/// Returns the answer, or `None` if a latency was not measured.
pub(crate) type AnswerFn = fn(&Workload, &Report) -> Option<Answer>;

/// Commits per second of a log that flushes each write.
pub(crate) fn log_writes(workload: &Workload, report: &Report) -> Option<Answer> {
    let call = workload.flush?;
    let p99_ns = p99(&report.sync.lat_ns)?;
    let iops = report.write.iops;
    let sentence = format!(
        "Each write waits for {call}, as in a database log: {} commits per second, {call} p99 {}.",
        rate(iops),
        latency(p99_ns as f64),
    );
    let evidence =
        json!({"sync_ios": report.sync.ios, "sync_lat_p99_ns": p99_ns, "write_iops": iops});
    Some(Answer { sentence, evidence })
}

/// Rate of single writes that are each made durable.
pub(crate) fn journal_writes(workload: &Workload, report: &Report) -> Option<Answer> {
    let written = &report.write;
    let iops = rate(written.iops);
    if let Some(call) = workload.flush {
        let p99_ns = p99(&report.sync.lat_ns)?;
        let of_writes = if workload.flush_writes_data() {
            String::new()
        } else {
            format!("write p99 {}, ", latency(p99(&written.lat_ns)? as f64))
        };
        let sentence = format!(
            "Each write waits for {call}: {iops} writes per second, {of_writes}{call} p99 {}.",
            latency(p99_ns as f64)
        );
        let evidence = json!({"sync_ios": report.sync.ios, "sync_lat_p99_ns": p99_ns,
            "write_iops": written.iops});
        return Some(Answer { sentence, evidence });
    }
    let (mean_ns, p99_ns) = mean_and_p99(written)?;
    let next = match workload.in_flight {
        1 => "the next one starts".to_owned(),
        workers => format!("the same worker starts its next one ({workers} workers)"),
    };
    let sentence = format!(
        "Each write is durable before {next}, as in a Ceph journal: {iops} writes per second, mean {}, p99 {}.",
        latency(mean_ns),
        latency(p99_ns as f64)
    );
    let evidence = json!({"write_iops": written.iops, "write_lat_mean_ns": mean_ns,
        "write_lat_p99_ns": p99_ns});
    Some(Answer { sentence, evidence })
}

/// IOPS and mean latency at a queue depth.
pub(crate) fn random_iops(workload: &Workload, report: &Report) -> Option<Answer> {
    let mut evidence = json!({"in_flight": workload.in_flight});
    let mut rates = Vec::new();
    for (name, stats) in directions(workload, report) {
        let mean_ns = stats.lat_ns.mean?;
        let (iops, mean) = (rate(stats.iops), latency(mean_ns));
        rates.push(format!("{iops} {name} IOPS (mean latency {mean})"));
        evidence[format!("{name}_iops")] = stats.iops.into();
        evidence[format!("{name}_lat_mean_ns")] = mean_ns.into();
    }
    let sentence = format!("{}: {}.", kind(workload), rates.join(" and "));
    Some(Answer { sentence, evidence })
}

/// Throughput at a queue depth.
pub(crate) fn throughput(workload: &Workload, report: &Report) -> Option<Answer> {
    let mut evidence = json!({"in_flight": workload.in_flight});
    let mut rates = Vec::new();
    for (name, stats) in directions(workload, report) {
        let verb = if name == "read" { "read" } else { "written" };
        rates.push(format!("{} {verb}", bandwidth(stats.bytes_per_second)));
        evidence[format!("{name}_bytes_per_second")] = stats.bytes_per_second.into();
    }
    let sentence = format!("{}: {}.", kind(workload), rates.join(" and "));
    Some(Answer { sentence, evidence })
}

/// Percentage of reads, subject of the sentence, and number of I/Os per block for each kind of
/// backup: Veeam knowledge base, KB2893 ("IOPS/Block") and KB2014.
const BACKUPS: [(u8, &str, u32); 2] = [
    (50, "A synthetic full backup", 2),
    (33, "A reverse incremental backup", 3),
];

/// Bytes of backup data per second. `None` if the mix does not match a backup.
pub(crate) fn backup_rate(workload: &Workload, report: &Report) -> Option<Answer> {
    let (_, name, ios_per_block) = BACKUPS
        .iter()
        .find(|(rwmixread, ..)| Some(*rwmixread) == workload.rwmixread)?;
    let total = report.read.bytes_per_second + report.write.bytes_per_second;
    let backup = total / f64::from(*ios_per_block);
    let sentence = format!(
        "{}: {} in total. {name} needs {ios_per_block} I/Os per block, so this is {} of backup data.",
        kind(workload),
        bandwidth(total),
        bandwidth(backup)
    );
    let evidence = json!({"bytes_per_second": total, "backup_bytes_per_second": backup,
        "ios_per_block": ios_per_block});
    Some(Answer { sentence, evidence })
}

pub(crate) fn is_backup(workload: &Workload) -> bool {
    BACKUPS
        .iter()
        .any(|(rwmixread, ..)| Some(*rwmixread) == workload.rwmixread)
}

/// Latency with one I/O in flight.
pub(crate) fn single_io_latency(workload: &Workload, report: &Report) -> Option<Answer> {
    let (name, stats) = directions(workload, report).next()?;
    let (mean_ns, p99_ns) = mean_and_p99(stats)?;
    let sentence = format!(
        "One random {} {name} at a time takes {} on average (p99 {}).",
        bytes(workload.max_bytes),
        latency(mean_ns),
        latency(p99_ns as f64)
    );
    let mut evidence = json!({});
    evidence[format!("{name}_lat_mean_ns")] = mean_ns.into();
    evidence[format!("{name}_lat_p99_ns")] = p99_ns.into();
    Some(Answer { sentence, evidence })
}

/// Returns the name and statistics of each direction that the workload uses.
fn directions<'a>(
    workload: &Workload,
    report: &'a Report,
) -> impl Iterator<Item = (&'static str, &'a DirectionStats)> {
    [
        (workload.reads, "read", &report.read),
        (workload.writes, "write", &report.write),
    ]
    .into_iter()
    .filter_map(|(is_used, name, stats)| is_used.then_some((name, stats)))
}

/// For example, `Random 4 KiB reads and writes, 64 in flight`.
fn kind(workload: &Workload) -> String {
    let order = if workload.random {
        "Random"
    } else {
        "Sequential"
    };
    let directions = match (workload.reads, workload.writes) {
        (true, true) => "reads and writes",
        (true, false) => "reads",
        _ => "writes",
    };
    let size = bytes(workload.max_bytes);
    format!(
        "{order} {size} {directions}, {} in flight",
        workload.in_flight
    )
}

fn p99(latencies: &LatencyStats) -> Option<u64> {
    latencies.percentiles.get("99").copied()
}

/// In ns.
fn mean_and_p99(stats: &DirectionStats) -> Option<(f64, u64)> {
    Some((stats.lat_ns.mean?, p99(&stats.lat_ns)?))
}
