//! Thermal throttling of the CPUs. Read once before and once after the measured window. Each
//! reading opens two files per CPU, and takes 20 µs for two CPUs. Source:
//! drivers/thermal/intel/therm_throt.c (x86 on bare metal only).

use crate::system::host::kernel::{Kernel, names, value};

const COUNTERS: [&str; 2] = ["core_throttle_count", "package_throttle_count"];

/// Throttle events on all CPUs since boot; `None` if the kernel does not count them, for example in
/// virtual machines.
pub(crate) fn throttles() -> Option<u64> {
    count(&Kernel::live())
}

pub(crate) fn count(kernel: &Kernel) -> Option<u64> {
    let cpus = kernel.sys.join("devices/system/cpu");
    let mut sum = None;
    for cpu in names(&cpus) {
        for counter in COUNTERS {
            let path = cpus.join(&cpu).join("thermal_throttle").join(counter);
            if let Some(events) = value::<u64>(path) {
                sum = Some(events.saturating_add(sum.unwrap_or(0)));
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;

    #[test]
    fn sums_all_cpus() {
        let check = |files: &str, want: Option<u64>| {
            assert_eq!(count(&Fixture::new(files).kernel()), want, "{files}")
        };
        check("sys/devices/system/cpu/cpu0/online = 1", None);
        check(
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count = 2
             sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count = 3
             sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count = 4",
            Some(9),
        );
        check(
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count = 18446744073709551615
             sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count = 1",
            Some(u64::MAX),
        );
    }
}
