//! Per-disk I/O of the run's control group. Source: `io.stat`,
//! Documentation/admin-guide/cgroup-v2.rst. The kernel counts bios when they are submitted, and
//! flushes the counts on every read.

use crate::system::host::kernel::Dev;
use leadline_protocol::counters::ChargedIo;

/// Maximum file size: enough for 600 disks.
pub(crate) const BYTES: usize = 64 << 10;

/// The counts of one disk. A disk without I/O has no line, so its counts are 0. Some kernels print
/// multiple devices on one line, starting with those without I/O.
pub(crate) fn parse(text: &str, disk: Dev) -> ChargedIo {
    let mut counts = ChargedIo::default();
    let mut is_disk = false;
    for word in text.split_ascii_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            is_disk = word.parse() == Ok(disk);
            continue;
        };
        let value = value.parse().unwrap_or(0);
        match name {
            _ if !is_disk => {}
            "rbytes" => counts.read_bytes = value,
            "wbytes" => counts.write_bytes = value,
            "rios" => counts.read_ios = value,
            "wios" => counts.write_ios = value,
            _ => {}
        }
    }
    counts
}

pub(crate) fn since(from: ChargedIo, to: ChargedIo) -> ChargedIo {
    ChargedIo {
        read_ios: to.read_ios.saturating_sub(from.read_ios),
        read_bytes: to.read_bytes.saturating_sub(from.read_bytes),
        write_ios: to.write_ios.saturating_sub(from.write_ios),
        write_bytes: to.write_bytes.saturating_sub(from.write_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_counts_and_subtracts() {
        let io = |read_ios, read_bytes, write_ios, write_bytes| ChargedIo {
            read_ios,
            read_bytes,
            write_ios,
            write_bytes,
        };
        let text = "254:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=5 dios=6\n7:1 7:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0 cost.usage=9\n";
        for (disk, want) in [
            ("254:0", io(1, 4096, 2, 8192)),
            ("7:0", io(3, 1, 4, 2)),
            ("7:1", ChargedIo::default()),
            ("8:0", ChargedIo::default()),
        ] {
            assert_eq!(parse(text, disk.parse().unwrap()), want, "{disk}");
        }
        assert_eq!(since(io(1, 2, 3, 4), io(5, 9, 3, 5)), io(4, 7, 0, 1));
    }
}
