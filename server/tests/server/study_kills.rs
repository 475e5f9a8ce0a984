//! Kills the server, the real runner or both with SIGKILL at seeded points in studies. The studies
//! continue after a restart: every cell is started, and only killed cells are retried.
//!
//! A cell is one repeat of a step. It is retried once if its first run was killed.

use crate::{
    kills::check_events,
    program::{Program, TIMEOUT, command},
    real_runner::runners,
    repeats::wait_for_end_of_study,
    store_faults::lock_database,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::time::sleep;

/// Default for `LEADLINE_STUDY_KILLS`.
const POINTS: usize = 5;
const REPEATS: usize = 7;
const RUNTIME_MS: u64 = 150;
/// Longer than the delay after which events are spooled.
const LOCKED_MS: u64 = 2_500;

/// What the study is doing when a process is killed.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Phase {
    /// The study is being submitted, or its first run is queued.
    Queue,
    /// A runner has just been started.
    Start,
    /// A run is active.
    Run,
    /// The runner writes its report or exits.
    End,
    /// The database is locked by another process while the run ends.
    Store,
}

const PHASES: [Phase; 5] = [
    Phase::Queue,
    Phase::Start,
    Phase::Run,
    Phase::End,
    Phase::Store,
];

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Victim {
    Server,
    Runner,
    Both,
}

struct Scene {
    server: Program,
    random: StdRng,
    /// Outcomes of the runs that were active at the time of a kill.
    outcomes: BTreeMap<(Phase, Victim, String), usize>,
}

fn study() -> Value {
    let job = |name| json!({"name": name, "filename": "target", "rw": "randread", "bs": "4k", "size": "1m", "direct": 0, "runtime": format!("{RUNTIME_MS}ms"), "time_based": 1, "ioengine": "psync"});
    let step = |name| json!({"name": name, "sample_ms": 20, "jobs": [job(name)]});
    json!({"name": "Killed", "repeats": REPEATS, "continue_on_failure": true, "idle_wait_seconds": 0, "steps": [step("a"), step("b")]})
}

/// Starts the server with a wrapper script, which stores the input of each started run and then
/// executes the real runner. Returns `None` if the runner has not been built.
async fn start(directory: Arc<TempDir>) -> Option<Program> {
    let runner = Path::new(env!("CARGO_BIN_EXE_leadline")).with_file_name("leadline-runner");
    if !runner.exists() {
        eprintln!("SKIP: the runner is not built; `cargo test --workspace` builds it");
        return None;
    }
    let starts = directory.path().join("inputs");
    fs::create_dir_all(&starts).unwrap();
    let script = directory.path().join("runner");
    let text = format!(
        "#!/bin/sh\n[ \"$1\" = run ] || exec '{runner}' \"$@\"\ninput='{starts}'/$$-$(date +%N) && cat >\"$input\" && exec '{runner}' \"$@\" <\"$input\"\n",
        runner = runner.display(),
        starts = starts.display(),
    );
    // A script that is open for writing cannot be executed.
    if !script.exists() {
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = command(directory.path());
    command.env("LEADLINE_RUNNER", script);
    Some(Program::start_command(command, directory).await)
}

/// Returns the name and seed of each started run. Each repeat of a step has a different seed.
fn starts(directory: &Path) -> Vec<(String, u64)> {
    let files = fs::read_dir(directory.join("inputs")).unwrap();
    let cell = |file: fs::DirEntry| {
        let text = fs::read_to_string(file.path()).ok()?;
        // The input is truncated if the server was killed while writing it.
        let input: Value = serde_json::from_str(&text).ok()?;
        Some(cell(&input))
    };
    files.filter_map(|file| cell(file.unwrap())).collect()
}

/// Returns the name and seed of the job requested in `run`.
fn cell(run: &Value) -> (String, u64) {
    let job = &run["jobs"][0];
    let name = job["name"].as_str().unwrap().to_owned();
    (name, job["randseed"].as_u64().unwrap())
}

fn started_files(directory: &Path) -> usize {
    fs::read_dir(directory.join("inputs")).unwrap().count()
}

/// Returns runners that execute a run. Other children of the server plan runs or query the host.
fn active_runners(server: u32) -> Vec<Pid> {
    let mut pids = runners(server);
    pids.retain(|pid| {
        let line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|argument| argument == b"run")
    });
    pids
}

impl Scene {
    fn delay(&mut self, max_ms: u64) -> Duration {
        Duration::from_micros(self.random.random_range(0..max_ms * 1000))
    }

    /// Returns the study's runs that have not ended, in order.
    async fn unfinished_runs(&self, study: u64) -> Vec<Value> {
        let path = format!(
            "/runs?q=study:{study}&status=queued,preparing,measuring,finishing&limit=200&sort=number&order=asc"
        );
        self.server.get(&path).await["runs"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// Waits until a run in the study has one of the statuses, and returns its number.
    async fn wait_for(&self, study: u64, statuses: &[&str]) -> u64 {
        let began = Instant::now();
        loop {
            let runs = self.unfinished_runs(study).await;
            let found = runs
                .iter()
                .find(|run| statuses.contains(&run["status"].as_str().unwrap()));
            if let Some(run) = found {
                return run["number"].as_u64().unwrap();
            }
            assert!(began.elapsed() < TIMEOUT, "study #{study}: {runs:?}");
        }
    }

    /// Kills the victim, then releases the database lock, and restarts a killed server. If the
    /// runner has already exited, kills the server instead. Returns what was killed.
    async fn kill(mut self, mut victim: Victim, lock: Option<SqliteConnection>) -> (Self, Victim) {
        let pids = active_runners(self.server.pid());
        if pids.is_empty() {
            victim = Victim::Server;
        }
        let server = match victim {
            Victim::Runner => None,
            Victim::Server | Victim::Both => Some(self.server.pid()),
        };
        if let Some(pid) = server.and_then(|pid| Pid::from_raw(pid.cast_signed())) {
            kill_process(pid, Signal::KILL).unwrap();
        }
        if victim != Victim::Server {
            for pid in pids {
                // The process may already have exited.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if let Some(lock) = lock {
            lock.close().await.unwrap();
        }
        if server.is_some() {
            let directory = self.server.kill().await;
            self.server = start(directory).await.unwrap();
        }
        (self, victim)
    }

    /// Submits a study, kills the server during the request, and repeats the request. Returns the
    /// study number.
    async fn submit(mut self, number: usize) -> (Self, u64) {
        let key = format!("study-{number}");
        let request = |server: &Program| {
            let request = server.request(Method::POST, "/studies");
            request.header("idempotency-key", &key).json(&study())
        };
        let first = request(&self.server);
        let response = tokio::spawn(first.send());
        sleep(self.delay(600)).await;
        (self, _) = self.kill(Victim::Server, None).await;
        self.count(Phase::Queue, Victim::Server, "submitted");
        let created = match response.await.unwrap() {
            Ok(response) => response.json::<Value>().await.ok(),
            Err(_) => None,
        };
        let (status, again) = self.server.send(request(&self.server)).await;
        assert_eq!(status, StatusCode::CREATED, "{again}");
        let acknowledged = created.is_none_or(|created| created["number"] == again["number"]);
        assert!(acknowledged, "an acknowledged study is lost");
        (self, again["number"].as_u64().unwrap())
    }

    async fn kill_within(mut self, study: u64, phase: Phase) -> Self {
        let victims = [Victim::Server, Victim::Runner, Victim::Both];
        let victim = victims[self.random.random_range(0..3)];
        let mut lock = None;
        let run = if phase == Phase::Start {
            self.wait_for_start().await;
            sleep(self.delay(30)).await;
            self.wait_for(study, &["preparing", "measuring", "finishing"])
                .await
        } else {
            self.wait_for(study, &["measuring"]).await
        };
        match phase {
            Phase::Queue | Phase::Start => {}
            Phase::Run => sleep(self.delay(RUNTIME_MS)).await,
            Phase::End => sleep(Duration::from_millis(RUNTIME_MS - 30) + self.delay(60)).await,
            Phase::Store => {
                lock = Some(lock_database(&self.server).await);
                let has_ended = victim != Victim::Runner;
                let max = if has_ended { LOCKED_MS } else { RUNTIME_MS };
                sleep(self.delay(max)).await;
            }
        }
        let (mut scene, victim) = self.kill(victim, lock).await;
        let run = scene.server.wait_until_ended(run).await;
        scene.count(phase, victim, run["status"].as_str().unwrap());
        scene
    }

    async fn wait_for_start(&self) {
        let directory = self.server.directory.path();
        let (before, began) = (started_files(directory), Instant::now());
        while started_files(directory) == before {
            assert!(began.elapsed() < TIMEOUT, "no run starts");
            sleep(Duration::from_millis(1)).await;
        }
    }

    fn count(&mut self, phase: Phase, victim: Victim, status: &str) {
        let outcome = (phase, victim, status.to_owned());
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    /// Checks all cells of an ended study. Returns the number of retried cells.
    async fn check(&self, study: u64) -> usize {
        wait_for_end_of_study(&self.server, study).await;
        let path = format!("/runs?q=study:{study}&limit=200&sort=number&order=asc");
        let runs = self.server.get(&path).await["runs"].clone();
        let mut cells: BTreeMap<(u64, u64), Vec<Value>> = BTreeMap::new();
        for run in runs.as_array().unwrap() {
            let position = (
                run["step"].as_u64().unwrap(),
                run["repeat"].as_u64().unwrap(),
            );
            let run = self.server.get(&format!("/runs/{}", run["number"])).await;
            cells.entry(position).or_default().push(run);
        }
        assert_eq!(cells.len(), 2 * REPEATS, "study #{study} lost a cell");
        let started = starts(self.server.directory.path());
        let mut repeated = 0;
        for (position, attempts) in &cells {
            let statuses: Vec<&str> = attempts
                .iter()
                .map(|run| run["status"].as_str().unwrap())
                .collect();
            let is_broken = |status: &&str| ["interrupted", "failed"].contains(status);
            let rule = match statuses.as_slice() {
                ["done"] => true,
                [first, last] => is_broken(first) && (*last == "done" || is_broken(last)),
                _ => false,
            };
            assert!(rule, "study #{study}, cell {position:?}: {statuses:?}");
            repeated += statuses.len() - 1;
            let cell = cell(&attempts[0]["requested"]);
            let starts = started.iter().filter(|start| **start == cell).count();
            let (done, max) = (statuses.contains(&"done"), statuses.len());
            assert!(
                (usize::from(done)..=max).contains(&starts),
                "study #{study}, cell {position:?} was started {starts} times: {statuses:?}"
            );
            for run in attempts {
                let status = run["status"].as_str().unwrap();
                let number = run["number"].as_u64().unwrap();
                check_events(&self.server.events(number).await, status);
                if status == "done" {
                    assert!(run["report"]["read"]["ios"].as_u64().unwrap() > 0);
                }
            }
        }
        repeated
    }
}

#[tokio::test]
async fn killed_studies_resume_without_repeating_a_cell() {
    let points = std::env::var("LEADLINE_STUDY_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(POINTS);
    let Some(server) = start(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let began = Instant::now();
    let mut scene = Scene {
        server,
        random: StdRng::seed_from_u64(20_261_124),
        outcomes: BTreeMap::new(),
    };
    let (mut studies, mut study, mut repeated) = (0, 0, 0);
    for point in 0..points {
        match PHASES[point % PHASES.len()] {
            Phase::Queue => {
                if study > 0 {
                    repeated += scene.check(study).await;
                }
                studies += 1;
                (scene, study) = scene.submit(studies).await;
            }
            phase => scene = scene.kill_within(study, phase).await,
        }
    }
    repeated += scene.check(study).await;
    assert_eq!(scene.server.get("/studies").await["total"], studies);
    let started = started_files(scene.server.directory.path());
    eprintln!(
        "{points} kills in {:?}: {studies} studies, {} cells, {repeated} repeated, {started} starts: {:?}",
        began.elapsed(),
        studies * 2 * REPEATS,
        scene.outcomes
    );
    assert!(repeated > 0 && started >= studies * 2 * REPEATS);
}
