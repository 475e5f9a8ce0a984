//! However a study ends on the server, with the real runner on real files: nothing of its own stays in the directory, and
//! what was found there does.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Method, StatusCode};
use rustix::process::{Signal, geteuid, kill_process};
use serde_json::{Value, json};

use crate::program::{PATIENCE, Program};
use crate::real::runners;

/// What was in the directory before.
const FOUND: &[u8] = b"somebody's";

/// Two files and a loop image of its own, and a file that is found, in five steps: the fourth is told, the last removes what
/// was made.
fn study(fourth: &Value) -> Value {
    let job = |name: &str, more: &Value| {
        let mut job = json!({"name": name, "size": "1m", "rw": "randread", "bs": "4k", "direct": 0, "ioengine": "psync"});
        more.as_object()
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
    let found = job(
        "found",
        &json!({"filename": "found", "size": FOUND.len(), "bs": 1, "unlink": 1}),
    );
    json!({"name": "cut short", "steps": [
        {"jobs": [data(0)]}, {"jobs": [short(0)]}, {"jobs": [image(0)]}, {"name": "fourth", "jobs": [job("fourth", fourth)]},
        {"jobs": [data(1), short(1), image(1), found]}
    ]})
}

/// Runs until it is stopped.
fn long() -> Value {
    json!({"filename": "own-$study.data", "runtime": "60s", "time_based": 1})
}

/// One block was written, and all of them are to be read: foreseen by nobody.
fn fails() -> Value {
    json!({"filename": "own-$study.short", "rw": "read", "fallocate": "none"})
}

struct Scene {
    server: Program,
    targets: PathBuf,
}

impl Scene {
    /// A server with a file in its target root that nobody may remove.
    async fn new() -> Option<Self> {
        if !geteuid().is_root() {
            eprintln!("SKIP: only root may make loop devices");
            return None;
        }
        let server = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await?;
        let targets = server.data().join("targets");
        std::fs::write(targets.join("found"), FOUND).unwrap();
        Some(Self { server, targets })
    }

    async fn start(&self, study: &Value) {
        let (status, made) = self.server.post("/studies", study).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
    }

    /// Waits until the files of the first three steps are there and the fourth is measured.
    async fn until_measured(&self, run: u64) {
        self.server.until(run, &["measuring"]).await;
        assert_eq!(files(&self.targets).len(), 4, "{:?}", files(&self.targets));
    }

    /// Server and runner die at one moment, as by a power cut: neither has time to clean up.
    async fn killed_and_restarted(self) -> Self {
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

    /// Waits for the end of the study and for its files to go; how its steps ended, and why.
    async fn ended(&self) -> (Value, Vec<String>) {
        let began = Instant::now();
        let study = loop {
            let study = self.server.get("/studies/1").await;
            let is_over = !["queued", "running"].contains(&study["status"].as_str().unwrap());
            if is_over && files(&self.targets) == ["found"] {
                break study;
            }
            assert!(
                began.elapsed() < PATIENCE,
                "{} and {:?}",
                study["status"],
                files(&self.targets)
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        assert_eq!(std::fs::read(self.targets.join("found")).unwrap(), FOUND);
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
async fn cancelled_in_the_middle() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    scene.start(&study(&long())).await;
    scene.until_measured(4).await;
    assert_eq!(
        scene.server.post("/studies/1/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let (study, statuses) = scene.ended().await;
    assert_eq!(statuses, ["done", "done", "done", "cancelled", "cancelled"]);
    assert_eq!(study["leftover_files"], json!([]));
}

#[tokio::test]
async fn one_step_cancelled() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    scene.start(&study(&long())).await;
    scene.until_measured(4).await;
    assert_eq!(
        scene.server.post("/runs/4/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let (study, statuses) = scene.ended().await;
    assert_eq!(statuses, ["done", "done", "done", "cancelled", "cancelled"]);
    assert_eq!(
        study["steps"][4]["run"]["reason"],
        "Not begun: step 4 was cancelled."
    );
}

#[tokio::test]
async fn a_step_that_fails() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    scene.start(&study(&fails())).await;
    let (study, statuses) = scene.ended().await;
    assert_eq!(statuses, ["done", "done", "done", "failed", "cancelled"]);
    let why = study["steps"][3]["run"]["reason"].as_str().unwrap();
    assert_eq!(
        study["steps"][4]["run"]["reason"],
        format!("Not begun: step 4 failed: {why}")
    );
}

#[tokio::test]
async fn killed_in_the_last_step() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    let mut asked = study(&json!({"filename": "own-$study.data"}));
    let last = &mut asked["steps"][4]["jobs"][0];
    (last["runtime"], last["time_based"]) = (json!("60s"), json!(1));
    scene.start(&asked).await;
    scene.until_measured(5).await;
    let scene = scene.killed_and_restarted().await;
    let (study, statuses) = scene.ended().await;
    assert_eq!(statuses, ["done", "done", "done", "done", "interrupted"]);
    assert_eq!(study["status"], "interrupted");
}

#[tokio::test]
async fn killed_in_the_middle_it_goes_on_and_removes_them_in_the_end() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    scene.start(&study(&long())).await;
    scene.until_measured(4).await;
    let (_, statuses) = scene.killed_and_restarted().await.ended().await;
    assert_eq!(statuses, ["done", "done", "done", "interrupted", "done"]);
}

#[tokio::test]
async fn what_cannot_be_removed_is_named_and_tried_again_at_the_next_start() {
    let Some(scene) = Scene::new().await else {
        return;
    };
    scene.start(&study(&long())).await;
    scene.until_measured(4).await;
    let data = files(&scene.targets)
        .into_iter()
        .find(|name| name.ends_with(".data"))
        .unwrap();
    // Somebody gives it a second name: it may be needed there.
    let other = scene.server.data().join("other");
    std::fs::hard_link(scene.targets.join(&data), &other).unwrap();
    assert_eq!(
        scene.server.post("/studies/1/cancel", &Value::Null).await.0,
        StatusCode::ACCEPTED
    );
    let began = Instant::now();
    while files(&scene.targets) != ["found", data.as_str()] {
        assert!(began.elapsed() < PATIENCE, "{:?}", files(&scene.targets));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let left = loop {
        let left = scene.server.get("/studies/1").await["leftover_files"].clone();
        if left != json!([]) {
            break left;
        }
        assert!(began.elapsed() < PATIENCE, "nothing is said about {data}");
    };
    assert_eq!(
        (left[0]["path"].as_str(), &left[0]["reason"]["code"]),
        (
            scene.targets.canonicalize().unwrap().join(&data).to_str(),
            &json!("hard_linked")
        )
    );
    std::fs::remove_file(&other).unwrap();
    let scene = scene.killed_and_restarted().await;
    scene.ended().await;
    let (status, _) = scene
        .server
        .send(scene.server.request(Method::GET, "/studies/1"))
        .await;
    assert_eq!(status, StatusCode::OK);
}
