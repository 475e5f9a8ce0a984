//! Active runs are not disturbed while long runs are deleted or while the database does not accept
//! writes.
//!
//! `LEADLINE_DELETED_EVENTS=1000000 cargo test -p leadline deletion -- --nocapture` measures a
//! longer run.

use crate::{
    program::{Program, TIMEOUT, job},
    real_runner::read,
    streams::{Socket, open},
};
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, raw_sql, sqlite::SqliteConnectOptions};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_tungstenite::tungstenite::Message;

/// Default for `LEADLINE_DELETED_EVENTS`.
const EVENTS: u64 = 20_000;
/// Size of an event with a histogram, in bytes.
const EVENT_BYTES: u64 = 1_400;
/// Maximum time without a sample. The sampling interval is 20 ms.
const MAX_GAP: Duration = Duration::from_millis(200);
const MAX_STOP: Duration = Duration::from_secs(1);

fn events() -> u64 {
    let events = std::env::var("LEADLINE_DELETED_EVENTS").ok();
    events.and_then(|text| text.parse().ok()).unwrap_or(EVENTS)
}

pub(crate) async fn connect(server: &Program) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(server.data().join("leadline.db"))
        .busy_timeout(TIMEOUT);
    SqliteConnection::connect_with(&options).await.unwrap()
}

pub(crate) async fn execute(server: &Program, sql: &str) {
    let mut database = connect(server).await;
    let sql = AssertSqlSafe(sql.to_owned());
    raw_sql(sql).execute(&mut database).await.unwrap();
}

/// Creates a finished run with many events.
async fn long_run(server: &Program, database: &mut SqliteConnection) -> u64 {
    let run = server.queue(job("long", "50ms")).await;
    server.wait_until_ended(run).await;
    add_events(database, run).await;
    run
}

/// In many transactions, because the server stops accepting runs if the database is locked for
/// several seconds.
async fn add_events(database: &mut SqliteConnection, run: u64) {
    const PER_TRANSACTION: u64 = 2_000;
    for first in (0..events()).step_by(PER_TRANSACTION as usize) {
        sqlx::query(
            "WITH RECURSIVE n (seq) AS (SELECT ? UNION ALL SELECT seq + 1 FROM n LIMIT ?)
             INSERT INTO events SELECT ?, seq, seq * 100.0, 'sample', printf('{\"seq\":%d,%.*c}', seq, ?, 'x') FROM n",
        )
        .bind(1000 + first.cast_signed())
        .bind(PER_TRANSACTION.min(events() - first).cast_signed())
        .bind(run.cast_signed())
        .bind(EVENT_BYTES.cast_signed())
        .execute(&mut *database)
        .await
        .unwrap();
    }
}

async fn count(database: &mut SqliteConnection, sql: &'static str) -> i64 {
    let count = sqlx::query_scalar(sql).fetch_one(database);
    count.await.unwrap()
}

async fn stored_events(database: &mut SqliteConnection, run: u64) -> i64 {
    let count = sqlx::query_scalar("SELECT count(*) FROM events WHERE run = ?");
    let count = count.bind(run.cast_signed()).fetch_one(database);
    count.await.unwrap()
}

async fn delete(server: &Program, run: u64) -> Duration {
    let began = Instant::now();
    let request = server.request(Method::DELETE, &format!("/runs/{run}"));
    assert_eq!(server.send(request).await.0, StatusCode::NO_CONTENT);
    began.elapsed()
}

/// Waits until the events of deleted runs are gone and their pages have been freed.
async fn wait_until_purged(database: &mut SqliteConnection) {
    let began = Instant::now();
    while count(database, "SELECT count(*) FROM deleted_runs").await > 0
        || count(database, "PRAGMA freelist_count").await > 0
    {
        assert!(began.elapsed() < 30 * TIMEOUT, "events remain");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Tracks the longest time between two live samples.
#[derive(Default)]
struct StreamGap {
    last: Option<Instant>,
    longest: Duration,
    samples: usize,
}

impl StreamGap {
    async fn next(&mut self, socket: &mut Socket) -> Value {
        loop {
            let message = tokio::time::timeout(TIMEOUT, socket.next()).await;
            let message = message.expect("the stream continues").unwrap().unwrap();
            let Message::Text(text) = message else {
                continue;
            };
            let event: Value = serde_json::from_str(&text).unwrap();
            if event["type"] == "sample" {
                let last = self.last.replace(Instant::now());
                let gap = last.map_or(Duration::ZERO, |last| last.elapsed());
                self.longest = self.longest.max(gap);
                self.samples += 1;
            }
            return event;
        }
    }

    async fn receive_for(&mut self, socket: &mut Socket, time: Duration) {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.next(socket).await;
        }
    }
}

/// Cancels a run and waits for its report.
async fn stop(server: &Program, run: u64, socket: &mut Socket) -> Duration {
    let began = Instant::now();
    let request = server.request(Method::POST, &format!("/runs/{run}/cancel"));
    let cancel = tokio::spawn(request.send());
    while StreamGap::default().next(socket).await["type"] != "report" {}
    let stopped = began.elapsed();
    assert_eq!(
        cancel.await.unwrap().unwrap().status(),
        StatusCode::ACCEPTED
    );
    stopped
}

#[tokio::test]
async fn deleting_a_long_run_does_not_affect_active_runs() {
    let mut server = Program::start().await;
    let mut database = connect(&server).await;
    let long = long_run(&server, &mut database).await;
    let file = server.data().join("leadline.db");
    let size = || std::fs::metadata(&file).unwrap().len();
    raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut database)
        .await
        .unwrap();
    let size_before = size();
    assert!(size_before > events() * EVENT_BYTES);

    let active = server.queue(job("active", "60s")).await;
    server.wait_for_status(active, &["measuring"]).await;
    let mut socket = open(&server, &format!("/runs/{active}/stream")).await;
    let mut gap = StreamGap::default();
    gap.receive_for(&mut socket, Duration::from_millis(500))
        .await;
    let deleted = delete(&server, long).await;
    let listed = server.get("/runs").await;
    assert_eq!(listed["total"], 1, "{listed}");
    gap.receive_for(&mut socket, Duration::from_secs(2)).await;
    // The server removes events only while no run is active.
    assert!(stored_events(&mut database, long).await > events().cast_signed());
    let stopped = stop(&server, active, &mut socket).await;
    server.wait_until_ended(active).await;

    // Start a run while events are being removed.
    let second = server.queue(job("second", "60s")).await;
    server.wait_for_status(second, &["measuring"]).await;
    let mut socket = open(&server, &format!("/runs/{second}/stream")).await;
    gap.last = None;
    gap.receive_for(&mut socket, Duration::from_secs(1)).await;
    let stopped_second = stop(&server, second, &mut socket).await;
    server.wait_until_ended(second).await;
    eprintln!(
        "{} events: deleted in {deleted:?}, {} samples, longest gap {:?}, stopped in {stopped:?} and {stopped_second:?}",
        events(),
        gap.samples,
        gap.longest
    );
    assert!(gap.longest <= MAX_GAP, "{:?}", gap.longest);
    assert!(deleted.max(stopped).max(stopped_second) <= MAX_STOP);

    // The removal resumes after a restart.
    server = server.kill_and_restart().await;
    let began = Instant::now();
    wait_until_purged(&mut database).await;
    assert_eq!(stored_events(&mut database, long).await, 0);
    assert!(stored_events(&mut database, active).await > 0);
    server.stop().await;
    eprintln!(
        "{size_before} bytes; {} after {:?}",
        size(),
        began.elapsed()
    );
    assert!(size() < size_before / 4);
}

#[tokio::test]
async fn sampling_windows_keep_their_length() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let mut database = connect(&server).await;
    let long = server.queue(read("100ms")).await;
    server.wait_until_ended(long).await;
    add_events(&mut database, long).await;
    let active = server.queue(read("4s")).await;
    server.wait_for_status(active, &["measuring"]).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let deleted = delete(&server, long).await;
    assert_eq!(server.wait_until_ended(active).await["status"], "done");
    let events = server.events(active).await;
    let windows = events
        .iter()
        .filter_map(|event| event["window_ms"].as_f64());
    let longest = windows.clone().fold(0.0, f64::max);
    eprintln!(
        "{} windows of 20 ms, the longest {longest} ms; deleted in {deleted:?}",
        windows.count()
    );
    assert!(longest <= MAX_GAP.as_secs_f64() * 1e3, "{longest} ms");
}

#[tokio::test]
async fn live_events_and_stop_requests_do_not_wait_for_the_store() {
    let server = Program::start().await;
    let run = server.queue(job("active", "60s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let mut socket = open(&server, &format!("/runs/{run}/stream")).await;
    let mut gap = StreamGap::default();
    gap.receive_for(&mut socket, Duration::from_millis(500))
        .await;
    // While this lock is held, other writers have to wait.
    let mut database = connect(&server).await;
    raw_sql("BEGIN IMMEDIATE")
        .execute(&mut database)
        .await
        .unwrap();
    gap.receive_for(&mut socket, Duration::from_secs(2)).await;
    let stopped = stop(&server, run, &mut socket).await;
    raw_sql("COMMIT").execute(&mut database).await.unwrap();
    eprintln!("longest gap {:?}, stopped in {stopped:?}", gap.longest);
    assert!(gap.longest <= MAX_GAP, "{:?}", gap.longest);
    assert!(stopped <= MAX_STOP, "{stopped:?}");
    let ended = server.wait_until_ended(run).await;
    assert_eq!(ended["status"], "cancelled");
    let numbers: Vec<u64> = server
        .events(run)
        .await
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
}
