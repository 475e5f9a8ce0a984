//! A runner that does no I/O: it speaks the words of the real one, the same ones every time, so that the server can be
//! tested without disks. Tests start it through `LEADLINE_RUNNER`. Jobs are read with the runner's own parser.
//!
//! What a job's name begins with tells how it behaves: `die` (killed after five samples), `deaf` (does not hear
//! SIGTERM), `nonsense` (tells what is no event), `fail` (ends with a failure), `error` (ends with an I/O error).
//! A target `/fake/vdb/x` lies on the device `vdb`. Each start is noted in the file `LEADLINE_FAKE_STARTS`.

#![recursion_limit = "256"]

use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use leadline_protocol::job::Job;
use leadline_protocol::job::parse::parse_run;
use leadline_protocol::job::value::Seconds;
use leadline_protocol::problem::Problem;
use leadline_protocol::study::StepSpec;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::study::parse::{is_study, parse_study};
use rustix::process::{Signal, getpid, kill_process, set_parent_process_death_signal};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

/// Samples told before `die` dies.
const LIVES_FOR: u64 = 5;
/// The measurement when the job says no runtime.
const RUNTIME: Duration = Duration::from_millis(300);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let verb = std::env::args().nth(1).unwrap_or_default();
    match verb.as_str() {
        "plan" => plan(read_input()),
        "run" => run(&read_input()).await,
        "devices" => answer(
            &json!({"devices": [device("vda", &[]), device("vda1", &["vda"]), device("vdb", &[])]}),
        ),
        "doctor" => answer(
            &json!({"checks": [{"name": "io_uring", "status": "ok", "found": "allowed", "remedy": null}]}),
        ),
        "host" => answer(&host()),
        _ => ExitCode::from(2),
    }
}

fn read_input() -> Value {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .expect("standard input is readable");
    serde_json::from_str(&text).expect("the server sends JSON")
}

fn answer(value: &Value) -> ExitCode {
    tell(value);
    ExitCode::SUCCESS
}

fn tell(value: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{value}").and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn plan(input: Value) -> ExitCode {
    if !is_study(&input) {
        let plan = run_plan(&input);
        tell(&plan);
        return exit_code(&plan["problems"]);
    }
    let ask = parse_study(input).expect("the server has read it before");
    let mut problems = Vec::new();
    let step = |(index, step): (usize, &StepSpec)| {
        let mut plan = run_plan(&json!({"jobs": step.jobs, "sample_ms": step.ask.sample_ms}));
        let refused: Vec<Problem> =
            serde_json::from_value(plan["problems"].take()).expect("problems");
        problems.extend(
            refused
                .into_iter()
                .map(|problem| problem.inside(&format!("steps[{index}]."))),
        );
        plan["problems"] = json!([]);
        json!({"name": step.name, "note": step.note, "jobs": step.jobs, "plan": plan})
    };
    let steps: Vec<Value> = ask.steps.iter().enumerate().map(step).collect();
    let mut plan = serde_json::to_value(StudyPlan::rejected(problems)).expect("words are JSON");
    for (name, value) in serde_json::to_value(&ask.words)
        .expect("words are JSON")
        .as_object()
        .expect("an object")
    {
        plan[name] = value.clone();
    }
    (plan["file_id"], plan["steps"], plan["continue_on_failure"]) = (
        json!("0123456789abcdef"),
        json!(steps),
        json!(ask.continue_on_failure),
    );
    tell(&plan);
    exit_code(&plan["problems"])
}

fn exit_code(problems: &Value) -> ExitCode {
    let problems: Vec<Problem> = serde_json::from_value(problems.clone()).expect("problems");
    if problems.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(Problem::exit_code(&problems))
    }
}

fn run_plan(input: &Value) -> Value {
    let (jobs, sample_ms, mut problems) = match parse_run(input) {
        Ok(ask) => (ask.jobs, ask.sample_ms, Vec::new()),
        Err(problems) => (Vec::new(), 100, problems),
    };
    if jobs.iter().any(|job| path(job).starts_with("/dev/mounted")) {
        problems.push(Problem::guard(
            "mounted",
            "jobs[0].filename",
            "/dev/mounted is mounted.",
            "Unmount it.",
        ));
    }
    json!({"jobs": jobs.iter().map(resolved).collect::<Vec<_>>(), "sample_ms": sample_ms, "phases": [], "measures": "Nothing.", "findings": [],
        "estimate": {"seconds": null, "seconds_note": null, "layout_bytes": 0, "measure_write_bytes": null, "buffer_bytes": 0}, "problems": problems})
}

/// The run as it is told, event by event.
struct Telling {
    began: Instant,
    seq: u64,
}

impl Telling {
    fn event(&mut self, body: Value) {
        let mut event = json!({"seq": self.seq, "t_ms": self.began.elapsed().as_secs_f64() * 1e3});
        if let Some((event, body)) = event.as_object_mut().zip(body.as_object()) {
            event.extend(body.clone());
        }
        tell(&event);
        self.seq += 1;
    }

    fn phase(&mut self, phase: &str, state: &str) {
        self.event(json!({"type": "phase", "phase": phase, "state": state}));
    }
}

async fn run(input: &Value) -> ExitCode {
    set_parent_process_death_signal(Some(Signal::KILL)).expect("Linux has it");
    let ask = parse_run(input).expect("the plan was asked before");
    let name = ask.jobs[0].name.clone().unwrap_or_default();
    note_start(&name);
    let mut stop = signal(SignalKind::terminate()).expect("signals can be heard");
    let mut telling = Telling {
        began: Instant::now(),
        seq: 0,
    };
    let jobs: Vec<Value> = ask.jobs.iter().map(resolved).collect();
    telling.event(json!({"type": "accepted", "at_ms": 1, "jobs": jobs, "host": host(), "sample_ms": ask.sample_ms, "devices": ["vda"], "absent": {}}));
    if name.starts_with("fail") {
        telling.event(json!({"type": "failed", "exit_code": 5, "problems": [Problem::environment("no_space", "jobs[0].size", "The disk is full.", "Free some.")]}));
        return ExitCode::from(5);
    }
    telling.phase("measure", "begin");
    let runtime = ask.jobs[0]
        .runtime
        .map_or(RUNTIME, |Seconds(us)| Duration::from_micros(us));
    let mut grid = tokio::time::interval(Duration::from_millis(ask.sample_ms.into()));
    grid.tick().await;
    let (mut samples, mut stopped) = (0, false);
    while telling.began.elapsed() < runtime && !stopped {
        tokio::select! {
            _ = grid.tick() => {
                samples += 1;
                telling.event(sample(ask.sample_ms));
            }
            _ = stop.recv(), if !name.starts_with("deaf") => stopped = true,
        }
        if samples == LIVES_FOR {
            misbehave(&name);
        }
    }
    telling.phase("measure", "end");
    let ended_by = if stopped { "signal" } else { "runtime" };
    telling.event(outcome(samples, ended_by, name.starts_with("error")));
    ExitCode::from(if stopped {
        143
    } else {
        u8::from(name.starts_with("error"))
    })
}

fn misbehave(name: &str) {
    if name.starts_with("die") {
        let _ = writeln!(std::io::stderr(), "about to die");
        let _ = kill_process(getpid(), Signal::KILL);
    }
    if name.starts_with("nonsense") {
        tell(&json!({"type": "weather", "sun": true}));
    }
}

fn note_start(name: &str) {
    if let Some(path) = std::env::var_os("LEADLINE_FAKE_STARTS") {
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(path)
            .expect("starts can be noted");
        writeln!(file, "{name}").expect("starts can be noted");
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
    let yes = json!({"allowed": true, "reason": null});
    json!({"name": name, "path": format!("/dev/{name}"), "dev": "1:1", "kind": "disk", "links": [], "size_bytes": 1 << 30, "read_only": false,
        "mounts": [], "used_by": [], "reading": yes, "writing": yes, "parents": parents})
}

fn resolved(job: &Job) -> Value {
    let path = path(job);
    let device = path
        .strip_prefix("/fake/")
        .and_then(|rest| rest.split('/').next());
    let same = |value: Value| json!({"read": value, "write": value, "trim": value});
    let rw = job.rw.map_or(json!("read"), |rw| json!(rw.kind));
    let direct = job.direct.is_none_or(|flag| flag.0);
    json!({"name": job.name.clone().unwrap_or_else(|| "job".into()), "mode": if direct { "direct" } else { "buffered" }, "rw": rw, "direct": direct,
        "targets": [{"path": path, "kind": "file", "length": 1 << 20, "existed": true, "layout_bytes": 0, "filesystem": "ext4", "device": device, "alignment": 512, "offset": 0, "size": 1 << 20, "clone": null}],
        "size": 1 << 20, "io_size": 1 << 20, "offset": 0, "offset_increment": 0, "bs": same(json!({"min": 4096, "max": 4096, "split": []})),
        "blockalign": same(json!(4096)), "random_distribution": same(json!({"kind": "random"})), "percentage_random": same(json!(100)), "norandommap": false,
        "randseed": 1, "iodepth": job.iodepth.unwrap_or(1), "numjobs": job.numjobs.unwrap_or(1), "ioengine": "io_uring", "time_based": true, "ramp_ms": 0,
        "startdelay_ms": 0, "loops": 1, "invalidate": true, "pre_read": false, "fadvise_hint": "random", "drop_caches": false, "sync": "none", "fsync": 0,
        "fdatasync": 0, "end_fsync": false, "fallocate": "written", "overwrite": false, "file_append": false, "create_on_open": false, "unlink": false,
        "rate": same(json!(null)), "rate_iops": same(json!(null)), "rate_process": "linear", "thinktime_us": 0, "thinktime_blocks": 1, "zero_buffers": false,
        "refill_buffers": false, "buffer_compress_percentage": 0, "dedupe_percentage": 0, "cpus_allowed": [], "nice": 0})
}

/// A window with 100 reads of 4 KiB, all with the same latency.
fn sample(sample_ms: u32) -> Value {
    let none = json!({"ios": 0, "bytes": 0, "lat_ns": []});
    json!({"type": "sample", "phase": "measure", "window_ms": sample_ms, "read": {"ios": 100, "bytes": 409_600, "lat_ns": [[500, 100]]},
        "write": none, "trim": none, "sync": none, "in_flight": 1, "errors": 0})
}

fn outcome(samples: u64, ended_by: &str, error: bool) -> Value {
    let lat = |count: u64| json!({"count": count, "percentiles": {"50": 20_000, "99": 20_000}, "buckets": if count > 0 { json!([[500, count]]) } else { json!([]) }, "max": 20_000});
    let direction = |ios: u64| json!({"ios": ios, "bytes": ios * 4096, "iops": ios as f64, "bytes_per_second": ios as f64 * 4096.0, "slat_ns": lat(0), "clat_ns": lat(ios), "lat_ns": lat(ios)});
    let first = error.then(
        || json!({"job": "error", "operation": "read", "offset": 4096, "bytes": 4096, "errno": 5, "message": "Input/output error"}),
    );
    json!({"type": "report", "findings": [], "verdict": {"read": {"class": "device", "sentence": "The device answered.", "shares": {}, "evidence": {}}, "write": null},
        "report": {"started_at_ms": 1, "duration_ms": 1000.0, "ended_by": if error { "error" } else { ended_by }, "phases": [], "read": direction(samples * 100),
            "write": direction(0), "trim": direction(0), "sync": {"ios": 0, "lat_ns": lat(0)}, "jobs": [], "device": null, "cpu": null, "memory": null,
            "pressure": null, "errors": {"total": u64::from(error), "first": first}, "start_skew_ns": 0, "achieved_depth": 1.0, "absent": {}}})
}
