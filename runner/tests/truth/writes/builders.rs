//! Builders for situations: volumes on private loop devices, files in known states, neighbors,
//! independent counters, and true shares.

use crate::{
    case::{Case, Expected, Situation, Truth},
    scratch::{Loop, Mounted, locked_pages::LockedPages, program::with, run},
};
use serde_json::{Value, json};
use std::{
    any::Any,
    fs::{self, File},
    ops::RangeInclusive,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{JoinHandle, sleep, spawn},
    time::{Duration, Instant},
};

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const EXT4: &str = "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0";
pub(crate) const XFS: &str = "mkfs.xfs -q";
pub(crate) const BTRFS: &str = "mkfs.btrfs -q";
pub(crate) const DIRECT: &[&str] = &["--direct-io=on"];
pub(crate) const CACHED: &[&str] = &["--direct-io=off"];
/// Size of the file or region in most cases.
pub(crate) const SIZE: u64 = 16 * MIB;

pub(crate) type Prepared = Result<Situation, String>;
type Resources = Vec<Box<dyn Any>>;

pub(crate) const fn case(name: &'static str, prepare: fn(&Path) -> Prepared) -> Case {
    Case { name, prepare }
}

/// A filesystem on a loop device. Fields are dropped in this order.
pub(crate) struct Volume {
    pub at: PathBuf,
    _mounted: Mounted,
    pub device: Loop,
}

impl Volume {
    /// Writes a fully allocated file and drops its pages.
    pub(crate) fn cold_file(&self, name: &str, bytes: u64) -> PathBuf {
        cold_file(&self.at, name, bytes)
    }
}

/// A filesystem on a loop device with direct I/O, whose counters show which I/O reached the device.
pub(crate) fn volume(at: &Path, make: &str, mount: &str) -> Result<Volume, String> {
    volume_on(at, make, mount, DIRECT)
}

pub(crate) fn ext4(at: &Path) -> Result<Volume, String> {
    volume(at, EXT4, "defaults")
}

pub(crate) fn volume_on(
    at: &Path,
    make: &str,
    mount: &str,
    loop_options: &[&str],
) -> Result<Volume, String> {
    let image = at.join("volume.img");
    sparse(&image, 512 * MIB);
    let device = attach(&image, loop_options)?;
    make_filesystem(make, &device.0)?;
    let at = at.join("volume");
    Ok(Volume {
        _mounted: Mounted::with_options(&device.0, &at, mount),
        at,
        device,
    })
}

pub(crate) fn make_filesystem(make: &str, device: &str) -> Result<(), String> {
    let (program, options) = make.split_once(' ').unwrap();
    let options: Vec<_> = options.split(' ').chain([device]).collect();
    run(program, &options).map(drop)
}

pub(crate) fn attach(file: &Path, options: &[&str]) -> Result<Loop, String> {
    Loop::attach(file, options).ok_or_else(|| "no loop device".to_string())
}

pub(crate) fn sparse(path: &Path, bytes: u64) {
    File::create(path).unwrap().set_len(bytes).unwrap();
}

pub(crate) fn cold_file(at: &Path, name: &str, bytes: u64) -> PathBuf {
    let path = at.join(name);
    crate::scratch::image(&path, bytes);
    drop_pages(&path);
    path
}

pub(crate) fn open(path: &Path) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

pub(crate) fn dirty(path: &Path, offset: u64, bytes: u64) {
    let file = open(path);
    let chunk = vec![0x77; MIB as usize];
    (offset..offset + bytes)
        .step_by(chunk.len())
        .for_each(|at| file.write_all_at(&chunk, at).unwrap());
}

/// Writes back and drops the pages of a file or device.
pub(crate) fn drop_pages(path: &Path) {
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    advise(&file, libc::POSIX_FADV_DONTNEED);
}

fn advise(file: &File, advice: i32) {
    // SAFETY: the call takes no pointers.
    let result = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, advice) };
    assert_eq!(result, 0);
}

/// Keeps pages in memory until the returned value is dropped.
pub(crate) fn lock(path: &Path, bytes: u64) -> LockedPages {
    LockedPages::of(&File::open(path).unwrap(), bytes)
}

/// Reads a file sequentially with readahead, so it is cached in large folios if the filesystem
/// supports them.
pub(crate) fn read_with_readahead(path: &Path) {
    let file = File::open(path).unwrap();
    advise(&file, libc::POSIX_FADV_SEQUENTIAL);
    std::io::copy(&mut &file, &mut std::io::sink()).unwrap();
}

/// Writes back a range and waits for completion, without flushing the device cache or committing
/// the journal.
pub(crate) fn write_back(path: &Path, offset: u64, bytes: u64) {
    write_back_of(&open(path), offset, bytes);
}

pub(crate) fn write_back_of(file: &File, offset: u64, bytes: u64) {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let (offset, bytes) = (offset as i64, bytes as i64);
    // SAFETY: the call takes no pointers.
    let result = unsafe { libc::sync_file_range(file.as_raw_fd(), offset, bytes, flags) };
    assert_eq!(result, 0);
}

#[repr(C)]
#[derive(Default, Debug)]
pub(crate) struct Pages {
    pub cached: u64,
    pub dirty: u64,
    pub writeback: u64,
    pub evicted: u64,
    pub recently_evicted: u64,
}

/// System call number, the same on all architectures.
const CACHESTAT: i64 = 451;

/// Page counts of a file, from cachestat(2).
pub(crate) fn pages(path: &Path, offset: u64, bytes: u64) -> Pages {
    let Ok(file) = File::open(path) else {
        return Pages::default();
    };
    let range = [offset, bytes];
    let mut pages = Pages::default();
    // SAFETY: both pointers are valid, with the layout of the kernel's structs.
    let result = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_raw_fd(),
            range.as_ptr(),
            &raw mut pages,
            0,
        )
    };
    assert_eq!(result, 0);
    pages
}

/// Waits until the condition is true, for at most 10 s.
pub(crate) fn wait_until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() && start.elapsed() < Duration::from_secs(10) {
        sleep(Duration::from_millis(2));
    }
}

pub(crate) fn wait_until_dirty(path: &Path, offset: u64, bytes: u64) {
    wait_until(|| pages(path, offset, bytes).dirty * 4096 >= bytes);
}

/// Number of read requests that a block device has completed.
pub(crate) fn reads_of(device: &str) -> u64 {
    counter(device, 0)
}

pub(crate) fn writes_of(device: &str) -> u64 {
    counter(device, 4)
}

fn counter(device: &str, field: usize) -> u64 {
    let path = device.replace("/dev/", "/sys/block/") + "/stat";
    let text = fs::read_to_string(path).unwrap();
    let field = text.split_whitespace().nth(field).unwrap();
    field.parse().unwrap()
}

/// A thread that repeats an action until it is dropped, for at most 15 s.
pub(crate) struct Neighbor(Arc<AtomicBool>, Option<JoinHandle<()>>);

impl Neighbor {
    pub(crate) fn every(interval: Duration, mut action: impl FnMut(u64) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let start = Instant::now();
        let thread = spawn(move || {
            for round in 0.. {
                if stopped.load(Ordering::Relaxed) || start.elapsed() > Duration::from_secs(15) {
                    return;
                }
                action(round);
                sleep(interval);
            }
        });
        Self(stop, Some(thread))
    }
}

impl Drop for Neighbor {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
        let _ = self.1.take().unwrap().join();
    }
}

/// One pass of 4 KiB I/Os over a file or device, at depth 1.
pub(crate) fn job(path: &Path, rw: &str, changes: Value) -> Value {
    let plain = json!({"filename": path, "size": SIZE, "rw": rw, "bs": "4k", "direct": 0,
        "fallocate": "none"});
    with(&plain, changes)
}

pub(crate) fn timed(path: &Path, rw: &str, changes: Value) -> Value {
    let timed = json!({"runtime": "1s", "time_based": 1});
    job(path, rw, with(&timed, changes))
}

/// A share with an exactly known value, plus an allowance for a few metadata I/Os.
fn about(share: f64) -> RangeInclusive<f64> {
    (share - 0.01).max(0.0)..=(share + 0.01).min(1.0)
}

pub(crate) fn split(direction: &'static str, memory: f64, zeros: f64, device: f64) -> Truth {
    Truth {
        direction,
        memory: about(memory),
        zeros: about(zeros),
        device: about(device),
    }
}

pub(crate) fn memory(direction: &'static str) -> Truth {
    split(direction, 1.0, 0.0, 0.0)
}

pub(crate) fn zeros(direction: &'static str) -> Truth {
    split(direction, 0.0, 1.0, 0.0)
}

pub(crate) fn device(direction: &'static str) -> Truth {
    split(direction, 0.0, 0.0, 1.0)
}

/// No device I/O. Zeros from a hole cannot be distinguished from zeros in a cached page.
pub(crate) fn no_device(direction: &'static str) -> Truth {
    Truth {
        memory: 0.0..=1.0,
        zeros: 0.0..=1.0,
        ..memory(direction)
    }
}

pub(crate) fn ios(result: &Value, direction: &str) -> f64 {
    result["report"][direction]["ios"].as_u64().unwrap() as f64
}

pub(crate) fn job_ios(result: &Value, index: usize, direction: &str) -> f64 {
    let count = &result["report"]["jobs"][index][direction]["ios"];
    count.as_u64().unwrap() as f64
}

/// The share of writes whose page is still dirty or in writeback after the run. Valid if each 4 KiB
/// write is to a different page of the file.
pub(crate) fn still_dirty(path: PathBuf) -> Expected {
    Box::new(move |result| {
        let remaining = pages(&path, 0, 0);
        let share = (remaining.dirty + remaining.writeback) as f64 / ios(result, "write");
        vec![split("write", share, 0.0, 1.0 - share)]
    })
}

/// Reads that reached the device, according to its request counter. Valid for single-page random
/// reads.
pub(crate) fn counted_reads(device: String) -> Expected {
    let before = reads_of(&device);
    Box::new(move |result| {
        let share = ((reads_of(&device) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 1.0 - share, 0.0, share)]
    })
}

/// Writes that reached the device, according to its byte counter. Valid for single-page writes,
/// without metadata.
pub(crate) fn counted_writes(device: String) -> Expected {
    let before = counter(&device, 6);
    Box::new(move |result| {
        let pages = (counter(&device, 6) - before) * 512 / 4096;
        let share = (pages as f64 / ios(result, "write")).min(1.0);
        vec![split("write", 1.0 - share, 0.0, share)]
    })
}

/// Reads that reached the device, according to its byte counter. Each read transferred `bytes`.
pub(crate) fn counted_transfers(device: String, bytes: u64) -> Expected {
    let before = counter(&device, 2);
    Box::new(move |result| {
        let reads = (counter(&device, 2) - before) * 512 / bytes;
        let share = (reads as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 1.0 - share, 0.0, share)]
    })
}

pub(crate) fn situation(job: Value, resources: Resources, truths: Vec<Truth>) -> Prepared {
    situation_with(job, resources, Box::new(|_| truths))
}

pub(crate) fn situation_with(job: Value, resources: Resources, truth: Expected) -> Prepared {
    Ok(Situation {
        job,
        during_run: None,
        truth,
        resources,
    })
}

/// Adds an action to perform during the run.
pub(crate) fn during(prepared: Prepared, action: impl FnOnce() + 'static) -> Prepared {
    prepared.map(|situation| Situation {
        during_run: Some(Box::new(move |_| action())),
        ..situation
    })
}

pub(crate) fn jobs(jobs: &[Value]) -> Value {
    json!({"jobs": jobs})
}
