//! Faults in the server, the runner and the database: kills, hangups, many simultaneous requests,
//! exhausted file descriptors and interrupted migrations. docs/lab/faults.md lists all faults.

use crate::{
    kills::check_events,
    program::{Program, TIMEOUT, command, job},
    real_runner::{confirmation, first_code, runners, server_with_raw_write, state},
    start::start_error,
    upgrade::FIXTURE,
};
use flate2::read::GzDecoder;
use futures_util::future::join_all;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::{Method, StatusCode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    io::Read,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

/// Default for `LEADLINE_CANCELS`.
const CANCELS: usize = 5;
/// Default for `LEADLINE_KILLS`.
const MIGRATIONS: usize = 8;

fn count(variable: &str, default: usize) -> usize {
    let text = std::env::var(variable).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A job with 256 reads in flight on a device.
fn deep_read(device: &str) -> Value {
    json!({"name": "deep", "filename": device, "rw": "randread", "bs": "4k", "direct": 1, "ioengine": "io_uring",
        "ioengine_fallback": "psync", "iodepth": 256, "runtime": "60s", "time_based": 1})
}

/// Starts a `deep_read` run and waits until it is measuring.
async fn start_deep_read(server: &Program, device: &str) -> u64 {
    start_measuring(server, &json!({"jobs": [deep_read(device)]})).await
}

/// Starts a run and waits until it is measuring.
async fn start_measuring(server: &Program, body: &Value) -> u64 {
    let (status, run) = server.post("/runs", body).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    server.wait_for_status(number, &["measuring"]).await;
    number
}

async fn database(file: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(file);
    SqliteConnection::connect_with(&options).await.unwrap()
}

#[tokio::test]
async fn fifty_requests_with_one_confirmation_start_one_run() {
    let Some((server, _device, write)) = server_with_raw_write().await else {
        return;
    };
    let entry = confirmation(&server, &write).await;
    let body = json!({"jobs": [write], "confirm": [entry]});
    let codes: Vec<_> = join_all((0..50).map(|_| server.post("/runs", &body)))
        .await
        .into_iter()
        .map(first_code)
        .collect();
    let rejected = |(status, code): &(StatusCode, String)| {
        *status == StatusCode::CONFLICT && code.starts_with("confirmation_")
    };
    assert_eq!(
        codes.iter().filter(|code| rejected(code)).count(),
        49,
        "{codes:?}"
    );
    assert_eq!(server.get("/runs").await["total"], 1);
    assert_eq!(server.wait_until_ended(1).await["status"], "done");
}

#[tokio::test]
async fn fifty_requests_with_one_key_start_one_run() {
    let server = Program::start().await;
    let body = json!({"jobs": [job("a", "20ms")]});
    let send = |_| {
        let request = server.request(Method::POST, "/runs").json(&body);
        server.send(request.header("idempotency-key", "one"))
    };
    for (status, run) in join_all((0..50).map(send)).await {
        assert_eq!((status, &run["number"]), (StatusCode::CREATED, &json!(1)));
    }
    server.wait_until_ended(1).await;
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn a_killed_runner_ends_its_run_within_a_second() {
    let Some((server, device, _)) = server_with_raw_write().await else {
        return;
    };
    let number = start_deep_read(&server, &device.0).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let began = Instant::now();
    kill_process(runners(server.pid())[0], Signal::KILL).unwrap();
    let run = server.wait_until_ended(number).await;
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    let reason = run["reason"].as_str().unwrap();
    assert_eq!(run["status"], "failed");
    assert!(reason.contains("killed by signal 9"), "{reason}");
    assert!(run["report"].is_null() && run["samples"].as_u64().unwrap() > 5);
    let events = server.events(number).await;
    check_events(&events, "failed");
    let server = server.kill_and_restart().await;
    assert_eq!(server.events(number).await, events);
}

/// Number of writes that a device has completed since boot. Other tests read from all devices on
/// the host, but do not write to this one.
fn completed_writes(device: &str) -> u64 {
    let name = device.trim_start_matches("/dev/");
    let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
    stat.split_whitespace().nth(4).unwrap().parse().unwrap()
}

#[tokio::test]
async fn io_stops_within_two_seconds_after_the_server_is_killed() {
    let Some((server, device, _)) = server_with_raw_write().await else {
        return;
    };
    let mut write = deep_read(&device.0);
    write["rw"] = json!("randwrite");
    let entry = confirmation(&server, &write).await;
    let before = completed_writes(&device.0);
    let number = start_measuring(&server, &json!({"jobs": [write], "confirm": [entry]})).await;
    let runners = runners(server.pid());
    assert_eq!(runners.len(), 1);
    let killed = Instant::now();
    let directory = server.kill().await;
    while runners.iter().any(|runner| state(*runner).is_some()) {
        assert!(
            killed.elapsed() < Duration::from_secs(2),
            "it is still running"
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let gone = killed.elapsed();
    tokio::time::sleep(Duration::from_secs(2).saturating_sub(gone)).await;
    let at_two_seconds = completed_writes(&device.0);
    assert!(at_two_seconds > before);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(completed_writes(&device.0), at_two_seconds);
    eprintln!("the runner was gone after {gone:?}");
    let server = Program::start_in(directory, &[]).await;
    let run = server.get(&format!("/runs/{number}")).await;
    assert_eq!(run["status"], "interrupted");
    let events = server.events(number).await;
    let starts = events.iter().filter(|event| event["type"] == "accepted");
    assert_eq!(starts.count(), 1);
}

/// `LEADLINE_CANCELS=100 cargo test -p leadline --test server -- cancel --nocapture` measures more
/// cancellations.
#[tokio::test]
async fn cancelling_with_256_ios_in_flight_takes_less_than_a_second() {
    let Some((server, device, _)) = server_with_raw_write().await else {
        return;
    };
    let mut times = Vec::new();
    for _ in 0..count("LEADLINE_CANCELS", CANCELS) {
        let number = start_deep_read(&server, &device.0).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let began = Instant::now();
        let path = format!("/runs/{number}/cancel");
        server.post(&path, &json!(null)).await;
        let run = server.wait_until_ended(number).await;
        times.push(began.elapsed());
        assert_eq!(run["status"], "cancelled");
        assert!(run["report"]["read"]["ios"].as_u64().unwrap() > 0);
    }
    times.sort();
    let p99 = times[(times.len() * 99).div_ceil(100) - 1];
    let median = times[times.len() / 2];
    eprintln!(
        "{} cancels: median {median:?}, p99 {p99:?}, max {:?}",
        times.len(),
        times.last()
    );
    assert!(p99 <= Duration::from_secs(1), "{times:?}");
}

#[tokio::test]
async fn second_sigterm_has_no_effect() {
    let mut server = Program::start().await;
    let number = server.queue(job("a", "60s")).await;
    server.wait_for_status(number, &["measuring"]).await;
    let pid = Pid::from_raw(server.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    tokio::time::sleep(Duration::from_millis(5)).await;
    // Sends the second SIGTERM.
    let (code, took) = server.stop().await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(code, Some(0));
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let run = server.get(&format!("/runs/{number}")).await;
    assert_eq!(run["status"], "interrupted");
    assert_eq!(run["report"]["ended_by"], "signal");
}

/// SIGHUP, as if the server's terminal had been closed.
#[tokio::test]
async fn sighup_interrupts_the_run() {
    let server = Program::start().await;
    let number = server.queue(job("a", "60s")).await;
    server.wait_for_status(number, &["measuring"]).await;
    let runner = runners(server.pid())[0];
    let pid = Pid::from_raw(server.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    let began = Instant::now();
    while state(pid).is_some() || state(runner).is_some() {
        assert!(began.elapsed() < Duration::from_secs(5), "still running");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let run = server.get(&format!("/runs/{number}")).await;
    assert_eq!(run["status"], "interrupted");
}

#[tokio::test]
async fn a_server_without_free_descriptors_recovers() {
    let server = Program::start_with_file_limits(64, 64).await;
    let mut idle = Vec::new();
    // Too few connections to fill the kernel's accept queue.
    for _ in 0..100 {
        idle.push(tokio::net::TcpStream::connect(&server.address).await);
    }
    let get = server.request(Method::GET, "/runs");
    let response = tokio::time::timeout(Duration::from_secs(1), get.send()).await;
    drop(idle);
    eprintln!("while descriptors are exhausted: {response:?}");
    let began = Instant::now();
    let run = server.queue(job("a", "20ms")).await;
    assert_eq!(server.wait_until_ended(run).await["status"], "done");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_restart_keeps_fifty_queued_runs_in_order() {
    let server = Program::start().await;
    let running = server.queue(job("running", "60s")).await;
    server.wait_for_status(running, &["measuring"]).await;
    let mut expected = vec!["running".to_owned()];
    let mut last = running;
    for waiting in 0..50 {
        let name = format!("waiting-{waiting}");
        last = server.queue(job(&name, "1ms")).await;
        expected.push(name);
    }
    let server = server.kill_and_restart().await;
    let run = server.get(&format!("/runs/{running}")).await;
    assert_eq!(run["status"], "interrupted");
    let began = Instant::now();
    while server.get(&format!("/runs/{last}")).await["status"] != "done" {
        assert!(began.elapsed() < TIMEOUT * 2);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(server.starts(), expected);
}

/// Creates a data directory with a version 4 database.
fn version_4_data_directory() -> Arc<tempfile::TempDir> {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut database = Vec::new();
    GzDecoder::new(FIXTURE).read_to_end(&mut database).unwrap();
    std::fs::write(data.join("leadline.db"), &database).unwrap();
    directory
}

#[tokio::test]
async fn kill_during_migration_leaves_a_usable_database() {
    let mut random = StdRng::seed_from_u64(52);
    for round in 0..count("LEADLINE_KILLS", MIGRATIONS) {
        let directory = version_4_data_directory();
        let mut child = command(directory.path()).spawn().unwrap();
        tokio::time::sleep(Duration::from_millis(random.random_range(0..250))).await;
        child.kill().await.unwrap();
        let file = directory.path().join("data/leadline.db");
        let mut left = database(&file).await;
        let (version, integrity): (i64, String) = sqlx::query_as(
            "SELECT user_version, integrity_check FROM pragma_user_version, pragma_integrity_check",
        )
        .fetch_one(&mut left)
        .await
        .unwrap();
        left.close().await.unwrap();
        eprintln!("round {round}: version {version}");
        assert_eq!(integrity, "ok");
        assert!(version >= 4);
        let server = Program::start_in(directory, &[]).await;
        assert_eq!(server.get("/runs").await["total"], 25, "version {version}");
    }
}

#[tokio::test]
async fn changed_and_unfinished_migrations_are_rejected() {
    for change in [
        "UPDATE _sqlx_migrations SET checksum = x'00' WHERE version = 7",
        "UPDATE _sqlx_migrations SET success = 0 WHERE version = 10",
    ] {
        let mut server = Program::start().await;
        server.queue(job("a", "10ms")).await;
        server.stop().await;
        let file = server.data().join("leadline.db");
        let mut open = database(&file).await;
        sqlx::raw_sql(change).execute(&mut open).await.unwrap();
        sqlx::raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            .execute(&mut open)
            .await
            .unwrap();
        open.close().await.unwrap();
        // Excludes the transaction counters, which even an empty transaction advances
        // (https://www.sqlite.org/fileformat2.html, 1.3).
        let content = || {
            let mut bytes = std::fs::read(&file).unwrap();
            bytes[24..28].fill(0);
            bytes[92..96].fill(0);
            bytes
        };
        let before = content();
        std::fs::write(server.data().join("leadline-v9.db"), "a backup").unwrap();
        let error = start_error(server.directory.path(), &[]).await;
        assert!(error.contains("leadline.db"), "{error}");
        assert!(error.contains("found: leadline-v9.db"), "{error}");
        assert!(content() == before, "{change}");
    }
}

#[tokio::test]
async fn write_ahead_log_is_reused_after_a_long_read() {
    const LIMIT: u64 = 64 << 20;
    let server = Program::start().await;
    let log = server.data().join("leadline.db-wal");
    let size = || std::fs::metadata(&log).unwrap().len();
    let run = async || {
        let number = server.queue(job("hours-1", "1s")).await;
        server.wait_until_ended(number).await;
    };
    let mut reader = database(&server.data().join("leadline.db")).await;
    sqlx::raw_sql("BEGIN; SELECT count(*) FROM runs")
        .execute(&mut reader)
        .await
        .unwrap();
    run().await;
    let during = size();
    reader.close().await.unwrap();
    // The first run after the read checkpoints the log. Later runs then reuse the log from its
    // start.
    run().await;
    let after = size();
    run().await;
    assert!(
        size() <= after.max(during) && size() <= LIMIT,
        "{during}, {after}, {}",
        size()
    );
}
