//! What this process is allowed: rings, locked memory, devices.

use crate::system::host::doctor::{fail, ok, warn};
use crate::system::host::io_uring_support;
use crate::system::host::kernel::Kernel;
use leadline_protocol::host::Check;
use rustix::process::{Resource, geteuid, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

/// Buffers of 64 clones at depth 16 with 64 KiB each.
const MEMLOCK_WANTED_BYTES: u64 = 64 << 20;

pub fn io_uring(kernel: &Kernel) -> Check {
    match io_uring_support::unavailable(kernel) {
        None => ok("io_uring", "allowed (a ring was made)"),
        Some((why, remedy)) => fail("io_uring", why, remedy),
    }
}

pub fn memlock() -> Check {
    judge_memlock(
        getrlimit(Resource::Memlock).current,
        has(CapabilitySet::IPC_LOCK),
    )
}

fn judge_memlock(limit_bytes: Option<u64>, may_exceed: bool) -> Check {
    match limit_bytes {
        None => ok("memlock", "not limited"),
        Some(bytes) if may_exceed => ok(
            "memlock",
            format!("{} MiB, which does not bind us (CAP_IPC_LOCK)", bytes >> 20),
        ),
        Some(bytes) if bytes >= MEMLOCK_WANTED_BYTES => {
            ok("memlock", format!("{} MiB", bytes >> 20))
        }
        Some(bytes) => warn(
            "memlock",
            format!(
                "{} KiB may be locked: too little for registered buffers",
                bytes >> 10
            ),
            "Raise it: ulimit -l unlimited, or LimitMEMLOCK=infinity in the service.",
        ),
    }
}

pub fn privileges() -> Check {
    judge_privileges(geteuid().is_root(), has(CapabilitySet::SYS_ADMIN))
}

fn judge_privileges(is_root: bool, is_admin: bool) -> Check {
    match (is_root, is_admin) {
        (true, true) => ok(
            "privileges",
            "root with CAP_SYS_ADMIN: devices can be opened and caches dropped",
        ),
        (true, false) => warn(
            "privileges",
            "root without CAP_SYS_ADMIN (a container): a device's own cache cannot be dropped",
            "Run on the host itself, or add that capability for tests of raw devices.",
        ),
        (false, _) => warn(
            "privileges",
            "an ordinary user: files can be tested; devices cannot be opened and the host's caches not be dropped",
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
    use leadline_protocol::host::CheckStatus::{Ok, Warn};

    #[test]
    fn limits_and_rights() {
        for (limit, may_exceed, want) in [
            (None, false, Ok),
            (Some(8 << 20), true, Ok),
            (Some(64 << 20), false, Ok),
            (Some(8 << 20), false, Warn),
            (Some(0), false, Warn),
        ] {
            assert_eq!(judge_memlock(limit, may_exceed).status, want, "{limit:?}");
        }
        for (is_root, is_admin, want) in
            [(true, true, Ok), (true, false, Warn), (false, false, Warn)]
        {
            assert_eq!(judge_privileges(is_root, is_admin).status, want);
        }
    }
}
