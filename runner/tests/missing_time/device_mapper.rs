//! dm devices that hang, slow down, fail and recover at known times. The test boots user-mode Linux
//! for them. The times are the wall-clock times of `dmsetup suspend` and `resume`.

mod faults;
mod hangs;

use super::{
    Case, LENGTH,
    disks::Frozen,
    failing, job,
    outcome::{Claims, EARLY, LATE, Outcome, Run, lower_bounds, number},
    scratch::{
        self, Mounted,
        mapped::{Mapped, SECTOR_BYTES},
        program::with,
        uml::{self, Machine},
    },
};
use faults::*;
use hangs::*;
use serde_json::{Value, json};
use std::{
    env,
    ops::{Range, RangeInclusive},
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicU64, Ordering},
    thread::sleep,
    time::{Duration, Instant, SystemTime},
};

const DISK: &str = "/dev/ubda";
/// Size of each case's part of the disk: enough for ext4 with a journal, and a file.
const PART_BYTES: u64 = 64 << 20;
const PARTS: u64 = 64;
/// Delay of a raw device without a fault. The actual latency is up to one kernel tick longer.
const HEALTHY_MS: u64 = 40;
/// Length of a kernel tick in seconds, the resolution of dm-delay.
const TICK: f64 = 0.01;
const NOFLUSH: &[&str] = &["--noflush"];
const NOLOCKFS: &[&str] = &["--nolockfs"];
const NEITHER: &[&str] = &["--noflush", "--nolockfs"];

/// On the host, this boots user-mode Linux, whose init runs the same test.
#[test]
fn device_mapper() {
    run("device_mapper::device_mapper", &GROUPS);
}

#[test]
#[ignore = "takes another 30 s; `cargo test -p leadline-runner --test missing_time -- --ignored`"]
fn device_mapper_more() {
    run("device_mapper::device_mapper_more", &MORE_GROUPS);
}

/// UML has a single CPU, which all cases share. If a case fails while running in parallel with
/// others, it must pass alone.
fn failing_alone(cases: &[Case]) -> Vec<&'static str> {
    let again = failing(cases);
    let each = again.iter().flat_map(|case| failing(&[*case]));
    each.map(|(name, _)| name).collect()
}

type Group = (&'static str, &'static [Case]);

fn run(test: &str, groups: &[Group]) {
    if !uml::is_inside() {
        return uml::run(&Machine {
            test,
            disks: vec![("ubda", PART_BYTES * PARTS)],
            modules: &["dm-delay"],
            timeout: Duration::from_secs(180),
        });
    }
    let start = Instant::now();
    let filter = env::var("LEADLINE_CASE").unwrap_or_default();
    let mut failed = Vec::new();
    for (group, cases) in groups {
        let named = cases
            .iter()
            .filter(|(name, _)| format!("{group}: {name}").contains(&filter));
        let cases: Vec<Case> = named.copied().collect();
        failed.extend(failing_alone(&cases));
        eprintln!(
            "{group}: {} cases, {:.0} s since the start",
            cases.len(),
            start.elapsed().as_secs_f64()
        );
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The cases in a group run in parallel.
const GROUPS: [Group; 4] = [
    ("block until the end", BLOCKED),
    ("slow, or recover late", SLOW),
    ("fail", FAIL),
    ("stop during a hang", STOP),
];

const MORE_GROUPS: [Group; 2] = [("hang until the end", UNTIL_THE_END), ("recover", RECOVER)];

/// The run waits 5 s for its blocked worker.
const BLOCKED: &[Case] = &[
    ("journal commit, psync", |case| {
        journal(case, psync(), 1..=1)
    }),
    ("raw read, psync", |case| {
        hang(case, &raw(), &[], read(psync()), 1..=1);
    }),
    ("raw read through the page cache", |case| {
        hang(
            case,
            &raw(),
            &[],
            read(with(&psync(), json!({"direct": 0}))),
            1..=1,
        );
    }),
    ("ext4 write, frozen, psync", |case| {
        hang(case, &ext4(), &[], write(psync()), 1..=1);
    }),
    ("ext4 write, not frozen, psync", |case| {
        hang(case, &ext4(), NOLOCKFS, write(psync()), 1..=1);
    }),
    ("ext4 sync, psync", sync_until_the_end),
    ("fsfreeze, psync", |case| fsfreeze(case, psync(), 1..=1)),
];

const UNTIL_THE_END: &[Case] = &[
    ("raw read, depth 1", |case| {
        hang(case, &raw(), NOFLUSH, read(uring(1)), 1..=1);
    }),
    ("raw read, depth 32", |case| {
        hang(case, &raw(), NEITHER, read(uring(32)), 32..=32);
    }),
    ("half of a stripe, depth 32", half_of_a_stripe),
    // On a frozen filesystem, Linux 6.1 blocks the first write in io_uring_enter(2).
    ("ext4 write, frozen, depth 32", |case| {
        hang(case, &ext4(), &[], write(uring(32)), 1..=32);
    }),
    ("ext4 write, not frozen, depth 32", |case| {
        hang(case, &ext4(), NEITHER, write(uring(32)), 32..=32);
    }),
    ("ext4 read, frozen, depth 32", |case| {
        hang(
            case,
            &ext4(),
            NOFLUSH,
            read(with(&uring(32), json!({"rate_iops": 100}))),
            32..=32,
        );
    }),
    ("fsfreeze, depth 32", |case| {
        fsfreeze(case, uring(32), 1..=32);
    }),
    ("one of two jobs", one_of_two_jobs),
    ("journal commit, depth 32", |case| {
        journal(case, uring(32), 1..=32)
    }),
];

const RECOVER: &[Case] = &[
    ("raw read, 2 of 5 s, psync", |case| {
        recover(case, &raw(), NOFLUSH, read(psync()));
    }),
    ("raw read, 2 of 5 s, depth 32", |case| {
        recover(case, &raw(), &[], read(uring(32)));
    }),
    ("ext4 write, 2 of 5 s, frozen, psync", |case| {
        recover(case, &ext4(), &[], write(psync()));
    }),
    ("ext4 write, 2 of 5 s, frozen, depth 32", |case| {
        recover(case, &ext4(), NOFLUSH, write(uring(32)));
    }),
    ("ext4 write, 2 of 5 s, not frozen, depth 32", |case| {
        recover(case, &ext4(), NOLOCKFS, write(uring(32)));
    }),
    ("sequential reads with readahead", readahead),
    ("0.6 s, psync", |case| too_short(case, psync())),
    ("0.6 s, depth 32", |case| too_short(case, uring(32))),
    ("twice 1.5 s", twice),
    ("new table", new_table),
];

const SLOW: &[Case] = &[
    ("6 of 9 s, psync", |case| long(case, psync())),
    ("6 of 9 s, depth 32", |case| long(case, uring(32))),
    ("300 ms, psync", |case| slow(case, 300, psync(), 1)),
    ("300 ms, depth 32", |case| slow(case, 300, uring(32), 32)),
    ("1,200 ms, psync", |case| slow(case, 1200, psync(), 1)),
    ("1,200 ms, depth 1", |case| slow(case, 1200, uring(1), 1)),
    ("1,200 ms, depth 32", |case| slow(case, 1200, uring(32), 32)),
    ("writes in a mixed job, 1,200 ms", slow_writes),
];

const FAIL: &[Case] = &[
    ("one block, psync", |case| {
        bad_block(case, "4k", psync());
    }),
    ("one block, depth 32", |case| {
        bad_block(case, "4k", uring(32));
    }),
    ("one block inside an I/O", |case| {
        bad_block(case, "256k", uring(1));
    }),
    ("one block, page cache", |case| {
        bad_block(case, "4k", with(&psync(), json!({"direct": 0})));
    }),
    ("raw read, psync", |case| {
        dies(case, &raw(), read(psync()), "read");
    }),
    ("raw read, depth 32", |case| {
        dies(case, &raw(), read(uring(32)), "read");
    }),
    ("ext4 write, depth 32", |case| {
        dies(case, &ext4(), write(uring(32)), "write");
    }),
    ("ext4 sync", |case| {
        let changes = with(&psync(), json!({"direct": 0, "fsync": 8}));
        dies(case, &ext4(), write(changes), "sync");
    }),
];

const STOP: &[Case] = &[
    ("raw read, psync", |case| {
        stop(case, &raw(), &[], read(psync()));
    }),
    ("raw read, depth 32", |case| {
        stop(case, &raw(), &[], read(uring(32)));
    }),
    ("ext4 write, frozen, psync", |case| {
        stop(case, &ext4(), &[], write(psync()));
    }),
    ("ext4 write, frozen, depth 32", |case| {
        stop(case, &ext4(), NOFLUSH, write(uring(32)));
    }),
    ("ext4 write and unlink, not frozen", |case| {
        stop(
            case,
            &ext4(),
            NOLOCKFS,
            write(with(&psync(), json!({"unlink": 1}))),
        );
    }),
    ("ext4 sync", |case| {
        stop(case, &ext4(), NOLOCKFS, sync_job());
    }),
];

/// dm-linear on a part of the disk. Fields are dropped in this order.
struct Device {
    mounted: Option<(PathBuf, Mounted, tempfile::TempDir)>,
    top: Mapped,
    /// The table of `top` without a fault.
    healthy_table: String,
    _delay: Option<Mapped>,
}

impl Device {
    /// The device, or a file on its filesystem.
    fn path(&self) -> PathBuf {
        match &self.mounted {
            Some((at, ..)) => at.join("t1"),
            None => PathBuf::from(&self.top.node),
        }
    }
}

/// Returns the number of an unused part of the disk, for unique device names, and its table
/// arguments.
fn part() -> (u64, String) {
    static USED: AtomicU64 = AtomicU64::new(0);
    let number = USED.fetch_add(1, Ordering::Relaxed);
    assert!(number < PARTS);
    let sector = number * PART_BYTES / SECTOR_BYTES;
    (number, format!("{DISK} {sector}"))
}

fn raw() -> Device {
    let (number, part) = part();
    let delay = Mapped::new(
        &format!("below{number}"),
        PART_BYTES,
        &format!("delay {part} {HEALTHY_MS}"),
    );
    let healthy_table = format!("linear {} 0", delay.node);
    Device {
        mounted: None,
        top: Mapped::new(&format!("top{number}"), PART_BYTES, &healthy_table),
        healthy_table,
        _delay: Some(delay),
    }
}

/// An ext4 filesystem with a fully written file. The device has no delay, because its jobs have a
/// rate.
fn ext4() -> Device {
    let (number, part) = part();
    ext4_on(number, &part)
}

fn ext4_on(number: u64, part: &str) -> Device {
    let healthy_table = format!("linear {part}");
    let top = Mapped::new(&format!("top{number}"), PART_BYTES, &healthy_table);
    scratch::run("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0", &top.node]).unwrap();
    let directory = scratch::directory();
    let at = directory.path().join("mounted");
    let mounted = Mounted::new(&top.node, &at);
    scratch::image(&at.join("t1"), LENGTH);
    Device {
        mounted: Some((at, mounted, directory)),
        top,
        healthy_table,
        _delay: None,
    }
}

type Job = Box<dyn Fn(&Device) -> Value>;

fn psync() -> Value {
    json!({"ioengine": "psync"})
}

fn uring(depth: u64) -> Value {
    json!({"ioengine": "io_uring", "iodepth": depth})
}

fn read(changes: Value) -> Job {
    Box::new(move |device| job(&device.path(), changes.clone()))
}

/// Random writes at a low rate, so no I/O is in flight most of the time.
fn write(changes: Value) -> Job {
    let plain = json!({"rw": "randwrite", "rate_iops": 100});
    read(with(&plain, changes))
}

/// Buffered writes, so that only syncs wait for the device.
fn sync_job() -> Job {
    write(json!({"ioengine": "psync", "direct": 0, "fsync": 4}))
}

/// A point in time, in seconds since the start of the measured window.
fn seconds(outcome: &Outcome, moment: SystemTime) -> f64 {
    let start = number(&outcome.report()["started_at_ms"]) / 1e3;
    let moment = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    moment.as_secs_f64() - start
}

fn start_of(outcome: &Outcome) -> Instant {
    Instant::now() - Duration::from_secs_f64(seconds(outcome, SystemTime::now()))
}

fn busier_direction(report: &Value) -> &Value {
    let ios =
        |name: &str| number(&report[name]["ios"]) + number(&report[name]["unfinished"]["ios"]);
    if ios("read") > ios("write") {
        &report["read"]
    } else {
        &report["write"]
    }
}

/// Suspended until dropped.
struct Suspended<'a>(&'a Mapped);

impl<'a> Suspended<'a> {
    fn new(device: &'a Mapped, options: &[&str]) -> Self {
        let suspended = Self(device);
        device.suspend(options);
        suspended
    }
}

impl Drop for Suspended<'_> {
    fn drop(&mut self) {
        self.0.resume();
    }
}

/// Starts a run and waits until half a second of the measured window has passed.
fn start(job: &Value, runtime: &str) -> Run {
    let mut run = Run::start(&with(job, json!({"runtime": runtime})), &[]);
    run.wait_for_a_sample();
    sleep(Duration::from_millis(400));
    run
}

fn unfinished(claims: &mut Claims, stats: &Value, ios: &RangeInclusive<u64>, age: f64) {
    let found = stats["unfinished"]["ios"].as_u64().unwrap();
    claims.holds("unfinished in range", ios.contains(&found));
    claims.unfinished(stats, found, age);
}
