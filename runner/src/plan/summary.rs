//! Summarizes what a run measures: one sentence per job, for readers without storage expertise.

use leadline_protocol::{
    format::bytes,
    job::{keyword::SyncMode, rw::RwKind},
    plan::{
        job::{Mode, ResolvedJob},
        target::TargetKind,
    },
};

/// Joins the sentences of all jobs, without duplicates.
pub(crate) fn summarize(jobs: &[ResolvedJob]) -> String {
    let mut sentences = Vec::new();
    for job in jobs {
        let sentence = sentence(job);
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.join(" ")
}

fn sentence(job: &ResolvedJob) -> String {
    if job.target.create_only {
        return format!("Creates {} and measures nothing.", target(job));
    }
    if !job.is_measured() {
        let target = target(job);
        return format!("Checks the blocks that an earlier run with verify wrote to {target}.");
    }
    let workload = workload(job);
    let target = target(job);
    let rw = job.pattern.rw;
    match job.mode {
        Mode::Null => {
            format!("Runner overhead for {workload}, without I/O: the upper limit on this host.")
        }
        Mode::Raw if job.direct => {
            format!("Performance of {target} for {workload}, without the filesystem or page cache.")
        }
        Mode::Direct => {
            format!("Performance of {target} for {workload}, bypassing the page cache.")
        }
        _ if rw.trims() => format!("Performance of {target} for {workload}."),
        _ if !rw.writes() => format!(
            "Performance of {target} for {workload} through the page cache; cached blocks are served from memory."
        ),
        _ if is_durable(job) => {
            format!("Performance of {target} for durable {workload} through the page cache.")
        }
        _ => format!(
            "Speed at which the page cache accepts {workload} to {target}; most writes reach the device later."
        ),
    }
}

fn is_durable(job: &ResolvedJob) -> bool {
    job.target.sync != SyncMode::None || job.pattern.fsync > 0 || job.pattern.fdatasync > 0
}

/// Such as `4 KiB random reads at queue depth 32 from 4 workers`.
fn workload(job: &ResolvedJob) -> String {
    let kind = match job.pattern.rw {
        RwKind::Read => "sequential reads",
        RwKind::Write => "sequential writes",
        RwKind::Trim => "sequential trims",
        RwKind::Randread => "random reads",
        RwKind::Randwrite => "random writes",
        RwKind::Randtrim => "random trims",
        RwKind::Rw => "sequential reads and writes",
        RwKind::Randrw => "random reads and writes",
        RwKind::Trimwrite => "sequential trims and writes",
        RwKind::Randtrimwrite => "random trims and writes",
    };
    let workers = match job.numjobs {
        1 => String::new(),
        count => format!(" from {count} workers"),
    };
    format!(
        "{} {kind} at queue depth {}{workers}",
        block_size(job),
        job.in_flight()
    )
}

fn block_size(job: &ResolvedJob) -> String {
    let rw = job.pattern.rw;
    let bs = &job.pattern.bs;
    let read = rw.reads().then_some(&bs.read);
    let write = rw.writes().then_some(&bs.write);
    let trim = rw.trims().then_some(&bs.trim);
    let used = || [read, write, trim].into_iter().flatten();
    let min = used().map(|bs| bs.min).min().unwrap_or(0);
    let max = used().map(|bs| bs.max).max().unwrap_or(0);
    if min == max {
        bytes(min)
    } else {
        format!("{} to {}", bytes(min), bytes(max))
    }
}

/// Such as `ext4 on vda` or `the device vdb`.
fn target(job: &ResolvedJob) -> String {
    let Some(target) = job.targets.first() else {
        return "no target".into();
    };
    match (target.kind, &target.filesystem, &target.device) {
        (TargetKind::Loop, ..) => format!("a temporary loop device on {}", target.path),
        (TargetKind::Device, _, Some(device)) => format!("the device {device}"),
        (_, Some(filesystem), Some(device)) => format!("{filesystem} on {device}"),
        (_, Some(filesystem), None) if filesystem == "overlay" => filesystem.clone(),
        (_, Some(filesystem), None) => format!("{filesystem} (no block device)"),
        _ => target.path.clone(),
    }
}
