//! Lines of /proc/meminfo: `Name:  N kB`, where kB are units of 1024 bytes (proc_meminfo(5)).

use crate::system::host::kernel::Kernel;
use std::fs;

/// One figure of the running kernel, in bytes; `None` when it is not told.
pub fn read(kernel: &Kernel, name: &str) -> Option<u64> {
    field(&fs::read_to_string(kernel.proc.join("meminfo")).ok()?, name)
}

/// One figure of a text, in bytes. No allocation: the sampler asks ten times a second.
pub fn field(text: &str, name: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim()
        .trim_end_matches("kB")
        .trim_end()
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_their_whole_name() {
        let text = "MemFree:  10 kB\nCached:          1383068 kB\nSwapCached:            7 kB\nHugePages_Total:       x\n";
        for (name, want) in [
            ("Cached", Some(1_383_068 * 1024)),
            ("SwapCached", Some(7168)),
            ("Mem", None),
            ("HugePages_Total", None),
        ] {
            assert_eq!(field(text, name), want, "{name}");
        }
    }
}
