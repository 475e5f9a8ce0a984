//! `--output-format=terse`, version 3: one line per job (`show_thread_status_terse_all` in
//! `stat.c`). The order of the fields is described in fio(1).

use crate::{
    FinishedRun,
    fio::{
        VERSION,
        direction::{Bandwidth, DirectionInput, runtime_ms},
        disk::{Disk, disks},
        job::{CpuShares, directions, error_number},
        latency::{PERCENTILES, percentile_list},
        latency_bins::LatencyBins,
    },
};
use leadline_protocol::report::{JobReport, stats::LatencyStats};

const FORMAT_VERSION: &str = "3";
/// Number of I/O depth buckets that fio prints.
const DEPTHS: usize = 7;
/// Number of percentiles that fio prints.
const PERCENTILE_FIELDS: usize = 20;

/// One line per job. Sizes and rates are in KiB, latencies in µs.
pub fn terse(runs: &[FinishedRun<'_>]) -> String {
    let disks = disks(runs);
    let lines = (0..).zip(runs).flat_map(|(group, run)| {
        let jobs = run.report.jobs.iter();
        let disks = &disks;
        jobs.map(move |job| line(run, group, job, disks) + "\n")
    });
    lines.collect()
}

fn line(run: &FinishedRun<'_>, group: u32, job: &JobReport, disks: &[Disk]) -> String {
    let mut fields = vec![
        FORMAT_VERSION.into(),
        VERSION.into(),
        job.name.clone(),
        group.to_string(),
        error_number(&run.report, job).to_string(),
    ];
    // Version 3 has no trims.
    let [read, write, _] = directions(run, job);
    add_direction(&mut fields, &read);
    add_direction(&mut fields, &write);
    add_processor(&mut fields, job);
    add_distributions(&mut fields, job);
    add_disks(&mut fields, disks);
    fields.join(";")
}

fn add_direction(fields: &mut Vec<String>, input: &DirectionInput<'_>) {
    let stats = input.stats;
    fields.extend([
        (stats.bytes >> 10).to_string(),
        whole(stats.bytes_per_second / 1024.0),
        whole(stats.iops),
        runtime_ms(input).to_string(),
    ]);
    add_latency(fields, &stats.slat_ns);
    add_latency(fields, &stats.clat_ns);
    let percentiles = match stats.clat_ns.count {
        0 => PERCENTILES
            .iter()
            .map(|percentile| (*percentile, 0))
            .collect(),
        _ => percentile_list(&stats.clat_ns),
    };
    let texts = percentiles
        .iter()
        .map(|(percentile, ns)| format!("{percentile:.6}%={}", ns / 1000));
    let missing = std::iter::repeat("0%=0".into());
    fields.extend(texts.chain(missing).take(PERCENTILE_FIELDS));
    add_latency(fields, &stats.lat_ns);
    let Bandwidth { spread, percentage } = Bandwidth::of(input);
    fields.extend([
        whole(spread.min),
        whole(spread.max),
        format!("{percentage:.6}%"),
        format!("{:.6}", spread.mean),
        format!("{:.6}", spread.stddev),
    ]);
}

fn add_latency(fields: &mut Vec<String>, stats: &LatencyStats) {
    fields.extend([
        (stats.min.unwrap_or(0) / 1000).to_string(),
        (stats.max.unwrap_or(0) / 1000).to_string(),
        format!("{:.6}", stats.mean.unwrap_or(0.0) / 1e3),
        format!("{:.6}", stats.stddev.unwrap_or(0.0) / 1e3),
    ]);
}

fn add_processor(fields: &mut Vec<String>, job: &JobReport) {
    let cpu = CpuShares::of(job);
    let usage = job.usage.unwrap_or_default();
    fields.extend([
        format!("{:.6}%", cpu.user),
        format!("{:.6}%", cpu.system),
        usage.context_switches.to_string(),
        usage.major_faults.to_string(),
        usage.minor_faults.to_string(),
    ]);
}

fn add_distributions(fields: &mut Vec<String>, job: &JobReport) {
    // The depth of individual I/Os is not recorded, but the format cannot omit these fields.
    fields.extend(std::iter::repeat_n("0.0%".into(), DEPTHS));
    let bins = LatencyBins::of(job);
    let microseconds = bins.with_nanoseconds();
    let percentages = microseconds.iter().chain(&bins.ms);
    fields.extend(percentages.map(|percentage| format!("{percentage:.2}%")));
}

fn add_disks(fields: &mut Vec<String>, disks: &[Disk]) {
    for disk in disks {
        let counts = [
            disk.read_ios,
            disk.write_ios,
            disk.read_merges,
            disk.write_merges,
            disk.read_ticks,
            disk.write_ticks,
            disk.in_queue,
        ];
        fields.push(disk.name.clone());
        fields.extend(counts.map(|count| count.to_string()));
        fields.push(format!("{:.2}%", disk.util));
    }
}

fn whole(value: f64) -> String {
    (value as u64).to_string()
}
