//! Puts a target into an initial state, using only system calls.

use crate::{
    scratch::{locked_pages::LockedPages, mark_owned},
    test_targets::Target,
};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use std::{
    fs::{self, File, OpenOptions},
    io::Read,
    os::{fd::AsFd, unix::fs::FileExt},
    path::Path,
};

/// Size of a target in bytes.
pub(crate) const BYTES: u64 = 16 << 20;
const CHUNK: usize = 1 << 20;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum State {
    /// Written, not cached.
    Cold,
    /// Written and cached.
    Warm,
    /// Written, first half cached.
    HalfWarm,
    /// Written with blocks that are half zeros; not cached.
    HalfZero,
    /// Written with blocks that are half zeros; cached.
    WarmHalfZero,
    /// A hole.
    Sparse,
    /// First half written, the rest a hole, not cached.
    HalfSparse,
    /// Allocated, not written.
    Fallocated,
    /// Does not exist.
    Absent,
}

/// Files, each with the number of bytes from its start that must stay in the page cache.
#[derive(Default)]
pub(crate) struct Prepared(Vec<(File, u64)>);

impl Prepared {
    /// Keeps the pages in the page cache until the returned value is dropped.
    pub(crate) fn lock(&self) -> Vec<LockedPages> {
        let files = self.0.iter().filter(|(_, bytes)| *bytes > 0);
        files
            .map(|(file, bytes)| LockedPages::of(file, *bytes))
            .collect()
    }
}

pub(crate) fn prepare(state: State, target: &Target) -> Prepared {
    let path = &target.path;
    let is_device = path.starts_with("/dev");
    if !is_device {
        let _ = fs::remove_file(path);
    }
    match state {
        State::Absent => {}
        State::Sparse => File::create(path).unwrap().set_len(BYTES).unwrap(),
        State::Fallocated => fallocate(
            File::create(path).unwrap(),
            FallocateFlags::empty(),
            0,
            BYTES,
        )
        .unwrap(),
        State::HalfSparse => write(path, BYTES / 2, false).set_len(BYTES).unwrap(),
        State::HalfZero | State::WarmHalfZero => drop(write(path, BYTES, true)),
        State::Cold | State::Warm | State::HalfWarm => drop(write(path, BYTES, false)),
    }
    if state == State::Absent {
        return Prepared::default();
    }
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    mark_owned(path);
    sync_filesystem(&target.directory);
    drop_pages(&file);
    let cached = match state {
        State::Warm | State::WarmHalfZero => BYTES,
        State::HalfWarm => BYTES / 2,
        _ => 0,
    };
    read(&file, cached);
    let mut prepared = Prepared(vec![(file, cached)]);
    if let Some(backing) = &target.backing {
        let backing = File::open(backing).unwrap();
        let length = backing.metadata().unwrap().len();
        read(&backing, length);
        prepared.0.push((backing, length));
    }
    prepared
}

/// Completes pending filesystem writes before a case starts.
fn sync_filesystem(directory: &Path) {
    rustix::fs::syncfs(File::open(directory).unwrap()).unwrap();
}

fn drop_pages(file: impl AsFd) {
    fadvise(file, 0, None, Advice::DontNeed).unwrap();
}

/// Writes incompressible data or, if `half_zero` is true, blocks that are half zeros.
fn write(path: &Path, bytes: u64, half_zero: bool) -> File {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(!path.starts_with("/dev"))
        .truncate(false)
        .open(path)
        .unwrap();
    let mut random = File::open("/dev/urandom").unwrap();
    let mut chunk = vec![0; CHUNK];
    for offset in (0..bytes).step_by(CHUNK) {
        random.read_exact(&mut chunk).unwrap();
        if half_zero {
            chunk
                .chunks_mut(4096)
                .for_each(|block| block[2048..].fill(0));
        }
        file.write_all_at(&chunk, offset).unwrap();
    }
    file
}

/// Reads the range without readahead beyond it.
fn read(file: &File, bytes: u64) {
    fadvise(file, 0, None, Advice::Random).unwrap();
    let mut chunk = vec![0; CHUNK];
    for offset in (0..bytes).step_by(CHUNK) {
        let length = CHUNK.min((bytes - offset) as usize);
        file.read_exact_at(&mut chunk[..length], offset).unwrap();
    }
}
