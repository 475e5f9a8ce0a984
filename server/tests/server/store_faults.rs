//! While the database does not accept writes, measurements continue, and their events wait in the
//! spool. Once writes work again, nothing is lost, whether in the same server process or the next
//! one.

use crate::{
    kills::check_events,
    program::{Program, TIMEOUT, job},
    streams::{Socket, open},
};
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, raw_sql, sqlite::SqliteConnectOptions};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

/// A tmpfs, unmounted on drop.
struct SmallFilesystem(PathBuf);

impl SmallFilesystem {
    fn mount(path: &Path) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "none"])
            .arg(path)
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(path.to_owned()))
    }

    /// Uses up all free space until the file is removed.
    fn fill(&self) -> PathBuf {
        let filler = self.0.join("filler");
        let mut file = std::fs::File::create(&filler).unwrap();
        let full = std::io::copy(&mut std::io::repeat(0), &mut file).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
        filler
    }
}

impl Drop for SmallFilesystem {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Locks the database against writes until the connection is dropped.
pub(crate) async fn lock_database(server: &Program) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(server.data().join("leadline.db"))
        .busy_timeout(TIMEOUT);
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    raw_sql("BEGIN EXCLUSIVE")
        .execute(&mut database)
        .await
        .unwrap();
    database
}

async fn wait_until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !condition().await {
        assert!(began.elapsed() < TIMEOUT, "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Checks that `GET /readyz` reports a fault.
async fn check_unready(server: &Program, reason: &str) {
    let (status, body) = server.send(server.request(Method::GET, "/readyz")).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    let text = body["reasons"][0].as_str().unwrap();
    assert!(text.contains(reason), "{text}");
}

/// Checks that a new run is rejected with a code and a `Retry-After` header.
async fn check_rejected(server: &Program, status: StatusCode, code: &str) {
    let body = json!({"jobs": [job("rejected", "20ms")]});
    let request = server.request(Method::POST, "/runs").json(&body);
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["retry-after"], "10");
    assert_eq!(response.status(), status);
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["code"], code, "{problem}");
}

/// Returns the code in the next `store` message from `/events`.
async fn next_notice(socket: &mut Socket) -> Value {
    loop {
        let message = tokio::time::timeout(TIMEOUT, socket.next()).await;
        let message = message.expect("a message").unwrap().unwrap();
        let text = message.into_text().unwrap();
        let event: Value = serde_json::from_str(&text).unwrap_or_default();
        if event["type"] == "store" {
            return event["code"].clone();
        }
    }
}

/// Reads live events until one has the specified type. Returns the number of events.
async fn read_until(stream: &mut reqwest::Response, kind: &str) -> usize {
    let mut text = String::new();
    while !text.contains(&format!(r#""type":"{kind}""#)) {
        let chunk = tokio::time::timeout(TIMEOUT, stream.chunk()).await;
        let chunk = chunk.expect("the stream continues").unwrap();
        text += std::str::from_utf8(&chunk.expect("an event")).unwrap();
    }
    text.lines().count()
}

/// Number of copies of a deleted database that the server has made.
fn copies(server: &Program) -> usize {
    let files = std::fs::read_dir(server.data()).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    names
        .filter(|name| name.to_string_lossy().contains(".rescued-"))
        .count()
}

async fn stream(server: &Program, run: u64) -> reqwest::Response {
    let request = server.request(Method::GET, &format!("/runs/{run}/stream"));
    request.send().await.unwrap()
}

/// Checks that a run has finished as `done` with its report and all events.
async fn check_complete(server: &Program, run: u64) {
    let ended = server.wait_until_ended(run).await;
    assert_eq!(ended["status"], "done", "{}", ended["reason"]);
    assert!(ended["report"].is_object(), "the report is missing");
    let events = server.events(run).await;
    check_events(&events, "done");
    let samples = events.iter().filter(|event| event["type"] == "sample");
    assert_eq!(samples.count() as u64, ended["samples"].as_u64().unwrap());
    let ios = ended["report"]["read"]["ios"].as_u64().unwrap();
    assert_eq!(ios, ended["samples"].as_u64().unwrap() * 100);
    let series = server.get(&format!("/runs/{run}/series")).await;
    assert!(!series["columns"].as_array().unwrap().is_empty());
    let spool = server
        .data()
        .join("spool")
        .join(format!("run-{run}.ndjson"));
    assert!(!spool.exists(), "the spool remains");
}

#[tokio::test]
async fn run_survives_a_full_disk() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(small) = SmallFilesystem::mount(&directory.path().join("data")) else {
        eprintln!("SKIP: mounting a filesystem requires root");
        return;
    };
    let server = Program::start_in(directory.clone(), &[]).await;
    let run = server.queue(job("a", "3s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let mut notices = open(&server, "/events").await;
    assert_eq!(next_notice(&mut notices).await, Value::Null);
    let filler = small.fill();
    let mut live = stream(&server, run).await;
    // Live events and the report do not require a working disk.
    let events = read_until(&mut live, "report").await;
    assert!(events > 100, "{events} events");
    check_unready(&server, "disk that holds the database is full").await;
    assert_eq!(next_notice(&mut notices).await, "disk_full");
    check_rejected(&server, StatusCode::INSUFFICIENT_STORAGE, "disk_full").await;
    assert_eq!(server.get("/runs").await["total"], 1);
    std::fs::remove_file(&filler).unwrap();
    check_complete(&server, run).await;
    assert_eq!(server.get("/readyz").await["status"], "ok");
    assert_eq!(next_notice(&mut notices).await, Value::Null);
    let again = server.queue(job("b", "50ms")).await;
    check_complete(&server, again).await;
    assert_eq!(server.starts(), ["a", "b"]);
}

#[tokio::test]
async fn run_survives_a_locked_database() {
    let server = Program::start().await;
    let run = server.queue(job("a", "7s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let lock = lock_database(&server).await;
    let locked = Instant::now();
    let spool = server.data().join("spool/run-1.ndjson");
    // SQLite waits for one second.
    wait_until("events are not spooled", async || spool.exists()).await;
    let mode = std::fs::metadata(&spool).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let holder = format!("process {}", std::process::id());
    check_unready(&server, &holder).await;
    check_rejected(&server, StatusCode::SERVICE_UNAVAILABLE, "store_locked").await;
    let mut live = stream(&server, run).await;
    read_until(&mut live, "report").await;
    tokio::time::sleep(Duration::from_secs(8).saturating_sub(locked.elapsed())).await;
    lock.close().await.unwrap();
    check_complete(&server, run).await;
}

#[tokio::test]
async fn spool_is_stored_after_a_kill() {
    let server = Program::start().await;
    let run = server.queue(job("a", "2s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let lock = lock_database(&server).await;
    let spool = server.data().join("spool/run-1.ndjson");
    let spooled = || std::fs::read_to_string(&spool).unwrap_or_default();
    wait_until("the end is not spooled", async || {
        let text = spooled();
        text.contains(r#"\"done\""#) && text.ends_with('\n')
    })
    .await;
    let directory = server.kill().await;
    lock.close().await.unwrap();
    // State after a kill while another record was being written.
    let torn = spooled() + r#"{"entries":["{\"seq\":"#;
    std::fs::write(&spool, torn).unwrap();
    let server = Program::start_in(directory, &[]).await;
    check_complete(&server, run).await;
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn stopped_server_leaves_the_report_in_the_spool() {
    let mut server = Program::start().await;
    let run = server.queue(job("a", "60s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let lock = lock_database(&server).await;
    let (code, elapsed) = server.stop().await;
    assert_eq!(code, Some(0));
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    lock.close().await.unwrap();
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let ended = server.wait_until_ended(run).await;
    assert_eq!(ended["status"], "interrupted");
    assert!(ended["report"].is_object(), "the report is missing");
    check_events(&server.events(run).await, "interrupted");
}

#[tokio::test]
async fn run_survives_a_database_that_was_moved_away() {
    let server = Program::start().await;
    let run = server.queue(job("a", "2s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let file = server.data().join("leadline.db");
    let aside = server.data().join("aside.db");
    std::fs::rename(&file, &aside).unwrap();
    let mut live = stream(&server, run).await;
    read_until(&mut live, "report").await;
    check_rejected(&server, StatusCode::SERVICE_UNAVAILABLE, "store_replaced").await;
    assert!(!file.exists(), "an empty database was created");
    assert_eq!(copies(&server), 0, "the file still exists");
    std::fs::rename(&aside, &file).unwrap();
    check_complete(&server, run).await;
}

#[tokio::test]
async fn queued_run_waits_for_the_database() {
    let server = Program::start().await;
    let run = server.queue(job("a", "20s")).await;
    let waiting = server.queue(job("b", "50ms")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let file = server.data().join("leadline.db");
    let aside = server.data().join("aside.db");
    std::fs::rename(&file, &aside).unwrap();
    // A queued run cannot be cancelled, because the status change cannot be stored.
    let (status, problem) = server
        .post(&format!("/runs/{waiting}/cancel"), &json!({}))
        .await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{problem}");
    // An active run can be stopped.
    let (status, problem) = server
        .post(&format!("/runs/{run}/cancel"), &json!({}))
        .await;
    assert_eq!(status, StatusCode::ACCEPTED, "{problem}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.starts(), ["a"]);
    std::fs::rename(&aside, &file).unwrap();
    assert_eq!(server.wait_until_ended(run).await["status"], "cancelled");
    check_complete(&server, waiting).await;
    assert_eq!(server.starts(), ["a", "b"]);
}

/// An ext4 filesystem on a loop device, thawed and unmounted on drop.
struct SlowFilesystem {
    at: PathBuf,
    _image: tempfile::TempDir,
}

impl SlowFilesystem {
    fn mount() -> Option<Self> {
        let succeeds = |program: &str, args: &[&str]| {
            let output = Command::new(program).args(args).output();
            output.is_ok_and(|output| output.status.success())
        };
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        let at = directory.path().join("mounted");
        std::fs::create_dir(&at).unwrap();
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(64 << 20).unwrap();
        let (image, path) = (image.to_str().unwrap(), at.to_str().unwrap());
        let is_mounted = succeeds("mkfs.ext4", &["-q", image])
            && succeeds("mount", &["-o", "loop", image, path]);
        is_mounted.then_some(Self {
            at,
            _image: directory,
        })
    }

    /// Freezes the filesystem: writes and syncs wait until `thaw`.
    fn freeze(&self) {
        let status = Command::new("fsfreeze").arg("-f").arg(&self.at).status();
        assert!(status.unwrap().success());
    }

    fn thaw(&self) {
        let _ = Command::new("fsfreeze").arg("-u").arg(&self.at).output();
    }
}

impl Drop for SlowFilesystem {
    fn drop(&mut self) {
        self.thaw();
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}

#[tokio::test]
async fn run_survives_a_disk_that_syncs_nothing_for_ten_seconds() {
    const STALL: Duration = Duration::from_secs(10);
    let Some(disk) = SlowFilesystem::mount() else {
        eprintln!("SKIP: cannot mount a loop device");
        return;
    };
    let directory = Arc::new(tempfile::tempdir_in(&disk.at).unwrap());
    let server = Program::start_in(directory, &[]).await;
    let run = server.queue(job("a", "12s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let mut live = stream(&server, run).await;
    disk.freeze();
    let frozen = Instant::now();
    let mut received = 0;
    while frozen.elapsed() < STALL {
        let event = tokio::time::timeout(Duration::from_secs(1), live.chunk()).await;
        let chunk = event.expect("no live event for a second").unwrap().unwrap();
        received += chunk.iter().filter(|byte| **byte == b'\n').count();
    }
    disk.thaw();
    // Allows for a busy host; the sampling interval is 20 ms.
    assert!(received > 250, "{received} live events");
    check_complete(&server, run).await;
    assert_eq!(server.starts(), ["a"]);
    drop(server);
}

#[tokio::test]
async fn run_survives_write_errors() {
    let server = Program::start().await;
    let run = server.queue(job("a", "2s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let log = server.data().join("leadline.db-wal");
    let set = |flag: &str| Command::new("chattr").arg(flag).arg(&log).output();
    // Writes fail with EPERM.
    if !set("+i").is_ok_and(|output| output.status.success()) {
        eprintln!("SKIP: the filesystem has no immutable files");
        return;
    }
    let mut live = stream(&server, run).await;
    read_until(&mut live, "report").await;
    let (status, ready) = server.send(server.request(Method::GET, "/readyz")).await;
    let restored = set("-i").unwrap();
    assert!(restored.status.success());
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{ready}");
    check_complete(&server, run).await;
}
