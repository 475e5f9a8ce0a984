//! The server with the real runner and a real file: the delay and completeness of events, and
//! recovery after `kill -9` of the server or the runner.

use crate::{
    kills::check_events,
    program::{Program, TIMEOUT},
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::{Method, StatusCode};
use rustix::{
    fs::{FlockOperation, flock},
    process::{Pid, Signal, kill_process},
};
use serde_json::{Value, json};
use std::{
    fs::File,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

/// Default for `LEADLINE_KILLS`.
const KILLS: usize = 4;

/// A job that performs buffered reads from a file.
pub(crate) fn read(runtime: &str) -> Value {
    json!({"name": "real", "filename": "real", "rw": "randread", "bs": "4k", "size": "8m", "direct": 0, "runtime": runtime, "time_based": 1, "ioengine": "psync"})
}

/// Queues a run.
async fn queue(server: &Program, runtime: &str) -> u64 {
    let (status, run) = server
        .post("/runs", &json!({"jobs": [read(runtime)]}))
        .await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    run["number"].as_u64().unwrap()
}

/// Returns the child processes of the server.
pub(crate) fn runners(server: u32) -> Vec<Pid> {
    let children = std::fs::read_dir(format!("/proc/{server}/task"))
        .unwrap()
        .flat_map(|task| {
            let list =
                std::fs::read_to_string(task.unwrap().path().join("children")).unwrap_or_default();
            list.split_whitespace()
                .map(|pid| pid.parse().unwrap())
                .collect::<Vec<i32>>()
        });
    children.filter_map(Pid::from_raw).collect()
}

/// State of a process (proc_pid_stat(5)); `None` if it has exited or is a zombie.
pub(crate) fn state(process: Pid) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
    let (_, after_name) = stat.rsplit_once(") ")?;
    after_name
        .chars()
        .next()
        .filter(|state| !"ZX".contains(*state))
}

#[tokio::test]
async fn real_run_streams_all_events_promptly() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let first = queue(&server, "100ms").await;
    server.wait_until_ended(first).await;
    let began = Instant::now();
    let number = queue(&server, "2s").await;
    let mut stream = server
        .request(Method::GET, &format!("/runs/{number}/stream"))
        .send()
        .await
        .unwrap();
    let (mut text, mut first_sample) = (String::new(), None);
    while let Some(chunk) = stream.chunk().await.unwrap() {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        if first_sample.is_none() && text.contains("\"type\":\"sample\"") {
            first_sample = Some(began.elapsed());
        }
    }
    let first_sample = first_sample.expect("there are samples");
    assert!(
        first_sample < Duration::from_secs(1),
        "first sample after {first_sample:?}"
    );
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    check_events(&events, "done");
    let samples: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "sample" && event["phase"] == "measure")
        .collect();
    assert!(samples.len() >= 18, "{} samples in 2 s", samples.len());
    let run = server.get(&format!("/runs/{number}")).await;
    assert_eq!(run["damaged"], false);
    for count in ["ios", "bytes"] {
        let sum: u64 = samples
            .iter()
            .map(|sample| sample["read"][count].as_u64().unwrap())
            .sum();
        assert_eq!(
            sum,
            run["report"]["read"][count].as_u64().unwrap(),
            "{count} in the samples and the report"
        );
    }
    eprintln!(
        "first sample after {first_sample:?}, {} samples in 2 s",
        samples.len()
    );
}

#[tokio::test]
async fn runner_stops_when_its_server_dies() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let number = queue(&server, "60s").await;
    server.wait_for_status(number, &["measuring"]).await;
    let runners = runners(server.pid());
    assert_eq!(runners.len(), 1);
    let began = Instant::now();
    server.kill().await;
    while let Some(state) = state(runners[0]) {
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "the runner continues without its server, in state {state}"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn no_run_starts_while_a_previous_runner_exists() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    server
        .wait_for_status(queue(&server, "60s").await, &["measuring"])
        .await;
    let lock = server.data().join("runners");
    let descriptors = std::fs::read_dir(format!(
        "/proc/{}/fd",
        runners(server.pid())[0].as_raw_nonzero()
    ))
    .unwrap();
    let mut open = descriptors.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    assert!(
        open.any(|path| path == lock),
        "the runner shares its server's lock"
    );
    // Holds the lock as an unkillable runner would.
    let held = File::open(&lock).unwrap();
    flock(&held, FlockOperation::LockShared).unwrap();
    let server = Program::start_real(server.kill().await).await.unwrap();
    let next = queue(&server, "10ms").await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let queued = server.get(&format!("/runs/{next}")).await;
    assert_eq!(queued["status"], "queued");
    assert_eq!(
        queued["queue"]["reason"],
        "waiting for the previous server's runners to exit"
    );
    drop(held);
    assert_eq!(server.wait_until_ended(next).await["status"], "done");
}

#[tokio::test]
async fn servers_and_runners_survive_random_kills() {
    let kills = std::env::var("LEADLINE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS);
    let mut random = StdRng::seed_from_u64(4);
    let Some(mut server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    for round in 0..kills {
        for _ in 0..2 {
            queue(&server, &format!("{}ms", random.random_range(20..400))).await;
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..800))).await;
        if round % 2 == 0 {
            for runner in runners(server.pid()) {
                // The process may already have exited.
                let _ = kill_process(runner, Signal::KILL);
            }
        } else {
            server = Program::start_real(server.kill().await).await.unwrap();
        }
    }
    let total = server.get("/runs").await["total"].as_u64().unwrap();
    assert_eq!(total as usize, kills * 2);
    for number in 1..=total {
        let run = server.wait_until_ended(number).await;
        let status = run["status"].as_str().unwrap();
        let reason = run["reason"].as_str().unwrap_or_default();
        let killed = status == "failed" && reason.contains("killed by signal 9");
        assert!(
            status == "done" || status == "interrupted" || killed,
            "#{number} is {status}: {reason}"
        );
        check_events(&server.events(number).await, status);
    }
    let began = Instant::now();
    while !runners(server.pid()).is_empty() {
        assert!(began.elapsed() < TIMEOUT, "a runner is still running");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A loop device, detached when dropped.
pub(crate) struct Loop(pub String);

impl Loop {
    fn attach(file: &str) -> Option<Self> {
        let output = Command::new("losetup")
            .args(["--find", "--show", file])
            .output()
            .ok()?;
        output
            .status
            .success()
            .then(|| Self(String::from_utf8(output.stdout).unwrap().trim().into()))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["--detach", &self.0]).status();
    }
}

/// Returns `TEXT@CODE` for the only target that the job overwrites.
pub(crate) async fn confirmation(server: &Program, job: &Value) -> String {
    let (_, plan) = server.post("/plan", &json!({"jobs": [job]})).await;
    let [needed] = plan["confirmations"].as_array().unwrap().as_slice() else {
        panic!("{plan}")
    };
    let field = |name: &str| needed[name].as_str().unwrap().to_owned();
    format!("{}@{}", field("text"), field("code"))
}

/// Starts a server, and returns it and a job that overwrites a loop device containing data.
pub(crate) async fn server_with_raw_write() -> Option<(Program, Loop, Value)> {
    let server = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await?;
    let image = server.data().join("targets/image");
    std::fs::write(&image, vec![7; 1 << 20]).unwrap();
    let Some(device) = Loop::attach(image.to_str().unwrap()) else {
        eprintln!("SKIP: cannot attach a loop device");
        return None;
    };
    let write =
        json!({"name": "raw", "filename": device.0, "rw": "write", "bs": "4k", "direct": 1});
    Some((server, device, write))
}

pub(crate) fn first_code((status, problem): (StatusCode, Value)) -> (StatusCode, String) {
    let code = problem["errors"][0]["code"].as_str();
    (status, code.unwrap_or_default().to_owned())
}

#[tokio::test]
async fn data_is_overwritten_only_after_a_confirmation() {
    let Some((server, device, write)) = server_with_raw_write().await else {
        return;
    };
    let image = server.data().join("targets/image");
    let start = async |confirm: Value| {
        let body = json!({"jobs": [write], "confirm": confirm});
        first_code(server.post("/runs", &body).await)
    };
    let entry = confirmation(&server, &write).await;
    let (_, code) = entry.split_once('@').unwrap();
    let name = device.0.trim_start_matches("/dev/");
    for (confirm, expected) in [
        (json!(null), "not_confirmed"),
        (json!([]), "not_confirmed"),
        (json!(format!("loop@{code}")), "confirmation_invalid"),
        (json!(name), "confirmation_invalid"),
        (json!(format!("{name}@1-0")), "confirmation_invalid"),
    ] {
        let found = start(confirm.clone()).await;
        assert_eq!(found, (StatusCode::CONFLICT, expected.into()), "{confirm}");
    }
    let steps = json!({"name": "s", "steps": [{"jobs": [write]}]});
    let found = first_code(server.post("/studies", &steps).await);
    assert_eq!(found, (StatusCode::CONFLICT, "not_confirmed".into()));
    assert_eq!(std::fs::read(&image).unwrap(), vec![7; 1 << 20]);

    let (status, _) = start(json!([entry])).await;
    assert_eq!(status, StatusCode::CREATED);
    let run = server.wait_until_ended(1).await;
    assert_eq!(run["status"], "done", "{}", run["reason"]);
    assert_ne!(std::fs::read(&image).unwrap(), vec![7; 1 << 20]);
    let again = start(json!([entry])).await;
    assert_eq!(again.1, "confirmation_invalid", "the data has changed");
    let rerun = server.post("/runs/1/rerun", &json!({})).await;
    assert_eq!(first_code(rerun).1, "not_confirmed");
    let reading = json!({"name": "r", "filename": device.0, "rw": "read", "bs": "4k", "direct": 1});
    let (status, _) = server.post("/runs", &json!({"jobs": [reading]})).await;
    assert_eq!(
        status,
        StatusCode::CREATED,
        "reads do not require confirmation"
    );
}

#[tokio::test]
async fn one_request_can_confirm_all_study_steps() {
    let Some((server, _device, write)) = server_with_raw_write().await else {
        return;
    };
    let mut study = json!({"name": "s", "steps": [{"jobs": [write]}, {"jobs": [write]}]});
    let (_, plan) = server.post("/studies/plan", &study).await;
    let needed = plan["confirmations"].as_array().unwrap().iter();
    let entries = needed.map(|needed| {
        let field = |name: &str| needed[name].as_str().unwrap().to_owned();
        format!("{}@{}", field("text"), field("code"))
    });
    study["confirm"] = entries.collect();
    let (status, created) = server.post("/studies", &study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    for run in 1..=2 {
        let run = server.wait_until_ended(run).await;
        assert_eq!(run["status"], "done", "{}", run["reason"]);
    }
}

#[tokio::test]
async fn confirmation_starts_one_run_and_is_invalid_after_a_restart() {
    let Some((server, _device, write)) = server_with_raw_write().await else {
        return;
    };
    let first = queue(&server, "60s").await;
    server.wait_for_status(first, &["measuring"]).await;
    let entry = confirmation(&server, &write).await;
    let body = json!({"jobs": [write], "confirm": [entry]});
    let starts = [0; 4].map(|_| server.post("/runs", &body));
    let started = futures_util::future::join_all(starts).await;
    let codes: Vec<_> = started.into_iter().map(first_code).collect();
    let created = codes
        .iter()
        .filter(|(status, _)| *status == StatusCode::CREATED);
    assert_eq!(created.count(), 1, "{codes:?}");
    let used = codes.iter().filter(|(_, code)| code == "confirmation_used");
    assert_eq!(used.count(), 3, "{codes:?}");

    let server = server.kill_and_restart().await;
    let run = server.wait_until_ended(first + 1).await;
    assert_eq!(run["status"], "interrupted");
    let reason = run["reason"].as_str().unwrap();
    assert!(reason.contains("must be confirmed again"), "{reason}");
    let image = server.data().join("targets/image");
    assert_eq!(std::fs::read(&image).unwrap(), vec![7; 1 << 20]);
}

#[tokio::test]
async fn first_write_and_overwrite_are_not_comparable() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let job = json!({"name": "w", "filename": "w", "size": "1m", "rw": "write", "bs": "4k", "direct": 0, "end_fsync": 1, "ioengine": "psync",
        "fallocate": "native"});
    for number in 1..=3 {
        let (status, run) = server.post("/runs", &json!({"jobs": [job]})).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        server.wait_until_ended(number).await;
    }
    let share = &server.get("/runs/1").await["report"]["targets"][0]["state"]["written_share"];
    if share.is_null() {
        return eprintln!("SKIP: the filesystem does not report written extents");
    }
    let compared = async |runs: &str| {
        let comparison = server.get(&format!("/compare?runs={runs}")).await;
        let comparability = &comparison["comparability"];
        (
            comparability["level"] == "comparable",
            comparability["sentence"].as_str().unwrap().to_owned(),
        )
    };
    let (same_test, sentence) = compared("1,2").await;
    let expected = "data in the target before the run (no / yes). The first write to a file also allocates its blocks.";
    assert!(!same_test && sentence.contains(expected), "{sentence}");
    // Other tests may load the host during one of the two runs.
    for number in 4..=12 {
        let (is_same_test, sentence) = compared(&format!("{},{}", number - 2, number - 1)).await;
        assert!(
            sentence.starts_with("Same test on the same host"),
            "{sentence}"
        );
        if is_same_test {
            return;
        }
        server.post("/runs", &json!({"jobs": [job]})).await;
        server.wait_until_ended(number).await;
    }
    panic!("no two overwrites are comparable");
}

#[tokio::test]
async fn queued_raw_write_fails_when_its_device_changes() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let [one, two] = ["one", "two"].map(|name| {
        server
            .data()
            .join("targets")
            .join(name)
            .to_str()
            .unwrap()
            .to_owned()
    });
    for image in [&one, &two] {
        std::fs::write(image, vec![7; 1 << 20]).unwrap();
    }
    let Some(device) = Loop::attach(&one) else {
        return eprintln!("SKIP: cannot attach a loop device");
    };
    // The second run waits, because the first one uses the same disk.
    let first = queue(&server, "60s").await;
    server.wait_for_status(first, &["measuring"]).await;
    let raw = json!({"name": "raw", "filename": device.0, "rw": "write", "bs": "4k", "direct": 1, "ioengine": "psync"});
    let (status, second) = server
        .post(
            "/runs",
            &json!({"jobs": [raw], "confirm": confirmation(&server, &raw).await}),
        )
        .await;
    assert_eq!(
        (status, &second["status"]),
        (StatusCode::CREATED, &json!("queued")),
        "{second}"
    );
    let attach_other_file = || {
        Command::new("losetup")
            .args([&device.0, &two])
            .status()
            .is_ok_and(|status| status.success())
    };
    Command::new("losetup")
        .args(["--detach", &device.0])
        .status()
        .unwrap();
    if !attach_other_file() {
        return eprintln!("SKIP: another test has attached {}", device.0);
    }
    server
        .post(&format!("/runs/{first}/cancel"), &json!(null))
        .await;
    let failed = server
        .wait_until_ended(second["number"].as_u64().unwrap())
        .await;
    assert_eq!(
        failed["failure"]["problems"][0]["code"], "identity_changed",
        "{}",
        failed["reason"]
    );
    assert_eq!(std::fs::read(&two).unwrap(), vec![7; 1 << 20]);
}
