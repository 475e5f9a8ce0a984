//! The flush phase after the measurement (`end_fsync`).

use crate::{
    load::worker::task::WorkerError,
    plan::phases::has_flush,
    run::{context::RunContext, open_targets::OpenTargets},
    system::target::{OpenTarget, cache},
};
use leadline_protocol::{
    phase::{Phase, PhaseState},
    plan::{job::ResolvedJob, target::Target},
    report::{FirstError, Report},
};
use rustix::io::Errno;
use std::io;

pub(crate) struct FileToFlush {
    /// Index of the file's job in the run.
    job: usize,
    opened: OpenTarget,
}

/// Duplicates the file descriptors of jobs with `end_fsync`, because the workers own the originals.
pub(crate) fn files_to_flush(
    jobs: &[ResolvedJob],
    open: &OpenTargets,
) -> Result<Vec<FileToFlush>, WorkerError> {
    let mut files = Vec::new();
    for worker in &open.workers {
        if !has_flush(&jobs[worker.job]) {
            continue;
        }
        for opened in &worker.targets {
            let opened = opened
                .try_clone()
                .map_err(WorkerError::during("duplicating descriptors for the flush"))?;
            files.push(FileToFlush {
                job: worker.job,
                opened,
            });
        }
    }
    Ok(files)
}

/// Flushes the files. A failed flush is reported as a failed I/O, and the results are kept. A stop
/// request ends the wait for the flush.
pub(crate) fn flush(run: &mut RunContext, files: Vec<FileToFlush>, report: &mut Report) {
    if files.is_empty() {
        return;
    }
    if run.stop.is_requested() {
        return set_absent(report, "the run was stopped before the flush".into());
    }
    if report.is_hung() {
        return set_absent(
            report,
            "the storage did not respond at the end of the run".into(),
        );
    }
    run.sink.phase(Phase::Flush, PhaseState::Begin);
    let flush_all = move || {
        let mut failed = files
            .into_iter()
            .map(|file| (cache::flush(&file.opened), file));
        failed.find_map(|(result, file)| Some((file, result.err()?)))
    };
    let flushed = run.cancellable(flush_all);
    run.sink.phase(Phase::Flush, PhaseState::End);
    match flushed {
        Err(error) => set_absent(report, error.to_string()),
        Ok(None) => set_absent(report, "the run was stopped during its flush".into()),
        Ok(Some(Some((file, errno)))) => {
            add_failed_flush(report, file.job, &file.opened.target, errno);
        }
        Ok(Some(None)) => {
            let mut phases = run.sink.phases.iter();
            let phase = phases.find(|time| time.phase == Phase::Flush);
            if let Some(flush) = &mut report.flush {
                flush.duration_ms = phase.map(|phase| phase.duration_ms);
            }
        }
    }
}

fn set_absent(report: &mut Report, reason: String) {
    report.absent.insert("flush".into(), reason);
}

fn add_failed_flush(report: &mut Report, job: usize, target: &Target, errno: Errno) {
    let message = io::Error::from(errno).to_string();
    set_absent(report, format!("the flush failed: {message}"));
    let job = &mut report.jobs[job];
    job.errors += 1;
    report.errors.total += 1;
    report.errors.first.get_or_insert_with(|| FirstError {
        job: job.name.clone(),
        operation: "sync".into(),
        offset: target.offset,
        bytes: target.size,
        errno: errno.raw_os_error(),
        message,
    });
}
