//! Studies run from the command line, and loop devices that a run creates.

use crate::scratch::{
    self, Disk,
    document::{files, has_attached_loop, json_of, run, start},
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Seek, Write},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

fn wait_for_detach(directory: &Path) {
    let began = Instant::now();
    while has_attached_loop(directory) {
        assert!(
            began.elapsed() < Duration::from_secs(3),
            "a loop device remains"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn raw(changes: Value) -> Value {
    let mut job = json!({"name": "raw", "filename": "image", "loop_device": 1, "size": "16m", "rw": "randread", "bs": "4k", "direct": 1, "unlink": 1});
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    job
}

const BLOCKS: u64 = 16 * 256;

/// Checks the storage in the report: the run's loop device is on a file, which is on the test's
/// mounted loop device.
fn check_storage(storage: &Value, mount_point: &Path) {
    let kind = |index: usize| &storage["devices"][index]["kind"];
    assert_eq!((kind(0), kind(1)), (&json!("loop"), &json!("loop")));
    let mount = &storage["mounts"][0];
    assert_eq!(mount["point"], mount_point.to_str().unwrap());
    assert_eq!(mount["filesystem"], "ext4");
    assert!(mount["options"].as_str().unwrap().starts_with("rw"));
    let settings = &storage["devices"][0];
    assert!(settings["read_ahead_bytes"].is_u64() && settings["scheduler"].is_string());
}

#[test]
fn loop_device_is_raw_and_detached_at_the_end() {
    let Some(disk) = Disk::ext4() else { return };
    for rw in ["randread", "randwrite"] {
        let output = run(&raw(json!({"rw": rw})), &disk.at, &["--json"]);
        let done = json_of(&output);
        let target = &done["jobs"][0]["targets"][0];
        assert_eq!(
            (&done["jobs"][0]["mode"], &target["kind"]),
            (&json!("raw"), &json!("loop"))
        );
        assert_eq!(target["path"], disk.at.join("image").to_str().unwrap());
        let device = &done["report"]["device"];
        assert!(
            device["name"].as_str().unwrap().starts_with("loop")
                && device["name"] == target["device"],
            "{device}"
        );
        check_storage(&done["host"]["storage"], &disk.at);
        let direction = rw.trim_start_matches("rand");
        let count = |what: &str| device[format!("{direction}_{what}")].as_u64().unwrap();
        assert_eq!(
            (
                done["report"][direction]["ios"].as_u64(),
                count("ios") + count("merges")
            ),
            (Some(BLOCKS), BLOCKS),
            "{rw}"
        );
        assert!(
            !has_attached_loop(&disk.at) && files(&disk.at).is_empty(),
            "{rw}: {:?}",
            files(&disk.at)
        );
    }
}

#[test]
fn buffered_device_reads_use_the_page_cache() {
    let Some(disk) = Disk::ext4() else { return };
    let done = json_of(&run(
        &raw(json!({"direct": 0, "pre_read": 1})),
        &disk.at,
        &["--json"],
    ));
    assert_eq!(
        done["verdict"]["read"]["class"], "page_cache",
        "{}",
        done["verdict"]
    );
}

#[test]
fn existing_files_are_kept() {
    let Some(disk) = Disk::ext4() else { return };
    scratch::image(&disk.at.join("image"), 16 << 20);
    let before = std::fs::read(disk.at.join("image")).unwrap();
    assert_eq!(
        run(&raw(json!({})), &disk.at, &["--json"]).status.code(),
        Some(0)
    );
    assert_eq!(std::fs::read(disk.at.join("image")).unwrap(), before);
    assert!(!has_attached_loop(&disk.at));
}

#[test]
fn no_loop_device_remains_after_a_stop_or_kill() {
    let Some(disk) = Disk::ext4() else { return };
    for signal in ["TERM", "KILL"] {
        let job = raw(json!({"runtime": "30s", "time_based": 1}));
        let child = start(&job, &disk.at, &["--events"]);
        let began = Instant::now();
        while !has_attached_loop(&disk.at) {
            assert!(
                began.elapsed() < Duration::from_secs(10),
                "no loop device was attached"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
        scratch::run("kill", &[&format!("-{signal}"), &child.id().to_string()]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), (signal == "TERM").then_some(143));
        wait_for_detach(&disk.at);
        assert_eq!(
            files(&disk.at).is_empty(),
            signal == "TERM",
            "{signal}: {:?}",
            files(&disk.at)
        );
    }
}

fn null_step(name: &str, changes: Value) -> Value {
    let mut job =
        json!({"name": name, "ioengine": "null", "size": "4m", "rw": "randread", "bs": "4k"});
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    json!({"name": name, "jobs": [job]})
}

#[test]
fn prints_one_line_per_step_and_a_table() {
    let root = scratch::directory();
    let study = json!({"name": "Ceilings", "steps": [null_step("one", json!({})), null_step("two", json!({"rw": "read"}))]});
    let output = run(&study, root.path(), &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    let rows = |name: &str| {
        text.lines()
            .filter(|line| line.contains(&format!("  {name} ")) && line.contains("MiB/s"))
            .count()
    };
    assert_eq!((rows("one"), rows("two")), (2, 2), "{text}");
    assert!(
        text.contains("vs. first") && text.contains("ioengine=null performs no I/O"),
        "{text}"
    );
}

#[test]
fn step_problems_are_reported_before_the_study_starts() {
    let root = scratch::directory();
    let unread = json!({"jobs": [{"filename": "f", "size": "1m", "rw": "read", "direct": 0, "fallocate": "none"}]});
    let output = run(
        &json!({"steps": [null_step("one", json!({})), unread]}),
        root.path(),
        &["--json"],
    );
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("steps[1].jobs[0].fallocate")
    );
}

#[test]
fn failed_step_ends_the_study_by_default() {
    let root = scratch::directory();
    let file = |changes: Value| {
        let mut job = json!({"filename": "$study", "size": "1m", "bs": "4k", "direct": 0, "fallocate": "none"});
        changes
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        json!({"jobs": [job]})
    };
    // The first step writes one block, but the second one reads all 256. The plan does not
    // detect this.
    let steps = [
        file(json!({"rw": "write", "number_ios": "1"})),
        file(json!({"rw": "read"})),
        null_step("two", json!({})),
    ];
    for (continue_on_failure, last) in [(false, json!(null)), (true, json!(0))] {
        let output = run(
            &json!({"steps": steps, "continue_on_failure": continue_on_failure}),
            root.path(),
            &["--json"],
        );
        assert_eq!(
            output.status.code(),
            Some(2),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let codes: Vec<Value> = json_of(&output)["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|step| step["exit_code"].clone())
            .collect();
        assert_eq!(codes, [json!(0), json!(2), last]);
        assert_eq!(
            json_of(&output)["steps"][1]["failure"]["problems"][0]["code"],
            "read_beyond_end"
        );
    }
}

/// CPU time of a process in user mode, in ticks of 10 ms.
fn cpu_ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1;
    fields.split_whitespace().nth(11).unwrap().parse().unwrap()
}

#[test]
fn ctrl_c_ends_the_step_and_the_study() {
    let root = scratch::directory();
    let long = null_step("one", json!({"runtime": "30s", "time_based": 1}));
    let child = start(
        &json!({"steps": [long, null_step("two", json!({}))]}),
        root.path(),
        &["--json"],
    );
    // The null engine only uses CPU time.
    let began = Instant::now();
    while cpu_ticks(child.id()) < 50 {
        assert!(
            began.elapsed() < Duration::from_secs(25),
            "the step never started"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    scratch::run("kill", &["-INT", &child.id().to_string()]).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let steps = json_of(&output)["steps"].clone();
    assert_eq!(
        (&steps[0]["exit_code"], &steps[1]["exit_code"]),
        (&json!(130), &json!(null))
    );
    assert_eq!(steps[0]["report"]["ended_by"], "signal");
}

#[test]
fn events_contain_the_step_number() {
    let root = scratch::directory();
    let study = json!({"steps": [null_step("one", json!({})), null_step("two", json!({}))]});
    let output = run(&study, root.path(), &["--events"]);
    let events: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let reports: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "report")
        .map(|event| &event["step"])
        .collect();
    assert_eq!(reports, [1, 2]);
    assert!(events.iter().all(|event| event["step"].is_u64()));
}

/// A study with two steps of different rates. Interim looks take place after 7 and 10 pairs.
fn until_decided() -> Value {
    let step = |name: &str, rate: u32| {
        json!({"name": name, "jobs": [{"name": name, "filename": "f", "size": "1m", "rw": "randread", "bs": "4k", "ioengine": "psync",
            "direct": 0, "invalidate": 0, "rate_iops": rate, "runtime": "200ms", "time_based": 1}]})
    };
    json!({"name": "A/B", "repeats": 10, "idle_wait_seconds": 0, "until_decided": {}, "steps": [step("a", 1000), step("b", 500)]})
}

#[test]
fn study_ends_when_its_metrics_are_decided() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = until_decided();
    for step in study["steps"].as_array_mut().unwrap() {
        // Without a device, other programs' I/O does not affect the runs.
        step["jobs"][0]["ioengine"] = json!("null");
        step["jobs"][0].as_object_mut().unwrap().remove("filename");
    }
    let output = run(&study, directory.path(), &["--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let done = json_of(&output);
    assert_eq!(done["looks"].as_array().unwrap().len(), 1, "{done}");
    let look = &done["looks"][0];
    assert_eq!(
        (&look["pairs"], &look["outcome"]),
        (&json!(7), &json!("decided"))
    );
    assert_eq!(look["changes"][0]["verdict"], "worse");
    let steps = done["steps"].as_array().unwrap();
    let ran = |step: &&Value| step["report"].is_object();
    assert_eq!((steps.len(), steps.iter().filter(ran).count()), (20, 14));
    // A comparison of the stored document uses the confidence level of the look.
    let path = directory.path().join("study.json");
    std::fs::write(&path, &output.stdout).unwrap();
    let step = |number: u32| format!("{}#{number}", path.display());
    let compared = std::process::Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
        .args(["compare", &step(1), &step(2), "--format", "json"])
        .output()
        .unwrap();
    let compared = json_of(&compared);
    let comparison = &compared["comparison"];
    assert_eq!(comparison["confidence_percent"], look["confidence_percent"]);
}

#[test]
fn plan_lists_the_interim_looks() {
    let directory = tempfile::tempdir().unwrap();
    let plan = |study: &Value| {
        let path = directory.path().join("study.json");
        std::fs::write(&path, study.to_string()).unwrap();
        std::process::Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
            .arg("plan")
            .arg(path)
            .current_dir(directory.path())
            .output()
            .unwrap()
    };
    let text = String::from_utf8(plan(&until_decided()).stdout).unwrap();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let part = "Ends as soon as read_iops is decided. Interim looks after 7 and 10 pairs";
    assert!(text.contains(part), "{text}");
    let mut too_few = until_decided();
    too_few["repeats"] = json!(5);
    let output = plan(&too_few);
    let text =
        String::from_utf8(output.stderr).unwrap() + &String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("at least 6 repeats"), "{text}");
}

/// After the first block of runs, a directory replaces step B's file so that its later runs fail.
#[test]
fn failed_runs_are_retried_once_and_the_study_continues() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = until_decided();
    study.as_object_mut().unwrap().remove("until_decided");
    study["repeats"] = json!(4);
    let file = directory.path().join("b");
    std::fs::write(&file, vec![1; 1 << 20]).unwrap();
    study["steps"][1]["jobs"][0]["filename"] = json!("b");
    let mut child = start(&study, directory.path(), &["--events"]);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for line in lines {
        let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let step = event["step"].as_u64().unwrap();
        match event["type"].as_str().unwrap() {
            "accepted" => drop(names.insert(step, event["jobs"][0]["name"].clone())),
            end @ ("report" | "failed") => events.entry(step).or_default().push(end.into()),
            _ => {}
        }
        if step == 2 && event["type"] == "report" {
            std::fs::remove_file(&file).unwrap();
            std::fs::create_dir(&file).unwrap();
        }
    }
    assert!(!child.wait().unwrap().success());
    assert_eq!(events.len(), 8, "{events:?}");
    for step in 5..=8 {
        let is_step_a = names.get(&step) == Some(&json!("a"));
        let expected: &[&str] = if is_step_a {
            &["report"]
        } else {
            &["failed"; 2]
        };
        assert_eq!(events[&step], expected, "{step}: {events:?}");
    }
}

/// Writes to a file until dropped.
struct Writer {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(path: &Path) -> Self {
        let mut file = std::fs::File::create(path).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = stop.clone();
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                file.rewind().unwrap();
                file.write_all(&[7; 4096]).unwrap();
                file.sync_data().unwrap();
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn study_with_idle_wait(seconds: u32) -> Value {
    let job = json!({"name": "read", "filename": "f", "size": "1m", "rw": "randread", "bs": "4k", "ioengine": "psync",
        "direct": 1, "runtime": "100ms", "time_based": 1});
    json!({"name": "idle", "idle_wait_seconds": seconds, "steps": [{"jobs": [job]}]})
}

fn phases(done: &Value) -> Vec<&str> {
    let phases = done["steps"][0]["report"]["phases"].as_array().unwrap();
    phases
        .iter()
        .map(|phase| phase["phase"].as_str().unwrap())
        .collect()
}

fn has_finding(done: &Value) -> bool {
    let findings = done["steps"][0]["findings"].as_array().unwrap();
    findings
        .iter()
        .any(|finding| finding["code"] == "busy_at_start")
}

#[test]
fn run_on_a_busy_device_begins_after_the_maximum_wait() {
    let Some(disk) = Disk::ext4() else { return };
    let busy = disk.at.join("busy");
    let writer = Writer::start(&busy);
    let began = Instant::now();
    let done = json_of(&run(&study_with_idle_wait(1), &disk.at, &["--json"]));
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(phases(&done)[..3], ["layout", "guard", "idle_wait"]);
    assert!(has_finding(&done), "{done}");
    // Without the option, the run does not wait.
    let done = json_of(&run(&study_with_idle_wait(0), &disk.at, &["--json"]));
    assert!(!phases(&done).contains(&"idle_wait") && !has_finding(&done));
    drop(writer);
}

#[test]
fn idle_wait_can_be_stopped() {
    let Some(disk) = Disk::ext4() else { return };
    let busy = disk.at.join("busy");
    let writer = Writer::start(&busy);
    let mut child = start(&study_with_idle_wait(600), &disk.at, &["--events"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let event =
        |line: std::io::Result<String>| -> Value { serde_json::from_str(&line.unwrap()).unwrap() };
    // While the run waits, it reports the reason.
    let noted = lines
        .by_ref()
        .map(event)
        .find(|event| event["phase"] == "idle_wait" && event["state"] == "progress");
    let note = noted.unwrap()["note"].as_str().unwrap().to_owned();
    assert!(note.contains(" left"), "{note}");
    let stopped = Instant::now();
    scratch::run("kill", &["-TERM", &child.id().to_string()]).unwrap();
    let rest: Vec<Value> = lines.map(event).collect();
    assert!(stopped.elapsed() < Duration::from_secs(2), "{rest:?}");
    assert!(rest.iter().all(|event| event["type"] != "report"));
    assert_eq!(child.wait().unwrap().code(), Some(143));
    drop(writer);
}
