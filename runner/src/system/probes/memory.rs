//! The host's memory at one moment. Source: proc_meminfo(5).

use crate::system::host::meminfo::field;
use leadline_protocol::counters::Memory;

/// The figures wanted stand in the first 20 of some 55 lines of 28 bytes.
pub const BYTES: usize = 2048;

/// Reads /proc/meminfo; `None` when a figure is missing.
pub fn parse(text: &str) -> Option<Memory> {
    Some(Memory {
        cached: field(text, "Cached")?,
        buffers: field(text, "Buffers")?,
        dirty: field(text, "Dirty")?,
        writeback: field(text, "Writeback")?,
        free: field(text, "MemFree")?,
        available: field(text, "MemAvailable")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_captured_meminfo() {
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
