//! Studies on a terminal, loop devices of a run's own, and the five experiments: each must show here what it was published
//! for, in small.

mod scratch;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use scratch::Disk;
use serde_json::{Value, json};

/// Hands a document to `leadline-runner run - ...` and waits for the end.
fn run(document: &Value, root: &Path, args: &[&str]) -> Output {
    let mut child = start(document, root, args);
    child.stdin.take();
    child.wait_with_output().unwrap()
}

fn start(document: &Value, root: &Path, args: &[&str]) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leadline-runner"));
    command.args(["run", "-", "--target-root", root.to_str().unwrap()]).args(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(document.to_string().as_bytes()).unwrap();
    child
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The steps of a study that succeeds.
fn steps(document: &Value, root: &Path) -> Vec<Value> {
    let output = run(document, root, &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    json_of(&output)["steps"].as_array().unwrap().clone()
}

fn files(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lost+found").collect()
}

/// Whether a loop device has a file of this directory behind it.
fn is_behind_a_loop(directory: &Path) -> bool {
    scratch::run("losetup", &["--list", "--noheadings", "--output", "BACK-FILE"]).unwrap().contains(directory.to_str().unwrap())
}

fn until_no_loop(directory: &Path) {
    let began = Instant::now();
    while is_behind_a_loop(directory) {
        assert!(began.elapsed() < Duration::from_secs(3), "a loop device stays behind");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn raw(changes: Value) -> Value {
    let mut job = json!({"name": "raw", "filename": "image", "loop_device": 1, "size": "16m", "rw": "randread", "bs": "4k", "direct": 1, "unlink": 1});
    changes.as_object().unwrap().iter().for_each(|(name, value)| job[name] = value.clone());
    job
}

const BLOCKS: u64 = 16 * 256;

#[test]
fn a_loop_device_of_our_own_is_raw_and_gone_afterwards() {
    let Some(disk) = Disk::ext4() else { return };
    for rw in ["randread", "randwrite"] {
        let output = run(&raw(json!({"rw": rw})), &disk.at, &["--json"]);
        let done = json_of(&output);
        let target = &done["jobs"][0]["targets"][0];
        assert_eq!((&done["jobs"][0]["mode"], &target["kind"]), (&json!("raw"), &json!("loop")));
        assert_eq!(target["path"], disk.at.join("image").to_str().unwrap());
        let device = &done["report"]["device"];
        assert!(device["name"].as_str().unwrap().starts_with("loop") && device["name"] == target["device"], "{device}");
        let direction = rw.trim_start_matches("rand");
        let count = |what: &str| device[format!("{direction}_{what}")].as_u64().unwrap();
        assert_eq!((done["report"][direction]["ios"].as_u64(), count("ios") + count("merges")), (Some(BLOCKS), BLOCKS), "{rw}");
        assert!(!is_behind_a_loop(&disk.at) && files(&disk.at).is_empty(), "{rw}: {:?}", files(&disk.at));
    }
}

#[test]
fn through_the_page_cache_of_a_device_memory_answers_too() {
    let Some(disk) = Disk::ext4() else { return };
    let done = json_of(&run(&raw(json!({"direct": 0, "pre_read": 1})), &disk.at, &["--json"]));
    assert_eq!(done["verdict"]["read"]["class"], "page_cache", "{}", done["verdict"]);
}

#[test]
fn a_file_that_was_found_stays() {
    let Some(disk) = Disk::ext4() else { return };
    scratch::image(&disk.at.join("image"), 16 << 20);
    let before = std::fs::read(disk.at.join("image")).unwrap();
    assert_eq!(run(&raw(json!({})), &disk.at, &["--json"]).status.code(), Some(0));
    assert_eq!(std::fs::read(disk.at.join("image")).unwrap(), before);
    assert!(!is_behind_a_loop(&disk.at));
}

#[test]
fn stopped_or_killed_no_loop_device_stays() {
    let Some(disk) = Disk::ext4() else { return };
    for signal in ["TERM", "KILL"] {
        let job = raw(json!({"runtime": "30s", "time_based": 1}));
        let child = start(&job, &disk.at, &["--events"]);
        let began = Instant::now();
        while !is_behind_a_loop(&disk.at) {
            assert!(began.elapsed() < Duration::from_secs(10), "it is never attached");
            std::thread::sleep(Duration::from_millis(20));
        }
        scratch::run("kill", &[&format!("-{signal}"), &child.id().to_string()]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), (signal == "TERM").then_some(143));
        until_no_loop(&disk.at);
        assert_eq!(files(&disk.at).is_empty(), signal == "TERM", "{signal}: {:?}", files(&disk.at));
    }
}

fn nothing(name: &str, changes: Value) -> Value {
    let mut job = json!({"name": name, "ioengine": "null", "size": "4m", "rw": "randread", "bs": "4k"});
    changes.as_object().unwrap().iter().for_each(|(name, value)| job[name] = value.clone());
    json!({"name": name, "jobs": [job]})
}

#[test]
fn a_line_for_each_step_and_a_table_of_all() {
    let root = scratch::directory();
    let study = json!({"name": "Ceilings", "steps": [nothing("one", json!({})), nothing("two", json!({"rw": "read"}))]});
    let output = run(&study, root.path(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let rows = |name: &str| text.lines().filter(|line| line.contains(&format!("  {name} ")) && line.contains("MiB/s")).count();
    assert_eq!((rows("one"), rows("two")), (2, 2), "{text}");
    assert!(text.contains("IOPS to #1") && text.contains("ioengine=null does no I/O"), "{text}");
}

#[test]
fn what_is_refused_in_one_step_is_refused_before_anything_is_begun() {
    let root = scratch::directory();
    let unread = json!({"jobs": [{"filename": "f", "size": "1m", "rw": "read", "direct": 0, "fallocate": "none"}]});
    let output = run(&json!({"steps": [nothing("one", json!({})), unread]}), root.path(), &["--json"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("steps[1].jobs[0].fallocate"));
}

#[test]
fn a_step_that_fails_ends_the_study_unless_told_otherwise() {
    let root = scratch::directory();
    let file = |changes: Value| {
        let mut job = json!({"filename": "$study", "size": "1m", "bs": "4k", "direct": 0, "fallocate": "none"});
        changes.as_object().unwrap().iter().for_each(|(name, value)| job[name] = value.clone());
        json!({"jobs": [job]})
    };
    // One block is written, and all of them are to be read: foreseen by nobody.
    let steps = [file(json!({"rw": "write", "number_ios": "1"})), file(json!({"rw": "read"})), nothing("two", json!({}))];
    for (continue_on_failure, last) in [(false, json!(null)), (true, json!(0))] {
        let output = run(&json!({"steps": steps, "continue_on_failure": continue_on_failure}), root.path(), &["--json"]);
        assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
        let codes: Vec<Value> =
            json_of(&output)["steps"].as_array().unwrap().iter().map(|step| step["exit_code"].clone()).collect();
        assert_eq!(codes, [json!(0), json!(2), last]);
        assert_eq!(json_of(&output)["steps"][1]["failure"]["refusals"][0]["code"], "nothing_to_read");
    }
}

#[test]
fn ctrl_c_ends_the_step_and_the_study() {
    let root = scratch::directory();
    let long = nothing("one", json!({"runtime": "30s", "time_based": 1}));
    let child = start(&json!({"steps": [long, nothing("two", json!({}))]}), root.path(), &["--json"]);
    std::thread::sleep(Duration::from_secs(1));
    scratch::run("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let steps = json_of(&output)["steps"].clone();
    assert_eq!((&steps[0]["exit_code"], &steps[1]["exit_code"]), (&json!(130), &json!(null)));
    assert_eq!(steps[0]["report"]["ended_by"], "signal");
}

#[test]
fn events_carry_the_step_that_they_are_of() {
    let root = scratch::directory();
    let study = json!({"steps": [nothing("one", json!({})), nothing("two", json!({}))]});
    let output = run(&study, root.path(), &["--events"]);
    let events: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let reports: Vec<&Value> = events.iter().filter(|event| event["type"] == "report").map(|event| &event["step"]).collect();
    assert_eq!(reports, [1, 2]);
    assert!(events.iter().all(|event| event["step"].is_u64()));
}

/// An experiment as it comes with the server, with files of `most` at most.
fn experiment(name: &str, most: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/experiments").join(name);
    let mut study: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    study["scale"]["most"] = json!(most);
    study["scale"]["free_percent"] = json!(90);
    for job in study["steps"].as_array_mut().unwrap().iter_mut().flat_map(|step| step["jobs"].as_array_mut().unwrap()) {
        if job["runtime"].is_string() {
            job["runtime"] = json!("700ms");
        }
    }
    study
}

/// The steps of an experiment, done on a disk of the test's own; `None`, said aloud, where that cannot be had.
fn shown(name: &str, most: &str) -> Option<Vec<Value>> {
    let disk = Disk::ext4()?;
    let steps = steps(&experiment(name, most), &disk.at);
    assert!(files(&disk.at).is_empty(), "{name} leaves {:?} behind", files(&disk.at));
    assert!(!is_behind_a_loop(&disk.at));
    Some(steps)
}

/// I/Os that the device counted for each one issued, in a direction.
fn reached(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_ios")].as_f64().unwrap();
    device / step["report"][direction]["ios"].as_f64().unwrap()
}

/// Bytes that the device counted for each one issued, in a direction.
fn bytes_reached(step: &Value, direction: &str) -> f64 {
    let device = step["report"]["device"][format!("{direction}_bytes")].as_f64().unwrap();
    device / step["report"][direction]["bytes"].as_f64().unwrap()
}

fn iops(step: &Value, direction: &str) -> f64 {
    step["report"][direction]["iops"].as_f64().unwrap()
}

#[test]
fn experiment_000_memory_answers_the_second_run() {
    let Some(steps) = shown("000-page-cache.json", "16m") else { return };
    let of: Vec<f64> = steps.iter().map(|step| reached(step, "read")).collect();
    assert!(of[0] > 0.5 && of[1] < 0.02 && of[2] > 0.9 && of[3] > 0.9, "{of:?}");
    assert!(iops(&steps[1], "read") > 4.0 * iops(&steps[0], "read").max(iops(&steps[2], "read")));
    assert_eq!(steps[1]["verdict"]["read"]["class"], "page_cache");
    assert_eq!(steps[3]["jobs"][0]["mode"], "raw");
}

#[test]
fn experiment_001_the_first_write_is_another_test_than_the_second() {
    // That the first write is slower is for an idle disk to show: a time is no test. What makes it so is one.
    let Some(steps) = shown("001-first-write.json", "16m") else { return };
    let is_first = |step: &Value| step["findings"].as_array().unwrap().iter().any(|finding| finding["code"] == "initial_write");
    let first: Vec<bool> = steps.iter().map(is_first).collect();
    assert_eq!(first, [true, false, false, true, false]);
    let existed: Vec<&Value> = steps.iter().map(|step| &step["jobs"][0]["targets"][0]["existed"]).collect();
    assert_eq!(existed, [false, true, true, true, true]);
    let append = &steps[3]["jobs"][0]["targets"][0];
    assert_eq!(append["offset"], append["length"], "it begins at the end");
}

#[test]
fn experiment_002_what_was_asked_and_what_the_storage_saw() {
    let Some(steps) = shown("002-buffered-or-not.json", "32m") else { return };
    let class = |step: usize, direction: &str| steps[step]["verdict"][direction]["class"].as_str().unwrap().to_owned();
    assert!((0.9..1.1).contains(&bytes_reached(&steps[0], "read")) && bytes_reached(&steps[1], "read") < 0.02);
    assert!((0.9..1.2).contains(&bytes_reached(&steps[2], "write")), "{}", bytes_reached(&steps[2], "write"));
    assert_eq!((class(1, "read"), class(3, "write")), ("page_cache".into(), "deferred_write".into()));
    // What the device got of the cached writes came in larger requests than were asked, or not at all yet.
    let device = &steps[3]["report"]["device"];
    let request = device["write_bytes"].as_f64().unwrap() / device["write_ios"].as_f64().unwrap().max(1.0);
    assert!(device["write_ios"].as_u64() < Some(16) || request > 2.0 * 8192.0, "{device}");
    for (step, direction) in [(4, "read"), (6, "write")] {
        assert!((0.9..1.1).contains(&bytes_reached(&steps[step], direction)), "{step}");
    }
    assert!(steps[4..].iter().all(|step| step["jobs"][0]["mode"] == "raw"));
    // On Linux a block device has a cache of its own.
    assert!(iops(&steps[5], "read") > iops(&steps[4], "read"));
}

#[test]
fn experiment_003_few_large_reads_for_many_small_ones() {
    let Some(steps) = shown("003-readahead.json", "32m") else { return };
    let of: Vec<f64> = steps.iter().map(|step| reached(step, "read")).collect();
    assert!(of[0] < 0.1 && (0.9..1.1).contains(&of[1]), "{of:?}");
    assert!((0.9..1.3).contains(&bytes_reached(&steps[0], "read")));
    assert_eq!(steps[0]["verdict"]["read"]["class"], "readahead");
    assert_eq!(steps[1]["verdict"]["read"]["class"], "device");
}

#[test]
fn experiment_004_a_device_fills_buffers_and_a_file_cached() {
    let Some(steps) = shown("004-buffers-and-cached.json", "32m") else { return };
    let grown = |step: usize, what: &str| {
        let memory = &steps[step]["report"]["memory"];
        memory["end"][what].as_f64().unwrap() - memory["start"][what].as_f64().unwrap()
    };
    let size = steps[0]["report"]["write"]["bytes"].as_f64().unwrap();
    assert!(grown(0, "buffers") > 0.5 * size, "Buffers grew by {} of {size}", grown(0, "buffers"));
    assert!(grown(1, "buffers") < 0.2 * size && grown(2, "cached") > 0.5 * size && grown(2, "buffers") < 0.2 * size);
    assert!(iops(&steps[3], "write") > iops(&steps[2], "write"), "what is cached is quicker to write again");
    assert!(steps[0]["host"]["dirty_background_bytes"].as_u64() < steps[0]["host"]["dirty_bytes"].as_u64());
}
