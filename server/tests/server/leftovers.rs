//! Removes studies' temporary files, with the real runner and real files. The files are removed
//! regardless of how a study ends. Pre-existing files are kept.

use crate::{
    program::{Program, TIMEOUT},
    real_runner::runners,
};
use reqwest::{Method, StatusCode};
use rustix::process::{Signal, geteuid, kill_process};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

/// Content of a pre-existing file.
const EXISTING: &[u8] = b"existing";

/// A study with five steps that use two files, a loop image and the existing file. The last step
/// removes the files. `fourth`: options of the fourth step.
fn study(fourth: &Value) -> Value {
    let job = |name: &str, options: &Value| {
        let mut job = json!({"name": name, "size": "1m", "rw": "randread", "bs": "4k", "direct": 0, "ioengine": "psync"});
        options
            .as_object()
            .unwrap()
            .iter()
            .for_each(|(name, value)| job[name] = value.clone());
        job
    };
    let data = |unlink: u8| {
        job(
            "data",
            &json!({"filename": "own-$study.data", "unlink": unlink}),
        )
    };
    let short = |unlink: u8| {
        job(
            "short",
            &json!({"filename": "own-$study.short", "unlink": unlink, "rw": "write", "number_ios": 1, "fallocate": "none"}),
        )
    };
    let image = |unlink: u8| {
        job(
            "image",
            &json!({"filename": "own-$study.loop", "loop_device": 1, "unlink": unlink}),
        )
    };
    let existing = job(
        "existing",
        &json!({"filename": "existing", "size": EXISTING.len(), "bs": 1, "unlink": 1}),
    );
    json!({"name": "ended early", "steps": [
        {"jobs": [data(0)]}, {"jobs": [short(0)]}, {"jobs": [image(0)]}, {"name": "fourth", "jobs": [job("fourth", fourth)]},
        {"jobs": [data(1), short(1), image(1), existing]}
    ]})
}

/// A step that runs until it is stopped.
fn unlimited_step() -> Value {
    json!({"filename": "own-$study.data", "runtime": "60s", "time_based": 1})
}

/// A step that fails because the file has only one block.
fn failing_step() -> Value {
    json!({"filename": "own-$study.short", "rw": "read", "fallocate": "none"})
}

struct StudyTest {
    server: Program,
    targets: PathBuf,
}

impl StudyTest {
    /// Starts a server with an existing file in its target root.
    async fn new() -> Option<Self> {
        if !geteuid().is_root() {
            eprintln!("SKIP: loop devices require root");
            return None;
        }
        let server = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await?;
        let targets = server.data().join("targets");
        std::fs::write(targets.join("existing"), EXISTING).unwrap();
        Some(Self { server, targets })
    }

    async fn start(&self, study: &Value) {
        let (status, made) = self.server.post("/studies", study).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
    }

    /// Waits until a step is measuring. At that point, the files of the first three steps must
    /// exist.
    async fn wait_until_measured(&self, run: u64) {
        self.server.wait_for_status(run, &["measuring"]).await;
        assert_eq!(files(&self.targets).len(), 4, "{:?}", files(&self.targets));
    }

    /// Kills the server and the runner at the same time, so neither of them cleans up. Then
    /// restarts the server.
    async fn kill_and_restart(self) -> Self {
        let runners = runners(self.server.pid());
        let all = |signal| {
            runners
                .iter()
                .for_each(|runner| kill_process(*runner, signal).unwrap())
        };
        all(Signal::STOP);
        let directory = self.server.kill().await;
        all(Signal::KILL);
        Self {
            server: Program::start_real(directory).await.unwrap(),
            targets: self.targets,
        }
    }

    /// Waits until the study has ended and its files are gone. Returns the study and the status of
    /// each step.
    async fn wait_until_clean(&self) -> (Value, Vec<String>) {
        let began = Instant::now();
        let study = loop {
            let study = self.server.get("/studies/1").await;
            let has_ended = !["queued", "running"].contains(&study["status"].as_str().unwrap());
            if has_ended && files(&self.targets) == ["existing"] {
                break study;
            }
            assert!(
                began.elapsed() < TIMEOUT,
                "{} and {:?}",
                study["status"],
                files(&self.targets)
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(
            std::fs::read(self.targets.join("existing")).unwrap(),
            EXISTING
        );
        let steps = study["steps"].as_array().unwrap();
        let statuses = steps
            .iter()
            .map(|step| step["run"]["status"].as_str().unwrap().to_owned())
            .collect();
        (study, statuses)
    }
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn cancelled_study_removes_its_files() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    test.start(&study(&unlimited_step())).await;
    test.wait_until_measured(4).await;
    assert_eq!(
        test.server.post("/studies/1/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let (study, statuses) = test.wait_until_clean().await;
    assert_eq!(statuses, ["done", "done", "done", "cancelled", "cancelled"]);
    assert_eq!(study["leftover_files"], json!([]));
}

#[tokio::test]
async fn cancelled_step_removes_study_files() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    test.start(&study(&unlimited_step())).await;
    test.wait_until_measured(4).await;
    assert_eq!(
        test.server.post("/runs/4/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let (study, statuses) = test.wait_until_clean().await;
    assert_eq!(statuses, ["done", "done", "done", "cancelled", "cancelled"]);
    assert_eq!(
        study["steps"][4]["run"]["reason"],
        "Not started: step 4 was cancelled."
    );
}

#[tokio::test]
async fn failed_step_removes_study_files() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    test.start(&study(&failing_step())).await;
    let (study, statuses) = test.wait_until_clean().await;
    assert_eq!(statuses, ["done", "done", "done", "failed", "cancelled"]);
    let reason = study["steps"][3]["run"]["reason"].as_str().unwrap();
    assert_eq!(
        study["steps"][4]["run"]["reason"],
        format!("Not started: step 4 failed: {reason}")
    );
}

#[tokio::test]
async fn restart_after_kill_in_last_step_removes_files() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    let mut study = study(&json!({"filename": "own-$study.data"}));
    let last = &mut study["steps"][4]["jobs"][0];
    last["runtime"] = json!("60s");
    last["time_based"] = json!(1);
    test.start(&study).await;
    test.wait_until_measured(5).await;
    let test = test.kill_and_restart().await;
    let (study, statuses) = test.wait_until_clean().await;
    assert_eq!(statuses, ["done", "done", "done", "done", "interrupted"]);
    assert_eq!(study["status"], "interrupted");
}

#[tokio::test]
async fn restart_after_kill_removes_temporary_files() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    test.start(&study(&unlimited_step())).await;
    test.wait_until_measured(4).await;
    let (_, statuses) = test.kill_and_restart().await.wait_until_clean().await;
    assert_eq!(statuses, ["done", "done", "done", "interrupted", "done"]);
}

#[tokio::test]
async fn failed_removal_is_reported_and_retried_at_the_next_start() {
    let Some(test) = StudyTest::new().await else {
        return;
    };
    test.start(&study(&unlimited_step())).await;
    test.wait_until_measured(4).await;
    let data = files(&test.targets)
        .into_iter()
        .find(|name| name.ends_with(".data"))
        .unwrap();
    // A file with another hard link is not removed, because it may still be needed.
    let other = test.server.data().join("other");
    std::fs::hard_link(test.targets.join(&data), &other).unwrap();
    assert_eq!(
        test.server.post("/studies/1/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let began = Instant::now();
    while files(&test.targets) != ["existing", data.as_str()] {
        assert!(began.elapsed() < TIMEOUT, "{:?}", files(&test.targets));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let leftover = loop {
        let leftover = test.server.get("/studies/1").await["leftover_files"].clone();
        if leftover != json!([]) {
            break leftover;
        }
        assert!(began.elapsed() < TIMEOUT, "{data} is not reported");
    };
    assert_eq!(
        leftover[0]["path"].as_str(),
        test.targets.canonicalize().unwrap().join(&data).to_str()
    );
    assert_eq!(leftover[0]["reason"]["code"], "hard_linked");
    std::fs::remove_file(&other).unwrap();
    let test = test.kill_and_restart().await;
    test.wait_until_clean().await;
    let (status, _) = test
        .server
        .send(test.server.request(Method::GET, "/studies/1"))
        .await;
    assert_eq!(status, StatusCode::OK);
}
