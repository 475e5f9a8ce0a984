//! What this host can do for a benchmark, question by question; each answer that is not well comes with its remedy.
//! What can be tried is tried, rather than told from versions.

pub(crate) mod processor;
pub(crate) mod rights;
pub(crate) mod storage;

use crate::system::host::kernel::Kernel;
use leadline_protocol::host::{Check, CheckStatus, Doctor};
use std::path::{Path, PathBuf};

/// Asks all questions. `data_dir`: where results are kept and, without `roots`, files are targets.
pub fn doctor(data_dir: &Path, roots: &[PathBuf]) -> Doctor {
    let kernel = Kernel::live();
    let directories: Vec<&Path> = std::iter::once(data_dir)
        .chain(roots.iter().map(PathBuf::as_path))
        .collect();
    Doctor {
        checks: vec![
            processor::kernel(),
            rights::io_uring(&kernel),
            rights::memlock(),
            processor::clocksource(&kernel),
            processor::governor(&kernel),
            processor::perf(&kernel),
            storage::o_direct(&directories),
            storage::cachestat(),
            storage::psi(&kernel),
            rights::privileges(),
        ],
    }
}

fn ok(name: &str, found: impl Into<String>) -> Check {
    Check {
        name: name.into(),
        status: CheckStatus::Ok,
        detail: found.into(),
        remedy: None,
    }
}

fn warn(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        name: name.into(),
        status: CheckStatus::Warn,
        detail: found.into(),
        remedy: Some(remedy.into()),
    }
}

fn fail(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Check {
    Check {
        status: CheckStatus::Fail,
        ..warn(name, found, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_answered_and_every_trouble_has_its_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let found = doctor(dir.path(), &[]);
        let names: Vec<&str> = found
            .checks
            .iter()
            .map(|check| check.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "kernel",
                "io_uring",
                "memlock",
                "clocksource",
                "governor",
                "perf",
                "o_direct",
                "cachestat",
                "psi",
                "privileges"
            ]
        );
        for check in &found.checks {
            assert_eq!(
                check.status == CheckStatus::Ok,
                check.remedy.is_none(),
                "{check:?}"
            );
            assert!(!check.detail.is_empty());
        }
    }
}
