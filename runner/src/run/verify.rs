//! The phase after the flush that reads written blocks back (`verify`).

mod reader;

use crate::{
    load::{verify::written_blocks::WrittenBlocks, worker::task::WorkerError},
    plan::phases::has_verify,
    run::{
        context::RunContext,
        open_targets::OpenTargets,
        verify::reader::{JobVerifier, WorkerBlocks},
        worker_pool::FinishedWorker,
    },
    system::target::OpenTarget,
};
use leadline_protocol::{
    phase::{Phase, PhaseChange, PhaseState},
    plan::job::ResolvedJob,
    report::{Report, verify::VerifyReport},
};
use std::time::Instant;

/// A worker's targets whose blocks are read back.
pub(crate) struct WorkerToVerify {
    /// Index of the worker in the run, across all jobs.
    worker: usize,
    /// Index of the worker's job in the run.
    job: usize,
    number: u32,
    targets: Vec<OpenTarget>,
}

/// Duplicates the file descriptors of jobs with `verify`, because the workers own the originals.
pub(crate) fn workers_to_verify(
    jobs: &[ResolvedJob],
    open: &OpenTargets,
) -> Result<Vec<WorkerToVerify>, WorkerError> {
    let workers = open.workers.iter().enumerate();
    let verified = workers.filter(|(_, worker)| has_verify(&jobs[worker.job]));
    verified
        .map(|(index, worker)| {
            let targets = worker.targets.iter().map(OpenTarget::try_clone);
            Ok(WorkerToVerify {
                worker: index,
                job: worker.job,
                number: worker.number,
                targets: targets
                    .collect::<Result<_, _>>()
                    .map_err(WorkerError::during("duplicating descriptors for verify"))?,
            })
        })
        .collect()
}

/// Takes the tables of written blocks of all workers. A worker that is blocked in a system call has
/// none.
pub(crate) fn take_written_blocks(finished: &mut [FinishedWorker]) -> Vec<Option<WrittenBlocks>> {
    let outcomes = finished.iter_mut().map(|worker| worker.result.as_mut());
    outcomes
        .map(|outcome| outcome.ok()?.written.take())
        .collect()
}

/// Reads the blocks back and adds the results to the report. After a stop request, the run does not
/// wait for the storage.
pub(crate) fn verify(
    run: &mut RunContext,
    workers: Vec<WorkerToVerify>,
    written: Vec<Option<WrittenBlocks>>,
    report: &mut Report,
) {
    if workers.is_empty() {
        return;
    }
    let verifiers = job_verifiers(&run.plan.jobs, workers, written);
    if let Some(reason) = reason_not_to_run(run, report) {
        for verifier in verifiers {
            report.jobs[verifier.job()].verify = Some(VerifyReport {
                not_run: Some(reason.into()),
                cached_bytes: None,
                ..verifier.report()
            });
        }
        return;
    }
    run.sink.phase(Phase::Verify, PhaseState::Begin);
    for verifier in verifiers {
        let job = verifier.job();
        report.jobs[job].verify = Some(verify_job(run, verifier));
    }
    run.sink.phase(Phase::Verify, PhaseState::End);
}

fn reason_not_to_run(run: &RunContext, report: &Report) -> Option<&'static str> {
    if run.stop.is_requested() {
        Some("the run was stopped before the blocks were read back")
    } else if report.errors.is_fatal() {
        Some("one of the run's I/Os failed")
    } else if report.is_hung() {
        Some("the storage did not respond at the end of the run")
    } else {
        None
    }
}

fn job_verifiers(
    jobs: &[ResolvedJob],
    workers: Vec<WorkerToVerify>,
    mut written: Vec<Option<WrittenBlocks>>,
) -> Vec<JobVerifier> {
    let mut verifiers: Vec<JobVerifier> = Vec::new();
    for worker in workers {
        let is_new = verifiers.last().is_none_or(|last| last.job() != worker.job);
        if is_new {
            verifiers.push(JobVerifier::new(worker.job, &jobs[worker.job]));
        }
        let verifier = verifiers.last_mut().expect("pushed above");
        verifier.add(WorkerBlocks {
            number: worker.number,
            targets: worker.targets,
            written: written[worker.worker].take(),
        });
    }
    verifiers
}

/// Verifies in steps, so that the run can report progress and be stopped.
fn verify_job(run: &mut RunContext, mut verifier: JobVerifier) -> VerifyReport {
    let begin = Instant::now();
    loop {
        let mut report = verifier.report();
        report.duration_ms = begin.elapsed().as_secs_f64() * 1000.0;
        if verifier.is_done() {
            return report;
        }
        let stepped = run.cancellable(move || {
            verifier.step();
            verifier
        });
        verifier = match stepped {
            Ok(Some(next)) => next,
            Ok(None) => {
                report.not_run =
                    Some("the run was stopped while the blocks were being read back".into());
                return report;
            }
            Err(error) => {
                report.not_run = Some(format!("the blocks could not be read back: {error}"));
                return report;
            }
        };
        run.sink.change(PhaseChange {
            phase: Phase::Verify,
            state: PhaseState::Progress,
            done_bytes: Some(verifier.done_bytes()),
            total_bytes: Some(verifier.total_bytes()),
            planned_ms: None,
            note: verifier.path(),
        });
    }
}
