//! Failed I/Os: the one that ended the run, and those after which the run continued.

use crate::{
    load::measure::exit::{IoError, LoopExit},
    run::report::measured_worker::MeasuredWorker,
};
use leadline_protocol::report::{ErrorReport, FirstError, JobReport, ToleratedError};

pub(super) fn errors(jobs: &[JobReport], workers: &[&MeasuredWorker]) -> ErrorReport {
    let mut fatal = workers
        .iter()
        .filter_map(|worker| match &worker.outcome.exit {
            LoopExit::Failed(error) => Some(first_error(&jobs[worker.job].name, error)),
            _ => None,
        });
    let mut tolerated = workers.iter().flat_map(|worker| {
        let errors = worker.outcome.errors.iter();
        errors.map(|error| first_error(&jobs[worker.job].name, &error.first))
    });
    ErrorReport {
        total: jobs.iter().map(|job| job.errors).sum(),
        first: fatal.next().or_else(|| tolerated.next()),
        tolerated: tolerated_errors(jobs, workers),
    }
}

fn first_error(job: &str, error: &IoError) -> FirstError {
    FirstError {
        job: job.into(),
        operation: error.operation().into(),
        offset: error.io.offset,
        bytes: u64::from(error.io.len),
        errno: error.errno,
        message: error.message(),
    }
}

/// Adds up the errors of a job's workers.
fn tolerated_errors(jobs: &[JobReport], workers: &[&MeasuredWorker]) -> Vec<ToleratedError> {
    let mut all: Vec<ToleratedError> = Vec::new();
    for worker in workers {
        let job = &jobs[worker.job].name;
        for error in &worker.outcome.errors {
            let operation = error.first.operation();
            let errno = error.first.errno;
            let is_same = |other: &&mut ToleratedError| {
                other.job == *job && other.operation == operation && other.errno == errno
            };
            match all.iter_mut().find(is_same) {
                Some(sum) => {
                    sum.count += error.count;
                    sum.offsets.extend(&error.offsets);
                }
                None => all.push(ToleratedError {
                    job: job.clone(),
                    operation: operation.into(),
                    errno,
                    message: error.first.message(),
                    count: error.count,
                    offsets: error.offsets.clone(),
                }),
            }
        }
    }
    all
}
