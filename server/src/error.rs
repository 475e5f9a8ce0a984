//! Errors of server operations. `api::problem` maps them to HTTP responses.

use crate::store::{fault::StoreFault, study_digest::DamagedStudy};
use leadline_protocol::{problem::Problem, report::foreign::Source};

/// The runner could not be started, failed, or returned invalid output.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct RunnerError(pub String);

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("Not found: {what}.")]
    NotFound { what: String },
    /// Not possible in the run's, study's or server's current state.
    #[error("{detail}")]
    Conflict { code: &'static str, detail: String },
    /// Invalid request; contains all problems.
    #[error("{}", first_problem(.0))]
    Rejected(Vec<Problem>),
    #[error("Run #{0} has changed since it was loaded. Reload it and repeat the change.")]
    ChangedMeanwhile(u64),
    #[error("The queue is full ({0} runs are waiting). Wait for runs to finish, or cancel some.")]
    QueueFull(usize),
    #[error("Too many open streams (limit {0}). Close some of them.")]
    TooManyStreams(usize),
    #[error("The runner failed: {0}")]
    Runner(#[from] RunnerError),
    #[error("The server is stopping and does not accept new runs.")]
    Stopping,
    #[error("{0}")]
    Store(#[from] StoreFault),
    /// The details are logged, but not sent to the client.
    #[error(transparent)]
    Internal(anyhow::Error),
}

impl From<anyhow::Error> for Error {
    fn from(error: anyhow::Error) -> Self {
        if let Some(damaged) = error.downcast_ref::<DamagedStudy>() {
            return Self::Conflict {
                code: "damaged",
                detail: damaged.to_string(),
            };
        }
        match StoreFault::from_error(&error) {
            Some(fault) => Self::Store(fault),
            None => Self::Internal(error),
        }
    }
}

impl Error {
    pub(crate) fn invalid(
        code: &str,
        field: &str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::Rejected(vec![Problem::invalid(code, field, detail, remedy)])
    }

    pub(crate) fn run_not_found(number: u64) -> Self {
        Self::NotFound {
            what: format!("run #{number}"),
        }
    }

    pub(crate) fn study_not_found(number: u64) -> Self {
        Self::NotFound {
            what: format!("study #{number}"),
        }
    }

    pub(crate) fn confirmation_used(entry: &str) -> Self {
        Self::Rejected(vec![Problem::guard(
            "confirmation_used",
            "confirm",
            format!("The confirmation {entry} has already been used to start a run."),
            "Plan the run and confirm it again.",
        )])
    }

    pub(crate) fn damaged(run: u64) -> Self {
        Self::Conflict {
            code: "damaged",
            detail: format!(
                "The stored data of run #{run} does not match its checksum. Use another run, or restore the database from a backup."
            ),
        }
    }

    pub(crate) fn no_result(run: u64) -> Self {
        Self::Conflict {
            code: "no_result",
            detail: format!(
                "Run #{run} has no result. Export its events (format=ndjson) or its jobs (format=fio-job)."
            ),
        }
    }

    /// Results of other programs cannot be rerun, because Leadline would run a similar test, not
    /// the same one.
    pub(crate) fn foreign_rerun(run: u64, source: Source) -> Self {
        let program = source.description();
        Self::Conflict {
            code: "foreign_result",
            detail: format!(
                "Run #{run} is a result of {program}, so Leadline cannot rerun it. Import its job file (format=fio-job) as a new run."
            ),
        }
    }

    pub(crate) fn not_recorded(run: u64, source: Source) -> Self {
        let program = source.description();
        Self::Conflict {
            code: "not_recorded",
            detail: format!(
                "Run #{run} is a result of {program} and does not contain the data for this format. Export the result (format=fio-json) or its jobs (format=fio-job)."
            ),
        }
    }

    pub(crate) fn pages_not_built() -> Self {
        Self::Conflict {
            code: "not_built",
            detail: "This build does not include the web application. Run `make build`.".into(),
        }
    }

    pub(crate) fn key_reused() -> Self {
        Self::invalid(
            "idempotency_key_reused",
            "Idempotency-Key",
            "This key has already been used for a different request.",
            "Use a new key for each request.",
        )
    }

    /// The run or study that was created with this idempotency key no longer exists.
    pub(crate) fn created_and_deleted(what: &str) -> Self {
        Self::Conflict {
            code: "deleted",
            detail: format!(
                "This request created {what}, which has been deleted. Use a new key to repeat it."
            ),
        }
    }
}

fn first_problem(problems: &[Problem]) -> String {
    match problems {
        [] => "The request was rejected.".into(),
        [only] => only.to_string(),
        [first, rest @ ..] => format!("{first} (and {} more)", rest.len()),
    }
}
