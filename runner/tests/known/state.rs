//! Brings a target into a state, with system calls and nothing of the runner.

use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};

use crate::places::Target;

/// Bytes of a file.
pub const BYTES: u64 = 16 << 20;
const CHUNK: usize = 1 << 20;

/// How a case begins.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// Written, nothing of it in the page cache.
    Cold,
    /// Written, all of it in the page cache.
    Warm,
    /// Written, its first half in the page cache.
    HalfWarm,
    /// Written with blocks that are half zeros; cold.
    HalfZero,
    /// The same, warm.
    WarmHalfZero,
    /// A length, and nothing else.
    Sparse,
    /// Its first half written, the rest a hole; cold.
    HalfSparse,
    /// Blocks without data.
    Fallocated,
    /// Not there.
    Absent,
}

/// Brings it about.
pub fn bring_about(state: State, target: &Target) {
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
        return;
    }
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    settle(&target.directory);
    drop_pages(&file);
    match state {
        State::Warm | State::WarmHalfZero => read(&file, BYTES),
        State::HalfWarm => read(&file, BYTES / 2),
        _ => {}
    }
    if let Some(backing) = &target.backing {
        let backing = File::open(backing).unwrap();
        let length = backing.metadata().unwrap().len();
        read(&backing, length);
    }
}

/// The filesystem's own writes are done before the case begins, and not in it.
fn settle(directory: &Path) {
    rustix::fs::syncfs(File::open(directory).unwrap()).unwrap();
}

fn drop_pages(file: impl AsFd) {
    fadvise(file, 0, None, Advice::DontNeed).unwrap();
}

/// Data that does not compress, or does by half.
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

/// Page by page at random places first, so that no readahead goes past the end of what is wanted.
fn read(file: &File, bytes: u64) {
    fadvise(file, 0, None, Advice::Random).unwrap();
    let mut chunk = vec![0; CHUNK];
    for offset in (0..bytes).step_by(CHUNK) {
        let wanted = CHUNK.min((bytes - offset) as usize);
        file.read_exact_at(&mut chunk[..wanted], offset).unwrap();
    }
}
