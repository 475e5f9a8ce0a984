//! Measures how long comparisons and trends of many long runs take. The runs are copies of one run
//! with stored samples and a report from the real runner.

use crate::{
    deletion::connect,
    program::{Program, job},
    real_runner,
};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, raw_sql};
use std::{
    fmt::Write,
    time::{Duration, Instant},
};

const GROUPS: u64 = 8;
const RUNS: u64 = 20;
/// Number of the first copied run.
const FIRST: u64 = 100;
/// Duration in seconds, at ten samples per second.
const HOUR: &str = "hours-1";
/// A debug build on a busy host is slow.
const SLOW: Duration = Duration::from_secs(300);

/// SQL that inserts copies of run 1, with the report of run 2 and different IOPS.
fn copies() -> String {
    let mut sql = String::from("BEGIN IMMEDIATE;");
    for index in 0..GROUPS * RUNS {
        let (number, group) = (FIRST + index, index / RUNS);
        // IOPS differ by 1 % between groups and by up to 3 % between runs.
        let iops =
            10_000.0 * (1.0 + group as f64 / 100.0) * (1.0 + (index * 7919 % 31) as f64 / 1000.0);
        let _ = write!(
            sql,
            "CREATE TEMP TABLE r AS SELECT * FROM runs WHERE number = 1;
             UPDATE r SET number = {number}, tags = '[\"group{group}\"]', fingerprint_version = 0;
             INSERT INTO runs SELECT * FROM r; DROP TABLE r;
             CREATE TEMP TABLE d AS SELECT * FROM run_details WHERE run = 1;
             UPDATE d SET run = {number}, result_sha256 = NULL, summary_sha256 = NULL, run_sha256 = NULL, final_sha256 = NULL, checksums = 0,
                 report = json_set((SELECT report FROM run_details WHERE run = 2), '$.read.iops', {iops});
             INSERT INTO run_details SELECT * FROM d; DROP TABLE d;
             INSERT INTO rollups SELECT {number}, windows, idx, data FROM rollups WHERE run = 1;
             INSERT INTO sample_chunks SELECT {number}, first_seq, last_seq, last_t_ms, data FROM sample_chunks WHERE run = 1;
             INSERT INTO compactions SELECT {number}, next_seq, is_done FROM compactions WHERE run = 1;
             CREATE TEMP TABLE e AS SELECT * FROM events WHERE run = 1; UPDATE e SET run = {number};
             INSERT INTO events SELECT * FROM e; DROP TABLE e;"
        );
    }
    sql + "COMMIT"
}

async fn wait_for_compression(server: &Program) {
    let began = Instant::now();
    let mut database = connect(server).await;
    loop {
        let done: i64 =
            sqlx::query_scalar("SELECT count(*) FROM compactions WHERE run = 1 AND is_done")
                .fetch_one(&mut database)
                .await
                .unwrap();
        if done == 1 {
            return database.close().await.unwrap();
        }
        assert!(began.elapsed() < SLOW, "run 1 is not compressed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// Sends a request five times and prints how long each one takes.
async fn measure(server: &Program, name: &str, path: &str) {
    let mut times = Vec::new();
    let mut bytes = 0;
    for _ in 0..5 {
        let began = Instant::now();
        let response = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        bytes = response.bytes().await.unwrap().len();
        times.push(began.elapsed().as_millis());
    }
    eprintln!("{name}: {times:?} ms, {bytes} bytes");
}

/// If `LEADLINE_SPEED_COPY=FILE` is set, keeps a copy of the database for measuring the web UI.
///
/// `cargo test --release -p leadline --test server comparison_speed -- --ignored --nocapture`
#[tokio::test]
#[ignore = "benchmark"]
async fn comparing_eight_groups_of_twenty_hour_runs_is_fast() {
    let server = Program::start().await;
    let hour = server.queue(job(HOUR, "1s")).await;
    let began = Instant::now();
    while server.get(&format!("/runs/{hour}")).await["status"] != "done" {
        assert!(began.elapsed() < SLOW, "run #{hour} has not ended");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    wait_for_compression(&server).await;
    let Some(server) = Program::start_real(server.kill().await).await else {
        return;
    };
    let (_, run) = server
        .post("/runs", &json!({"jobs": [real_runner::read("1s")]}))
        .await;
    let run = run["number"].as_u64().unwrap();
    assert_eq!(server.wait_until_ended(run).await["status"], "done");
    let mut database = connect(&server).await;
    let began = Instant::now();
    let sql = AssertSqlSafe(copies());
    raw_sql(sql).execute(&mut database).await.unwrap();
    database.close().await.unwrap();
    eprintln!("copied {} runs in {:?}", GROUPS * RUNS, began.elapsed());
    let server = server.kill_and_restart().await;
    let began = Instant::now();
    while server.get("/trends").await["pending_runs"] != 0 {
        assert!(began.elapsed() < SLOW, "runs have no fingerprints");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let groups = letters.iter().zip(0..);
    let groups: Vec<String> = groups
        .map(|(letter, index)| format!("{letter}=tag:group{index}"))
        .collect();
    let query = groups.join("&");
    measure(&server, "comparison", &format!("/compare?{query}")).await;
    measure(
        &server,
        "HTML",
        &format!("/compare/comparison.html?{query}"),
    )
    .await;
    measure(&server, "time series", &format!("/compare/series?{query}")).await;
    let first = format!("/runs/{FIRST}/series?points=500");
    measure(&server, "series of one run", &first).await;
    if let Ok(file) = std::env::var("LEADLINE_SPEED_COPY") {
        let mut database = connect(&server).await;
        let sql = AssertSqlSafe(format!("VACUUM INTO '{file}'"));
        raw_sql(sql).execute(&mut database).await.unwrap();
    }
}
