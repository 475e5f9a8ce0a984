//! Storage that stops responding until the end of the run.

use super::{
    Case, LENGTH, hang_from, job,
    outcome::{Claims, EARLY, LATE, Outcome, Run, lower_bounds, number},
    run_all,
    scratch::program::with,
    storage::{Completion, HEALTHY, Io, Kind, Storage},
};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Maximum time from the end of a run with a blocked worker to its report, in seconds: 5 s plus the
/// time for cleanup.
const REPORTED_WITHIN: f64 = 6.5;

#[test]
fn reports_hangs_until_the_end() {
    let cases: [Case; 12] = [
        ("psync read", |case| {
            hang(case, "read", 1, json!({"ioengine": "psync"}));
        }),
        ("psync write", |case| {
            let changes = json!({"ioengine": "psync", "rw": "randwrite", "overwrite": 1});
            hang(case, "write", 1, changes);
        }),
        ("io_uring read, depth 1", |case| {
            hang(case, "read", 1, json!({}));
        }),
        ("io_uring read, depth 32", |case| {
            hang(case, "read", 32, json!({"iodepth": 32}));
        }),
        ("io_uring write, depth 32", |case| {
            let changes = json!({"iodepth": 32, "rw": "randwrite", "overwrite": 1});
            hang(case, "write", 32, changes);
        }),
        ("first I/O, psync", |case| {
            first_io(case, 1, json!({"ioengine": "psync"}));
        }),
        ("first I/O, io_uring", |case| {
            first_io(case, 32, json!({"iodepth": 32}));
        }),
        ("page cache, psync", |case| {
            hang(case, "read", 1, json!({"ioengine": "psync", "direct": 0}));
        }),
        ("page cache, io_uring", |case| {
            hang(case, "read", 4, json!({"direct": 0, "iodepth": 4}));
        }),
        ("rate, io_uring", rate),
        ("ramp", ramp),
        ("starting in the ramp", starting_in_the_ramp),
    ];
    run_all(&cases);
}

#[test]
fn reports_partial_hangs() {
    let cases: [Case; 10] = [
        ("one of two jobs, psync", |case| one_job(case, "psync")),
        ("one of two jobs, io_uring", |case| {
            one_job(case, "io_uring")
        }),
        ("one of two workers, psync", |case| {
            one_worker(case, "psync")
        }),
        ("one of two workers, io_uring", |case| {
            one_worker(case, "io_uring")
        }),
        ("fsync, psync", |case| sync(case, "psync")),
        ("fsync, io_uring", |case| sync(case, "io_uring")),
        ("reads in a mixed job", mixed_job_reads),
        ("unlink, psync", |case| unlink(case, "psync", false)),
        ("unlink, io_uring", |case| unlink(case, "io_uring", false)),
        ("unlink that hangs", |case| unlink(case, "psync", true)),
    ];
    run_all(&cases);
}

const HANG: f64 = 0.5;
const RUNTIME: f64 = 3.0;

fn finish(storage: &Storage, job: &Value) -> Outcome {
    Run::start(job, &[]).finish(|| storage.release())
}

/// Seconds from the first I/O until the report.
fn reported_after(storage: &Storage, outcome: &Outcome) -> f64 {
    let first = storage.first_io().unwrap();
    (outcome.reported_at() - first).as_secs_f64()
}

fn hang(case: &str, direction: &str, in_flight: u64, changes: Value) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(HANG)) else {
        return;
    };
    let job = job(
        &storage.file("t1"),
        with(&json!({"runtime": "3s"}), changes),
    );
    let outcome = finish(&storage, &job);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, HANG..RUNTIME, RUNTIME);
    claims.unfinished(&outcome.report()[direction], in_flight, RUNTIME - HANG);
    claims.equal(
        "stalled workers",
        outcome.job(0)["stalls"]["workers"].as_u64(),
        Some(1),
    );
    claims.silence_is_shown(storage.first_io().unwrap(), HANG..RUNTIME);
    let completed = number(&outcome.report()[direction]["ios"]);
    let max = in_flight as f64 * HANG / HEALTHY.as_secs_f64();
    claims.within("completed", completed, max * 0.3..=max * 1.1);
    let waited = reported_after(&storage, &outcome) - RUNTIME;
    claims.within("seconds until the report", waited, 0.0..=REPORTED_WITHIN);
    claims.equal("pauses", outcome.pauses().len(), 0);
    let window = number(&outcome.report()["duration_ms"]) / 1e3;
    claims.within("window", window, RUNTIME..=RUNTIME + LATE);
}

fn first_io(case: &str, in_flight: u64, changes: Value) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(0.0)) else {
        return;
    };
    let job = job(
        &storage.file("t1"),
        with(&json!({"runtime": "2s"}), changes),
    );
    let outcome = finish(&storage, &job);
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, 0.0..2.0, 2.0);
    claims.unfinished(read, in_flight, 2.0);
    claims.equal("completed", read["ios"].as_u64(), Some(0));
    claims.equal("count", read["lat_ns"]["count"].as_u64(), Some(0));
    claims.equal("min", &read["lat_ns"]["min"], &Value::Null);
    claims.equal("mean", &read["lat_ns"]["mean"], &Value::Null);
    claims.silence_is_shown(storage.first_io().unwrap(), 0.0..2.0);
}

/// I/Os that become due while nothing completes start late. Their age is measured from their
/// intended start.
fn rate(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(HANG)) else {
        return;
    };
    let rate = json!({"runtime": "3s", "rate_iops": 100, "iodepth": 4});
    let outcome = finish(&storage, &job(&storage.file("t1"), rate));
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, HANG..RUNTIME, RUNTIME);
    claims.unfinished(read, 4, RUNTIME - HANG);
    let intended = &read["intended_lat_ns"];
    let max = number(&intended["max"]) / 1e9;
    claims.within(
        "intended max",
        max,
        RUNTIME - HANG - EARLY..=RUNTIME - HANG + EARLY,
    );
    let at_least = lower_bounds(intended);
    claims.holds("intended max is a lower bound", at_least.contains(&"max"));
}

/// If a stall begins in the ramp, only its part within the measured window counts.
fn ramp(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |io| {
        if (0.5..2.5).contains(&io.at.as_secs_f64()) {
            Completion::At(Duration::from_millis(2500))
        } else {
            Completion::After(HEALTHY)
        }
    }) else {
        return;
    };
    let changes = json!({"runtime": "3s", "ramp_time": "1s", "iodepth": 8});
    let outcome = finish(&storage, &job(&storage.file("t1"), changes));
    let mut claims = Claims::about(case, &outcome);
    claims.warned();
    let share = number(&outcome.job(0)["stalls"]["share"]);
    claims.within("share of the window", share, 0.4..=0.55);
}

/// The only I/O in the window starts during the ramp.
fn starting_in_the_ramp(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(HANG)) else {
        return;
    };
    let changes = json!({"runtime": "2s", "ramp_time": "1s"});
    let outcome = finish(&storage, &job(&storage.file("t1"), changes));
    let read = &outcome.report()["read"];
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, 0.0..2.0, 2.0);
    claims.unfinished(read, 1, 2.5);
    claims.equal("completed", read["ios"].as_u64(), Some(0));
}

/// Reads hang but writes do not, so only reads are unfinished.
fn mixed_job_reads(case: &str) {
    let reads = |io: &Io| io.kind == Kind::Read;
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_if(reads)) else {
        return;
    };
    let changes = json!({"rw": "randrw", "runtime": "3s", "iodepth": 8, "overwrite": 1});
    let outcome = finish(&storage, &job(&storage.file("t1"), changes));
    let report = outcome.report();
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, HANG..RUNTIME, RUNTIME);
    claims.unfinished(&report["read"], 8, RUNTIME - HANG);
    let write = &report["write"];
    claims.equal(
        "unfinished writes",
        write["unfinished"]["ios"].as_u64(),
        Some(0),
    );
    claims.equal(
        "lower bounds of writes",
        lower_bounds(&write["lat_ns"]),
        vec![],
    );
}

/// Only I/Os that satisfy a condition hang.
fn hang_if(selected: fn(&Io) -> bool) -> impl Fn(&Io) -> Completion {
    move |io| {
        if selected(io) {
            hang_from(HANG)(io)
        } else {
            Completion::After(HEALTHY)
        }
    }
}

fn one_job(case: &str, engine: &str) {
    let hangs = |io: &Io| io.file == "hangs";
    let Some(storage) = Storage::new(&["works", "hangs"], LENGTH, hang_if(hangs)) else {
        return;
    };
    let depth = if engine == "psync" { 1 } else { 32 };
    let named = |name: &str| {
        let changes = json!({"name": name, "runtime": "3s", "ioengine": engine, "iodepth": depth});
        job(&storage.file(name), changes)
    };
    let outcome = finish(&storage, &json!({"jobs": [named("works"), named("hangs")]}));
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.no_stall(outcome.job(0));
    claims.one_stall(1, HANG..RUNTIME, RUNTIME);
    claims.unfinished(&outcome.job(1)["read"], depth, RUNTIME - HANG);
    claims.silence_is_shown(storage.first_io().unwrap(), HANG..RUNTIME);
    let works = &outcome.job(0)["read"];
    let oldest = number(&works["unfinished"]["oldest_ns"]);
    claims.within("age in the healthy job", oldest, 0.0..=0.5e9);
    let expected = depth as f64 * RUNTIME / HEALTHY.as_secs_f64();
    let range = expected * 0.4..=expected * 1.1;
    claims.within("completed by the healthy job", number(&works["ios"]), range);
}

fn one_worker(case: &str, engine: &str) {
    let second_half = |io: &Io| io.offset >= LENGTH / 2;
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_if(second_half)) else {
        return;
    };
    let depth = if engine == "psync" { 1 } else { 8 };
    let changes = json!({"runtime": "3s", "ioengine": engine, "iodepth": depth, "numjobs": 2,
        "size": LENGTH / 2, "offset_increment": LENGTH / 2});
    let outcome = finish(&storage, &job(&storage.file("t1"), changes));
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, HANG..RUNTIME, RUNTIME);
    claims.equal(
        "stalled workers",
        outcome.job(0)["stalls"]["workers"].as_u64(),
        Some(1),
    );
    claims.silence_is_shown(storage.first_io().unwrap(), HANG..RUNTIME);
    let read = &outcome.report()["read"];
    let unfinished = number(&read["unfinished"]["ios"]);
    claims.within("unfinished", unfinished, depth as f64..=2.0 * depth as f64);
    let expected = depth as f64 * (RUNTIME + HANG) / HEALTHY.as_secs_f64();
    let range = expected * 0.4..=expected * 1.1;
    claims.within("completed by both", number(&read["ios"]), range);
}

/// No device completes anything, so waiting in fsync counts as a stall.
fn sync(case: &str, engine: &str) {
    let syncs = |io: &Io| io.kind == Kind::Sync;
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_if(syncs)) else {
        return;
    };
    let changes =
        json!({"runtime": "3s", "ioengine": engine, "rw": "randwrite", "overwrite": 1, "fsync": 4});
    let outcome = finish(&storage, &job(&storage.file("t1"), changes));
    let report = outcome.report();
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.one_stall(0, HANG..RUNTIME, RUNTIME);
    claims.unfinished(&report["sync"], 1, RUNTIME - HANG);
    claims.equal(
        "unfinished writes",
        report["write"]["unfinished"]["ios"].as_u64(),
        Some(0),
    );
    claims.silence_is_shown(storage.first_io().unwrap(), HANG..RUNTIME);
    let max = number(&report["write"]["lat_ns"]["max"]);
    claims.within("slowest write", max, 0.0..=0.5e9);
}

/// The job's files are new, and are removed at the end.
fn unlink(case: &str, engine: &str, unlink_hangs: bool) {
    let layout = LENGTH / (1 << 20);
    let Some(storage) = Storage::new(&[], 0, move |io| match io.kind {
        Kind::Unlink if unlink_hangs => Completion::Never,
        // The index includes layout requests.
        Kind::Read if io.index > layout => Completion::Never,
        Kind::Read => Completion::After(HEALTHY),
        _ => Completion::After(Duration::ZERO),
    }) else {
        return;
    };
    let changes = json!({"runtime": "2s", "ioengine": engine, "unlink": 1});
    let mut run = Run::start(&job(&storage.file("new"), changes), &[]);
    run.wait_for_a_sample();
    let measured = Instant::now();
    let outcome = run.finish(|| storage.release());
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claims.equal(
        "unfinished",
        outcome.report()["read"]["unfinished"]["ios"].as_u64(),
        Some(1),
    );
    let seconds = (outcome.reported_at() - measured).as_secs_f64();
    claims.within(
        "seconds until the report",
        seconds,
        1.5..=2.0 + REPORTED_WITHIN,
    );
    if !unlink_hangs {
        claims.holds("the file is removed", !storage.contains("new"));
    }
}
