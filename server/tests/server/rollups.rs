//! Series of long runs: the same from rollups as from samples, and fast.
//!
//! `LEADLINE_HOURS=1 cargo test -p leadline rollups -- --nocapture` measures with longer runs; with
//! `LEADLINE_FAKE_SAMPLES=FILE` they consist of recorded samples.

use crate::program::{Program, job};
use futures_util::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, sqlite::SqliteConnectOptions};
use std::time::{Duration, Instant};

/// Default of `LEADLINE_HOURS`: 5 minutes.
const HOURS: &str = "0.0834";
const TIMEOUT: Duration = Duration::from_secs(600);
const RUNS: usize = 8;

async fn long_run(server: &Program) -> u64 {
    let hours = std::env::var("LEADLINE_HOURS").unwrap_or(HOURS.into());
    let body = json!({"jobs": [job(&format!("hours-{hours}"), "1s")]});
    let (status, run) = server.post("/runs", &body).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    let began = Instant::now();
    while server.get(&format!("/runs/{number}")).await["status"] != "done" {
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    number
}

async fn execute(server: &Program, sql: &'static str) {
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(sql).execute(&mut database).await.unwrap();
}

/// Compares numbers to 12 digits: sums of floating-point numbers depend on their order.
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
                difference <= expect.abs() * 1e-12,
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

#[tokio::test]
async fn series_of_long_runs_are_fast() {
    let mut server = Program::start().await;
    let mut runs = vec![long_run(&server).await];
    let file = server.data().join("leadline.db");
    server.stop().await;
    let bytes = std::fs::metadata(&file).unwrap().len();
    server = Program::start_in(server.directory.clone(), &[]).await;
    let began = Instant::now();
    server.get(&format!("/runs/{}/series", runs[0])).await;
    let one = began.elapsed();
    let began = Instant::now();
    server.get(&format!("/runs/{}", runs[0])).await;
    let run = began.elapsed();
    while runs.len() < RUNS {
        runs.push(long_run(&server).await);
    }
    let server = &server;
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
