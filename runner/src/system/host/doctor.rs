//! Checks whether this host is suitable for benchmarks. Every check that is not ok has a
//! remedy. Features are tested by using them, not inferred from kernel versions.

mod check;
mod permissions;
mod processor;
mod storage;

use crate::system::host::kernel::Kernel;
use leadline_protocol::doctor::{Check, Doctor};
use std::path::{Path, PathBuf};

/// `data_dir`: directory for results, and for target files if `roots` is empty.
pub fn doctor(data_dir: &Path, roots: &[PathBuf]) -> Doctor {
    let kernel = Kernel::live();
    let mut directories = vec![data_dir];
    directories.extend(roots.iter().map(PathBuf::as_path));
    let checks = [
        ("kernel", processor::kernel()),
        ("io_uring", permissions::io_uring(&kernel)),
        ("memlock", permissions::memlock()),
        ("clocksource", processor::clocksource(&kernel)),
        ("governor", processor::governor(&kernel)),
        ("perf", processor::perf(&kernel)),
        ("o_direct", storage::o_direct(&directories)),
        ("cachestat", storage::cachestat()),
        ("psi", storage::psi(&kernel)),
        ("cgroup", permissions::cgroup(&kernel)),
        ("privileges", permissions::privileges()),
    ];
    Doctor {
        checks: checks
            .map(|(name, check)| Check {
                name: name.into(),
                ..check
            })
            .into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::doctor::CheckStatus;

    #[test]
    fn every_check_has_a_detail_and_a_remedy_unless_ok() {
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
                "cgroup",
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
