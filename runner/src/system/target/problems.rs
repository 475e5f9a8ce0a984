//! Problems that several steps of preparing a target report.

use leadline_protocol::problem::Problem;
use std::fmt::Display;
use std::path::Path;

/// `change`: what happened to the path, such as "was removed".
pub(crate) fn identity_changed(path: &str, change: &str) -> Problem {
    Problem::guard(
        "identity_changed",
        "filename",
        format!("{path} {change} after the run was planned."),
        "Check the target and plan the run again.",
    )
}

pub(crate) fn open_failed(path: &str, error: impl Display) -> Problem {
    Problem::environment(
        "open_failed",
        "filename",
        format!("{path} cannot be opened: {error}."),
        "Check that it exists and that the user of the runner has access.",
    )
}

pub(crate) fn remove_failed(path: &Path, error: impl Display) -> Problem {
    Problem::environment(
        "clean_up_failed",
        "unlink",
        format!("{} cannot be removed: {error}.", path.display()),
        "Remove it manually.",
    )
}
