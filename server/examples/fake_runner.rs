//! A runner that performs no I/O and emits the same events in every run, for testing the server
//! without disks. It parses jobs like the real runner. Tests select it with `LEADLINE_RUNNER`.
//!
//! The prefix of the job name selects its behavior: `crash` (killed after five samples),
//! `ignore-sigterm`, `invalid-event` (after five samples), `fail` (ends with a failure), `error`
//! (ends with an I/O error), `stall` (no I/O completes after five samples), `hang` (like `stall`,
//! but does not exit after its report, and its output stays open when it is killed), `hours-N`
//! (immediately writes N hours of samples, ten per second of run time: those in the file
//! `LEADLINE_FAKE_SAMPLES`, if set, or else generated ones), `active-hours-N` (the same, but then
//! keeps running), `flaky-N-M` (fails the Nth and Mth time it is started), `alternating` (reports
//! 1,000 or 1,500 IOPS, so that two repeated steps differ in both directions). The device of target
//! `/fake/vdb/x` is `vdb`. The names of started runs are appended to the file
//! `LEADLINE_FAKE_STARTS`, and the names of other commands to `LEADLINE_FAKE_COMMANDS`.

#![recursion_limit = "256"]

use leadline_compare::interim_looks::plan_looks;
use leadline_protocol::{
    job::{Job, run_spec::parse_run},
    problem::Problem,
    study::{
        definition::RepeatOrder,
        parse::{is_study, parse_study},
        plan::StudyPlan,
        spec::{StepSpec, StudySpec},
        until_decided::UntilDecided,
    },
};
use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};
use serde_json::{Value, json};
use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};
use tokio::signal::unix::{SignalKind, signal};

/// Number of samples before a crash, an invalid event or a stall.
const SAMPLES_BEFORE_FAULT: u64 = 5;
const DEFAULT_RUNTIME: Duration = Duration::from_millis(300);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command = std::env::args().nth(1).unwrap_or_default();
    if command != "run" {
        append("LEADLINE_FAKE_COMMANDS", &command);
    }
    match command.as_str() {
        "plan" => return plan(read_input()),
        "run" => return run(&read_input()).await,
        "devices" => print(
            &json!({"devices": [device("vda", &[]), device("vda1", &["vda"]), device("vdb", &[])]}),
        ),
        "doctor" => print(
            &json!({"checks": [{"name": "io_uring", "status": "ok", "detail": "allowed", "remedy": null}]}),
        ),
        "host" => print(&host()),
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

fn read_input() -> Value {
    serde_json::from_reader(std::io::stdin().lock()).expect("the server sends JSON")
}

fn print(value: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{value}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn plan(input: Value) -> ExitCode {
    let plan = if is_study(&input) {
        plan_study(input)
    } else {
        plan_run(&input)
    };
    print(&plan);
    exit_code(&plan_problems(&plan))
}

fn plan_study(input: Value) -> Value {
    let study = parse_study(input).expect("checked by the server");
    let mut problems = Vec::new();
    let step = |(repeat, index, step): (u32, usize, &StepSpec)| {
        let mut plan = plan_run(&json!({"jobs": step.jobs, "sample_ms": step.run.sample_ms}));
        let path = format!("steps[{index}].");
        let step_problems = plan_problems(&plan).into_iter();
        problems.extend(step_problems.map(|problem| problem.with_path_prefix(&path)));
        plan["problems"] = json!([]);
        json!({"step": index + 1, "repeat": repeat, "sweep": step.sweep, "name": step.name, "note": step.note, "jobs": step.jobs, "plan": plan})
    };
    // The order within each block is fixed here, but the real runner randomizes it.
    let turns = (1..=study.repeats).flat_map(|repeat| {
        let steps = study.steps.iter().enumerate();
        steps.map(move |(index, step)| (repeat, index, step))
    });
    let mut turns: Vec<(u32, usize, &StepSpec)> = turns.collect();
    if study.order == RepeatOrder::Sequential {
        turns.sort_by_key(|(repeat, index, _)| (*index, *repeat));
    }
    let steps: Vec<Value> = turns.into_iter().map(step).collect();
    let plan = StudyPlan {
        description: study.description.clone(),
        continue_on_failure: study.continue_on_failure,
        file_id: "0123456789abcdef".into(),
        order_seed: study.order_seed.unwrap_or_default(),
        until_decided: until_decided(&study),
        idle_wait_seconds: study.idle_wait_seconds,
        ..StudyPlan::rejected(problems)
    };
    let mut plan = serde_json::to_value(plan).expect("serializable");
    plan["steps"] = steps.into();
    plan
}

fn until_decided(study: &StudySpec) -> Option<UntilDecided> {
    let definition = study.until_decided.as_ref()?;
    let metrics = definition.metrics.clone();
    let metrics = metrics.unwrap_or_else(|| vec!["read_iops".into()]);
    Some(UntilDecided {
        looks: plan_looks(study.repeats, metrics.len()).expect("enough repeats"),
        metrics,
        threshold_percent: definition.threshold_percent.unwrap_or(2.0),
    })
}

fn plan_problems(plan: &Value) -> Vec<Problem> {
    serde_json::from_value(plan["problems"].clone()).expect("problems")
}

fn exit_code(problems: &[Problem]) -> ExitCode {
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Problem::exit_code(problems))
    }
}

fn plan_run(input: &Value) -> Value {
    let mut jobs = Vec::new();
    let mut sample_ms = 100;
    let mut problems = Vec::new();
    match parse_run(input) {
        Ok(run) => {
            jobs = run.jobs;
            sample_ms = run.sample_ms;
        }
        Err(invalid) => problems = invalid,
    }
    if jobs.iter().any(|job| path(job).starts_with("/dev/mounted")) {
        problems.push(Problem::guard(
            "mounted",
            "jobs[0].filename",
            "/dev/mounted is mounted.",
            "Unmount it.",
        ));
    }
    json!({"jobs": jobs.iter().map(resolve_job).collect::<Vec<_>>(), "sample_ms": sample_ms, "phases": [], "measures": "Nothing.", "findings": [],
        "estimate": {"seconds": null, "seconds_note": null, "layout_bytes": 0, "measure_write_bytes": null, "buffer_bytes": 0}, "problems": problems})
}

struct EventWriter {
    began: Instant,
    seq: u64,
}

impl EventWriter {
    fn write(&mut self, body: Value) {
        let t_ms = self.began.elapsed().as_secs_f64() * 1e3;
        let mut event = json!({"seq": self.seq, "t_ms": t_ms});
        if let Some((event, body)) = event.as_object_mut().zip(body.as_object()) {
            event.extend(body.clone());
        }
        print(&event);
        self.seq += 1;
    }

    fn phase(&mut self, phase: &str, state: &str) {
        self.write(json!({"type": "phase", "phase": phase, "state": state}));
    }
}

async fn run(input: &Value) -> ExitCode {
    set_parent_process_death_signal(Some(Signal::KILL)).expect("supported by Linux");
    let run = parse_run(input).expect("checked by the plan");
    let name = run.jobs[0].name.clone().unwrap_or_default();
    append("LEADLINE_FAKE_STARTS", &name);
    let mut sigterm = signal(SignalKind::terminate()).expect("signal handler");
    let mut events = EventWriter {
        began: Instant::now(),
        seq: 0,
    };
    let jobs: Vec<Value> = run.jobs.iter().map(resolve_job).collect();
    events.write(json!({"type": "accepted", "at_ms": 1, "jobs": jobs, "host": host(), "sample_ms": run.sample_ms, "devices": ["vda"], "absent": {}}));
    if name.starts_with("fail") || is_flaky_start(&name) {
        let problem = Problem::environment(
            "no_space",
            "jobs[0].size",
            "The disk is full.",
            "Free space.",
        );
        events.write(json!({"type": "failed", "exit_code": 5, "problems": [problem]}));
        return ExitCode::from(5);
    }
    events.phase("measure", "begin");
    if let Some(hours) = name.strip_prefix("active-hours-") {
        let hours = hours.parse().expect("a number");
        write_samples(&mut events, hours);
        events.began -= Duration::from_secs_f64(hours * 3600.0);
    }
    if let Some(hours) = name.strip_prefix("hours-") {
        let hours = hours.parse().expect("a number");
        let samples = write_samples(&mut events, hours);
        events.phase("measure", "end");
        let mut report = report(samples, "runtime");
        report["report"]["duration_ms"] = (hours * 3_600_000.0).into();
        events.write(report);
        return ExitCode::SUCCESS;
    }
    let runtime = run.jobs[0]
        .runtime
        .map(|runtime| Duration::from_micros(runtime.0));
    let runtime = runtime.unwrap_or(DEFAULT_RUNTIME);
    let mut grid = tokio::time::interval(Duration::from_millis(run.sample_ms.into()));
    grid.tick().await;
    let mut samples = 0;
    let mut stopped = false;
    while events.began.elapsed() < runtime && !stopped {
        tokio::select! {
            _ = grid.tick() => {
                samples += 1;
                events.write(match stalled_windows(&name, samples) {
                    0 => sample(run.sample_ms),
                    windows => stalled_sample(run.sample_ms, windows),
                });
            }
            _ = sigterm.recv(), if !name.starts_with("ignore-sigterm") => stopped = true,
        }
        if samples == SAMPLES_BEFORE_FAULT {
            inject_fault(&name);
        }
    }
    events.phase("measure", "end");
    let has_error = name.starts_with("error");
    let ended_by = match (has_error, stopped) {
        (true, _) => "error",
        (false, true) => "signal",
        (false, false) => "runtime",
    };
    let stalled_ms = stalled_windows(&name, samples) * u64::from(run.sample_ms);
    let completed = samples - stalled_windows(&name, samples);
    let mut report = report(completed, ended_by);
    if stalled_ms > 0 {
        add_stall(&mut report, &name, events.began.elapsed(), stalled_ms);
    }
    if name.starts_with("alternating") {
        report["report"]["read"]["iops"] = alternating_iops().into();
    }
    events.write(report);
    if name.starts_with("hang") {
        hold_output().await;
    }
    if stopped {
        ExitCode::from(143)
    } else {
        ExitCode::from(u8::from(has_error || stalled_ms > 0))
    }
}

fn is_flaky_start(name: &str) -> bool {
    let Some(numbers) = name.strip_prefix("flaky-") else {
        return false;
    };
    let starts = started_runs();
    let count = starts.lines().filter(|other| *other == name).count();
    numbers.split('-').any(|number| number.parse() == Ok(count))
}

/// Names of all runs started so far, one per line.
fn started_runs() -> String {
    let path = std::env::var_os("LEADLINE_FAKE_STARTS").expect("set by tests");
    std::fs::read_to_string(path).expect("readable")
}

/// Runs 1, 4, 5, 8, ... have lower IOPS than runs 2, 3, 6, 7, ...
fn alternating_iops() -> f64 {
    if (started_runs().lines().count() / 2).is_multiple_of(2) {
        1_000.0
    } else {
        1_500.0
    }
}

/// Number of windows without completions.
fn stalled_windows(name: &str, samples: u64) -> u64 {
    let stalls = name.starts_with("stall") || name.starts_with("hang");
    let windows = samples.saturating_sub(SAMPLES_BEFORE_FAULT);
    if stalls { windows } else { 0 }
}

/// Keeps the output open in another process for 20 seconds, even after this process is killed, as a
/// thread that is blocked in the kernel would.
async fn hold_output() {
    let holder = tokio::process::Command::new("sleep").arg("20").status();
    holder.await.expect("sleep(1) starts");
}

/// Writes all samples of a long run immediately, and returns their number.
fn write_samples(events: &mut EventWriter, hours: f64) -> u64 {
    let recorded = std::env::var_os("LEADLINE_FAKE_SAMPLES").map(|path| {
        let text = std::fs::read_to_string(path).expect("readable");
        let lines = text.lines().map(serde_json::from_str);
        lines.collect::<Result<Vec<Value>, _>>().expect("samples")
    });
    let samples = (hours * 36_000.0) as u64;
    let begin_ms = events.began.elapsed().as_secs_f64() * 1e3;
    for number in 1..=samples {
        let mut sample = match &recorded {
            Some(recorded) => recorded[number as usize % recorded.len()].clone(),
            None => {
                let reads = number % 7 * 10;
                let mut sample = sample(100);
                sample["read"] = json!({"ios": reads + 1, "bytes": (reads + 1) * 4096, "lat_ns": [[499, 1], [500 + number % 90, reads]]});
                sample
            }
        };
        sample["seq"] = events.seq.into();
        sample["t_ms"] = (begin_ms + number as f64 * 100.0).into();
        print(&sample);
        events.seq += 1;
    }
    samples
}

fn inject_fault(name: &str) {
    if name.starts_with("crash") {
        let _ = writeln!(std::io::stderr(), "about to crash");
        let _ = kill_process(getpid(), Signal::KILL);
    }
    if name.starts_with("invalid-event") {
        print(&json!({"type": "weather", "sun": true}));
    }
}

/// Appends a line to the file whose path is in the specified environment variable.
fn append(variable: &str, line: &str) {
    if let Some(path) = std::env::var_os(variable) {
        let file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path);
        // A single write, because multiple processes append at the same time.
        let line = format!("{line}\n");
        let written = file.expect("writable").write_all(line.as_bytes());
        written.expect("writable");
    }
}

fn path(job: &Job) -> String {
    job.filename
        .as_ref()
        .map_or_else(|| "/fake/vda/t".into(), |files| files.0[0].clone())
}

fn host() -> Value {
    json!({"hostname": "fake", "kernel": "6.1.0", "machine": "x86_64", "cpus": 2, "runner": "0.0.0", "absent": {}})
}

fn device(name: &str, parents: &[&str]) -> Value {
    let allowed = json!({"allowed": true, "reason": null});
    json!({"name": name, "path": format!("/dev/{name}"), "dev": "1:1", "kind": "disk", "links": [], "size_bytes": 1 << 30, "read_only": false,
        "mounts": [], "used_by": [], "read_access": allowed, "write_access": allowed, "parents": parents})
}

fn resolve_job(job: &Job) -> Value {
    let path = path(job);
    let device = path
        .strip_prefix("/fake/")
        .and_then(|rest| rest.split('/').next());
    let all = |value: Value| json!({"read": value, "write": value, "trim": value});
    let rw = job.rw.map_or(json!("read"), |rw| json!(rw.kind));
    let direct = job.direct.unwrap_or(true);
    json!({"name": job.name.clone().unwrap_or_else(|| "job".into()), "mode": if direct { "direct" } else { "buffered" }, "rw": rw, "direct": direct,
        "targets": [{"path": path, "kind": "file", "length": 1 << 20, "existed": true, "layout_bytes": 0, "filesystem": "ext4", "device": device, "alignment": 512, "offset": 0, "size": 1 << 20, "worker": null}],
        "size": 1 << 20, "io_size": 1 << 20, "offset": 0, "offset_increment": 0, "bs": all(json!({"min": 4096, "max": 4096, "split": []})),
        "blockalign": all(json!(4096)), "random_distribution": all(json!({"kind": "random"})), "percentage_random": all(json!(100)), "norandommap": false,
        "randseed": 1, "iodepth": job.iodepth.unwrap_or(1), "numjobs": job.numjobs.unwrap_or(1), "ioengine": "io_uring", "time_based": true, "ramp_ms": 0,
        "startdelay_ms": 0, "loops": 1, "invalidate": true, "pre_read": false, "fadvise_hint": "random", "drop_caches": false, "sync": "none", "fsync": 0,
        "fdatasync": 0, "end_fsync": false, "fallocate": "written", "overwrite": false, "file_append": false, "create_on_open": false, "unlink": false,
        "rate": all(json!(null)), "rate_iops": all(json!(null)), "rate_process": "linear", "thinktime_us": 0, "thinktime_blocks": 1, "zero_buffers": false,
        "refill_buffers": false, "buffer_compress_percentage": 0, "dedupe_percentage": 0, "cpus_allowed": [], "nice": 0})
}

/// A window with 100 reads of 4 KiB each, all with the same latency.
fn sample(sample_ms: u32) -> Value {
    let none = json!({"ios": 0, "bytes": 0, "lat_ns": []});
    json!({"type": "sample", "phase": "measure", "window_ms": sample_ms, "read": {"ios": 100, "bytes": 409_600, "lat_ns": [[500, 100]]},
        "write": none, "trim": none, "sync": none, "in_flight": 1, "errors": 0})
}

/// The latest of `windows` consecutive windows without completions.
fn stalled_sample(sample_ms: u32, windows: u64) -> Value {
    let mut sample = sample(sample_ms);
    sample["read"] = sample["write"].clone();
    sample["in_flight"] = 32.into();
    sample["silent_ms"] = (windows * u64::from(sample_ms)).into();
    sample
}

/// Adds 32 reads that were in flight for the last `stalled_ms` of the run.
fn add_stall(event: &mut Value, name: &str, end: Duration, stalled_ms: u64) {
    let report = &mut event["report"];
    let duration_ms = end.as_secs_f64() * 1e3;
    report["duration_ms"] = duration_ms.into();
    let read = &mut report["read"];
    read["unfinished"] = json!({"ios": 32, "oldest_ns": stalled_ms * 1_000_000});
    read["lat_ns"]["max"] = (stalled_ms * 1_000_000).into();
    read["lat_ns"]["percentiles"]["99"] = (stalled_ms * 1_000_000).into();
    read["lat_ns"]["at_least"] = json!(["99", "max"]);
    let share = stalled_ms as f64 / duration_ms;
    let start_ms = duration_ms - stalled_ms as f64;
    let stalls = json!({"threshold_ms": 1.0, "count": 1, "total_ms": stalled_ms, "longest_ms": stalled_ms, "share": share, "workers": 1,
        "spans": [{"start_ms": start_ms, "duration_ms": stalled_ms}]});
    report["jobs"] = json!([{"name": name, "engine": "io_uring", "workers": 1, "duration_ms": duration_ms, "ended_by": report["ended_by"],
        "read": report["read"], "write": report["write"], "trim": report["trim"], "sync": report["sync"], "errors": 0, "decisions": [], "stalls": stalls}]);
    event["findings"] = json!([{"code": "stalled", "severity": "serious", "sentence": "No I/O completed.", "evidence": {}, "remedy": "Check the device."}]);
}

fn report(samples: u64, ended_by: &str) -> Value {
    let lat = |count: u64| json!({"count": count, "percentiles": {"50": 7456, "99": 7456}, "buckets": if count > 0 { json!([[500, count]]) } else { json!([]) }, "max": 20_000});
    let direction = |ios: u64| json!({"ios": ios, "bytes": ios * 4096, "iops": ios as f64, "bytes_per_second": ios as f64 * 4096.0, "slat_ns": lat(0), "clat_ns": lat(ios), "lat_ns": lat(ios)});
    let first_error = (ended_by == "error").then(
        || json!({"job": "error", "operation": "read", "offset": 4096, "bytes": 4096, "errno": 5, "message": "Input/output error"}),
    );
    json!({"type": "report", "findings": [], "verdict": {"read": {"class": "device", "sentence": "All reads reached the device.", "shares": {}, "evidence": {}}, "write": null},
        "report": {"started_at_ms": 1, "duration_ms": 1000.0, "ended_by": ended_by, "phases": [], "read": direction(samples * 100),
            "write": direction(0), "trim": direction(0), "sync": {"ios": 0, "lat_ns": lat(0)}, "jobs": [], "device": null, "cpu": null, "memory": null,
            "pressure": null, "errors": {"total": u64::from(first_error.is_some()), "first": first_error}, "start_skew_ns": 0, "achieved_depth": 1.0, "absent": {}}})
}
