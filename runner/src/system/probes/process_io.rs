//! What this process alone moved from and to storage. Source: `/proc/self/io`, proc_pid_io(5); the counts of all its
//! threads, those that ended and io_uring's workers included. Its cost is in the figure of `probe.rs`.

use leadline_protocol::counters::StorageIo;

/// Seven lines of up to 45 bytes.
pub const BYTES: usize = 512;

/// Reads the counts since the process began; `None` when one is missing.
pub fn parse(text: &str) -> Option<StorageIo> {
    let field = |name: &str| {
        text.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")?.parse().ok())
    };
    Some(StorageIo {
        read_bytes: field("read_bytes")?,
        write_bytes: field("write_bytes")?,
        cancelled_write_bytes: field("cancelled_write_bytes")?,
    })
}

/// What was counted from one reading to the next.
pub fn since(from: StorageIo, to: StorageIo) -> StorageIo {
    StorageIo {
        read_bytes: to.read_bytes.saturating_sub(from.read_bytes),
        write_bytes: to.write_bytes.saturating_sub(from.write_bytes),
        cancelled_write_bytes: to
            .cancelled_write_bytes
            .saturating_sub(from.cancelled_write_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_file() {
        let io = |read_bytes, write_bytes, cancelled_write_bytes| StorageIo {
            read_bytes,
            write_bytes,
            cancelled_write_bytes,
        };
        let text = "rchar: 6976\nwchar: 0\nsyscr: 10\nsyscw: 0\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 12\n";
        assert_eq!(parse(text), Some(io(4096, 8192, 12)));
        assert_eq!(
            parse("rchar: 6976\nwchar: 0\n"),
            None,
            "a kernel without CONFIG_TASK_IO_ACCOUNTING"
        );
        assert_eq!(since(io(1, 2, 3), io(5, 9, 3)), io(4, 7, 0));
    }
}
