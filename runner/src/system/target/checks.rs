//! Checks that a target is still the one that was planned, and creates the problems to report if
//! files cannot be opened or removed.

use crate::system::host::resolved_path::Stat;
use leadline_protocol::problem::Problem;
use std::{fmt::Display, os::fd::OwnedFd, path::Path};

/// Compares an open file with the file that was previously at its path. `before` is `None` for a
/// new file.
pub(crate) fn check_identity(
    path: &str,
    fd: &OwnedFd,
    before: Option<Stat>,
) -> Result<Stat, Problem> {
    let now = Stat::of_fd(fd).map_err(open_failed(path))?;
    match before {
        Some(before) if !before.is_same(&now) => Err(identity_changed(path, "was replaced")),
        _ => Ok(now),
    }
}

/// `change`: what happened to the path, such as "was removed".
pub(crate) fn identity_changed(path: &str, change: &str) -> Problem {
    Problem::guard(
        "identity_changed",
        "filename",
        format!("{path} {change} after the run was planned."),
        "Check the target and plan the run again.",
    )
}

pub(crate) fn open_failed<E: Display>(path: &str) -> impl Fn(E) -> Problem {
    move |error| {
        Problem::environment(
            "open_failed",
            "filename",
            format!("{path} cannot be opened: {error}."),
            "Check that it exists and that the runner's user has access.",
        )
    }
}

pub(crate) fn remove_failed<E: Display>(path: &Path) -> impl Fn(E) -> Problem {
    move |error| {
        Problem::environment(
            "clean_up_failed",
            "unlink",
            format!("{} cannot be removed: {error}.", path.display()),
            "Remove it manually.",
        )
    }
}
