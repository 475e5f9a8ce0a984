//! Checks the kernel version, the clock source, the CPU frequency governor and perf events.

use crate::system::host::{
    doctor::check::{fail, ok, warn},
    kernel::{Kernel, attribute, value, version},
};
use leadline_protocol::doctor::Check;
use rustix::{process::geteuid, system::uname};

/// Recommended kernel version: supports direct I/O alignment in statx, and
/// IORING_SETUP_DEFER_TASKRUN.
const RECOMMENDED: (u32, u32) = (6, 1);
/// Required kernel version: supports openat2(2), which is used to open targets.
const REQUIRED: (u32, u32) = (5, 6);
/// Clock sources that are read without a system call.
const VDSO_CLOCKS: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "tod",
    "riscv_clocksource",
];
/// The highest value of kernel.perf_event_paranoid that permits users to profile kernel mode.
const MAX_PERF_LEVEL: i32 = 1;

pub(super) fn kernel() -> Check {
    check_kernel(&uname().release().to_string_lossy())
}

fn check_kernel(release: &str) -> Check {
    let version = version(release);
    let linux = format!("Linux {release}");
    let remedy = "Use Linux 6.1 or newer.";
    if version >= RECOMMENDED {
        ok(linux)
    } else if version >= REQUIRED {
        let detail = format!(
            "{linux}: before 6.1, io_uring is slower and the direct I/O alignment is unknown"
        );
        warn(detail, remedy)
    } else {
        let detail = format!("{linux}: before 5.6, targets cannot be opened safely (openat2)");
        fail(detail, remedy)
    }
}

pub(super) fn clocksource(kernel: &Kernel) -> Check {
    let path = "devices/system/clocksource/clocksource0/current_clocksource";
    check_clock(attribute(kernel.sys.join(path)).as_deref())
}

fn check_clock(name: Option<&str>) -> Check {
    match name {
        Some(name) if VDSO_CLOCKS.contains(&name) => {
            ok(format!("{name}, read without a system call"))
        }
        Some(name) => warn(
            format!("{name}: each reading requires a system call (about 1 µs)"),
            "Boot with clocksource=tsc tsc=reliable if the CPU has an invariant TSC.",
        ),
        None => warn("unknown: sysfs is not available", "Mount sysfs at /sys."),
    }
}

pub(super) fn governor(kernel: &Kernel) -> Check {
    let path = "devices/system/cpu/cpu0/cpufreq/scaling_governor";
    check_governor(attribute(kernel.sys.join(path)).as_deref())
}

fn check_governor(name: Option<&str>) -> Check {
    match name {
        None => ok("none: the firmware or the hypervisor controls the frequency"),
        Some("performance") => ok("performance"),
        Some(name) => warn(
            format!("{name}: the CPU frequency varies with the load, which affects latency"),
            "Run cpupower frequency-set -g performance.",
        ),
    }
}

pub(super) fn perf(kernel: &Kernel) -> Check {
    let level = value(kernel.proc.join("sys/kernel/perf_event_paranoid"));
    check_perf(level, geteuid().is_root())
}

fn check_perf(level: Option<i32>, is_root: bool) -> Check {
    match level {
        None => warn(
            "the kernel was built without perf events",
            "Use a kernel with CONFIG_PERF_EVENTS for flame graphs.",
        ),
        Some(level) if is_root || level <= MAX_PERF_LEVEL => {
            ok(format!("allowed (kernel.perf_event_paranoid={level})"))
        }
        Some(level) => warn(
            format!("not allowed for users (kernel.perf_event_paranoid={level})"),
            "Run sysctl kernel.perf_event_paranoid=1, or run as root.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::doctor::CheckStatus;
    use leadline_protocol::doctor::CheckStatus::{Fail, Ok, Warn};

    fn assert_status(check: Check, want: CheckStatus) {
        assert_eq!(check.status, want, "{check:?}");
    }

    #[test]
    fn kernel_versions() {
        for (release, want) in [
            ("6.18.44-fc", Ok),
            ("6.1.0-28-amd64", Ok),
            ("7.0", Ok),
            ("6.0.19", Warn),
            ("5.15.0", Warn),
            ("5.4.0", Fail),
            ("invalid", Fail),
        ] {
            assert_status(check_kernel(release), want);
        }
    }

    #[test]
    fn clocks_governors_and_perf() {
        assert_status(check_clock(Some("tsc")), Ok);
        assert_status(check_clock(Some("hpet")), Warn);
        assert_status(check_clock(None), Warn);
        assert_status(check_governor(Some("performance")), Ok);
        assert_status(check_governor(Some("powersave")), Warn);
        assert_status(check_governor(None), Ok);
        assert_status(check_perf(Some(2), true), Ok);
        assert_status(check_perf(Some(2), false), Warn);
        assert_status(check_perf(Some(-1), false), Ok);
        assert_status(check_perf(None, true), Warn);
    }
}
