//! Counts processes that the kernel killed because memory was exhausted.

use std::fs;

/// Number of kills since boot, on the whole host (proc_vmstat(5), `oom_kill`); `None` if unknown.
pub(super) fn count() -> Option<u64> {
    parse(&fs::read_to_string("/proc/vmstat").ok()?)
}

fn parse(vmstat: &str) -> Option<u64> {
    let mut lines = vmstat.lines();
    let count = lines.find_map(|line| line.strip_prefix("oom_kill "))?;
    count.parse().ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn finds_the_counter() {
        assert_eq!(
            super::parse("pgmajfault 7\noom_kill 12\nnuma 1\n"),
            Some(12)
        );
        assert_eq!(super::parse("pgmajfault 7\n"), None);
    }
}
