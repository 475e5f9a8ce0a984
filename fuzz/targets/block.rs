//! Fuzzes the parsers for binary device data: superblocks, device-mapper tables, and blocks with
//! checksums.
#![no_main]

use leadline_runner::fuzzing::{device_data, verified_block};
use libfuzzer_sys::fuzz_target;
use std::{cell::RefCell, fs::File, os::unix::fs::FileExt};

/// Offsets of the superblocks of XFS, ext4 and btrfs.
const SUPERBLOCKS: [u64; 3] = [0, 1024, 64 << 10];
const MAX_SUPERBLOCK: usize = 1024;

thread_local! {
    static DEVICE: RefCell<File> = RefCell::new(tempfile::tempfile().expect("a temporary file"));
}

fuzz_target!(|data: &[u8]| {
    let superblock = &data[..data.len().min(MAX_SUPERBLOCK)];
    DEVICE.with_borrow(|device| {
        device.set_len(128 << 10).expect("an open file");
        for offset in SUPERBLOCKS {
            device
                .write_all_at(superblock, offset)
                .expect("an open file");
        }
        device_data(data, device);
    });
    let Some((numbers, block)) = data.split_first_chunk::<16>() else {
        return;
    };
    let [offset, number] =
        [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|index| numbers[at + index])));
    verified_block(block, offset % (1 << 52) / 512 * 512, number);
});
