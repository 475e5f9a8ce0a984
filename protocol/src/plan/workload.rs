//! One-line summary of a job.

use crate::{
    format::{bytes, plural},
    plan::{
        job::{Mode, ResolvedJob},
        target::TargetKind,
    },
};

/// For example, `randread · 4 KiB · depth 32 · 1 worker · direct · io_uring · /data/t1 (1 GiB) on
/// vda`.
pub fn workload(job: &ResolvedJob) -> String {
    [
        job.pattern.rw.as_str(),
        &block_size(job),
        &format!("depth {}", job.in_flight()),
        &plural(u64::from(job.numjobs), "worker"),
        mode(job),
        job.ring.ioengine.as_str(),
        &targets(job),
    ]
    .join(" · ")
}

fn block_size(job: &ResolvedJob) -> String {
    let sizes = if job.pattern.rw.reads() {
        &job.pattern.bs.read
    } else {
        &job.pattern.bs.write
    };
    if sizes.min == sizes.max {
        bytes(sizes.min)
    } else {
        format!("{} to {}", bytes(sizes.min), bytes(sizes.max))
    }
}

fn mode(job: &ResolvedJob) -> &'static str {
    let is_loop = job
        .targets
        .iter()
        .any(|target| target.kind == TargetKind::Loop);
    match (job.mode, is_loop, job.direct) {
        (Mode::Buffered, ..) => "buffered",
        (Mode::Direct, ..) => "direct",
        (Mode::Raw, true, true) => "raw (temporary loop device), direct",
        (Mode::Raw, true, false) => "raw (temporary loop device), buffered",
        (Mode::Raw, false, true) => "raw, direct",
        (Mode::Raw, false, false) => "raw, buffered",
        (Mode::Null, ..) => "no I/O",
    }
}

fn targets(job: &ResolvedJob) -> String {
    let Some(first) = job.targets.first() else {
        return "no target".into();
    };
    let mut text = format!("{} ({})", first.path, bytes(first.length));
    if job.targets.len() > 1 {
        text += &format!(" and {} more", job.targets.len() - 1);
    }
    if let Some(device) = &first.device {
        text += &format!(" on {device}");
    }
    text
}
