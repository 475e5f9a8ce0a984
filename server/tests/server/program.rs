//! Starts, controls and kills the server under test.

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
};

/// Timeout for each wait. Long, because a busy host slows down everything.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A running server.
pub(crate) struct Program {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    pub address: String,
    pub token: String,
    pub directory: Arc<TempDir>,
    pub client: Client,
}

/// A command that starts the server with default arguments.
pub(crate) fn command(directory: &Path) -> Command {
    let server = Path::new(env!("CARGO_BIN_EXE_leadline"));
    let runner = server.with_file_name("examples").join("fake_runner");
    assert!(
        runner.exists(),
        "{} is missing: `cargo test -p leadline` builds it, `cargo test --test` does not",
        runner.display()
    );
    let mut command = Command::new(server);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(directory.join("data"));
    command
        .env("LEADLINE_RUNNER", runner)
        .env("LEADLINE_MAX_RUNNING", "4")
        .env("LEADLINE_FAKE_STARTS", directory.join("starts"))
        .env("LEADLINE_FAKE_COMMANDS", directory.join("commands"))
        .env_remove("LEADLINE_TOKEN");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

impl Program {
    pub(crate) async fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()), &[]).await
    }

    pub(crate) async fn start_in(directory: Arc<TempDir>, arguments: &[&str]) -> Self {
        let mut command = command(directory.path());
        command.args(arguments);
        Self::start_command(command, directory).await
    }

    /// Starts the server with open-file limits (prlimit(1)).
    pub(crate) async fn start_with_file_limits(soft: u32, hard: u32) -> Self {
        let directory = Arc::new(tempfile::tempdir().unwrap());
        let plain = command(directory.path());
        let mut limited = Command::new("prlimit");
        limited
            .arg(format!("--nofile={soft}:{hard}"))
            .arg(plain.as_std().get_program())
            .args(plain.as_std().get_args());
        limited
            .envs(
                plain
                    .as_std()
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .env_remove("LEADLINE_TOKEN");
        limited
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        Self::start_command(limited, directory).await
    }

    pub(crate) async fn start_command(mut command: Command, directory: Arc<TempDir>) -> Self {
        let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = loop {
            let line = out
                .next_line()
                .await
                .unwrap()
                .expect("the server prints its address");
            if let Some(link) = line.trim().strip_prefix("Open").map(str::trim) {
                let address = link.strip_prefix("http://").unwrap();
                break address.trim_end_matches('/').to_owned();
            }
        };
        let stored = std::fs::read_to_string(directory.path().join("data/token"));
        // If authentication is disabled, there is no token.
        let token = stored.unwrap_or_default().trim().to_owned();
        let client = Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self {
            child,
            out,
            address,
            token,
            directory,
            client,
        }
    }

    /// Starts a server with the real runner. Returns `None` if the runner has not been built.
    pub(crate) async fn start_real(directory: Arc<TempDir>) -> Option<Self> {
        let runner = Path::new(env!("CARGO_BIN_EXE_leadline")).with_file_name("leadline-runner");
        if !runner.exists() {
            eprintln!("SKIP: the runner is not built; `cargo test --workspace` builds it");
            return None;
        }
        Some(Self::start_in(directory, &["--runner", runner.to_str().unwrap()]).await)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// Sends SIGKILL.
    pub(crate) async fn kill(mut self) -> Arc<TempDir> {
        self.child.kill().await.unwrap();
        self.directory.clone()
    }

    /// Sends SIGKILL and starts another server with the same data directory.
    pub(crate) async fn kill_and_restart(self) -> Self {
        Self::start_in(self.kill().await, &[]).await
    }

    /// Sends SIGTERM. Returns the exit code and how long the exit took.
    pub(crate) async fn stop(&mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        let pid = rustix::process::Pid::from_raw(self.child.id().unwrap().cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let exit = tokio::time::timeout(TIMEOUT, self.child.wait())
            .await
            .expect("the server stops")
            .unwrap();
        (exit.code(), began.elapsed())
    }

    /// Returns the next line of standard output.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.out.next_line().await.unwrap()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(method, self.url(&format!("/api/v1{path}")))
            .bearer_auth(&self.token)
    }

    pub(crate) async fn send(&self, request: reqwest::RequestBuilder) -> (StatusCode, Value) {
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        if text.is_empty() {
            return (status, Value::Null);
        }
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        (status, body)
    }

    pub(crate) async fn get(&self, path: &str) -> Value {
        let (status, body) = self.send(self.request(Method::GET, path)).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        body
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> (StatusCode, Value) {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// Opens a session and returns its cookie as `NAME=SECRET`.
    pub(crate) async fn sign_in(&self, token: &str) -> String {
        let body = json!({ "token": token });
        let request = self.client.post(self.url("/login")).json(&body);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    /// Queues a run with one job and returns its number.
    pub(crate) async fn queue(&self, job: Value) -> u64 {
        let (status, run) = self
            .post("/runs", &json!({"jobs": [job], "sample_ms": 20}))
            .await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        run["number"].as_u64().unwrap()
    }

    /// Waits until a run has one of the statuses, and returns the run.
    pub(crate) async fn wait_for_status(&self, run: u64, statuses: &[&str]) -> Value {
        let began = Instant::now();
        loop {
            let run_now = self.get(&format!("/runs/{run}")).await;
            if statuses.contains(&run_now["status"].as_str().unwrap()) {
                return run_now;
            }
            assert!(
                began.elapsed() < TIMEOUT,
                "#{run} is still {}",
                run_now["status"]
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub(crate) async fn wait_until_ended(&self, run: u64) -> Value {
        self.wait_for_status(run, &["done", "failed", "cancelled", "interrupted"])
            .await
    }

    /// Reads all events of a finished run from the NDJSON stream.
    pub(crate) async fn events(&self, run: u64) -> Vec<Value> {
        let text = self
            .request(Method::GET, &format!("/runs/{run}/stream"))
            .send()
            .await
            .unwrap()
            .text()
            .await
            .unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the name of the first job of each started run, in order.
    pub(crate) fn starts(&self) -> Vec<String> {
        std::fs::read_to_string(self.directory.path().join("starts"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Returns the names of the runner commands other than `run`, in order.
    pub(crate) fn commands(&self) -> Vec<String> {
        std::fs::read_to_string(self.directory.path().join("commands"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }
}

/// A job for the fake runner. Its name selects the behavior.
pub(crate) fn job(name: &str, runtime: &str) -> Value {
    json!({"name": name, "rw": "randread", "bs": "4k", "direct": 1, "runtime": runtime, "filename": "/fake/vda/t"})
}

/// A job on another device.
pub(crate) fn job_on(device: &str, name: &str, runtime: &str) -> Value {
    let mut job = job(name, runtime);
    job["filename"] = format!("/fake/{device}/t").into();
    job
}
