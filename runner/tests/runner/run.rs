//! Runs the runner on real files and devices, and compares its results with the kernel's counters.

use crate::scratch::{
    self, Disk, input,
    locked_pages::LockedPages,
    program::{events, of_type, report, run, runner, start, with},
};
use serde_json::{Value, json};
use std::{
    fs::File,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

fn job_reading_64_mib(file: &Path, changes: Value) -> Value {
    with(
        &json!({"name": "reads", "filename": file, "size": "64m", "rw": "randread", "bs": "4k", "iodepth": 8}),
        changes,
    )
}

const READS: u64 = 64 * 256;

#[test]
fn only_direct_reads_reach_the_device_if_the_file_is_cached() {
    let Some(disk) = Disk::ext4() else { return };
    let file = disk.at.join("t1");
    for engine in ["io_uring", "psync"] {
        let direct = report(&job_reading_64_mib(
            &file,
            json!({"direct": 1, "ioengine": engine}),
        ));
        assert_eq!(direct["report"]["read"]["ios"], READS);
        let device = &direct["report"]["device"];
        assert_eq!(device["name"], disk.device.name());
        let reached = device["read_ios"].as_u64().unwrap() as f64 / READS as f64;
        assert!((0.95..=1.2).contains(&reached), "{engine}: {reached}");
        assert_eq!(direct["verdict"]["read"]["class"], "device", "{engine}");

        report(&job_reading_64_mib(
            &file,
            json!({"direct": 0, "ioengine": engine, "pre_read": 1}),
        ));
        let _locked = LockedPages::of(&File::open(&file).unwrap(), READS * 4096);
        let warm = report(&job_reading_64_mib(
            &file,
            json!({"direct": 0, "ioengine": engine, "invalidate": 0}),
        ));
        assert_eq!(warm["report"]["read"]["ios"], READS);
        let reached = warm["report"]["device"]["read_ios"].as_u64().unwrap();
        assert!(
            reached * 50 < READS,
            "{engine}: {reached} of {READS} reads reached the device"
        );
        assert_eq!(warm["verdict"]["read"]["class"], "page_cache", "{engine}");
    }
}

#[test]
fn unused_directions_need_no_buffers() {
    let directory = scratch::directory();
    // Writes of 1 GiB would need 1 TiB of buffers, but this job only reads.
    let job = job_reading_64_mib(
        &directory.path().join("t1"),
        json!({"direct": 0, "bs": "4k,1g", "iodepth": 1024}),
    );
    assert_eq!(report(&job)["report"]["read"]["ios"], READS);
}

/// Starts the runner without CAP_IPC_LOCK and with a limit of 8 MiB of locked memory.
fn start_with_memlock_limit(job: &Value) -> Child {
    let runner = env!("CARGO_BIN_EXE_leadline-runner");
    let limited = [
        "--memlock=8388608:8388608",
        "setpriv",
        "--bounding-set",
        "-ipc_lock",
        "--inh-caps",
        "-ipc_lock",
        runner,
    ];
    let mut prlimit = Command::new("prlimit");
    let command = prlimit
        .args(limited)
        .args(["run", "-", "--events"])
        .stdout(Stdio::piped());
    input::spawn(command, job.to_string())
}

/// The buffer registration decision, from the events of a run with one job.
fn fixed_buffers(events: impl BufRead) -> Value {
    let last: Value = serde_json::from_str(&events.lines().last().unwrap().unwrap()).unwrap();
    let decisions = last["report"]["jobs"][0]["decisions"]
        .as_array()
        .unwrap_or_else(|| panic!("{last}"));
    decisions
        .iter()
        .find(|decision| decision["name"] == "fixed_buffers")
        .unwrap()
        .clone()
}

#[test]
fn buffers_beyond_the_memlock_limit_are_not_registered() {
    if scratch::run(
        "setpriv",
        &[
            "--bounding-set",
            "-ipc_lock",
            "--inh-caps",
            "-ipc_lock",
            "true",
        ],
    )
    .is_err()
    {
        return scratch::skip("setpriv cannot drop capabilities here");
    }
    let directory = scratch::directory();
    let job = job_reading_64_mib(
        &directory.path().join("t1"),
        json!({"direct": 0, "iodepth": 1280, "runtime": "2s", "time_based": 1, "probes": 0}),
    );
    report(&job_reading_64_mib(
        &directory.path().join("t1"),
        json!({"direct": 0}),
    ));
    // Each run needs 5 MiB and the limit is 8 MiB, so only one run can lock its buffers.
    let mut first = start_with_memlock_limit(&job);
    let first_decision = wait_for_a_sample(&mut first);
    let mut second = start_with_memlock_limit(&with(&job, json!({"runtime": "200ms"})));
    let second_decision = fixed_buffers(BufReader::new(second.stdout.take().unwrap()));
    let first_decision = fixed_buffers(first_decision);
    assert_eq!(
        (first.wait().unwrap().code(), second.wait().unwrap().code()),
        (Some(0), Some(0))
    );
    assert_eq!(
        (&first_decision["used"], &second_decision["used"]),
        (&json!(true), &json!(false))
    );
    assert!(
        second_decision["reason"]
            .as_str()
            .unwrap()
            .contains("ulimit -l"),
        "{second_decision}"
    );
}

#[test]
fn raw_reads_match_the_device_counters() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 64 << 20);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    for engine in ["io_uring", "psync"] {
        let job = json!({"name": "raw", "filename": device.0, "rw": "randread", "bs": "4k", "iodepth": 8, "direct": 1, "ioengine": engine});
        let raw = report(&job);
        let (read, device) = (&raw["report"]["read"], &raw["report"]["device"]);
        // The kernel may merge adjacent reads of a batch into one request.
        let reached =
            device["read_ios"].as_u64().unwrap() + device["read_merges"].as_u64().unwrap();
        assert_eq!(
            (read["ios"].as_u64(), reached),
            (Some(READS), READS),
            "{engine}"
        );
        assert_eq!(read["bytes"], device["read_bytes"]);
        assert_eq!(raw["jobs"][0]["mode"], "raw");
    }
}

#[test]
fn raw_writes_require_a_target_root_and_match_the_device_counters() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 16 << 20);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    let job = json!({"name": "raw", "filename": device.0, "rw": "randwrite", "bs": "4k", "iodepth": 4, "direct": 1});
    let rejected = run(&job, &["--json"]);
    assert_eq!(
        rejected.status.code(),
        Some(3),
        "raw write without a target root"
    );
    assert!(
        std::fs::read(&image)
            .unwrap()
            .iter()
            .all(|&byte| byte == 0x5a),
        "nothing was written"
    );
    let root = directory.path().to_str().unwrap();
    let output = run(&job, &["--json", "--target-root", root]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let written: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(written["report"]["write"]["ios"], 4096);
    assert_eq!(written["report"]["device"]["write_bytes"], 16 << 20);
    assert!(
        std::fs::read(&image)
            .unwrap()
            .chunks(4096)
            .all(|block| block.iter().any(|&byte| byte != 0x5a)),
        "every block was written"
    );
}

#[test]
fn samples_add_up_to_the_report() {
    let directory = scratch::directory();
    let job = json!({"name": "mix", "filename": directory.path().join("t1"), "size": "32m", "rw": "randrw", "rwmixread": 70, "bs": "4k", "iodepth": 8,
        "direct": 1, "fsync": 64, "runtime": "1s", "time_based": 1, "ramp_time": "300ms"});
    let events = events(&job, &[]);
    let seqs: Vec<u64> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(
        seqs,
        (0..events.len() as u64).collect::<Vec<_>>(),
        "sequence numbers have no gaps"
    );
    let report = &of_type(&events, "report").next().unwrap()["report"];
    let measured: Vec<&Value> = of_type(&events, "sample")
        .filter(|sample| sample["phase"] == "measure")
        .collect();
    assert!(
        (10..=12).contains(&measured.len()),
        "{} samples in a run of 1 s",
        measured.len()
    );
    assert!(
        of_type(&events, "sample")
            .filter(|sample| sample["phase"] == "ramp")
            .count()
            >= 3
    );
    for direction in ["read", "write", "sync"] {
        let sum = |field: &str| {
            measured
                .iter()
                .map(|sample| sample[direction][field].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(
            sum("ios"),
            report[direction]["ios"].as_u64().unwrap(),
            "{direction}"
        );
        let counted = |sample: &&Value| {
            sample[direction]["lat_ns"]
                .as_array()
                .unwrap()
                .iter()
                .map(|bucket| bucket[1].as_u64().unwrap())
                .sum::<u64>()
        };
        assert_eq!(
            measured.iter().map(counted).sum::<u64>(),
            report[direction]["lat_ns"]["count"].as_u64().unwrap(),
            "{direction}"
        );
    }
    let device = |field: &str| {
        measured
            .iter()
            .map(|sample| sample["device"][field].as_u64().unwrap())
            .sum::<u64>()
    };
    for field in ["read_ios", "read_bytes", "write_ios", "write_bytes"] {
        assert_eq!(
            device(field),
            report["device"][field].as_u64().unwrap(),
            "{field}"
        );
    }
    let duration = report["duration_ms"].as_f64().unwrap();
    // The window starts on time. It ends after the runtime, when the last completions are reaped.
    assert!((1000.0..1010.0).contains(&duration), "{duration} ms");
}

#[test]
fn phases_are_reported_in_order_with_times() {
    let directory = scratch::directory();
    let job = json!({"name": "phases", "filename": directory.path().join("t1"), "size": "16m", "rw": "randwrite", "bs": "16k", "direct": 0,
        "pre_read": 1, "ramp_time": "100ms", "runtime": "200ms", "time_based": 1, "end_fsync": 1, "unlink": 1});
    let events = events(&job, &[]);
    let started: Vec<&str> = of_type(&events, "phase")
        .filter(|event| event["state"] == "begin")
        .map(|event| event["phase"].as_str().unwrap())
        .collect();
    assert_eq!(
        started,
        [
            "layout", "guard", "pre_read", "ramp", "measure", "flush", "clean_up"
        ]
    );
    let report = &of_type(&events, "report").next().unwrap()["report"];
    let reported: Vec<&str> = report["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect();
    assert_eq!(reported, started);
    assert!(
        !directory.path().join("t1").exists(),
        "unlink removes created files"
    );
}

#[test]
fn jobs_are_reported_separately_and_in_total() {
    let directory = scratch::directory();
    let job = |name: &str, workers: u32| json!({"name": name, "directory": directory.path(), "size": "4m", "rw": "read", "bs": "64k", "numjobs": workers, "direct": 1});
    let both = report(&json!({"jobs": [job("one", 1), job("three", 3)]}));
    let ios = |index: usize| {
        both["report"]["jobs"][index]["read"]["ios"]
            .as_u64()
            .unwrap()
    };
    assert_eq!(
        (ios(0), ios(1), both["report"]["read"]["ios"].as_u64()),
        (64, 192, Some(256))
    );
    assert_eq!(both["report"]["jobs"][1]["workers"], 3);
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        4,
        "each worker has its own file"
    );
}

#[test]
fn null_engine_uses_no_device() {
    let null = report(
        &json!({"name": "null", "ioengine": "null", "size": "1g", "rw": "randread", "bs": "4k", "iodepth": 32, "runtime": "200ms", "time_based": 1}),
    );
    assert!(null["report"]["read"]["ios"].as_u64().unwrap() > 100_000);
    assert_eq!(null["report"]["device"], Value::Null);
    assert!(
        null["report"]["absent"]["device"].is_string(),
        "{}",
        null["report"]["absent"]
    );
}

#[test]
fn rate_iops_limits_iops() {
    let job = json!({"name": "rate", "ioengine": "null", "size": "1g", "rw": "randread", "bs": "4k", "rate_iops": 5000, "runtime": "1s", "time_based": 1});
    let iops = report(&job)["report"]["read"]["iops"].as_f64().unwrap();
    assert!((4950.0..=5050.0).contains(&iops), "{iops}");
}

/// A one-minute job on an existing file.
fn one_minute_job(directory: &Path) -> Value {
    let job = json!({"name": "one_minute", "filename": directory.join("t1"), "size": "16m", "rw": "randread", "bs": "4k", "iodepth": 16, "direct": 1});
    report(&job);
    with(&job, json!({"runtime": "60s", "time_based": 1}))
}

/// Reads events up to and including the first sample. Returns the reader so that the pipe stays
/// open.
fn wait_for_a_sample(child: &mut Child) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"type\":\"sample\"") {
        line.clear();
        assert!(
            out.read_line(&mut line).unwrap() > 0,
            "the run ended without a sample"
        );
    }
    out
}

#[test]
fn signal_ends_the_run_with_a_report_within_a_second() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let directory = scratch::directory();
        let mut child = start(&one_minute_job(directory.path()), &["--events"]);
        let out = wait_for_a_sample(&mut child);
        let signaled = Instant::now();
        scratch::run("kill", &["-s", signal, &child.id().to_string()]).unwrap();
        let rest: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(
            signaled.elapsed() < Duration::from_secs(1),
            "{:?}",
            signaled.elapsed()
        );
        let report = &rest.last().unwrap()["report"];
        assert_eq!(report["ended_by"], "signal");
        assert!(report["read"]["ios"].as_u64().unwrap() > 0);
    }
}

#[test]
fn orphaned_runner_stops() {
    let directory = scratch::directory();
    let job = directory.path().join("job.json");
    std::fs::write(&job, one_minute_job(directory.path()).to_string()).unwrap();
    // The shell starts the runner, prints its PID and exits, which orphans the runner.
    let program = env!("CARGO_BIN_EXE_leadline-runner");
    let script = format!(
        "{program} run {} --events --stop-when-orphaned >/dev/null 2>&1 & echo $!; sleep 0.7",
        job.display()
    );
    let pid = scratch::run("sh", &["-c", &script]).unwrap();
    // An exited process stays in state Z or X until init reaps it, which takes more than a second
    // on some hosts.
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, after_name)| !after_name.starts_with(['Z', 'X']))
    };
    let orphaned = Instant::now();
    while alive() && orphaned.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(
        orphaned.elapsed() < Duration::from_secs(2),
        "the runner continued for {:?}",
        orphaned.elapsed()
    );
}

#[test]
fn end_of_stdin_does_not_stop_a_run() {
    let job = json!({"name": "null", "ioengine": "null", "size": "1g", "rw": "read", "bs": "4k", "runtime": "300ms", "time_based": 1});
    assert_eq!(report(&job)["report"]["ended_by"], "runtime");
}

#[test]
fn io_error_is_reported_with_its_offset() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 8 << 20);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    std::fs::OpenOptions::new()
        .write(true)
        .open(&image)
        .unwrap()
        .set_len(4 << 20)
        .unwrap();
    let job = json!({"name": "broken", "filename": device.0, "rw": "read", "bs": "64k", "direct": 1, "ioengine": "psync"});
    let output = run(&job, &["--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let first = &report["report"]["errors"]["first"];
    assert_eq!(
        (first["errno"].as_i64(), first["offset"].as_u64()),
        (Some(5), Some(4 << 20)),
        "{first}"
    );
    assert_eq!(report["report"]["ended_by"], "error");
}

/// Checks a rejected job's exit code, field and part of the remedy.
fn check_rejected(job: &Value, code: i32, field: &str, word: &str) {
    let before = std::fs::read_dir("/dev").unwrap().count();
    let output = run(job, &["--json"]);
    let stderr = String::from_utf8_lossy(&output.stderr).to_string();
    assert_eq!(output.status.code(), Some(code), "{job}: {stderr}");
    assert!(
        output.stdout.is_empty(),
        "{job}: unexpected output of a rejected job"
    );
    assert!(
        stderr.contains(field) && stderr.contains(word),
        "{job}: expected {field} and {word} in: {stderr}"
    );
    assert_eq!(std::fs::read_dir("/dev").unwrap().count(), before, "{job}");
}

#[test]
fn invalid_jobs_are_rejected_without_writing() {
    let directory = scratch::directory();
    let file = directory.path().join("t1");
    let valid = json!({"name": "a", "filename": file, "size": "1m", "rw": "randread", "bs": "4k", "direct": 1});
    let cases = [
        (json!({"iodpeth": 4}), 2, "iodpeth", "`iodepth`"),
        (json!({"size": "1.5g"}), 2, "size", "1536m"),
        (json!({"runtime": "10sec"}), 2, "runtime", "10s"),
        (json!({"bs": 3000}), 2, "bs", "512"),
        (json!({"bs": "4k-16k"}), 2, "bs", "bsrange"),
        (json!({"bs": 0}), 2, "bs", ""),
        (json!({"rw": "randomread"}), 2, "rw", "randread"),
        (json!({"rwmixread": 101}), 2, "rwmixread", "100"),
        (
            json!({"filename": "/dev/nvme9n1"}),
            2,
            "filename",
            "/dev/nvme9n1",
        ),
        (
            json!({"filename": "/no/such/place/t1"}),
            2,
            "filename",
            "/no/such/place",
        ),
        (
            json!({"filename": "/dev/null"}),
            2,
            "filename",
            "block device",
        ),
        (
            json!({"filename": directory.path()}),
            2,
            "filename",
            "directory",
        ),
        (json!({"size": "900t"}), 5, "size", "free"),
        (
            json!({"iodepth": 32768, "bs": "64m", "size": "128m"}),
            5,
            "iodepth",
            "memory",
        ),
        (json!({"iodepth": 0}), 2, "iodepth", "1"),
        (json!({"numjobs": 0}), 2, "numjobs", "1"),
        (json!({"time_based": 1}), 2, "time_based", "runtime"),
        (
            json!({"rate": "1m", "rate_iops": 100}),
            2,
            "rate",
            "rate_iops",
        ),
        (json!({"rw": "randtrim"}), 2, "rw", "device"),
        (
            json!({"trim_percentage": 10}),
            2,
            "trim_percentage",
            "not supported",
        ),
        (json!({"cpus_allowed": "4000"}), 5, "cpus_allowed", ""),
        (json!({"bs": "2m"}), 2, "bs", "size"),
        (json!({"direct": "maybe"}), 2, "direct", "1"),
        (json!({"ioengine": "posixaio"}), 2, "ioengine", "io_uring"),
    ];
    for (change, code, field, word) in cases {
        check_rejected(&with(&valid, change), code, field, word);
    }
    let mut without_direct = valid.clone();
    without_direct.as_object_mut().unwrap().remove("direct");
    check_rejected(&without_direct, 2, "direct", "page cache");
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        0,
        "nothing was written"
    );
    let outside = run(&valid, &["--target-root", "/proc"]);
    assert_eq!(outside.status.code(), Some(3), "outside the target roots");
}

#[test]
fn plan_writes_nothing() {
    let directory = scratch::directory();
    let job = directory.path().join("job.json");
    let target = directory.path().join("t1");
    std::fs::write(
        &job,
        json!({"filename": target, "size": "1m", "rw": "randread", "direct": 1, "runtime": 5, "time_based": 1}).to_string(),
    )
    .unwrap();
    let output = runner()
        .args(["plan", job.to_str().unwrap(), "--json"])
        .output()
        .unwrap();
    let plan: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (
            output.status.code(),
            plan["estimate"]["layout_bytes"].as_u64()
        ),
        (Some(0), Some(1 << 20))
    );
    assert!(!target.exists());
}

/// `/dev/shm` contains files, although it is below `/dev`.
#[test]
fn files_in_shared_memory_are_served_from_memory() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        return scratch::skip("/dev/shm is missing");
    };
    let file = directory.path().join("new");
    let job = json!({"name": "m", "filename": file, "size": "4m", "direct": 0, "rw": "write",
        "ioengine": "psync"});
    let written = scratch::program::report_in_root(&job, directory.path());
    assert_eq!(written["report"]["write"]["ios"], 1024);
    let mut read = job;
    read["rw"] = json!("randread");
    let result = scratch::program::report_in_root(&read, directory.path());
    assert_eq!(result["report"]["read"]["ios"], 1024);
    let class = result["verdict"]["read"]["class"].as_str().unwrap();
    assert_eq!(class, "no_device");
}

#[test]
fn lockmem_locks_memory_of_each_worker() {
    let job = json!({"name": "l", "ioengine": "null", "size": "1g", "rw": "read", "numjobs": 2,
        "lockmem": "2m", "runtime": "30s", "time_based": 1});
    let (mut child, out) = scratch::program::measuring(&job);
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(out);
    let line = status
        .lines()
        .find(|line| line.starts_with("VmLck:"))
        .unwrap();
    let locked: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(locked >= 4096, "{line}");
}
