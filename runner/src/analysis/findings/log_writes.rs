//! Answers the question behind a database log test: how many commits per second, and
//! are they fast enough for etcd?

use crate::analysis::context::Context;
use leadline_protocol::{
    evidence::transition::Direction,
    finding::{Finding, Severity::Note},
    format::{latency, rate},
    job::rw::RwKind,
    plan::job::ResolvedJob,
    verdict::VerdictClass,
};
use serde_json::json;

/// Log records are short. In bytes.
const MAX_RECORD: u64 = 16 << 10;
/// "The 99th percentile of fdatasync should be less than 10 ms" (etcd documentation, FAQ, and
/// "Recommended etcd practices" of OpenShift).
const ETCD_MAX_P99_NS: u64 = 10_000_000;
/// Flushes for a p99: 10 of them are above it.
const MIN_FLUSHES: u64 = 1000;
const REMEDY: &str = "etcd documents this limit for its write-ahead log. Run it for at least a minute, under the load that the disk will have.";

/// Short sequential writes by one writer, each followed by a flush, that reached a device. Enough
/// of them for a p99.
pub(crate) fn log_writes(context: &Context) -> Option<Finding> {
    let [job] = context.jobs else { return None };
    let written = &context.report.write;
    let is_short = written.bytes <= MAX_RECORD * written.ios;
    let class = context.direction(Direction::Write)?.class;
    let sync = &context.report.sync;
    let is_answered = sync.ios >= MIN_FLUSHES && class == VerdictClass::Device;
    if !(is_log(job) && is_short && is_answered) {
        return None;
    }
    let p99_ns = sync.lat_ns.percentiles.get("99").copied()?;
    let call = if job.pattern.fdatasync == 1 {
        "fdatasync"
    } else {
        "fsync"
    };
    let relation = if p99_ns < ETCD_MAX_P99_NS {
        "below"
    } else {
        "not below"
    };
    let sentence = format!(
        "Each write waits for {call}, as in a database log: {} commits per second, {call} p99 {}. That is {relation} the {} that etcd requires.",
        rate(written.iops),
        latency(p99_ns as f64),
        latency(ETCD_MAX_P99_NS as f64)
    );
    let evidence =
        json!({"sync_ios": sync.ios, "sync_lat_p99_ns": p99_ns, "write_iops": written.iops});
    Some(Finding::new(Note, "log_writes", sentence, evidence, REMEDY))
}

fn is_log(job: &ResolvedJob) -> bool {
    let pattern = &job.pattern;
    let flushes = pattern.fdatasync == 1 || pattern.fsync == 1;
    let has_device = job.targets.iter().all(|target| target.device.is_some());
    let is_one_writer = job.numjobs == 1 && job.ring.iodepth == 1;
    pattern.rw == RwKind::Write && flushes && has_device && is_one_writer
}
