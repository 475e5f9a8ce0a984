//! Series of long runs are computed from rollups. They load quickly, and equal series computed from
//! samples.
//!
//! `LEADLINE_HOURS=1 cargo test -p leadline rollups -- --nocapture` measures longer runs. With
//! `LEADLINE_FAKE_SAMPLES=FILE`, they consist of recorded samples.

use crate::program::{Program, job, job_on};
use futures_util::future::join_all;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// Default for `LEADLINE_HOURS`: 5 minutes.
const HOURS: &str = "0.0834";
const TIMEOUT: Duration = Duration::from_secs(600);
const RUNS: usize = 8;

async fn long_run(server: &Program) -> u64 {
    let hours = std::env::var("LEADLINE_HOURS").unwrap_or(HOURS.into());
    run_for_hours(server, &hours).await
}

async fn run_for_hours(server: &Program, hours: &str) -> u64 {
    let body = json!({"jobs": [job(&format!("hours-{hours}"), "1s")]});
    let (status, run) = server.post("/runs", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    let began = Instant::now();
    while read_status(server, number).await != "done" {
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    number
}

/// Returns a run's status, and fails the test if the run has failed.
async fn read_status(server: &Program, run: u64) -> String {
    let run = server.get(&format!("/runs/{run}")).await;
    assert_ne!(run["status"], "failed", "{run}");
    run["status"].as_str().unwrap().to_owned()
}

/// Waits until the samples of all long runs are compressed and there are no free pages.
async fn wait_until_compacted(server: &Program) {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let began = Instant::now();
    loop {
        let rest: i64 = sqlx::query_scalar(
            "SELECT (SELECT count(*) FROM runs WHERE number NOT IN (SELECT run FROM compactions WHERE is_done = 1)
             AND (SELECT count(*) FROM rollups WHERE run = number AND windows = 20) > 300)
             + (SELECT freelist_count > 0 FROM pragma_freelist_count)",
        )
        .fetch_one(&mut database)
        .await
        .unwrap();
        if rest == 0 {
            return;
        }
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn execute(server: &Program, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(sql).execute(&mut database).await.unwrap();
}

/// Compares numbers to six significant digits; rollups store seven.
fn check(path: &str, expect: &Value, actual: &Value) {
    match (expect, actual) {
        (Value::Array(expect), Value::Array(actual)) => {
            assert_eq!(expect.len(), actual.len(), "{path}");
            for (index, (expect, actual)) in expect.iter().zip(actual).enumerate() {
                check(&format!("{path}[{index}]"), expect, actual);
            }
        }
        (Value::Object(expect), Value::Object(actual)) => {
            for (name, value) in expect {
                check(&format!("{path}.{name}"), value, &actual[name]);
            }
        }
        (Value::Number(expect), Value::Number(actual)) => {
            let (expect, actual) = (expect.as_f64().unwrap(), actual.as_f64().unwrap());
            let difference = (expect - actual).abs();
            assert!(
                difference <= expect.abs() * 1e-6,
                "{path}: {expect} {actual}"
            );
        }
        _ => assert_eq!(expect, actual, "{path}"),
    }
}

#[tokio::test]
async fn series_from_rollups_and_from_samples_are_equal() {
    let server = Program::start().await;
    let run = long_run(&server).await;
    let queries = [
        "points=600",
        "points=60",
        "points=10",
        "points=7&from_ms=31234.5",
        "points=20&to_ms=100000",
        "points=3&from_ms=-500",
    ];
    let series = async || {
        let mut series = Vec::new();
        for query in queries {
            series.push(server.get(&format!("/runs/{run}/series?{query}")).await);
        }
        series
    };
    let from_rollups = series().await;
    execute(
        &server,
        "DELETE FROM rollups WHERE idx > 9 OR (windows = 20 AND idx > 4)",
    )
    .await;
    let from_both = series().await;
    execute(&server, "DELETE FROM rollups").await;
    let from_samples = series().await;
    for (query, expect) in queries.iter().zip(from_samples) {
        let index = queries.iter().position(|other| other == query).unwrap();
        assert!(expect["t_ms"].as_array().unwrap().len() > 1, "{query}");
        check(query, &expect, &from_rollups[index]);
        check(query, &expect, &from_both[index]);
    }
}

async fn print_sizes(server: &Program) {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let sizes: Vec<(String, i64, i64)> = sqlx::query_as(
        "SELECT 'rollups of ' || windows, count(*), sum(length(data)) FROM rollups GROUP BY windows
         UNION ALL SELECT 'chunks', count(*), coalesce(sum(length(data)), 0) FROM sample_chunks
         UNION ALL SELECT type, count(*), sum(length(line)) FROM events GROUP BY type",
    )
    .fetch_all(&mut database)
    .await
    .unwrap();
    for (name, rows, bytes) in sizes {
        eprintln!("{name}: {rows} rows, {bytes} bytes");
    }
}

#[tokio::test]
async fn series_of_long_runs_load_quickly() {
    let mut server = Program::start().await;
    let mut runs = vec![long_run(&server).await];
    let file = server.data().join("leadline.db");
    print_sizes(&server).await;
    let began = Instant::now();
    wait_until_compacted(&server).await;
    eprintln!("compressed in {:?}", began.elapsed());
    print_sizes(&server).await;
    server.stop().await;
    let bytes = std::fs::metadata(&file).unwrap().len();
    server = Program::start_in(server.directory.clone(), &[]).await;
    let began = Instant::now();
    server.get(&format!("/runs/{}/series", runs[0])).await;
    let one = began.elapsed();
    let began = Instant::now();
    server.get(&format!("/runs/{}", runs[0])).await;
    let run = began.elapsed();
    // Finished runs are not compressed while a run is active.
    let blocker = server.queue(job_on("vdb", "blocker", "600s")).await;
    server.wait_for_status(blocker, &["measuring"]).await;
    while runs.len() < RUNS {
        runs.push(long_run(&server).await);
    }
    let server = &server;
    let began = Instant::now();
    server.get(&format!("/runs/{}/series", runs[1])).await;
    eprintln!("one series before compression: {:?}", began.elapsed());
    let began = Instant::now();
    join_all(
        runs.iter()
            .map(|run| async move { server.get(&format!("/runs/{run}/series")).await }),
    )
    .await;
    let all = began.elapsed();
    let began = Instant::now();
    let numbers: Vec<String> = runs.iter().map(u64::to_string).collect();
    server
        .get(&format!("/compare?runs={}", numbers.join(",")))
        .await;
    let compared = began.elapsed();
    eprintln!(
        "{bytes} bytes; one series {one:?}, the run {run:?}, {RUNS} series {all:?}, comparison of {RUNS} runs {compared:?}"
    );
    assert!(one < Duration::from_secs(1), "{one:?}");
}

/// Returns the event without its histograms, after adding their counts to the totals per bucket.
fn split(event: &Value, counts: &mut BTreeMap<(String, u64), u64>) -> Value {
    let mut event = event.clone();
    for direction in ["read", "write", "trim", "sync"] {
        let Some(histogram) = event.pointer_mut(&format!("/{direction}/lat_ns")) else {
            continue;
        };
        for pair in histogram.take().as_array().unwrap() {
            let (bucket, count) = (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
            *counts.entry((direction.into(), bucket)).or_default() += count;
        }
    }
    event
}

#[tokio::test]
async fn compressed_samples_are_restored() {
    let server = Program::start().await;
    // Finished runs are not compressed while a run is active.
    let blocker = server.queue(job_on("vdb", "blocker", "600s")).await;
    server.wait_for_status(blocker, &["measuring"]).await;
    let run = run_for_hours(&server, "0.18").await;
    let paths = [
        format!("/runs/{run}"),
        format!("/runs/{run}/export?format=csv"),
        format!("/runs/{run}/series?points=20"),
        format!("/runs/{run}/series?points=90&from_ms=1000"),
    ];
    let get_all = || join_all(paths.iter().map(|path| server.get(path)));
    let before = (server.events(run).await, get_all().await);
    server
        .post(&format!("/runs/{blocker}/cancel"), &Value::Null)
        .await;
    wait_until_compacted(&server).await;
    let after = (server.events(run).await, get_all().await);
    assert_eq!(after.1, before.1);
    assert_eq!(after.0.len(), before.0.len());
    let (mut counts_before, mut counts_after) = (BTreeMap::new(), BTreeMap::new());
    for (before, after) in before.0.iter().zip(&after.0) {
        assert_eq!(
            split(after, &mut counts_after),
            split(before, &mut counts_before)
        );
    }
    assert!(!counts_before.is_empty());
    assert_eq!(counts_after, counts_before);

    // Clients can resume at any event number.
    for since in [0, 3, 100, 203, 204, 3333, 6450, 6486] {
        let request = server.request(Method::GET, &format!("/runs/{run}/stream?since={since}"));
        let text = request.send().await.unwrap().text().await.unwrap();
        let events = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        assert!(events.eq(after.0[since..].iter().cloned()), "{since}");
    }
    let detailed = server
        .get(&format!("/runs/{run}/series?points=600&to_ms=60000"))
        .await;
    assert_eq!(detailed["bucket_ms"], 2000.0);

    let request = server.request(Method::DELETE, &format!("/runs/{run}"));
    assert_eq!(server.send(request).await.0, StatusCode::NO_CONTENT);
    let began = Instant::now();
    while row_count(&server, run).await > 0 {
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn row_count(server: &Program, run: u64) -> i64 {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query_scalar(
        "SELECT (SELECT count(*) FROM events WHERE run = ?1) + (SELECT count(*) FROM rollups WHERE run = ?1)
         + (SELECT count(*) FROM sample_chunks WHERE run = ?1) + (SELECT count(*) FROM compactions WHERE run = ?1)
         + (SELECT count(*) FROM deleted_runs)",
    )
    .bind(run.cast_signed())
    .fetch_one(&mut database)
    .await
    .unwrap()
}

/// Number of samples in `events`, and number of samples in chunks.
async fn stored_samples(server: &Program) -> (i64, i64) {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query_as(
        "SELECT (SELECT count(*) FROM events WHERE type = 'sample'),
                (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM sample_chunks)",
    )
    .fetch_one(&mut database)
    .await
    .unwrap()
}

#[tokio::test]
async fn older_samples_of_active_runs_are_compressed() {
    let server = Program::start().await;
    let body = json!({"jobs": [job("active-hours-0.25", "1h")]});
    let (status, run) = server.post("/runs", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    let began = Instant::now();
    while stored_samples(&server).await.1 < 8000 {
        assert!(
            began.elapsed() < TIMEOUT,
            "{:?}",
            stored_samples(&server).await
        );
        read_status(&server, number).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let (stored, compressed) = stored_samples(&server).await;
    assert!(stored < 1500, "{stored} {compressed}");
    let path = format!("/runs/{number}");
    assert_eq!(read_status(&server, number).await, "measuring");

    // A viewer that connects now receives every event exactly once, including the last one.
    let (status, _) = server.post(&format!("{path}/cancel"), &json!(null)).await;
    assert!(status.is_success(), "{status}");
    let events = server.events(number).await;
    let seqs: Vec<u64> = events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    assert!(seqs.iter().copied().eq(0..seqs.len() as u64));
    let samples = events.iter().filter(|event| event["type"] == "sample");
    assert!(samples.count() >= 9000);
    let series = server.get(&format!("{path}/series?points=100")).await;
    assert!(series["t_ms"].as_array().unwrap().len() > 50);
}
