//! Devices that are suspended temporarily or until the end of the run.

use super::*;

pub(super) const RUNTIME: f64 = 3.0;

pub(super) fn claim_hang(
    claims: &mut Claims,
    outcome: &Outcome,
    from: f64,
    ios: &RangeInclusive<u64>,
) {
    claims.failed();
    claims.one_stall(0, from..RUNTIME, RUNTIME);
    unfinished(
        claims,
        busier_direction(outcome.report()),
        ios,
        RUNTIME - from,
    );
    claims.silence_is_shown(start_of(outcome), from..RUNTIME);
    let waited = (outcome.reported_at() - start_of(outcome)).as_secs_f64();
    claims.within("seconds until the report", waited, RUNTIME..=RUNTIME + 6.5);
}

pub(super) fn hang(
    case: &str,
    device: &Device,
    options: &[&str],
    job: Job,
    ios: RangeInclusive<u64>,
) {
    let run = start(&job(device), "3s");
    let suspended = Suspended::new(&device.top, options);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(suspended));
    let mut claims = Claims::about(case, &outcome);
    claim_hang(&mut claims, &outcome, seconds(&outcome, at), &ios);
}

pub(super) fn fsfreeze(case: &str, changes: Value, ios: RangeInclusive<u64>) {
    let device = ext4();
    let run = start(&write(changes)(&device), "3s");
    let frozen = Frozen::new(&device.mounted.as_ref().unwrap().0);
    let at = SystemTime::now();
    let outcome = run.finish(|| drop(frozen));
    let mut claims = Claims::about(case, &outcome);
    claim_hang(&mut claims, &outcome, seconds(&outcome, at), &ios);
}

/// One of two disks hangs. Over time, all I/Os in flight wait for it.
pub(super) fn half_of_a_stripe(case: &str) {
    let (one, two) = (raw(), raw());
    let table = format!("striped 2 128 {} 0 {} 0", one.top.node, two.top.node);
    let stripe = Device {
        mounted: None,
        top: Mapped::new("stripe", PART_BYTES, &table),
        healthy_table: table,
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
        // At first, half of the I/Os in flight are on the other disk. After six rounds, all are on
        // the hung one.
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

pub(super) fn sync_until_the_end(case: &str) {
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

/// The journal commits during the hang, so every process that changes an inode must wait. The
/// sampler must not wait, even though it inspects the page cache once a second.
pub(super) fn journal(case: &str, changes: Value, ios: RangeInclusive<u64>) {
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

pub(super) fn one_of_two_jobs(case: &str) {
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

/// Suspends the device for `length` seconds. Returns the start and the end of the hang.
pub(super) fn hang_for(device: &Device, options: &[&str], length: f64) -> (SystemTime, SystemTime) {
    let suspended = Suspended::new(&device.top, options);
    let from = SystemTime::now();
    sleep(Duration::from_secs_f64(length));
    drop(suspended);
    (from, SystemTime::now())
}

pub(super) fn run_with_hang(
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

pub(super) fn claim_max(claims: &mut Claims, outcome: &Outcome, hang: &Range<f64>) {
    let latency = &busier_direction(outcome.report())["lat_ns"];
    let length = hang.end - hang.start;
    let max = number(&latency["max"]) / 1e9;
    claims.within("max", max, length - LATE..=length + EARLY);
    claims.equal("lower bounds", lower_bounds(latency), vec![]);
}

pub(super) fn recover(case: &str, device: &Device, options: &[&str], job: Job) {
    let (outcome, hang) = run_with_hang(device, options, &job(device), "5s", 2.0);
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    claims.one_stall(0, hang.clone(), 5.0);
    claims.silence_is_shown(start_of(&outcome), hang.clone());
    claim_max(&mut claims, &outcome, &hang);
}

/// On a suspended device, the kernel fails readahead and then reads again. Reads of pages that were
/// read ahead before the hang complete.
pub(super) fn readahead(case: &str) {
    let device = raw();
    let changes = json!({"direct": 0, "rw": "read", "size": PART_BYTES, "invalidate": 1});
    let job = read(with(&psync(), changes))(&device);
    let (outcome, hang) = run_with_hang(&device, &[], &job, "5s", 2.0);
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

/// A hang shorter than 1 s is not reported as a stall, but causes the slowest I/O.
pub(super) fn too_short(case: &str, changes: Value) {
    let device = raw();
    let (outcome, hang) = run_with_hang(&device, &[], &read(changes)(&device), "4s", 0.6);
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claim_max(&mut claims, &outcome, &hang);
}

/// A hang longer than 5 s fails the run, even if the device recovers.
pub(super) fn long(case: &str, changes: Value) {
    let device = raw();
    let (outcome, hang) = run_with_hang(&device, &[], &read(changes)(&device), "9s", 6.0);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, hang.clone(), 9.0);
    claim_max(&mut claims, &outcome, &hang);
}

pub(super) fn twice(case: &str) {
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

/// The device is moved to another part of the disk, as with pvmove.
pub(super) fn new_table(case: &str) {
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
