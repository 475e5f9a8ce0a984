//! Block devices: a frozen ext4, and a loop device with a backing file on the test's FUSE
//! filesystem.

use super::{
    Case, job,
    outcome::{Claims, EARLY, LATE, Run, number},
    run_all,
    scratch::{self, Disk, Loop, Mounted, program::with},
    storage::{Completion, IMMEDIATELY, Io, Kind, Storage},
};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

#[test]
fn reports_stalls_of_block_devices() {
    if let Err(error) = scratch::run("unshare", &["--mount", "true"]) {
        return scratch::skip(&format!("cannot mount filesystems: {error}"));
    }
    let cases: [Case; 11] = [
        ("frozen until the end, psync", |case| {
            frozen_until_the_end(case, 1, json!({"ioengine": "psync"}));
        }),
        ("frozen until the end, io_uring", |case| {
            frozen_until_the_end(case, 8, json!({"iodepth": 8}));
        }),
        ("frozen with a file to remove", |case| {
            frozen_until_the_end(case, 1, json!({"ioengine": "psync", "unlink": 1}));
        }),
        ("frozen page cache", |case| {
            let changes = json!({"ioengine": "psync", "direct": 0});
            frozen_until_the_end(case, 1, changes);
        }),
        ("frozen for 2 s, psync", |case| {
            frozen_for_a_while(case, json!({"ioengine": "psync"}));
        }),
        ("frozen for 2 s, io_uring", |case| {
            frozen_for_a_while(case, json!({"iodepth": 8}));
        }),
        ("raw device hangs", raw_device),
        ("long sync", long_sync),
        ("sync that hangs", hung_sync),
        (
            "sync that hangs next to a busy device",
            hung_sync_next_to_a_busy_device,
        ),
        ("report with a dead disk", report_with_a_dead_disk),
    ];
    run_all(&cases);
}

/// Freezes a filesystem until dropped.
pub(crate) struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    pub(crate) fn new(at: &'a Path) -> Self {
        let frozen = Self(at);
        scratch::run("fsfreeze", &["--freeze", at.to_str().unwrap()]).unwrap();
        frozen
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        let _ = scratch::run("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}

/// Random writes at a low rate, so no I/O is in flight most of the time.
fn write_job(file: PathBuf, runtime: &str, changes: Value) -> Value {
    let plain = json!({"rw": "randwrite", "runtime": runtime, "rate_iops": 200});
    job(&file, with(&plain, changes))
}

/// Waits until half a second of the measured window has passed. Returns the time of its first
/// sample.
fn wait_for_half_a_second(run: &mut Run) -> Instant {
    run.wait_for_a_sample();
    let first = Instant::now() - Duration::from_millis(100);
    thread::sleep(Duration::from_millis(400));
    first
}

fn frozen_until_the_end(case: &str, depth: u64, changes: Value) {
    let Some(disk) = Disk::ext4_in_memory() else {
        return;
    };
    let mut run = Run::start(&write_job(disk.file("t1"), "3s", changes), &[]);
    let first = wait_for_half_a_second(&mut run);
    let frozen = Frozen::new(&disk.at);
    let from = first.elapsed().as_secs_f64();
    let outcome = run.finish(|| drop(frozen));
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, from..3.0, 3.0);
    let write = &outcome.report()["write"];
    claims.unfinished(write, depth, 3.0 - from);
    claims.silence_is_shown(first, from..3.0);
    let waited = (outcome.reported_at() - first).as_secs_f64();
    claims.within("seconds until the report", waited, 3.0..=9.5);
}

fn frozen_for_a_while(case: &str, changes: Value) {
    let Some(disk) = Disk::ext4_in_memory() else {
        return;
    };
    let mut run = Run::start(&write_job(disk.file("t1"), "4s", changes), &[]);
    let first = wait_for_half_a_second(&mut run);
    let frozen = Frozen::new(&disk.at);
    let from = first.elapsed().as_secs_f64();
    thread::sleep(Duration::from_secs(2));
    drop(frozen);
    let to = first.elapsed().as_secs_f64();
    let outcome = run.finish(|| ());
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.one_stall(0, from..to, 4.0);
    let max = number(&outcome.report()["write"]["lat_ns"]["max"]) / 1e9;
    claims.within("max", max, to - from - LATE..=to - from + EARLY);
    claims.silence_is_shown(first, from..to);
}

const IMAGE: u64 = 96 << 20;

/// Reads from a block device that stops responding. Processes wait in the kernel for the device
/// instead of FUSE.
fn raw_device(case: &str) {
    let armed = flag();
    let Some(storage) = Storage::new(&["image"], IMAGE, |_| {
        if armed.load(Ordering::Relaxed) {
            Completion::Never
        } else {
            Completion::After(super::HEALTHY)
        }
    }) else {
        return;
    };
    let Some(device) = Loop::attach(&storage.file("image"), &["--direct-io=on"]) else {
        return;
    };
    let released = ReleaseOnDrop(&storage);
    let changes = json!({"size": IMAGE, "runtime": "3s", "iodepth": 16});
    let mut run = Run::start(&job(Path::new(&device.0), changes), &[]);
    let first = wait_for_half_a_second(&mut run);
    armed.store(true, Ordering::Relaxed);
    let from = first.elapsed().as_secs_f64();
    let outcome = run.finish(|| storage.release());
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, from..3.0, 3.0);
    claims.unfinished(&outcome.report()["read"], 16, 3.0 - from);
    claims.silence_is_shown(first, from..3.0);
    drop(claims);
    drop(released);
}

/// ext4 on a loop device with a backing file on the test's FUSE filesystem. Without a script,
/// the device writes 1 MiB in about 60 ms.
struct SlowDisk {
    storage: Storage,
    at: PathBuf,
    _mounted: Mounted,
    _device: Loop,
    _directory: tempfile::TempDir,
}

impl SlowDisk {
    /// `script` takes effect once `armed` is set.
    fn new(
        armed: &'static AtomicBool,
        script: impl Fn(&Io) -> Completion + Send + Sync + 'static,
    ) -> Option<Self> {
        let storage = Storage::new(&["image"], IMAGE, move |io| {
            if armed.load(Ordering::Relaxed) {
                script(io)
            } else {
                IMMEDIATELY
            }
        })?;
        let device = Loop::attach(&storage.file("image"), &[])?;
        let lazy = "lazy_itable_init=0,lazy_journal_init=0";
        if let Err(error) = scratch::run("mkfs.ext4", &["-q", "-E", lazy, &device.0]) {
            scratch::skip(&error);
            return None;
        }
        let directory = scratch::directory();
        let at = directory.path().join("mounted");
        Some(Self {
            _mounted: Mounted::new(&device.0, &at),
            at,
            _device: device,
            _directory: directory,
            storage,
        })
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        self.storage.release();
    }
}

fn flag() -> &'static AtomicBool {
    Box::leak(Box::default())
}

/// Writes 48 MiB into the page cache, then syncs them, which takes seconds.
fn sync_job(file: PathBuf) -> Value {
    let changes = json!({"direct": 0, "rw": "write", "bs": "1m", "size": "48m", "fsync": 48, "runtime": "4s",
        "ioengine": "psync"});
    job(&file, changes)
}

fn slow_write(io: &Io) -> Completion {
    match io.kind {
        Kind::Write => Completion::After(Duration::from_millis(60)),
        _ => IMMEDIATELY,
    }
}

fn long_sync(case: &str) {
    let armed = flag();
    let Some(disk) = SlowDisk::new(armed, slow_write) else {
        return;
    };
    let mut run = Run::start(&sync_job(disk.at.join("t1")), &[]);
    run.wait_for(|event| event["phase"] == "measure");
    armed.store(true, Ordering::Relaxed);
    let outcome = run.finish(|| disk.storage.release());
    let sync = &outcome.report()["sync"];
    let slowest = number(&sync["lat_ns"]["max"]).max(number(&sync["unfinished"]["oldest_ns"]));
    let mut claims = Claims::about(case, &outcome);
    claims.within("longest sync, in seconds", slowest / 1e9, 1.2..=60.0);
    claims.healthy();
    drop(claims);
}

/// ext4 on a device that stops writing a second after the start of the measured window.
fn dying_disk(armed: &'static AtomicBool) -> Option<SlowDisk> {
    let start: OnceLock<Duration> = OnceLock::new();
    SlowDisk::new(armed, move |io| {
        if io.at < *start.get_or_init(|| io.at) + Duration::from_secs(1) {
            slow_write(io)
        } else {
            Completion::Never
        }
    })
}

/// Starts a run whose storage stops responding during the measured window.
fn start_dying(jobs: &Value, armed: &AtomicBool) -> Run {
    let mut run = Run::start(jobs, &[]);
    run.wait_for(|event| event["phase"] == "measure");
    armed.store(true, Ordering::Relaxed);
    run
}

/// The sync starts within the first 0.3 s. Its age is measured from its start.
fn claim_hung_sync(claims: &mut Claims, job: &Value) {
    claims.failed();
    let total = number(&job["stalls"]["total_ms"]) / 1e3;
    claims.within("stalled seconds", total, 2.0..=3.5);
    let unfinished = &job["sync"]["unfinished"];
    let age = number(&unfinished["oldest_ns"]) / 1e9;
    claims.within("age of the sync", age, 3.4..=4.1);
    claims.equal("unfinished syncs", unfinished["ios"].as_u64(), Some(1));
}

fn hung_sync(case: &str) {
    let armed = flag();
    let Some(disk) = dying_disk(armed) else {
        return;
    };
    let run = start_dying(&sync_job(disk.at.join("t1")), armed);
    let outcome = run.finish(|| disk.storage.release());
    let mut claims = Claims::about(case, &outcome);
    claim_hung_sync(&mut claims, outcome.job(0));
    drop(claims);
}

/// A job whose sync hangs, and a job that writes to another device.
fn two_disks(dying: &SlowDisk, healthy: &Disk) -> Value {
    let mut busy = write_job(healthy.file("t1"), "4s", json!({}));
    busy["name"] = json!("busy");
    json!({"jobs": [sync_job(dying.at.join("t1")), busy]})
}

/// Progress of another job on another device does not count as progress of this job.
fn hung_sync_next_to_a_busy_device(case: &str) {
    let (armed, healthy) = (flag(), Disk::ext4_in_memory());
    let (Some(disk), Some(healthy)) = (dying_disk(armed), healthy) else {
        return;
    };
    let mut run = start_dying(&two_disks(&disk, &healthy), armed);
    run.wait_for(|event| event["phase"] == "measure" && event["state"] == "end");
    disk.storage.release();
    let outcome = run.finish(|| ());
    let mut claims = Claims::about(case, &outcome);
    claim_hung_sync(&mut claims, outcome.job(0));
    claims.no_stall(outcome.job(1));
    drop(claims);
}

/// The report for one dead and one healthy filesystem does not wait for the dead one.
fn report_with_a_dead_disk(case: &str) {
    let (armed, healthy) = (flag(), Disk::ext4_in_memory());
    let (Some(disk), Some(healthy)) = (dying_disk(armed), healthy) else {
        return;
    };
    let run = start_dying(&two_disks(&disk, &healthy), armed);
    let outcome = run.finish(|| disk.storage.release());
    let seconds = (outcome.reported_at() - outcome.started_at()).as_secs_f64();
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds until the report", seconds, 4.0..=12.0);
    drop(claims);
}

/// On drop, releases the storage before the devices on it are removed.
struct ReleaseOnDrop<'a>(&'a Storage);

impl Drop for ReleaseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}
