//! Resolves `zonemode=strided` and its options.

use crate::plan::{issues::Issues, job_request::JobRequest};
use leadline_protocol::{
    job::{Job, keyword::ZoneMode},
    plan::job::StridedZones,
};

/// `None` unless `zonemode=strided` is set with a valid `zonesize`. As in fio, `zonerange` defaults
/// to `zonesize` (init.c, `fixup_options`).
pub(crate) fn resolve(job: &Job) -> Option<StridedZones> {
    let size = job.zonesize.map_or(0, |bytes| bytes.0);
    (job.zonemode() == ZoneMode::Strided && size > 0).then(|| StridedZones {
        size,
        range: job.zonerange.map_or(size, |bytes| bytes.0).max(1),
        skip: job.zoneskip().0,
    })
}

pub(crate) fn check(request: &JobRequest, issues: &mut Issues) {
    let job = request.job;
    if job.zonemode() != ZoneMode::Strided {
        if job.zonesize.is_some_and(|bytes| bytes.0 > 0) {
            issues.invalid(
                "conflicting_options",
                "zonesize",
                "zonesize requires zonemode=strided.",
                "Set zonemode=strided, or remove zonesize.",
            );
        }
        return;
    }
    if job.zonesize.is_none_or(|bytes| bytes.0 == 0) {
        issues.invalid(
            "conflicting_options",
            "zonemode",
            "zonemode=strided requires zonesize.",
            "Set zonesize to the bytes to transfer in each zone, such as 256m.",
        );
    }
    let rw = request.rw;
    let is_sequential = !rw.kind.is_random() && rw.modifier.unwrap_or(0) == 0;
    if !is_sequential || rw.kind.is_trimwrite() {
        issues.invalid(
            "conflicting_options",
            "zonemode",
            "zonemode=strided requires a sequential workload without a gap, such as rw=read.",
            "Use rw=read, write or rw, or remove zonemode.",
        );
    }
    if job.file_append() {
        issues.invalid(
            "conflicting_options",
            "file_append",
            "file_append cannot be combined with zonemode=strided, whose zones end at the end of the file.",
            "Remove file_append or zonemode.",
        );
    }
    let named = job.filename.as_ref().map(|files| files.0.len() as u64);
    if named.unwrap_or(job.nrfiles().into()) > 1 {
        issues.invalid(
            "conflicting_options",
            "zonemode",
            "zonemode=strided requires a single file; fio ignores it if multiple files are open.",
            "Use one file per worker, or remove zonemode.",
        );
    }
}
