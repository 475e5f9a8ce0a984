//! Upper bounds imposed by rates and pauses.

use leadline_protocol::{
    job::{engine::EngineName, keyword::RateProcess},
    plan::job::{BlockSizes, ResolvedJob},
    report::{JobReport, stats::DirectionStats},
};

/// Number of standard deviations by which a Poisson process exceeds its mean in only one of 10⁹
/// runs.
const DEVIATIONS: f64 = 6.0;

pub(crate) fn violations(job: &ResolvedJob, done: &JobReport) -> Vec<String> {
    // I/Os that were due in the ramp may be issued later, in the measured window.
    let seconds = (done.duration_ms + job.timing.ramp_ms as f64) / 1e3;
    let (rate, rate_iops, bs) = (&job.timing.rate, &job.timing.rate_iops, &job.pattern.bs);
    let directions = [
        ("read", rate.read, rate_iops.read, &bs.read, &done.read),
        ("write", rate.write, rate_iops.write, &bs.write, &done.write),
        ("trim", rate.trim, rate_iops.trim, &bs.trim, &done.trim),
    ];
    let by_rate = directions.map(|(name, bytes, ios, bs, done)| {
        let bound = bound(job, bytes, ios, bs, seconds)?;
        exceeds(done, bound).then(|| {
            let (ios, bytes) = (done.ios, done.bytes);
            format!("{name}: {ios} I/Os, {bytes} bytes in {seconds} s; at most {bound:?}")
        })
    });
    let mut found: Vec<String> = by_rate.into_iter().flatten().collect();
    found.extend(pauses(job, done, seconds));
    found
}

/// Upper bound on I/Os or bytes.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Ios(f64),
    Bytes(f64),
}

fn exceeds(done: &DirectionStats, bound: Bound) -> bool {
    match bound {
        Bound::Ios(ios) => done.ios as f64 > ios,
        Bound::Bytes(bytes) => done.bytes as f64 > bytes,
    }
}

/// Upper bound for all workers together.
fn bound(
    job: &ResolvedJob,
    bytes: Option<u64>,
    ios: Option<u64>,
    bs: &BlockSizes,
    seconds: f64,
) -> Option<Bound> {
    let workers = f64::from(job.numjobs);
    let within = |rate: u64, unit: f64| {
        let mean = rate as f64 * seconds / unit;
        let spread = match job.timing.rate_process {
            RateProcess::Linear => 0.0,
            RateProcess::Poisson => DEVIATIONS * mean.sqrt() + DEVIATIONS,
        };
        // Each worker's first I/O is due at the start.
        (mean + spread + 1.0) * workers * unit
    };
    let by_ios = ios.map(|rate| Bound::Ios(within(rate, 1.0)));
    by_ios.or_else(|| bytes.map(|rate| Bound::Bytes(within(rate, bs.max as f64))))
}

fn pauses(job: &ResolvedJob, done: &JobReport, seconds: f64) -> Option<String> {
    let timing = &job.timing;
    if timing.thinktime_us == 0 || job.ring.ioengine == EngineName::Null {
        return None;
    }
    let blocks = timing.thinktime_blocks?;
    let pauses = (seconds * 1e6 / timing.thinktime_us as f64).floor() + 1.0;
    let bound = pauses * f64::from(blocks) * f64::from(job.numjobs);
    let ios = (done.read.ios + done.write.ios + done.trim.ios) as f64;
    (ios > bound).then(|| format!("{ios} I/Os in {seconds} s with pauses; at most {bound}"))
}
