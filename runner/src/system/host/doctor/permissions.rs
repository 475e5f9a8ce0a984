//! Checks the permissions of this process: io_uring, locked memory, control groups and devices.

use crate::system::{
    host::{
        doctor::check::{fail, ok, warn},
        io_uring_support,
        kernel::Kernel,
    },
    run_cgroup::{REMEDY, find_home},
};
use leadline_protocol::doctor::Check;
use rustix::{
    process::{Resource, geteuid, getrlimit},
    thread::{CapabilitySet, capabilities},
};

/// Size of the registered buffers for 64 workers, an iodepth of 16, and 64 KiB blocks.
const MIN_MEMLOCK_BYTES: u64 = 64 << 20;

pub(super) fn io_uring(kernel: &Kernel) -> Check {
    match io_uring_support::unavailable_reason(kernel) {
        None => ok("allowed (created a ring)"),
        Some((reason, remedy)) => fail(reason, remedy),
    }
}

pub(super) fn memlock() -> Check {
    check_memlock(
        getrlimit(Resource::Memlock).current,
        has(CapabilitySet::IPC_LOCK),
    )
}

fn check_memlock(limit_bytes: Option<u64>, is_exempt: bool) -> Check {
    let Some(bytes) = limit_bytes else {
        return ok("unlimited");
    };
    let mib = bytes >> 20;
    if is_exempt {
        let detail = format!("{mib} MiB, not enforced (CAP_IPC_LOCK)");
        ok(detail)
    } else if bytes >= MIN_MEMLOCK_BYTES {
        ok(format!("{mib} MiB"))
    } else {
        warn(
            format!("{} KiB: too low for registered buffers", bytes >> 10),
            "Raise the limit: ulimit -l unlimited, or LimitMEMLOCK=infinity in the service.",
        )
    }
}

/// Whether a run's I/O can be counted separately from other programs' I/O.
pub(super) fn cgroup(kernel: &Kernel) -> Check {
    match find_home(kernel) {
        Ok(_) => ok("delegated: every run has its own control group"),
        Err(reason) => warn(
            format!("foreign I/O cannot be counted separately: {reason}"),
            REMEDY,
        ),
    }
}

pub(super) fn privileges() -> Check {
    check_privileges(geteuid().is_root(), has(CapabilitySet::SYS_ADMIN))
}

fn check_privileges(is_root: bool, is_admin: bool) -> Check {
    match (is_root, is_admin) {
        (true, true) => ok("root with CAP_SYS_ADMIN: can open devices and drop caches"),
        (true, false) => warn(
            "root without CAP_SYS_ADMIN (container): cannot drop a device's page cache",
            "Run on the host itself, or add the capability to test raw devices.",
        ),
        (false, _) => warn(
            "unprivileged user: can test files, but cannot open devices or drop the host's caches",
            "Run as root for raw devices and drop_caches.",
        ),
    }
}

fn has(wanted: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::doctor::CheckStatus::{Ok, Warn};

    #[test]
    fn memlock_limits_and_privileges() {
        for (limit, may_exceed, want) in [
            (None, false, Ok),
            (Some(8 << 20), true, Ok),
            (Some(64 << 20), false, Ok),
            (Some(8 << 20), false, Warn),
            (Some(0), false, Warn),
        ] {
            assert_eq!(check_memlock(limit, may_exceed).status, want, "{limit:?}");
        }
        for (is_root, is_admin, want) in
            [(true, true, Ok), (true, false, Warn), (false, false, Warn)]
        {
            assert_eq!(check_privileges(is_root, is_admin).status, want);
        }
    }
}
