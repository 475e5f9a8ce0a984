//! Every engine transfers the requested bytes at the requested offsets of real files, and returns
//! errors as I/O results.

use crate::{
    load::{
        engine::{
            Engine,
            libaio::Libaio,
            mmap::{self, Mmap},
            synchronous::{
                psync::Psync,
                pvsync::{Pvsync, Pvsync2},
                sync::Sync,
            },
        },
        pattern::io::{Io, Kind},
    },
    system::buffers::BufferPool,
};
use leadline_protocol::job::engine::BufferPages;
use rustix::mm::Advice;
use std::{
    fs::{File, OpenOptions},
    os::{fd::OwnedFd, unix::fs::OpenOptionsExt},
    path::Path,
};

const BLOCK: usize = 4096;
const BLOCKS: usize = 64;

/// Files of 64 blocks. The temporary directory may be on tmpfs, which does not support direct I/O.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    for name in ["0", "1"] {
        std::fs::write(directory.path().join(name), vec![0xee; BLOCKS * BLOCK]).unwrap();
    }
    directory
}

fn open(directory: &Path, flags: i32) -> Vec<OwnedFd> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(flags);
    let open = |name| options.open(directory.join(name)).unwrap();
    ["0", "1"].map(|name| OwnedFd::from(open(name))).into()
}

/// Both files, mapped for reads and writes.
fn mapping(advice: Option<Advice>, files: &[OwnedFd]) -> Mmap {
    let setup = mmap::Setup {
        regions: vec![(0, (BLOCKS * BLOCK) as u64); 2],
        writes: true,
        advice,
    };
    Mmap::new(&setup, files).unwrap()
}

fn io(kind: Kind, target: u16, block: usize) -> Io {
    let is_sync = matches!(kind, Kind::Sync | Kind::Datasync);
    Io {
        kind,
        target,
        offset: if is_sync { 0 } else { (block * BLOCK) as u64 },
        len: if is_sync { 0 } else { BLOCK as u32 },
    }
}

/// Submits one I/O per slot in a single batch, and returns the results by slot.
fn perform(engine: &mut impl Engine, ios: &[Io], pool: &BufferPool) -> Vec<i32> {
    for (slot, io) in ios.iter().enumerate() {
        // SAFETY: the pool outlives the I/Os, and its buffers are as large as a block.
        unsafe { engine.submit(slot as u32, io, pool.slot(slot as u32)) };
    }
    engine.commit(ios.len()).unwrap();
    let mut results = vec![None; ios.len()];
    while results.contains(&None) {
        if engine.ready() == 0 {
            engine.wait(1, Some(5_000_000_000)).unwrap();
        }
        while let Some((slot, result)) = engine.pop() {
            assert_eq!(results[slot as usize].replace(result), None, "slot {slot}");
        }
    }
    results.into_iter().flatten().collect()
}

/// Writes every third block of both files, alternately forward and backward, reads all blocks back
/// and compares the files. `depth`: I/Os in flight.
fn check(mut engine: impl Engine, directory: &Path, depth: usize) {
    let mut pool = BufferPool::new(depth, BLOCK, BufferPages::Mmap).unwrap();
    let mut expected = [vec![0xee; BLOCKS * BLOCK], vec![0xee; BLOCKS * BLOCK]];
    let forward = (0..BLOCKS).map(|block| (0, block));
    let backward = (0..BLOCKS).rev().map(|block| (1, block));
    let written: Vec<(u16, usize)> = forward.chain(backward).step_by(3).collect();
    for group in written.chunks(depth) {
        let mut ios = Vec::new();
        for (slot, &(target, block)) in group.iter().enumerate() {
            let byte = (block + 100 * usize::from(target)) as u8;
            pool.write_buffer_mut(slot as u32).fill(byte);
            let bytes = block * BLOCK..(block + 1) * BLOCK;
            expected[usize::from(target)][bytes].fill(byte);
            ios.push(io(Kind::Write, target, block));
        }
        let results = perform(&mut engine, &ios, &pool);
        assert_eq!(results, vec![BLOCK as i32; ios.len()]);
    }
    for kind in [Kind::Sync, Kind::Datasync] {
        assert_eq!(perform(&mut engine, &[io(kind, 1, 0)], &pool), [0]);
    }
    let all: Vec<(u16, usize)> = (0..BLOCKS)
        .map(|block| ((block % 2) as u16, block))
        .collect();
    for group in all.chunks(depth) {
        let ios: Vec<Io> = group
            .iter()
            .map(|&(target, block)| io(Kind::Read, target, block))
            .collect();
        let results = perform(&mut engine, &ios, &pool);
        assert_eq!(results, vec![BLOCK as i32; ios.len()]);
        for (slot, &(target, block)) in group.iter().enumerate() {
            let expected = &expected[usize::from(target)][block * BLOCK..(block + 1) * BLOCK];
            let found = &pool.write_buffer_mut(slot as u32)[..];
            assert!(found == expected, "target {target}, block {block}");
        }
    }
    drop(engine);
    for (index, expected) in expected.iter().enumerate() {
        let found = std::fs::read(directory.join(index.to_string())).unwrap();
        assert!(found == *expected, "file {index}");
    }
}

#[test]
fn blocks_are_written_and_read_at_their_offsets() {
    let directory = directory();
    for flags in [0, libc::O_DIRECT] {
        let files = open(directory.path(), flags);
        let path = directory.path();
        let reset = || {
            for name in ["0", "1"] {
                std::fs::write(path.join(name), vec![0xee; BLOCKS * BLOCK]).unwrap();
            }
        };
        check(Psync::new(&files), path, 1);
        reset();
        check(Sync::new(&files).unwrap(), path, 1);
        reset();
        check(Pvsync::new(&files), path, 1);
        reset();
        check(Pvsync2::new(&files, flags != 0), path, 1);
        for depth in [1, 2, 32] {
            reset();
            check(Libaio::new(&files, depth).unwrap(), path, depth as usize);
        }
        reset();
    }
    let files = open(directory.path(), 0);
    check(mapping(None, &files), directory.path(), 1);
}

#[test]
fn sync_tracks_the_position_after_short_reads() {
    let directory = directory();
    let files = open(directory.path(), 0);
    let pool = BufferPool::new(1, BLOCK, BufferPages::Mmap).unwrap();
    let mut engine = Sync::new(&files).unwrap();
    let mut result = |block| perform(&mut engine, &[io(Kind::Read, 0, block)], &pool)[0];
    // The second read starts at the end of the file and transfers nothing.
    assert_eq!([result(BLOCKS - 1), result(BLOCKS)], [BLOCK as i32, 0]);
    assert_eq!(result(BLOCKS), 0);
    assert_eq!(result(0), BLOCK as i32);
}

#[test]
fn rejected_ios_complete_with_an_error() {
    let directory = directory();
    let files = open(directory.path(), libc::O_DIRECT);
    let mut pool = BufferPool::new(4, BLOCK, BufferPages::Mmap).unwrap();
    pool.write_buffer_mut(0).fill(1);
    let good = io(Kind::Read, 0, 1);
    let misaligned = Io { offset: 7, ..good };
    let mut engine = Libaio::new(&files, 4).unwrap();
    let results = perform(&mut engine, &[good, misaligned, misaligned, good], &pool);
    let (size, errno) = (BLOCK as i32, -libc::EINVAL);
    assert_eq!(results, [size, errno, errno, size]);
    let trim = Io {
        kind: Kind::Trim,
        ..good
    };
    // BLKDISCARD requires a device.
    assert!(perform(&mut engine, &[trim], &pool)[0] < 0);
}

#[test]
fn abandoned_ios_do_not_block() {
    let directory = directory();
    let files = open(directory.path(), libc::O_DIRECT);
    let pool = BufferPool::new(1, BLOCK, BufferPages::Mmap).unwrap();
    let mut engine = Libaio::new(&files, 1).unwrap();
    // SAFETY: the pool is leaked below.
    unsafe { engine.submit(0, &io(Kind::Read, 0, 0), pool.slot(0)) };
    engine.commit(1).unwrap();
    drop(engine);
    std::mem::forget(pool);
}

#[test]
fn accessing_a_truncated_mapping_fails_without_killing_the_process() {
    let directory = directory();
    let files = open(directory.path(), 0);
    let pool = BufferPool::new(1, BLOCK, BufferPages::Mmap).unwrap();
    let mut engine = mapping(Some(Advice::Random), &files);
    let mut result = |kind, block| perform(&mut engine, &[io(kind, 0, block)], &pool)[0];
    assert_eq!(result(Kind::Read, 9), BLOCK as i32);
    let file = OpenOptions::new()
        .write(true)
        .open(directory.path().join("0"));
    file.unwrap().set_len(BLOCK as u64).unwrap();
    assert_eq!(result(Kind::Read, 9), -libc::EIO);
    assert_eq!(result(Kind::Write, 10), -libc::EIO);
    assert_eq!(result(Kind::Read, 0), BLOCK as i32);
    let length = File::open(directory.path().join("0")).unwrap();
    assert_eq!(length.metadata().unwrap().len(), BLOCK as u64);
}
