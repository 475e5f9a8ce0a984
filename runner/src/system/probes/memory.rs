//! Host memory. Source: proc_meminfo(5).

use crate::system::host::meminfo::field_bytes;
use leadline_protocol::counters::Memory;

/// Bytes to read: all required values are in the first 20 lines of 28 bytes.
pub(crate) const BYTES: usize = 2048;

pub(crate) fn parse(text: &str) -> Option<Memory> {
    Some(Memory {
        cached: field_bytes(text, "Cached")?,
        buffers: field_bytes(text, "Buffers")?,
        dirty: field_bytes(text, "Dirty")?,
        writeback: field_bytes(text, "Writeback")?,
        free: field_bytes(text, "MemFree")?,
        available: field_bytes(text, "MemAvailable")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_meminfo() {
        let text = "MemTotal:       24684092 kB\nMemFree:        22931980 kB\nMemAvailable:   24241512 kB\nBuffers:            4680 kB\n\
            Cached:          1383068 kB\nSwapCached:            0 kB\nActive:           584072 kB\nDirty:                84 kB\nWriteback:            20 kB\nWritebackTmp: 7 kB\n";
        let want = Memory {
            cached: 1_383_068 << 10,
            buffers: 4680 << 10,
            dirty: 84 << 10,
            writeback: 20 << 10,
            free: 22_931_980 << 10,
            available: 24_241_512 << 10,
        };
        assert_eq!(parse(text), Some(want));
        assert_eq!(parse("MemFree: 1 kB\n"), None);
    }
}
