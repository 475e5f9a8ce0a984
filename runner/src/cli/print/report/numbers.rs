//! The numbers of the measured window: rates, latencies as a table, device, processor, time.

use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::Tone;
use leadline_protocol::format::{bandwidth, bytes, count, duration, latency, rate};
use leadline_protocol::report::{DeviceReport, DirectionStats, EndedBy, LatencyStats, Report};

/// The percentiles that fit on one line.
const SHOWN: [&str; 5] = ["50", "90", "99", "99.9", "99.99"];
/// Width of a latency, in characters.
const LATENCY: usize = 9;

/// All of them.
pub fn numbers(out: &mut Sheet, report: &Report) {
    let directions = [
        ("read", &report.read),
        ("write", &report.write),
        ("trim", &report.trim),
    ];
    let done: Vec<(&str, &DirectionStats)> = directions
        .into_iter()
        .filter(|(_, dir)| dir.ios > 0)
        .collect();
    for (name, dir) in &done {
        let moved = format!("{} I/Os · {}", count(dir.ios), bytes(dir.bytes));
        out.line(
            Tone::Aside,
            name,
            &format!(
                "{} IOPS · {} · {moved}",
                rate(dir.iops),
                bandwidth(dir.bytes_per_second)
            ),
        );
    }
    latencies(out, &done, report);
    if let Some(device) = &report.device {
        out.line(Tone::Aside, "device", &device_line(device));
    }
    if let Some(cpu) = &report.cpu {
        let ios: u64 = [
            report.read.ios,
            report.write.ios,
            report.trim.ios,
            report.sync.ios,
        ]
        .iter()
        .sum();
        let cost = if ios > 0 {
            latency((cpu.user_ms + cpu.system_ms) * 1e6 / ios as f64) + " per I/O"
        } else {
            "no I/O".into()
        };
        let (one, host) = (cpu.process_percent, cpu.host_percent);
        out.line(
            Tone::Aside,
            "cpu",
            &format!("{one:.0} % of one processor · {cost} · whole host {host:.0} %"),
        );
    }
    if let Some(depth) = report.achieved_depth {
        out.line(
            Tone::Aside,
            "depth",
            &format!("{depth:.1} I/Os in flight on average, per clone"),
        );
    }
    out.line(Tone::Aside, "time", &times(report));
}

/// Latencies from submission; where a rate was asked for, also from when it wanted each I/O to start.
fn latencies(out: &mut Sheet, done: &[(&str, &DirectionStats)], report: &Report) {
    let mut rows: Vec<(String, &LatencyStats)> = Vec::new();
    for (name, dir) in done {
        rows.push((format!("  {name}"), &dir.lat_ns));
        rows.extend(
            dir.intended_lat_ns
                .iter()
                .map(|intended| ("  intended".into(), intended)),
        );
    }
    rows.push(("  sync".into(), &report.sync.lat_ns));
    rows.retain(|(_, lat)| lat.count > 0);
    if rows.is_empty() {
        return;
    }
    let heads = ["mean".into()]
        .into_iter()
        .chain(SHOWN.iter().map(|name| format!("p{name}")))
        .chain(["max".into()]);
    out.aside(
        &heads
            .map(|head: String| format!("{head:>LATENCY$}"))
            .collect::<String>(),
    );
    for (name, lat) in &rows {
        let shown = SHOWN
            .iter()
            .map(|name| lat.percentiles.get(*name).map(|ns| *ns as f64));
        let all = [lat.mean]
            .into_iter()
            .chain(shown)
            .chain([lat.max.map(|ns| ns as f64)]);
        let cells = all.map(|ns| format!("{:>LATENCY$}", ns.map_or("–".into(), latency)));
        out.row(Tone::Aside, name, &cells.collect::<String>());
    }
    for (name, dir) in done {
        let mean = |lat: &LatencyStats| lat.mean.map_or("–".into(), latency);
        let parts = format!(
            "{} to submit + {} to complete",
            mean(&dir.slat_ns),
            mean(&dir.clat_ns)
        );
        out.line(Tone::Aside, "", &format!("mean {name} = {parts}"));
    }
}

fn device_line(device: &DeviceReport) -> String {
    let counts = &device.counts;
    let side = |name: &str, ios: u64, moved: u64, merges: u64| {
        (ios > 0).then(|| {
            format!(
                "{} {name} of {} on average, {} merged",
                count(ios),
                bytes(moved / ios),
                count(merges)
            )
        })
    };
    let reads = side(
        "reads",
        counts.read_ios,
        counts.read_bytes,
        counts.read_merges,
    );
    let writes = side(
        "writes",
        counts.write_ios,
        counts.write_bytes,
        counts.write_merges,
    );
    let sides = [reads, writes]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" · ");
    let did = if sides.is_empty() {
        "nothing reached it".into()
    } else {
        sides
    };
    format!(
        "{} · {did} · busy {:.0} % of the time",
        device.name, device.utilization
    )
}

fn times(report: &Report) -> String {
    let phases = report
        .phases
        .iter()
        .filter(|phase| phase.duration_ms >= 1.0);
    let phases = phases.map(|phase| {
        let name = serde_json::to_value(phase.phase)
            .ok()
            .and_then(|name| name.as_str().map(|name| name.replace('_', " ")));
        format!(
            "{} {}",
            name.unwrap_or_default(),
            duration(phase.duration_ms)
        )
    });
    let end = match report.ended_by {
        EndedBy::Size => "the work was done",
        EndedBy::Runtime => "the time was over",
        EndedBy::NumberIos => "number_ios was reached",
        EndedBy::Signal => "stopped early: this is what was measured until then",
        EndedBy::Error => "an I/O failed",
    };
    format!("{} ({end})", phases.collect::<Vec<_>>().join(" · "))
}

/// Each job by itself.
pub fn per_job(out: &mut Sheet, report: &Report) {
    out.gap();
    for job in &report.jobs {
        let sides = [
            ("read", &job.read),
            ("write", &job.write),
            ("trim", &job.trim),
        ];
        let sides = sides
            .iter()
            .filter(|(_, dir)| dir.ios > 0)
            .map(|(name, dir)| {
                let p99 = dir
                    .lat_ns
                    .percentiles
                    .get("99")
                    .map_or("–".into(), |ns| latency(*ns as f64));
                format!(
                    "{name} {} IOPS, {}, p99 {p99}",
                    rate(dir.iops),
                    bandwidth(dir.bytes_per_second)
                )
            });
        out.line(
            Tone::Name,
            &job.name,
            &sides.collect::<Vec<_>>().join(" · "),
        );
    }
}
