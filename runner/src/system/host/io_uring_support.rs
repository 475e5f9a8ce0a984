//! Whether io_uring may be used: a ring is really made, and when that fails the cause is told from its look-alikes.
//!
//! Source: io_uring_setup(2), Documentation/admin-guide/sysctl/kernel.rst (io_uring_disabled).

use crate::system::host::kernel::{Kernel, attribute, value};
use io_uring::IoUring;
use rustix::io::Errno;

/// Why io_uring may not be used, and what to do about it; `None` when it may.
pub fn unavailable(kernel: &Kernel) -> Option<(String, String)> {
    let error = IoUring::new(2).err()?;
    let sysctl = value(kernel.proc.join("sys/kernel/io_uring_disabled"));
    Some(explain(
        error.raw_os_error().unwrap_or(0),
        sysctl,
        has_seccomp_filter(kernel),
    ))
}

/// Whether a seccomp filter decides about our system calls (`Seccomp: 2` in /proc/self/status).
fn has_seccomp_filter(kernel: &Kernel) -> bool {
    let status = attribute(kernel.proc.join("self/status")).unwrap_or_default();
    status
        .split_once("Seccomp: ")
        .is_some_and(|(_, rest)| rest.starts_with('2'))
}

fn explain(errno: i32, sysctl: Option<u8>, seccomp: bool) -> (String, String) {
    const FILTER: &str = "Allow io_uring_setup, io_uring_enter and io_uring_register in the container's seccomp profile \
        (Docker blocks them since 25.0; `--security-opt seccomp=FILE`), or use ioengine=psync.";
    let (why, remedy) = match Errno::from_raw_os_error(errno) {
        Errno::PERM if sysctl == Some(2) => (
            "the administrator has switched io_uring off for everybody (kernel.io_uring_disabled=2).",
            "sysctl kernel.io_uring_disabled=0, or use ioengine=psync.",
        ),
        Errno::PERM if sysctl == Some(1) => (
            "io_uring is for root and the group kernel.io_uring_group only (kernel.io_uring_disabled=1).",
            "Run as root or as a member of that group, sysctl kernel.io_uring_disabled=0, or use ioengine=psync.",
        ),
        Errno::PERM | Errno::NOSYS if seccomp => (
            "a seccomp filter blocks io_uring (container or service sandbox).",
            FILTER,
        ),
        Errno::PERM => (
            "a security module forbids io_uring (EPERM).",
            "Ask the administrator about the SELinux or AppArmor policy, or use ioengine=psync.",
        ),
        Errno::NOSYS => (
            "the kernel has no io_uring (before 5.1, or built without CONFIG_IO_URING).",
            "Use a newer kernel, or ioengine=psync.",
        ),
        Errno::NOMEM => (
            "the limit of locked memory is too small for a ring (ENOMEM).",
            "Raise it (ulimit -l unlimited, LimitMEMLOCK=infinity), or use ioengine=psync.",
        ),
        Errno::MFILE | Errno::NFILE => (
            "there are too many open files for a ring.",
            "Raise the limit (ulimit -n), or use ioengine=psync.",
        ),
        other => {
            return (
                format!("io_uring_setup fails: {}.", std::io::Error::from(other)),
                "Use ioengine=psync.".into(),
            );
        }
    };
    (why.into(), remedy.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_apart() {
        for (errno, sysctl, seccomp, part) in [
            (Errno::PERM, Some(2), false, "io_uring_disabled=2"),
            (Errno::PERM, Some(2), true, "io_uring_disabled=2"),
            (Errno::PERM, Some(1), false, "io_uring_disabled=1"),
            (Errno::PERM, Some(0), true, "seccomp"),
            (Errno::PERM, None, false, "security module"),
            (Errno::NOSYS, None, true, "seccomp"),
            (Errno::NOSYS, None, false, "CONFIG_IO_URING"),
            (Errno::NOMEM, Some(0), false, "locked memory"),
            (Errno::IO, Some(0), false, "io_uring_setup fails"),
        ] {
            let (why, remedy) = explain(errno.raw_os_error(), sysctl, seccomp);
            assert!(
                why.contains(part) && remedy.contains("psync"),
                "{errno:?} {sysctl:?} {seccomp}: {why} {remedy}"
            );
        }
    }
}
