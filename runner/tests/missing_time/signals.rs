//! Signals to the runner: stops while the storage hangs, and pauses of the runner itself.

use super::{
    Case, LENGTH, hang_from, job,
    latencies::healthy_rate,
    outcome::{Claims, EARLY, LATE, Outcome, Run, number},
    run_all,
    storage::{Completion, HEALTHY, IMMEDIATELY, Io, Kind, Storage},
};
use serde_json::{Value, json};
use std::{
    thread,
    time::{Duration, Instant},
};

#[test]
fn stops_while_the_storage_hangs() {
    let cases: [Case; 15] = [
        ("SIGTERM during layout, psync", |case| {
            stop_layout(case, "TERM", 143, second_half, json!({"ioengine": "psync"}));
        }),
        ("SIGINT during layout, io_uring", |case| {
            stop_layout(case, "INT", 130, second_half, json!({"iodepth": 32}));
        }),
        ("SIGTERM during layout, fallocate", |case| {
            let hangs = |io: &Io| io.kind == Kind::Allocate;
            stop_layout(case, "TERM", 143, hangs, json!({}));
        }),
        ("SIGTERM during layout, ftruncate", |case| {
            let hangs = |io: &Io| io.kind == Kind::Truncate;
            let changes = json!({"rw": "randwrite", "fallocate": "truncate", "overwrite": 0});
            stop_layout(case, "TERM", 143, hangs, changes);
        }),
        ("SIGTERM during layout, fsync", |case| {
            let hangs = |io: &Io| io.kind == Kind::Sync;
            stop_layout(case, "TERM", 143, hangs, json!({}));
        }),
        ("SIGTERM during the layout of an existing file", |case| {
            let slow = |io: &Io| match io.kind {
                Kind::Write => Completion::After(Duration::from_millis(250)),
                _ => IMMEDIATELY,
            };
            stop_extension(case, slow, false);
        }),
        (
            "SIGTERM during the layout of an existing file, fsync",
            |case| {
                let hanging = |io: &Io| match io.kind {
                    Kind::Sync => Completion::Never,
                    _ => IMMEDIATELY,
                };
                stop_extension(case, hanging, true);
            },
        ),
        ("SIGTERM, psync", |case| {
            stop(case, "TERM", 143, 1, json!({"ioengine": "psync"}));
        }),
        ("SIGTERM, io_uring", |case| {
            stop(case, "TERM", 143, 32, json!({"iodepth": 32}));
        }),
        ("SIGINT, psync", |case| {
            stop(case, "INT", 130, 1, json!({"ioengine": "psync"}));
        }),
        ("SIGTERM, two workers", |case| {
            stop(
                case,
                "TERM",
                143,
                2,
                json!({"ioengine": "psync", "numjobs": 2}),
            );
        }),
        ("SIGTERM, unlink", |case| {
            let changes = json!({"ioengine": "psync", "unlink": 1});
            stop(case, "TERM", 143, 1, changes);
        }),
        ("SIGTERM without a runtime", |case| {
            let changes = json!({"runtime": 0, "time_based": 0, "number_ios": 100_000});
            stop(case, "TERM", 143, 1, changes);
        }),
        ("SIGTERM, one of two jobs", stop_two_jobs),
        ("SIGTERM after the end of the runtime", stop_after_the_end),
    ];
    run_all(&cases);
}

#[test]
fn pauses_of_the_runner_are_reported() {
    let cases: [Case; 6] = [
        ("pause, psync", |case| {
            pause(case, json!({"ioengine": "psync"}))
        }),
        ("pause, io_uring", |case| {
            pause(case, json!({"iodepth": 32}))
        }),
        ("pause, rate", |case| pause(case, json!({"rate_iops": 50}))),
        ("short pause", short_pause),
        ("pause at the end", pause_at_the_end),
        ("pause during a hang", pause_in_a_hang),
    ];
    run_all(&cases);
}

fn sleep_until(time: Instant) {
    thread::sleep(time.saturating_duration_since(Instant::now()));
}

fn second_half(io: &Io) -> bool {
    io.kind == Kind::Write && io.offset >= LENGTH / 2
}

/// Stops a layout while the filesystem does not complete the requests that `hangs` selects.
fn stop_layout(
    case: &str,
    signal: &str,
    code: i32,
    hangs: impl Fn(&Io) -> bool + Send + Sync + 'static,
    changes: Value,
) {
    let script = move |io: &Io| match hangs(io) {
        true => Completion::Never,
        false => IMMEDIATELY,
    };
    let Some(storage) = Storage::new(&[], 0, script) else {
        return;
    };
    let changes = super::with(&json!({"runtime": "30s", "unlink": 1}), changes);
    let mut run = Run::start(&job(&storage.file("t1"), changes), &[]);
    run.wait_for(|event| event["type"] == "phase" && event["phase"] == "layout");
    thread::sleep(Duration::from_millis(1500));
    let stopped = run.signal(signal);
    let outcome = run.finish(|| storage.release());
    let detail = stopped_detail(case, stopped, code, &outcome);
    assert!(detail.contains("did not respond"), "{case}: {detail}");
}

/// The layout extends an existing file, whose length is restored.
fn stop_extension(
    case: &str,
    script: impl Fn(&Io) -> Completion + Send + Sync + 'static,
    hangs: bool,
) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, script) else {
        return;
    };
    let changes =
        json!({"rw": "randwrite", "size": 2 * LENGTH, "file_state": "written", "runtime": "30s"});
    let mut run = Run::start(&job(&storage.file("t1"), changes), &[]);
    run.wait_for(|event| event["type"] == "phase" && event["phase"] == "layout");
    thread::sleep(Duration::from_millis(1500));
    let extended = storage.length("t1");
    assert_eq!(
        extended,
        Some(2 * LENGTH as usize),
        "{case}: before the stop"
    );
    let stopped = run.signal("TERM");
    // The process exits when its system calls return. The truncation runs after the hung call.
    let outcome = run.finish(|| {
        if hangs {
            storage.release();
        }
    });
    assert_eq!(storage.length("t1"), Some(LENGTH as usize), "{case}");
    let detail = stopped_detail(case, stopped, 143, &outcome);
    assert_eq!(
        detail.contains("did not respond"),
        hangs,
        "{case}: {detail}"
    );
}

/// Checks that the run ended soon after the signal, without a measurement. Returns the problem
/// detail.
fn stopped_detail(case: &str, stopped: Instant, code: i32, outcome: &Outcome) -> String {
    let waited = outcome.reported_at() - stopped;
    assert!(waited < Duration::from_secs(1), "{case}: {waited:?}");
    assert_eq!(outcome.code, Some(code), "{case}");
    let end = &outcome.events.last().unwrap().1;
    let problem = &end["problems"][0];
    assert_eq!(problem["code"], "interrupted", "{case}: {end}");
    problem["detail"].as_str().unwrap().to_owned()
}

fn stop(case: &str, signal: &str, code: i32, in_flight: u64, changes: Value) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(0.5)) else {
        return;
    };
    let changes = super::with(&json!({"runtime": "30s"}), changes);
    let mut run = Run::start(&job(&storage.file("t1"), changes), &[]);
    run.wait_for_a_sample();
    let first = storage.first_io().unwrap();
    sleep_until(first + Duration::from_millis(2500));
    let stopped = run.signal(signal);
    let ran = (stopped - first).as_secs_f64();
    let outcome = run.finish(|| storage.release());
    let waited = (outcome.reported_at() - stopped).as_secs_f64();
    let window = number(&outcome.report()["duration_ms"]) / 1e3;
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds until the report", waited, 0.0..=2.0);
    // A blocked worker's window ends when the run continues without that worker.
    claims.within("window", window, ran - LATE..=ran + 0.9);
    claims.equal("exit code", outcome.code, Some(code));
    claims.equal("stalled", outcome.finding("stalled"), Some("serious"));
    claims.one_stall(0, 0.5..window, window);
    claims.unfinished(&outcome.report()["read"], in_flight, window - 0.5);
    claims.silence_is_shown(first, 0.5..ran);
}

/// One of two jobs hangs. Waiting for it must not change the rate of the other job.
fn stop_two_jobs(case: &str) {
    let Some(storage) = Storage::new(&["works", "hangs"], LENGTH, |io| {
        if io.file == "hangs" {
            hang_from(0.5)(io)
        } else {
            Completion::After(HEALTHY)
        }
    }) else {
        return;
    };
    let of = |name: &str| {
        let changes = json!({"name": name, "runtime": "30s", "ioengine": "psync"});
        job(&storage.file(name), changes)
    };
    let mut run = Run::start(&json!({"jobs": [of("works"), of("hangs")]}), &[]);
    run.wait_for_a_sample();
    let first = storage.first_io().unwrap();
    sleep_until(first + Duration::from_millis(2500));
    let stopped = run.signal("TERM");
    let ran = (stopped - first).as_secs_f64();
    let outcome = run.finish(|| storage.release());
    let mut claims = Claims::about(case, &outcome);
    claims.equal("exit code", outcome.code, Some(143));
    claims.no_stall(outcome.job(0));
    healthy_rate(&mut claims, outcome.job(0), ran);
    claims.equal("stalled", outcome.finding("stalled"), Some("serious"));
    let stalled = number(&outcome.job(1)["stalls"]["total_ms"]) / 1e3;
    claims.within(
        "stalled seconds",
        stalled,
        ran - 0.5 - EARLY..=ran - 0.5 + 0.9,
    );
}

/// A stop also works when the runtime has ended and the run is waiting for a blocked worker.
fn stop_after_the_end(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(0.5)) else {
        return;
    };
    let changes = json!({"runtime": "2s", "ioengine": "psync"});
    let mut run = Run::start(&job(&storage.file("t1"), changes), &[]);
    run.wait_for_a_sample();
    sleep_until(storage.first_io().unwrap() + Duration::from_secs(3));
    let stopped = run.signal("TERM");
    let outcome = run.finish(|| storage.release());
    let waited = (outcome.reported_at() - stopped).as_secs_f64();
    let mut claims = Claims::about(case, &outcome);
    claims.within("seconds until the report", waited, 0.0..=2.0);
    claims.equal("stalled", outcome.finding("stalled"), Some("serious"));
    claims.one_stall(0, 0.5..2.0, 2.0);
    claims.unfinished(&outcome.report()["read"], 1, 1.5);
}

/// Runs a job and pauses the runner for `seconds`, starting `from` seconds after the first I/O. The
/// pause must start between two samples, because a pause while a sample is taken is not detected.
fn run_with_pause(storage: &Storage, job: &Value, from: f64, seconds: f64) -> Outcome {
    let mut run = Run::start(job, &[]);
    run.wait_for_a_sample();
    sleep_until(storage.first_io().unwrap() + Duration::from_secs_f64(from));
    run.signal("STOP");
    thread::sleep(Duration::from_secs_f64(seconds));
    run.signal("CONT");
    run.finish(|| storage.release())
}

/// `start`: seconds since the first I/O.
fn claim_pause(claims: &mut Claims, outcome: &Outcome, start: f64, seconds: f64) {
    let pauses = outcome.pauses();
    claims.equal("pauses", pauses.len(), 1);
    claims.equal("finding", outcome.finding("runner_paused"), Some("warning"));
    for pause in pauses {
        let length = number(&pause["duration_ms"]) / 1e3;
        claims.within("length", length, seconds - EARLY..=seconds + EARLY);
        let at = (number(&pause["start_ms"]) - outcome.measure_start()) / 1e3;
        claims.within("start", at, start - EARLY..=start + EARLY);
        claims.equal("cause", pause["cause"].as_str(), Some("not_scheduled"));
    }
}

/// Paused for 2 of 4 s.
fn pause(case: &str, changes: Value) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |_| Completion::After(HEALTHY)) else {
        return;
    };
    let changes = super::with(&json!({"runtime": "4s"}), changes);
    let outcome = run_with_pause(&storage, &job(&storage.file("t1"), changes), 1.05, 2.0);
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claim_pause(&mut claims, &outcome, 1.05, 2.0);
}

/// 300 ms is too short to count as a pause.
fn short_pause(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |_| Completion::After(HEALTHY)) else {
        return;
    };
    let outcome = run_with_pause(
        &storage,
        &job(&storage.file("t1"), json!({"runtime": "3s"})),
        1.05,
        0.3,
    );
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claims.equal("pauses", outcome.pauses().len(), 0);
    claims.equal("finding", outcome.finding("runner_paused"), None);
}

/// From 1.5 s to 3.5 s, across the end of the runtime.
fn pause_at_the_end(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, |_| Completion::After(HEALTHY)) else {
        return;
    };
    let changes = json!({"runtime": "2s", "iodepth": 8});
    let outcome = run_with_pause(&storage, &job(&storage.file("t1"), changes), 1.55, 2.0);
    let mut claims = Claims::about(case, &outcome);
    claims.healthy();
    claim_pause(&mut claims, &outcome, 1.55, 2.0);
}

/// The storage hangs after 0.5 s, and the runner is paused from 3 s to 4 s.
fn pause_in_a_hang(case: &str) {
    let Some(storage) = Storage::new(&["t1"], LENGTH, hang_from(0.5)) else {
        return;
    };
    let changes = json!({"runtime": "6s", "iodepth": 8});
    let outcome = run_with_pause(&storage, &job(&storage.file("t1"), changes), 3.05, 1.0);
    let mut claims = Claims::about(case, &outcome);
    claims.failed();
    claim_pause(&mut claims, &outcome, 3.05, 1.0);
    claims.unfinished(&outcome.report()["read"], 8, 5.5);
    // The stall may or may not include the pause.
    let total = number(&outcome.job(0)["stalls"]["total_ms"]) / 1e3;
    claims.within("stalled seconds", total, 4.5 - 2.0 * EARLY..=5.6);
}
