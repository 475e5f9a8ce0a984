//! The kernel's age, its clock, the processor's frequency, and who may look into it.

use crate::system::host::doctor::{fail, ok, warn};
use crate::system::host::kernel::{Kernel, attribute, value, version};
use leadline_protocol::host::Check;
use rustix::process::geteuid;
use rustix::system::uname;

/// What needs the newest kernel of all that is used: statx tells the alignment of direct I/O, and rings may defer
/// their work to the thread that reaps.
const WANTED: (u32, u32) = (6, 1);
/// openat2(2), by which targets are opened.
const NEEDED: (u32, u32) = (5, 6);
/// Clock sources that are read without a system call.
const QUICK_CLOCKS: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "timebase",
    "tod",
    "riscv_clocksource",
];
/// Up to this level of kernel.perf_event_paranoid users may look at the kernel's part of their processes.
const PERF_LEVEL: i32 = 1;

pub fn kernel() -> Check {
    judge_kernel(&uname().release().to_string_lossy())
}

fn judge_kernel(release: &str) -> Check {
    let version = version(release);
    let found = format!("Linux {release}");
    if version >= WANTED {
        ok("kernel", found)
    } else if version >= NEEDED {
        warn(
            "kernel",
            format!(
                "{found}: before 6.1 io_uring is slower and the alignment of direct I/O is not told"
            ),
            "Use Linux 6.1 or newer.",
        )
    } else {
        fail(
            "kernel",
            format!("{found}: targets cannot be opened safely before 5.6 (openat2)"),
            "Use Linux 6.1 or newer.",
        )
    }
}

pub fn clocksource(kernel: &Kernel) -> Check {
    judge_clock(
        attribute(
            kernel
                .sys
                .join("devices/system/clocksource/clocksource0/current_clocksource"),
        )
        .as_deref(),
    )
}

fn judge_clock(name: Option<&str>) -> Check {
    match name {
        Some(name) if QUICK_CLOCKS.contains(&name) => {
            ok("clocksource", format!("{name}, read without a system call"))
        }
        Some(name) => warn(
            "clocksource",
            format!("{name}: each reading costs a system call, about 1 µs"),
            "Boot with clocksource=tsc (tsc=reliable) where the processor has a steady one.",
        ),
        None => warn(
            "clocksource",
            "sysfs does not tell it",
            "Mount sysfs at /sys.",
        ),
    }
}

pub fn governor(kernel: &Kernel) -> Check {
    judge_governor(
        attribute(
            kernel
                .sys
                .join("devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        )
        .as_deref(),
    )
}

fn judge_governor(name: Option<&str>) -> Check {
    match name {
        None => ok(
            "governor",
            "none: the firmware or the hypervisor decides about the frequency",
        ),
        Some("performance") => ok("governor", "performance"),
        Some(name) => warn(
            "governor",
            format!("{name}: the frequency follows the load, and latency with it"),
            "cpupower frequency-set -g performance",
        ),
    }
}

pub fn perf(kernel: &Kernel) -> Check {
    judge_perf(
        value(kernel.proc.join("sys/kernel/perf_event_paranoid")),
        geteuid().is_root(),
    )
}

fn judge_perf(level: Option<i32>, is_root: bool) -> Check {
    match level {
        None => warn(
            "perf",
            "the kernel has no performance events",
            "Flame graphs need a kernel with CONFIG_PERF_EVENTS.",
        ),
        Some(level) if is_root || level <= PERF_LEVEL => ok(
            "perf",
            format!("allowed (kernel.perf_event_paranoid={level})"),
        ),
        Some(level) => warn(
            "perf",
            format!("not for ordinary users (kernel.perf_event_paranoid={level})"),
            "sysctl kernel.perf_event_paranoid=1, or run as root.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::host::CheckStatus;
    use leadline_protocol::host::CheckStatus::{Fail, Ok, Warn};

    fn check(found: Check, want: CheckStatus) {
        assert_eq!(found.status, want, "{found:?}");
    }

    #[test]
    fn kernels() {
        for (release, want) in [
            ("6.18.44-fc", Ok),
            ("6.1.0-28-amd64", Ok),
            ("7.0", Ok),
            ("6.0.19", Warn),
            ("5.15.0", Warn),
            ("5.4.0", Fail),
            ("rubbish", Fail),
        ] {
            check(judge_kernel(release), want);
        }
    }

    #[test]
    fn clocks_governors_and_perf() {
        check(judge_clock(Some("tsc")), Ok);
        check(judge_clock(Some("hpet")), Warn);
        check(judge_clock(None), Warn);
        check(judge_governor(Some("performance")), Ok);
        check(judge_governor(Some("powersave")), Warn);
        check(judge_governor(None), Ok);
        check(judge_perf(Some(2), true), Ok);
        check(judge_perf(Some(2), false), Warn);
        check(judge_perf(Some(-1), false), Ok);
        check(judge_perf(None, true), Warn);
    }
}
