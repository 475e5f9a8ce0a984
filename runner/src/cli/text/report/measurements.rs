//! Throughput, latency, device I/O, CPU use and phase times in the measurement window.

use crate::cli::text::{
    style::{BOLD, RED},
    writer::{LABEL_HEADER, TextWriter, join, number_table},
};
use leadline_protocol::{
    format::{bandwidth, bytes, count, duration, latency, plural, rate},
    report::{
        CpuReport, EndedBy, JobReport, Report,
        device::DeviceReport,
        stats::{DirectionStats, LatencyStats},
    },
};

/// Percentiles that fit on one line.
const PERCENTILES: [&str; 5] = ["50", "90", "99", "99.9", "99.99"];
/// Unfinished I/Os that are at least this old, in ns, are always shown.
const MIN_OLDEST_NS: u64 = 1_000_000_000;

pub(super) fn write_measurements(out: &mut TextWriter, report: &Report) {
    let directions = used_directions(&report.read, &report.write, &report.trim);
    for (name, stats) in &directions {
        let total = format!("{} I/Os · {}", count(stats.ios), bytes(stats.bytes));
        out.field(name, &format!("{} · {total}", throughput(stats)));
    }
    write_latencies(out, &directions, &report.sync.lat_ns);
    write_unfinished(out, report);
    if let Some(device) = &report.device {
        out.field("device", &device_text(device));
    }
    if let Some(cpu) = &report.cpu {
        out.field("CPU", &cpu_text(cpu, report.cpu_ns_per_io()));
    }
    if let Some(depth) = report.achieved_depth {
        let text = format!("{depth:.1} I/Os in flight on average per worker");
        out.field("depth", &text);
    }
    out.field("time", &times(report));
}

fn used_directions<'a>(
    read: &'a DirectionStats,
    write: &'a DirectionStats,
    trim: &'a DirectionStats,
) -> Vec<(&'static str, &'a DirectionStats)> {
    let mut directions = vec![("read", read), ("write", write), ("trim", trim)];
    directions.retain(|(_, stats)| stats.is_used());
    directions
}

/// For example, `60.5 k IOPS · 236 MiB/s (248 MB/s)`.
fn throughput(stats: &DirectionStats) -> String {
    format!(
        "{} IOPS · {}",
        rate(stats.iops),
        bandwidth(stats.bytes_per_second)
    )
}

/// Latencies from submission and, if a rate is set, from the intended start.
fn write_latencies(
    out: &mut TextWriter,
    directions: &[(&str, &DirectionStats)],
    sync: &LatencyStats,
) {
    let mut rows: Vec<(String, &LatencyStats)> = Vec::new();
    for (name, stats) in directions {
        rows.push((format!("  {name}"), &stats.lat_ns));
        if let Some(intended) = &stats.intended_lat_ns {
            rows.push(("  intended".into(), intended));
        }
        for priority in &stats.priorities {
            rows.push((format!("  {}", priority.priority), &priority.lat_ns));
        }
    }
    rows.push(("  sync".into(), sync));
    rows.retain(|(_, stats)| !stats.is_empty());
    if rows.is_empty() {
        return;
    }
    let [p50, p90, p99, p999, p9999] = PERCENTILES.map(|percentile| format!("p{percentile}"));
    let header = [LABEL_HEADER, "mean", &p50, &p90, &p99, &p999, &p9999, "max"];
    let mut table = number_table(header);
    for (label, stats) in rows {
        let mut row = vec![label, mean(stats)];
        row.extend(PERCENTILES.map(|percentile| percentile_text(stats, percentile)));
        row.push(latency_text(stats, "max", stats.max));
        table.add_row(row);
    }
    out.table(&table);
    // A synchronous engine completes an I/O by submitting it, so there is nothing to divide.
    let is_divided = |stats: &DirectionStats| stats.ios > 0 && stats.clat_ns.max != Some(0);
    for (name, stats) in directions.iter().filter(|(_, stats)| is_divided(stats)) {
        let submission = mean(&stats.slat_ns);
        let completion = mean(&stats.clat_ns);
        let text = format!("mean {name} = {submission} submission + {completion} completion");
        out.field("", &text);
    }
}

fn mean(stats: &LatencyStats) -> String {
    stats.mean.map_or("–".into(), latency)
}

fn percentile_text(stats: &LatencyStats, percentile: &str) -> String {
    let ns = stats.percentiles.get(percentile).copied();
    latency_text(stats, percentile, ns)
}

/// For example, `1.21 ms`, or `≥ 9.50 s` for a lower bound.
fn latency_text(stats: &LatencyStats, name: &str, ns: Option<u64>) -> String {
    let Some(ns) = ns else {
        return "–".into();
    };
    let prefix = if stats.is_lower_bound(name) {
        "≥ "
    } else {
        ""
    };
    format!("{prefix}{}", latency(ns as f64))
}

/// Shows I/Os in flight at the end if they were in flight for a long time or make latencies lower
/// bounds.
fn write_unfinished(out: &mut TextWriter, report: &Report) {
    let sync = &report.sync;
    let directions = [&report.read, &report.write, &report.trim];
    let ios = directions.map(|stats| stats.unfinished.unwrap_or_default());
    let syncs = sync.unfinished.unwrap_or_default();
    let oldest_ns = ios
        .iter()
        .chain([&syncs])
        .map(|unfinished| unfinished.oldest_ns);
    let oldest_ns = oldest_ns.max().unwrap_or_default();
    let mut latencies = directions
        .iter()
        .map(|stats| &stats.lat_ns)
        .chain([&sync.lat_ns]);
    if oldest_ns < MIN_OLDEST_NS && latencies.all(|stats| stats.at_least.is_empty()) {
        return;
    }
    let ios = ios.iter().map(|unfinished| unfinished.ios).sum();
    let part = |count: u64, noun| (count > 0).then(|| plural(count, noun));
    let counts = join([part(ios, "I/O"), part(syncs.ios, "sync")], " and ");
    let were = if ios + syncs.ios == 1 { "was" } else { "were" };
    let oldest = latency(oldest_ns as f64);
    let text = format!("{counts} {were} in flight at the end, the oldest for {oldest}.");
    out.styled_field(RED, "unfinished", &text);
}

fn device_text(device: &DeviceReport) -> String {
    let counts = &device.counts;
    let reads = requests(
        "reads",
        counts.read_ios,
        counts.read_bytes,
        counts.read_merges,
    );
    let writes = requests(
        "writes",
        counts.write_ios,
        counts.write_bytes,
        counts.write_merges,
    );
    let busy = device.utilization;
    format!("{} · {reads} · {writes} · {busy:.0} % busy", device.name)
}

fn requests(name: &str, ios: u64, moved: u64, merges: u64) -> String {
    match moved.checked_div(ios) {
        None => format!("no {name}"),
        Some(average) => format!(
            "{} {name} ({} on average, {} merged)",
            count(ios),
            bytes(average),
            count(merges)
        ),
    }
}

fn cpu_text(cpu: &CpuReport, ns_per_io: Option<f64>) -> String {
    let parts = [
        Some(format!("runner {:.0} % of one CPU", cpu.process_percent)),
        ns_per_io.map(|ns| latency(ns) + " per I/O"),
        Some(format!("host {:.0} % of all CPUs", cpu.host_percent)),
    ];
    join(parts, " · ")
}

/// Phases of at least 1 ms, and why the measurement ended.
fn times(report: &Report) -> String {
    let phases: Vec<String> = report
        .phases
        .iter()
        .filter(|phase| phase.duration_ms >= 1.0)
        .map(|phase| format!("{} {}", phase.phase, duration(phase.duration_ms)))
        .collect();
    let Some(ended_by) = report.ended_by else {
        return phases.join(" · ");
    };
    let end = match ended_by {
        EndedBy::Size => "size reached",
        EndedBy::Runtime => "runtime reached",
        EndedBy::NumberIos => "number_ios reached",
        EndedBy::SteadyState => "steady state attained",
        EndedBy::Overload => "overloaded: the backlog grew for overload_time",
        EndedBy::LatencyTarget => "queue depth for latency_target found",
        EndedBy::Exitall => "a job with exitall ended",
        EndedBy::ViolatedLimit => "a limit was violated",
        EndedBy::Signal => "interrupted; the report covers the time up to that point",
        EndedBy::Error => "stopped by an I/O error",
    };
    format!("{} ({end})", phases.join(" · "))
}

pub(super) fn write_jobs(out: &mut TextWriter, report: &Report) {
    for job in &report.jobs {
        out.styled_field(BOLD, &job.name, &job_text(job));
    }
}

fn job_text(job: &JobReport) -> String {
    let directions: Vec<String> = used_directions(&job.read, &job.write, &job.trim)
        .iter()
        .map(|(name, stats)| {
            let p99 = percentile_text(&stats.lat_ns, "99");
            format!("{name} {} · p99 {p99}", throughput(stats))
        })
        .collect();
    directions.join("; ")
}
