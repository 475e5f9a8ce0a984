//! dm devices that hang, delay, fail and recover at known moments, in a user-mode Linux that this
//! test boots. The moments are those of `dmsetup suspend` and `resume`, by the wall clock.

use super::{
    Case, LENGTH,
    disks::Frozen,
    failing, job,
    outcome::{Claims, EARLY, LATE, Outcome, Run, names, number},
    scratch::{
        self, Mounted,
        mapped::{Mapped, SECTOR_BYTES},
        program::with,
        uml::{self, Machine},
    },
};
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
/// Part of the disk that a case uses: ext4 with its journal, and a file.
const PART_BYTES: u64 = 64 << 20;
const PARTS: u64 = 64;
/// Latency of a raw device without a fault; a kernel tick longer.
const HEALTHY_MS: u64 = 40;
/// dm-delay counts in kernel ticks, in seconds.
const TICK: f64 = 0.01;
const NOFLUSH: &[&str] = &["--noflush"];
const NOLOCKFS: &[&str] = &["--nolockfs"];
const NEITHER: &[&str] = &["--noflush", "--nolockfs"];

/// On the host this boots a user-mode Linux, whose init runs the same test.
#[test]
fn device_mapper() {
    run("device_mapper::device_mapper", &GROUPS);
}

#[test]
#[ignore = "30 s more; `cargo test -p leadline-runner --test missing_time -- --ignored`"]
fn device_mapper_more() {
    run("device_mapper::device_mapper_more", &MORE_GROUPS);
}

/// The CPU of the user-mode Linux is shared: a case that fails beside others must pass alone.
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
            longest: Duration::from_secs(180),
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
        println!(
            "{group}: {} cases, {:.0} s since the start",
            cases.len(),
            start.elapsed().as_secs_f64()
        );
    }
    assert!(failed.is_empty(), "failed: {failed:?}");
}

/// The cases of a group run at the same time.
const GROUPS: [Group; 4] = [
    ("block until the end", BLOCKED),
    ("slow, or recover late", SLOW),
    ("fail", FAIL),
    ("stop in a hang", STOP),
];

const MORE_GROUPS: [Group; 2] = [("hang until the end", UNTIL_THE_END), ("recover", RECOVER)];

/// The run waits 5 s for its worker.
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
    // Linux 6.1 blocks the first write on a frozen filesystem in io_uring_enter(2).
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
    ("writes of a mix, 1,200 ms", slow_writes),
];

const FAIL: &[Case] = &[
    ("one block, psync", |case| {
        bad_block(case, "4k", psync());
    }),
    ("one block, depth 32", |case| {
        bad_block(case, "4k", uring(32));
    }),
    ("one block inside of an I/O", |case| {
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

/// dm-linear over a part of the disk. Fields are dropped in this order.
struct Device {
    mounted: Option<(PathBuf, Mounted, tempfile::TempDir)>,
    top: Mapped,
    /// Table of `top` without faults.
    below: String,
    _delay: Option<Mapped>,
}

impl Device {
    /// The device, or a file on it.
    fn path(&self) -> PathBuf {
        match &self.mounted {
            Some((at, ..)) => at.join("t1"),
            None => PathBuf::from(&self.top.node),
        }
    }
}

/// A number for names, and an unused part of the disk.
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
    let below = format!("linear {} 0", delay.node);
    Device {
        mounted: None,
        top: Mapped::new(&format!("top{number}"), PART_BYTES, &below),
        below,
        _delay: Some(delay),
    }
}

/// With a written file. Not slowed down: its jobs have a rate.
fn ext4() -> Device {
    let (number, part) = part();
    ext4_on(number, &part)
}

fn ext4_on(number: u64, part: &str) -> Device {
    let below = format!("linear {part}");
    let top = Mapped::new(&format!("top{number}"), PART_BYTES, &below);
    scratch::run("mkfs.ext4", &["-q", "-E", "lazy_itable_init=0", &top.node]).unwrap();
    let directory = scratch::directory();
    let at = directory.path().join("mounted");
    let mounted = Mounted::new(&top.node, &at);
    scratch::image(&at.join("t1"), LENGTH);
    Device {
        mounted: Some((at, mounted, directory)),
        top,
        below,
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

/// Random writes, slowly: the sleep of the rate is not in flight.
fn write(changes: Value) -> Job {
    let plain = json!({"rw": "randwrite", "rate_iops": 100});
    read(with(&plain, changes))
}

/// Buffered writes; only the syncs wait for the device.
fn sync_job() -> Job {
    write(json!({"ioengine": "psync", "direct": 0, "fsync": 4}))
}

/// A moment in seconds since the start of the measured window.
fn seconds(outcome: &Outcome, moment: SystemTime) -> f64 {
    let start = number(&outcome.report()["started_at_ms"]) / 1e3;
    let moment = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap();
    moment.as_secs_f64() - start
}

fn start_of(outcome: &Outcome) -> Instant {
    Instant::now() - Duration::from_secs_f64(seconds(outcome, SystemTime::now()))
}

fn operation(report: &Value) -> &Value {
    let of = |name: &str| number(&report[name]["ios"]) + number(&report[name]["unfinished"]["ios"]);
    if of("read") > of("write") {
        &report["read"]
    } else {
        &report["write"]
    }
}

/// Suspended until it is dropped.
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

/// Starts a run and waits for half a second of the measured window.
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

const RUNTIME: f64 = 3.0;

fn claim_hang(claims: &mut Claims, outcome: &Outcome, from: f64, ios: &RangeInclusive<u64>) {
    claims.failed();
    claims.one_stall(0, from..RUNTIME, RUNTIME);
    unfinished(claims, operation(outcome.report()), ios, RUNTIME - from);
    claims.silence_is_shown(start_of(outcome), from..RUNTIME);
    let waited = (outcome.reported_at() - start_of(outcome)).as_secs_f64();
    claims.within("seconds to the report", waited, RUNTIME..=RUNTIME + 6.5);
}

fn hang(case: &str, device: &Device, options: &[&str], job: Job, ios: RangeInclusive<u64>) {
    let run = start(&job(device), "3s");
    let suspended = Suspended::new(&device.top, options);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(suspended));
    let mut claims = Claims::about(case, &outcome);
    claim_hang(&mut claims, &outcome, seconds(&outcome, at), &ios);
}

fn fsfreeze(case: &str, changes: Value, ios: RangeInclusive<u64>) {
    let device = ext4();
    let run = start(&write(changes)(&device), "3s");
    let frozen = Frozen::new(&device.mounted.as_ref().unwrap().0);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(frozen));
    let mut claims = Claims::about(case, &outcome);
    claim_hang(&mut claims, &outcome, seconds(&outcome, at), &ios);
}

/// One of two disks hangs; the I/Os in flight gather there.
fn half_of_a_stripe(case: &str) {
    let (one, two) = (raw(), raw());
    let table = format!("striped 2 128 {} 0 {} 0", one.top.node, two.top.node);
    let stripe = Device {
        mounted: None,
        top: Mapped::new("stripe", PART_BYTES, &table),
        below: table,
        _delay: None,
    };
    let run = start(&read(uring(32))(&stripe), "3s");
    let suspended = Suspended::new(&two.top, &[]);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(suspended));
    let mut claims = Claims::about(case, &outcome);
    let from = seconds(&outcome, at);
    claims.failed();
    claims.equal("number of stalls", outcome.stalls(0).len(), 1);
    for stall in outcome.stalls(0) {
        // Half of the I/Os in flight are on the other disk; after six rounds all are on this one.
        claims.within("start", stall.start, from - LATE..=from + 2.0 * EARLY);
        claims.within(
            "end",
            stall.start + stall.seconds,
            RUNTIME - EARLY..=RUNTIME + LATE,
        );
    }
    claims.unfinished(&outcome.report()["read"], 32, RUNTIME - from);
    drop(claims);
    drop(stripe);
}

fn sync_until_the_end(case: &str) {
    let device = ext4();
    let run = start(&sync_job()(&device), "3s");
    let suspended = Suspended::new(&device.top, NOLOCKFS);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(suspended));
    let from = seconds(&outcome, at);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, from..RUNTIME, RUNTIME);
    claims.unfinished(&outcome.report()["sync"], 1, RUNTIME - from);
}

/// The journal commits during the hang, so that whoever changes an inode waits: the sampler must
/// not. It looks at the page cache once a second.
fn journal(case: &str, changes: Value, ios: RangeInclusive<u64>) {
    let device = ext4();
    let run = start(&write(changes)(&device), "3s");
    let suspended = Suspended::new(&device.top, NEITHER);
    let at = SystemTime::now();
    let file = device.path();
    let mut sync = Command::new("sync").arg("-f").arg(&file).spawn().unwrap();
    let outcome = run.finish(|| drop(suspended));
    sync.wait().unwrap();
    let mut claims = Claims::about(case, &outcome);
    claim_hang(&mut claims, &outcome, seconds(&outcome, at), &ios);
}

fn one_of_two_jobs(case: &str) {
    let (works, hangs) = (raw(), raw());
    let named = |device: &Device, name: &str| {
        with(
            &read(uring(32))(device),
            json!({"name": name, "runtime": "3s"}),
        )
    };
    let jobs = json!({"jobs": [named(&works, "works"), named(&hangs, "hangs")]});
    let mut run = Run::start(&jobs, &[]);
    run.wait_for_a_sample();
    sleep(Duration::from_millis(400));
    let suspended = Suspended::new(&hangs.top, &[]);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(suspended));
    let from = seconds(&outcome, at);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.no_stall(outcome.job(0));
    claims.one_stall(1, from..RUNTIME, RUNTIME);
    claims.unfinished(&outcome.job(1)["read"], 32, RUNTIME - from);
}

/// Hangs for `length` seconds, after half a second. Returns the time of the hang.
fn hang_for(device: &Device, options: &[&str], length: f64) -> (SystemTime, SystemTime) {
    let suspended = Suspended::new(&device.top, options);
    let from = SystemTime::now();
    sleep(Duration::from_secs_f64(length));
    drop(suspended);
    (from, SystemTime::now())
}

fn recovered(
    device: &Device,
    options: &[&str],
    job: &Value,
    runtime: &str,
    length: f64,
) -> (Outcome, Range<f64>) {
    let run = start(job, runtime);
    let (from, to) = hang_for(device, options, length);
    let outcome = run.finish(|| ());
    let hang = seconds(&outcome, from)..seconds(&outcome, to);
    (outcome, hang)
}

fn claim_max(claims: &mut Claims, outcome: &Outcome, hang: &Range<f64>) {
    let latency = &operation(outcome.report())["lat_ns"];
    let length = hang.end - hang.start;
    let max = number(&latency["max"]) / 1e9;
    claims.within("max", max, length - LATE..=length + EARLY);
    claims.equal("lower bounds", names(latency), vec![]);
}

fn recover(case: &str, device: &Device, options: &[&str], job: Job) {
    let (outcome, hang) = recovered(device, options, &job(device), "5s", 2.0);
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.one_stall(0, hang.clone(), 5.0);
    claims.silence_is_shown(start_of(&outcome), hang.clone());
    claim_max(&mut claims, &outcome, &hang);
}

/// The kernel fails readahead on a suspended device, and reads again. What was read ahead before
/// completes.
fn readahead(case: &str) {
    let device = raw();
    let changes = json!({"direct": 0, "rw": "read", "size": PART_BYTES, "invalidate": 1});
    let job = read(with(&psync(), changes))(&device);
    let (outcome, hang) = recovered(&device, &[], &job, "5s", 2.0);
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    let stalls = outcome.stalls(0);
    claims.equal("number of stalls", stalls.len(), 1);
    for stall in stalls {
        claims.within(
            "start",
            stall.start,
            hang.start - LATE..=hang.start + 2.0 * EARLY,
        );
        claims.within(
            "end",
            stall.start + stall.seconds,
            hang.end - EARLY..=hang.end + EARLY,
        );
    }
}

/// A hang below 1 s is no stall, but it is the slowest I/O.
fn too_short(case: &str, changes: Value) {
    let device = raw();
    let (outcome, hang) = recovered(&device, &[], &read(changes)(&device), "4s", 0.6);
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claim_max(&mut claims, &outcome, &hang);
}

/// More than 5 s fail the run, although the device recovers.
fn long(case: &str, changes: Value) {
    let device = raw();
    let (outcome, hang) = recovered(&device, &[], &read(changes)(&device), "9s", 6.0);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, hang.clone(), 9.0);
    claim_max(&mut claims, &outcome, &hang);
}

fn twice(case: &str) {
    let device = raw();
    let run = start(&read(uring(32))(&device), "6s");
    let first = hang_for(&device, &[], 1.5);
    sleep(Duration::from_millis(700));
    let second = hang_for(&device, NOFLUSH, 1.5);
    let outcome = run.finish(|| ());
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    let stalls = outcome.stalls(0);
    claims.equal("number of stalls", stalls.len(), 2);
    for ((from, to), stall) in [first, second].into_iter().zip(stalls) {
        let (from, to) = (seconds(&outcome, from), seconds(&outcome, to));
        claims.within("start", stall.start, from - LATE..=from + EARLY);
        claims.within("end", stall.start + stall.seconds, to - EARLY..=to + LATE);
    }
}

/// The device moves to another part of the disk, as pvmove does.
fn new_table(case: &str) {
    let device = raw();
    let run = start(&read(uring(32))(&device), "5s");
    let suspended = Suspended::new(&device.top, &[]);
    let from = SystemTime::now();
    device.top.load(&format!("linear {}", part().1));
    sleep(Duration::from_millis(1500));
    drop(suspended);
    let to = SystemTime::now();
    let outcome = run.finish(|| ());
    let hang = seconds(&outcome, from)..seconds(&outcome, to);
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.one_stall(0, hang.clone(), 5.0);
    claim_max(&mut claims, &outcome, &hang);
}

/// Every I/O takes this long: slow, but no stall.
fn slow(case: &str, ms: u64, changes: Value, depth: u64) {
    let (number_of_part, part) = part();
    let device = Mapped::new(
        &format!("slow{number_of_part}"),
        PART_BYTES,
        &format!("delay {part} {ms}"),
    );
    let job = job(
        device.node.as_ref(),
        with(&changes, json!({"runtime": "7s"})),
    );
    let outcome = Run::start(&job, &[]).finish(|| ());
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let delay = ms as f64 / 1e3;
    let latency = &read["lat_ns"];
    claims.within(
        "min",
        number(&latency["min"]) / 1e9,
        delay - TICK..=delay + LATE,
    );
    claims.within(
        "max",
        number(&latency["max"]) / 1e9,
        delay - TICK..=delay + EARLY,
    );
    let rounds = (7.0 / (delay + 0.06)).floor()..=(7.0 / delay).ceil();
    let depth = depth as f64;
    claims.within(
        "completed",
        number(&read["ios"]),
        rounds.start() * depth..=rounds.end() * depth,
    );
}

/// Writes take 1.2 s, reads do not: something completes all the time, until all slots write.
fn slow_writes(case: &str) {
    let (number_of_part, part) = part();
    let device = ext4_on(number_of_part, &part);
    device.top.suspend(&[]);
    device
        .top
        .load(&format!("delay {part} {HEALTHY_MS} {part} 1200"));
    device.top.resume();
    let changes = json!({"rw": "randrw", "iodepth": 8, "runtime": "7s"});
    let outcome = Run::start(&job(&device.path(), changes), &[]).finish(|| ());
    device.top.load(&device.below);
    device.top.suspend(&[]);
    device.top.resume();
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    let write = &outcome.report()["write"]["lat_ns"];
    claims.within("min", number(&write["min"]) / 1e9, 1.2 - TICK..=1.2 + LATE);
    let read = &outcome.report()["read"]["lat_ns"];
    claims.within("slowest read", number(&read["max"]) / 1e9, 0.01..=0.5);
}

const BAD_OFFSET: u64 = 8 << 20;

/// One block of the device fails: the error names the I/O that covers it.
fn bad_block(case: &str, bs: &str, changes: Value) {
    let device = raw();
    let sectors = |bytes: u64| bytes / SECTOR_BYTES;
    // Inside of an I/O of 256 KiB.
    let offset = BAD_OFFSET + if bs == "4k" { 0 } else { 128 << 10 };
    let after = offset + 4096;
    let below = device.below.trim_end_matches(" 0");
    let (first, rest) = (sectors(offset), sectors(PART_BYTES - after));
    device.top.suspend(&[]);
    device.top.load_table(&format!(
        "0 {first} {below} 0\n{first} 8 error\n{} {rest} {below} {}",
        sectors(after),
        sectors(after)
    ));
    device.top.resume();
    let plain = json!({"rw": "read", "bs": bs, "time_based": 0, "offset": BAD_OFFSET - (256 << 10), "size": "1m"});
    let outcome = Run::start(&read(with(&plain, changes))(&device), &[]).finish(|| ());
    let mut claims = Claims::about(case, &outcome);
    claim_error(&mut claims, &outcome, "read");
    let error = &outcome.report()["errors"]["first"];
    claims.equal("offset", error["offset"].as_u64(), Some(BAD_OFFSET));
}

fn claim_error(claims: &mut Claims, outcome: &Outcome, operation: &str) {
    claims.equal("exit code", outcome.code, Some(1));
    claims.equal("finding", outcome.finding("io_errors"), Some("serious"));
    let error = &outcome.report()["errors"]["first"];
    claims.equal("errno", error["errno"].as_u64(), Some(5));
    claims.equal("operation", error["operation"].as_str(), Some(operation));
    let offset = number(&error["offset"]);
    claims.within("offset", offset, 0.0..=(LENGTH - 4096) as f64);
    claims.equal("remainder of the offset", offset % 4096.0, 0.0);
    let message = error["message"].as_str().unwrap_or_default();
    claims.holds("error named", message.contains("Input/output error"));
}

/// The table becomes dm-error in the middle of the run.
fn dies(case: &str, device: &Device, job: Job, operation: &str) {
    let run = start(&job(device), "20s");
    device.top.load("error");
    device.top.suspend(NEITHER);
    device.top.resume();
    let died = Instant::now();
    let outcome = run.finish(|| ());
    let waited = (outcome.reported_at() - died).as_secs_f64();
    // Before the filesystem is unmounted.
    device.top.load(&device.below);
    device.top.suspend(NEITHER);
    device.top.resume();
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds to the report", waited, -2.0..=3.0);
    claim_error(&mut claims, &outcome, operation);
}

/// SIGTERM in a hang: the report is complete, and follows within 1 s.
fn stop(case: &str, device: &Device, options: &[&str], job: Job) {
    let run = start(&job(device), "30s");
    let suspended = Suspended::new(&device.top, options);
    let at = SystemTime::now();
    sleep(Duration::from_millis(2000));
    let stopped = run.signal("TERM");
    let outcome = run.finish(|| drop(suspended));
    let from = seconds(&outcome, at);
    let waited = (outcome.reported_at() - stopped).as_secs_f64();
    let window = number(&outcome.report()["duration_ms"]) / 1e3;
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds to the report", waited, 0.0..=1.0);
    claims.equal("exit code", outcome.code, Some(143));
    claims.equal("stalled", outcome.finding("stalled"), Some("serious"));
    claims.one_stall(0, from..window, window);
    let report = outcome.report();
    let is_sync = number(&report["sync"]["unfinished"]["ios"]) > 0.0;
    let stats = if is_sync {
        &report["sync"]
    } else {
        operation(report)
    };
    unfinished(&mut claims, stats, &(1..=32), window - from);
}
