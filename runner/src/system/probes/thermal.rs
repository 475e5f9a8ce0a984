//! How often processors were slowed because they were hot. Read once before and once after the measured window: some files for
//! each processor, 20 µs together on two of them, and no business of a sample's.
//!
//! Source: drivers/thermal/intel/therm_throt.c (x86 on bare metal only).

use crate::system::host::kernel::{Kernel, names, value};

/// The counters of one processor: of its core, and of the package that it is in.
const COUNTERS: [&str; 2] = ["core_throttle_count", "package_throttle_count"];

/// Times that any processor was slowed since the system started; `None` where the kernel does not count (virtual machines).
pub fn throttles() -> Option<u64> {
    count(&Kernel::live())
}

fn count(kernel: &Kernel) -> Option<u64> {
    let cpus = kernel.sys.join("devices/system/cpu");
    let counters = names(&cpus)
        .into_iter()
        .flat_map(|cpu| COUNTERS.map(|name| cpus.join(&cpu).join("thermal_throttle").join(name)));
    counters
        .filter_map(value::<u64>)
        .reduce(|sum, more| sum + more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;

    #[test]
    fn all_processors_count_together() {
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
    }
}
