//! `--output-format=normal`: fio's human-readable output. I/O depth distributions are omitted,
//! because they are not recorded.

use crate::{
    FinishedRun,
    fio::{
        asctime,
        direction::{Bandwidth, DirectionInput, iops_spread, runtime_ms},
        disk::disks,
        job::{CpuShares, directions, error_number},
        latency::percentile_list,
        latency_bins::LatencyBins,
        num2str::{Prefixes, num2str},
    },
};
use leadline_protocol::report::{JobReport, Report, stats::LatencyStats};
use std::fmt::Write;

/// Number of digits in rates and sizes (fio's `significant_figures`).
const DIGITS: usize = 4;

/// Formats the results of all jobs, all runs and all devices.
pub fn normal(runs: &[FinishedRun<'_>]) -> String {
    let mut text = String::new();
    for (group, run) in runs.iter().enumerate() {
        for job in &run.report.jobs {
            text += &job_text(run, group, job);
        }
    }
    for (group, run) in runs.iter().enumerate() {
        text += &group_text(run, group);
    }
    text + &disk_text(runs)
}

fn job_text(run: &FinishedRun<'_>, group: usize, job: &JobReport) -> String {
    let report = &run.report;
    let mut text = format!(
        "\n{}: (groupid={group}, jobs={}): err={:2}: pid=0: {}\n",
        job.name,
        job.workers,
        error_number(report, job),
        asctime(report.end_ms()),
    );
    for (name, input) in ["read", "write", "trim"].iter().zip(directions(run, job)) {
        if input.stats.ios > 0 {
            text += &direction_text(name, &input);
        }
    }
    text += &distribution_text(job);
    if job.sync.ios > 0 {
        text += "  fsync/fdatasync/sync_file_range:\n";
        text += &latency_text("sync", &job.sync.lat_ns);
        text += &percentile_text("sync", &job.sync.lat_ns);
    }
    text + &processor_text(job) + &issued_text(job)
}

fn direction_text(name: &str, input: &DirectionInput<'_>) -> String {
    let stats = input.stats;
    let mut text = format!(
        "  {name}: IOPS={}, BW={}({}/{}msec)\n",
        num2str(stats.iops as u64, DIGITS, Prefixes::Si),
        bandwidth(stats.bytes_per_second),
        size(stats.bytes, Prefixes::Iec),
        runtime_ms(input),
    );
    text += &latency_text("slat", &stats.slat_ns);
    text += &latency_text("clat", &stats.clat_ns);
    text += &latency_text(" lat", &stats.lat_ns);
    text += &percentile_text("clat", &stats.clat_ns);
    text + &throughput_text(input)
}

/// `142MiB/s (149MB/s)`.
fn bandwidth(bytes_per_second: f64) -> String {
    let bytes = bytes_per_second as u64;
    format!(
        "{}/s ({}/s)",
        size(bytes, Prefixes::Iec),
        size(bytes, Prefixes::Si)
    )
}

fn size(bytes: u64, prefixes: Prefixes) -> String {
    num2str(bytes, DIGITS, prefixes) + "B"
}

fn latency_text(name: &str, stats: &LatencyStats) -> String {
    let (Some(min), Some(max), Some(mean)) = (stats.min, stats.max, stats.mean) else {
        return String::new();
    };
    let stddev = stats.stddev.unwrap_or(0.0);
    let (unit, divisor) = match (min, max, stddev) {
        (2_000_001.., 100_000_000.., stddev) if stddev > 1e6 => ("msec", 1_000_000),
        (2_001.., 100_000.., stddev) if stddev > 1e3 => ("usec", 1_000),
        _ => ("nsec", 1),
    };
    let number = |value: u64| num2str(value / divisor, 6, Prefixes::Si);
    format!(
        "    {name} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        number(min),
        number(max),
        mean / divisor as f64,
        stddev / divisor as f64,
    )
}

/// A table of percentiles, 80 columns wide.
fn percentile_text(name: &str, stats: &LatencyStats) -> String {
    const PRECISION: usize = 2;
    let all = percentile_list(stats);
    let (Some((_, min)), Some((_, max))) = (all.first(), all.last()) else {
        return String::new();
    };
    let (unit, scale) = match (min, max) {
        (2_000_001.., 100_000_000..) => ("msec", 1_000_000),
        (2_001.., 100_000..) => ("usec", 1_000),
        _ => ("nsec", 1),
    };
    let width = (max / scale).to_string().len().max(5);
    let per_line = (80 - 7) / (PRECISION + 10 + width);
    let mut text = format!("    {name} percentiles ({unit}):\n");
    for line in all.chunks(per_line) {
        let cells = line.iter().map(|(percentile, ns)| {
            format!(
                " {percentile:5.PRECISION$}th=[{:width$}]",
                ns.div_ceil(scale)
            )
        });
        let cells: Vec<String> = cells.collect();
        let is_last = line.last() == all.last();
        let end = if is_last { "" } else { "," };
        let _ = writeln!(text, "     |{}{end}", cells.join(","));
    }
    text
}

fn throughput_text(input: &DirectionInput<'_>) -> String {
    let Bandwidth { spread, percentage } = Bandwidth::of(input);
    let iops = iops_spread(input);
    if spread.count == 0 {
        return String::new();
    }
    let (unit, divisor) = if spread.mean > 1024.0 * 1024.0 {
        ("MiB", 1024.0)
    } else {
        ("KiB", 1.0)
    };
    format!(
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={percentage:.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n   \
         iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
        (spread.min / divisor) as u64,
        (spread.max / divisor) as u64,
        spread.mean / divisor,
        spread.stddev / divisor,
        spread.count,
        iops.min as u64,
        iops.max as u64,
        iops.mean,
        iops.stddev,
        iops.count,
    )
}

/// Percentages of I/Os by latency, at most five on a line.
fn distribution_text(job: &JobReport) -> String {
    let bins = LatencyBins::of(job);
    let units = [
        ("nsec", &bins.ns[..]),
        ("usec", &bins.us[..]),
        ("msec", &bins.ms[..]),
    ];
    let mut text = String::new();
    for (unit, values) in units {
        let used = LatencyBins::labels().zip(values);
        let used = used.filter(|(_, percentage)| **percentage > 0.0);
        let cells: Vec<String> = used
            .map(|(label, percentage)| format!("{label}={percentage:.2}%"))
            .collect();
        for line in cells.chunks(5) {
            let _ = writeln!(text, "  lat ({unit})   : {}", line.join(", "));
        }
    }
    text
}

fn processor_text(job: &JobReport) -> String {
    let cpu = CpuShares::of(job);
    let mut text = format!(
        "  cpu          : usr={:.2}%, sys={:.2}%",
        cpu.user, cpu.system
    );
    if let Some(usage) = job.usage {
        let _ = write!(
            text,
            ", ctx={}, majf={}, minf={}",
            usage.context_switches, usage.major_faults, usage.minor_faults
        );
    }
    text + "\n"
}

fn issued_text(job: &JobReport) -> String {
    format!(
        "     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0\n",
        job.read.ios, job.write.ios, job.trim.ios, job.sync.ios
    )
}

fn group_text(run: &FinishedRun<'_>, group: usize) -> String {
    let report = &run.report;
    let mut text = format!("\nRun status group {group} (all jobs):\n");
    let directions = [
        ("   READ", &report.read),
        ("  WRITE", &report.write),
        ("   TRIM", &report.trim),
    ];
    for (index, (name, total)) in directions.into_iter().enumerate() {
        let jobs = report.jobs.iter();
        let all = jobs.map(|job| [&job.read, &job.write, &job.trim][index]);
        let rates: Vec<f64> = all
            .filter(|stats| stats.ios > 0)
            .map(|stats| stats.bytes_per_second)
            .collect();
        if rates.is_empty() {
            continue;
        }
        let min = rates.iter().copied().fold(f64::INFINITY, f64::min) as u64;
        let max = rates.iter().copied().fold(0.0, f64::max) as u64;
        let range = |prefixes| format!("{}/s-{}/s", size(min, prefixes), size(max, prefixes));
        let (shortest, longest) = durations(report);
        let _ = writeln!(
            text,
            "{name}: bw={}, {} ({}), io={} ({}), run={shortest}-{longest}msec",
            bandwidth(total.bytes_per_second),
            range(Prefixes::Iec),
            range(Prefixes::Si),
            size(total.bytes, Prefixes::Iec),
            size(total.bytes, Prefixes::Si),
        );
    }
    text
}

fn durations(report: &Report) -> (u64, u64) {
    let durations = report.jobs.iter().map(|job| job.duration_ms.round() as u64);
    (
        durations.clone().min().unwrap_or(0),
        durations.max().unwrap_or(0),
    )
}

fn disk_text(runs: &[FinishedRun<'_>]) -> String {
    let disks = disks(runs);
    if disks.is_empty() {
        return String::new();
    }
    let mut text = "\nDisk stats (read/write):\n".to_owned();
    for disk in disks {
        let _ = writeln!(
            text,
            "  {}: ios={}/{}, merge={}/{}, ticks={}/{}, in_queue={}, util={:.2}%",
            disk.name,
            disk.read_ios,
            disk.write_ios,
            disk.read_merges,
            disk.write_merges,
            disk.read_ticks,
            disk.write_ticks,
            disk.in_queue,
            disk.util,
        );
    }
    text
}
