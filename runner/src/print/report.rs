//! A report as a terminal shows it: the verdict first, then the numbers, then what to know.

use super::number::{bandwidth, bytes, count, duration, latency, rate};
use super::style::{Style, Tone, WIDTH, wrap};
use crate::event::Outcome;
use crate::plan::{Mode, ResolvedJob, TargetKind};
use crate::report::{DeviceReport, DirStats, EndedBy, Lat, Layer, Proof, Report, Severity, Verdict, VerdictClass};

/// The percentiles that fit on one line.
const SHOWN: [&str; 6] = ["1", "50", "90", "99", "99.9", "99.99"];
/// Width of the first column, in characters.
const LABEL: usize = 10;

/// Lines with a label each, set in one style.
pub struct Sheet {
    text: String,
    style: Style,
}

impl Sheet {
    /// Nothing on it yet.
    pub fn new(style: Style) -> Self {
        Self { text: String::new(), style }
    }

    /// A line, wrapped where it is long; what follows stands under the text.
    pub fn line(&mut self, tone: Tone, label: &str, text: &str) {
        for (number, part) in wrap(text, WIDTH - LABEL - 1).iter().enumerate() {
            let label = if number == 0 { format!("{label:<LABEL$}") } else { " ".repeat(LABEL) };
            self.text += format!("{} {part}", self.style.paint(tone, &label)).trim_end();
            self.text.push('\n');
        }
    }

    /// Lines that were set before.
    pub fn text(&mut self, lines: &str) {
        self.text += lines;
    }

    /// An empty line.
    pub fn gap(&mut self) {
        self.text.push('\n');
    }

    /// What stands on it.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// The whole report as text.
pub fn report(jobs: &[ResolvedJob], outcome: &Outcome, style: Style) -> String {
    let mut out = Sheet::new(style);
    for job in jobs {
        out.line(Tone::Name, &job.name, &workload(job));
    }
    for verdict in [&outcome.verdict.read, &outcome.verdict.write].into_iter().flatten() {
        out.line(if is_well(verdict) { Tone::Good } else { Tone::Mind }, "verdict", &verdict.sentence);
        if !verdict.shares.is_empty() {
            out.line(Tone::Aside, "  shares", &shares(verdict));
        }
        for row in verdict.proof.iter().filter(|row| row.layer >= Layer::Filesystem) {
            out.line(Tone::Aside, "  proof", &proof(row));
        }
    }
    out.gap();
    numbers(&mut out, &outcome.report);
    if outcome.report.jobs.len() > 1 {
        per_job(&mut out, &outcome.report);
    }
    findings(&mut out, outcome);
    out.into_text()
}

/// Whether the number is the device's alone.
fn is_well(verdict: &Verdict) -> bool {
    matches!(verdict.class, VerdictClass::Device | VerdictClass::Readahead | VerdictClass::Merged)
}

/// `43.8 % device · 56.2 % page cache, each give or take 0.1 %`.
fn shares(verdict: &Verdict) -> String {
    let shares = verdict.shares.iter().map(|(layer, share)| format!("{:.1} % {}", share * 100.0, layer.replace('_', " ")));
    format!("{}, each give or take {:.1} %", shares.collect::<Vec<_>>().join(" · "), verdict.uncertainty * 100.0)
}

/// `reads completed by vda: 28,511 → 28,526 I/Os (15) · awk '{print $1}' /sys/class/block/vda/stat`.
fn proof(row: &Proof) -> String {
    let sign = if row.difference < 0 { "-" } else { "+" };
    let difference = format!("{sign}{}", count(row.difference.unsigned_abs()));
    let numbers = match row.before.zip(row.after) {
        Some((before, after)) => format!("{} → {} {} ({difference})", count(before), count(after), row.unit),
        None => format!("{difference} {}", row.unit),
    };
    let command = row.command.as_ref().map_or(String::new(), |command| format!(" · {command}"));
    format!("{}: {numbers}{command}", row.name)
}

/// One job in a line, such as `randread · 4 KiB · depth 32 · 1 clone · direct · io_uring · /data/t1 (1 GiB) on vda`.
pub fn workload(job: &ResolvedJob) -> String {
    let sizes = if job.rw.reads() { &job.bs.read } else { &job.bs.write };
    let size = if sizes.min == sizes.max { bytes(sizes.min) } else { format!("{} to {}", bytes(sizes.min), bytes(sizes.max)) };
    let mode = match job.mode {
        Mode::Buffered => "buffered",
        Mode::Direct => "direct",
        Mode::Raw if job.targets.iter().any(|target| target.kind == TargetKind::Loop) => {
            if job.direct {
                "raw (loop device of our own), direct"
            } else {
                "raw (loop device of our own), buffered"
            }
        }
        Mode::Raw if job.direct => "raw, direct",
        Mode::Raw => "raw, buffered",
        Mode::Null => "no I/O",
    };
    let rw = serde_json::to_value(job.rw).ok().and_then(|rw| rw.as_str().map(str::to_owned)).unwrap_or_default();
    let clones = if job.numjobs == 1 { "1 clone".to_string() } else { format!("{} clones", job.numjobs) };
    format!("{rw} · {size} · depth {} · {clones} · {mode} · {} · {}", job.iodepth, job.ioengine.word(), targets(job))
}

fn targets(job: &ResolvedJob) -> String {
    let Some(first) = job.targets.first() else { return "no target".into() };
    let more = if job.targets.len() > 1 { format!(" and {} more", job.targets.len() - 1) } else { String::new() };
    let on = first.device.as_ref().map(|device| format!(" on {device}")).unwrap_or_default();
    format!("{} ({}){more}{on}", first.path, bytes(first.length))
}

fn numbers(out: &mut Sheet, report: &Report) {
    for (name, dir) in [("read", &report.read), ("write", &report.write), ("trim", &report.trim)] {
        if dir.ios > 0 {
            direction(out, name, dir);
        }
    }
    if report.sync.ios > 0 {
        out.line(Tone::Aside, "sync", &format!("{} calls · {}", count(report.sync.ios), percentiles(&report.sync.lat_ns)));
    }
    if let Some(device) = &report.device {
        out.line(Tone::Aside, "device", &device_line(device));
    }
    if let Some(cpu) = &report.cpu {
        let per_io: u64 = [report.read.ios, report.write.ios, report.trim.ios, report.sync.ios].iter().sum();
        let cost =
            if per_io > 0 { latency((cpu.user_ms + cpu.system_ms) * 1e6 / per_io as f64) + " per I/O" } else { "no I/O".into() };
        out.line(
            Tone::Aside,
            "cpu",
            &format!("{:.0} % of one processor · {cost} · whole host {:.0} %", cpu.percent_of_one, cpu.machine_percent),
        );
    }
    if let Some(depth) = report.achieved_depth {
        out.line(Tone::Aside, "depth", &format!("{depth:.1} I/Os in flight on average, per clone"));
    }
    out.line(Tone::Aside, "time", &times(report));
    for (what, reason) in &report.absent {
        out.line(Tone::Mind, "no number", &format!("{what}: {reason}"));
    }
}

fn direction(out: &mut Sheet, name: &str, dir: &DirStats) {
    let moved = format!("{} I/Os · {}", count(dir.ios), bytes(dir.bytes));
    out.line(Tone::Aside, name, &format!("{} IOPS · {} · {moved}", rate(dir.iops), bandwidth(dir.bytes_per_second)));
    out.line(Tone::Aside, "  lat", &percentiles(&dir.lat_ns));
    let mean = |lat: &Lat| lat.mean.map_or("–".into(), latency);
    out.line(
        Tone::Aside,
        "",
        &format!("mean {} = {} to submit + {} to complete", mean(&dir.lat_ns), mean(&dir.slat_ns), mean(&dir.clat_ns)),
    );
    if let Some(intended) = dir.intended_lat_ns.as_ref().filter(|lat| lat.count > 0) {
        out.line(Tone::Aside, "  intended", &format!("{} from when the rate wanted each to start", percentiles(intended)));
    }
}

fn percentiles(lat: &Lat) -> String {
    let shown = SHOWN.iter().filter_map(|name| lat.percentiles.get(*name).map(|ns| format!("p{name} {}", latency(*ns as f64))));
    shown.chain(lat.max.map(|max| format!("max {}", latency(max as f64)))).collect::<Vec<_>>().join(" · ")
}

fn device_line(device: &DeviceReport) -> String {
    let counts = &device.counts;
    let side = |name: &str, ios: u64, moved: u64, merges: u64| {
        (ios > 0).then(|| format!("{} {name} of {}, {} merged", count(ios), bytes(moved / ios), count(merges)))
    };
    let reads = side("reads", counts.read_ios, counts.read_bytes, counts.read_merges);
    let writes = side("writes", counts.write_ios, counts.write_bytes, counts.write_merges);
    let sides = [reads, writes].into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let did = if sides.is_empty() { "nothing reached it".into() } else { sides };
    format!("{} · {did} · busy {:.0} %", device.name, device.utilization)
}

fn times(report: &Report) -> String {
    let phases = report.phases.iter().filter(|phase| phase.duration_ms >= 1.0);
    let phases = phases.map(|phase| {
        let name = serde_json::to_value(phase.phase).ok().and_then(|name| name.as_str().map(|name| name.replace('_', " ")));
        format!("{} {}", name.unwrap_or_default(), duration(phase.duration_ms))
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

fn per_job(out: &mut Sheet, report: &Report) {
    out.gap();
    for job in &report.jobs {
        let sides = [("read", &job.read), ("write", &job.write), ("trim", &job.trim)];
        let sides = sides.iter().filter(|(_, dir)| dir.ios > 0).map(|(name, dir)| {
            let p99 = dir.lat_ns.percentiles.get("99").map_or("–".into(), |ns| latency(*ns as f64));
            format!("{name} {} IOPS, {}, p99 {p99}", rate(dir.iops), bandwidth(dir.bytes_per_second))
        });
        out.line(Tone::Name, &job.name, &sides.collect::<Vec<_>>().join(" · "));
    }
}

fn findings(out: &mut Sheet, outcome: &Outcome) {
    if let Some(first) = &outcome.report.errors.first {
        let (offset, size) = (count(first.offset), bytes(first.bytes));
        let text = format!("{} of {size} at byte {offset} failed in job {}: {}", first.operation, first.job, first.message);
        out.gap();
        out.line(Tone::Bad, "error", &format!("{text} ({} in all)", count(outcome.report.errors.total)));
    }
    if !outcome.findings.is_empty() {
        out.gap();
    }
    for finding in &outcome.findings {
        let (tone, mark) = match finding.severity {
            Severity::Note => (Tone::Aside, "note"),
            Severity::Warning => (Tone::Mind, "mind"),
            Severity::Serious => (Tone::Bad, "MIND"),
        };
        out.line(tone, mark, &format!("{} {}", finding.sentence, finding.remedy));
    }
}
