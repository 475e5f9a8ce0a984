//! Options that determine how other options are resolved: pattern, engine, `direct` and `numjobs`.

use crate::plan::{host_view::HostView, issues::Issues};
use leadline_protocol::{
    finding::Severity,
    job::{
        Job,
        engine::{EngineName, Fallback},
        range::{MAX_WORKERS, NUMJOBS},
        rw::Rw,
    },
};

/// First kernel with `IORING_NOP_INJECT_RESULT` (linux/io_uring.h). Older kernels complete each NOP
/// with 0, which counts as a short I/O.
const NOP_WITH_RESULT: (u32, u32) = (6, 10);

#[derive(Debug)]
pub(crate) struct JobRequest<'a> {
    pub job: &'a Job,
    /// Job name, unique in the run.
    pub name: String,
    pub rw: Rw,
    pub direct: bool,
    pub engine: EngineName,
    pub numjobs: u32,
}

impl<'a> JobRequest<'a> {
    pub(crate) fn resolve(
        job: &'a Job,
        name: String,
        host: &dyn HostView,
        issues: &mut Issues,
    ) -> Self {
        let engine = engine(job, host, issues);
        let direct = direct(job, engine, issues);
        let numjobs = job.numjobs();
        issues.check_range("numjobs", numjobs, NUMJOBS);
        Self {
            job,
            name,
            rw: job.rw(),
            direct,
            engine,
            numjobs: numjobs.clamp(1, MAX_WORKERS),
        }
    }

    /// `filesize` in bytes; `None` if it is 0 or not set.
    pub(crate) fn filesize(&self) -> Option<u64> {
        self.job
            .filesize
            .map(|bytes| bytes.0)
            .filter(|bytes| *bytes > 0)
    }

    pub(crate) fn is_null(&self) -> bool {
        self.engine.is_null()
    }
}

fn engine(job: &Job, host: &dyn HostView, issues: &mut Issues) -> EngineName {
    let engine = job.ioengine();
    check_kernel(engine, host, issues);
    if !engine.has_ring() {
        return engine;
    }
    let Some((reason, remedy)) = host.io_uring_unavailable() else {
        return engine;
    };
    if job.ioengine_fallback() == Fallback::Psync {
        let sentence = format!("The job uses psync because io_uring is unavailable: {reason}");
        issues.finding(
            Severity::Serious,
            "engine_fallback",
            sentence,
            None,
            &remedy,
        );
        return EngineName::Psync;
    }
    let remedy = format!("{remedy} Or set ioengine=psync or ioengine_fallback=psync.");
    issues.environment("io_uring_unavailable", "ioengine", reason, remedy);
    engine
}

fn check_kernel(engine: EngineName, host: &dyn HostView, issues: &mut Issues) {
    if engine != EngineName::IoUringNop {
        return;
    }
    if let Some((major, minor)) = host.kernel_version()
        && (major, minor) < NOP_WITH_RESULT
    {
        let (required_major, required_minor) = NOP_WITH_RESULT;
        issues.environment(
            "kernel_too_old",
            "ioengine",
            format!(
                "ioengine=io_uring_nop requires Linux {required_major}.{required_minor}; this host runs {major}.{minor}."
            ),
            "Upgrade the kernel, or use ioengine=null.",
        );
    }
}

fn direct(job: &Job, engine: EngineName, issues: &mut Issues) -> bool {
    if job.direct.is_none() && !engine.is_null() {
        issues.invalid(
            "direct_required",
            "direct",
            "direct is required and has no default.",
            "Set direct=1 to bypass the page cache (O_DIRECT), or direct=0 to use it.",
        );
    }
    job.direct.unwrap_or(false)
}
