//! Storage I/O of this process. Source: `/proc/self/io`, proc_pid_io(5). Includes io_uring workers
//! and threads that have exited.

use crate::system::host::kernel::field;
use leadline_protocol::counters::StorageIo;

/// Maximum file size: seven lines of up to 45 bytes.
pub(crate) const BYTES: usize = 512;

pub(crate) fn parse(text: &str) -> Option<StorageIo> {
    Some(StorageIo {
        read_bytes: field(text, "read_bytes")?,
        write_bytes: field(text, "write_bytes")?,
        cancelled_write_bytes: field(text, "cancelled_write_bytes")?,
    })
}

pub(crate) fn since(from: StorageIo, to: StorageIo) -> StorageIo {
    let cancelled = to.cancelled_write_bytes;
    StorageIo {
        read_bytes: to.read_bytes.saturating_sub(from.read_bytes),
        write_bytes: to.write_bytes.saturating_sub(from.write_bytes),
        cancelled_write_bytes: cancelled.saturating_sub(from.cancelled_write_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_counts_and_subtracts() {
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
