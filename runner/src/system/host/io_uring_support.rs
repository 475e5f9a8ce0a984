//! Checks whether io_uring is available by creating a ring, and explains failures. Sources:
//! io_uring_setup(2), Documentation/admin-guide/sysctl/kernel.rst (io_uring_disabled).

use crate::system::host::kernel::{Kernel, attribute, value};
use io_uring::IoUring;
use rustix::io::Errno;

const SECCOMP_REMEDY: &str = "Allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile \
    (Docker blocks them since 25.0; `--security-opt seccomp=FILE`), or use ioengine=psync.";

/// The reason and a remedy if io_uring is unavailable; `None` if it is available.
pub(crate) fn unavailable_reason(kernel: &Kernel) -> Option<(String, String)> {
    let error = IoUring::new(2).err()?;
    let sysctl = value(kernel.proc.join("sys/kernel/io_uring_disabled"));
    Some(explain(
        error.raw_os_error().unwrap_or(0),
        sysctl,
        has_seccomp_filter(kernel),
    ))
}

/// Whether a seccomp filter is active (`Seccomp: 2` in /proc/self/status).
fn has_seccomp_filter(kernel: &Kernel) -> bool {
    let status = attribute(kernel.proc.join("self/status")).unwrap_or_default();
    status.contains("Seccomp: 2")
}

fn explain(errno: i32, sysctl: Option<u8>, seccomp: bool) -> (String, String) {
    let (reason, remedy) = match Errno::from_raw_os_error(errno) {
        Errno::PERM if sysctl == Some(2) => (
            "io_uring is disabled on this host (kernel.io_uring_disabled=2).",
            "Run sysctl kernel.io_uring_disabled=0, or use ioengine=psync.",
        ),
        Errno::PERM if sysctl == Some(1) => (
            "io_uring is restricted to root and the group kernel.io_uring_group (kernel.io_uring_disabled=1).",
            "Run as root or as a member of that group, run sysctl kernel.io_uring_disabled=0, or use ioengine=psync.",
        ),
        Errno::PERM | Errno::NOSYS if seccomp => (
            "A seccomp filter blocks io_uring (container or service sandbox).",
            SECCOMP_REMEDY,
        ),
        Errno::PERM => (
            "A security module blocks io_uring (EPERM).",
            "Change the SELinux or AppArmor policy, or use ioengine=psync.",
        ),
        Errno::NOSYS => (
            "The kernel does not support io_uring (before 5.1, or built without CONFIG_IO_URING).",
            "Use a newer kernel, or ioengine=psync.",
        ),
        Errno::NOMEM => (
            "The locked memory limit is too low for a ring (ENOMEM).",
            "Raise it (ulimit -l unlimited, LimitMEMLOCK=infinity), or use ioengine=psync.",
        ),
        Errno::MFILE | Errno::NFILE => (
            "Too many files are open to create a ring.",
            "Raise the limit (ulimit -n), or use ioengine=psync.",
        ),
        other => {
            let reason = format!("io_uring_setup failed: {other}.");
            return (reason, "Use ioengine=psync.".into());
        }
    };
    (reason.into(), remedy.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_each_cause() {
        for (errno, sysctl, seccomp, part) in [
            (Errno::PERM, Some(2), false, "io_uring_disabled=2"),
            (Errno::PERM, Some(2), true, "io_uring_disabled=2"),
            (Errno::PERM, Some(1), false, "io_uring_disabled=1"),
            (Errno::PERM, Some(0), true, "seccomp"),
            (Errno::PERM, None, false, "security module"),
            (Errno::NOSYS, None, true, "seccomp"),
            (Errno::NOSYS, None, false, "CONFIG_IO_URING"),
            (Errno::NOMEM, Some(0), false, "locked memory"),
            (Errno::IO, Some(0), false, "io_uring_setup failed"),
        ] {
            let (reason, remedy) = explain(errno.raw_os_error(), sysctl, seccomp);
            assert!(
                reason.contains(part) && remedy.contains("psync"),
                "{errno:?} {sysctl:?} {seccomp}: {reason} {remedy}"
            );
        }
    }
}
