//! /proc/meminfo, whose `kB` are units of 1024 bytes (proc_meminfo(5)).

use crate::system::host::kernel::{Kernel, field};
use std::fs;

/// One value in bytes.
pub(crate) fn read(kernel: &Kernel, name: &str) -> Option<u64> {
    field_bytes(&fs::read_to_string(kernel.proc.join("meminfo")).ok()?, name)
}

pub(crate) fn field_bytes(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_the_whole_name() {
        let text = "MemFree:  10 kB\nCached:          1383068 kB\nSwapCached:            7 kB\nHugePages_Total:       x\n";
        for (name, want) in [
            ("Cached", Some(1_383_068 * 1024)),
            ("SwapCached", Some(7168)),
            ("Mem", None),
            ("HugePages_Total", None),
        ] {
            assert_eq!(field_bytes(text, name), want, "{name}");
        }
    }
}
