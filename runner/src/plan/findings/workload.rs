//! Findings about duration, queue depth and access pattern.

use crate::plan::issues::Issues;
use leadline_protocol::{
    finding::{
        SHORT_RUN_MS,
        Severity::{Note, Warning},
    },
    format::duration,
    job::{direction::PerDirection, engine::EngineName},
    plan::job::{Mode, ResolvedJob},
};
use serde_json::json;

pub(super) fn report_runtime(job: &ResolvedJob, issues: &mut Issues) {
    let Some(runtime_ms) = job.timing.runtime_ms else {
        return;
    };
    if runtime_ms < SHORT_RUN_MS {
        let runtime = duration(runtime_ms as f64);
        issues.finding(
            Note,
            "short_run",
            format!("A runtime of {runtime} is too short for a reliable result."),
            json!({"runtime_ms": runtime_ms}),
            "Run for at least 10 s, with time_based=1.",
        );
    }
}

pub(super) fn report_depth(job: &ResolvedJob, issues: &mut Issues) {
    let iodepth = job.ring.iodepth;
    if iodepth <= 1 {
        return;
    }
    let evidence = json!({"iodepth": iodepth});
    if job.in_flight() == 1 {
        let (cause, remedy) = if job.pattern.rw.trims() {
            (
                "A trim is a synchronous system call".to_owned(),
                "Use numjobs for concurrent trims.",
            )
        } else {
            (
                format!("{} runs one I/O at a time", job.ring.ioengine.as_str()),
                "Use ioengine=io_uring, or numjobs for concurrent I/O.",
            )
        };
        let sentence = format!("{cause}: the effective depth is 1, not {iodepth}.");
        issues.finding(Warning, "depth_is_one", sentence, evidence, remedy);
    } else if !job.direct && job.mode != Mode::Null {
        issues.finding(
            Note,
            "buffered_depth",
            if job.ring.ioengine == EngineName::Libaio {
                format!(
                    "Buffered I/O with libaio does not reach a depth of {iodepth}: io_submit returns after the I/O."
                )
            } else {
                format!(
                    "Buffered I/O rarely reaches a depth of {iodepth}: the page cache completes I/O immediately."
                )
            },
            evidence,
            "Use direct=1 to keep I/O in flight at the device.",
        );
    }
}

pub(super) fn report_pattern(job: &ResolvedJob, issues: &mut Issues) {
    let rw = job.pattern.rw;
    let is_shared = job.targets.iter().any(|target| target.worker.is_none());
    if job.numjobs > 1 && is_shared && !rw.is_random() && job.mode != Mode::Null {
        issues.finding(
            Warning,
            "workers_share_blocks",
            format!(
                "All {} workers access the same blocks in the same order, which favors caches.",
                job.numjobs
            ),
            json!({"numjobs": job.numjobs}),
            "Set offset_increment to give each worker a separate region.",
        );
    }
    let limits_one = |rate: &PerDirection<Option<u64>>| rate.read.is_some() != rate.write.is_some();
    if job.pattern.rwmixread.is_some()
        && (limits_one(&job.timing.rate) || limits_one(&job.timing.rate_iops))
    {
        issues.finding(
            Note,
            "rates_limited_by_mix",
            "Reads and writes keep their ratio, so a rate for one direction limits both; in fio, the other direction is unlimited.",
            None,
            "Set a rate for both directions, or use separate jobs.",
        );
    }
    if rw.writes() && job.data.zero_buffers {
        issues.finding(
            Warning,
            "zeros_written",
            "The job writes only zeros, which some devices and filesystems compress.",
            None,
            "Remove zero_buffers to write incompressible data.",
        );
    }
}
