//! Fingerprints of runs that were stored by an earlier version.

use crate::program::{Program, TIMEOUT, job};
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, raw_sql, sqlite::SqliteConnectOptions};
use std::{
    io::Read,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Fixture: two runs on a file (1 and 4), two runs of the same test on temporary loop devices (2
/// and 3), and one run without I/O (5).
const FIXTURE: &[u8] = include_bytes!("../fixtures/database-v13.sqlite.gz");

type Row = (u64, Option<String>, Option<String>, i64);

async fn open(data: &Path) -> SqliteConnection {
    let file = data.join("leadline.db");
    let options = SqliteConnectOptions::new().filename(file);
    SqliteConnection::connect_with(&options).await.unwrap()
}

/// Creates a data directory that contains the fixture, modified by `sql`.
async fn fixture(sql: &str) -> Arc<TempDir> {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let mut database = Vec::new();
    GzDecoder::new(FIXTURE).read_to_end(&mut database).unwrap();
    std::fs::write(data.join("leadline.db"), &database).unwrap();
    let mut connection = open(&data).await;
    raw_sql(AssertSqlSafe(sql.to_owned()))
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    Arc::new(directory)
}

/// Waits until the server has tried to compute the fingerprints of every ended run.
pub(crate) async fn wait_for_fingerprints(data: &Path) {
    let mut connection = open(data).await;
    let began = Instant::now();
    loop {
        let missing: u64 = sqlx::query_scalar(
            "SELECT count(*) FROM runs WHERE fingerprint_version = 0 AND status NOT IN ('queued', 'preparing', 'measuring', 'finishing')",
        )
        .fetch_one(&mut connection)
        .await
        .unwrap();
        if missing == 0 {
            return connection.close().await.unwrap();
        }
        assert!(began.elapsed() < TIMEOUT, "{missing} runs remain");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn rows(data: &Path) -> Vec<Row> {
    let mut connection = open(data).await;
    sqlx::query_as(
        "SELECT number, job_fingerprint, host_fingerprint, fingerprint_version FROM runs ORDER BY number",
    )
    .fetch_all(&mut connection)
    .await
    .unwrap()
}

#[tokio::test]
async fn version_13_database_gets_new_fingerprints() {
    let directory = fixture(
        r#"UPDATE run_details SET resolved = replace(resolved, '"loop0"', '"loop7"') WHERE run = 3"#,
    )
    .await;
    let server = Program::start_in(directory, &[]).await;
    let list = server.get("/runs").await;
    assert_eq!(list["total"], 5);
    wait_for_fingerprints(&server.data()).await;

    let rows = rows(&server.data()).await;
    let jobs: Vec<&str> = rows.iter().filter_map(|row| row.1.as_deref()).collect();
    // Fingerprints of version 3 do not cover the lengths of targets.
    let [file, looped, none] = ["23866bc401a11bdb", "0b5bc90f3ebd5bc4", "650ea0d6a178f022"];
    assert_eq!(jobs, [file, looped, looped, file, none], "as before");
    let hosts: Vec<&str> = rows.iter().filter_map(|row| row.2.as_deref()).collect();
    assert_eq!((hosts[0], hosts[1]), (hosts[3], hosts[2]));
    assert!(hosts[0] != hosts[1] && hosts[1] != hosts[4], "{hosts:?}");

    let compared = server.get("/compare?runs=2,3").await;
    assert_eq!(compared["host_differences"], json!([]));
    let settings = compared["setting_differences"].as_array().unwrap();
    let is_device = |row: &&Value| row["name"] == "targets.device";
    assert_eq!(settings.iter().find(is_device), None);
}

#[tokio::test]
async fn each_run_is_tried_once() {
    let directory = fixture(
        "UPDATE run_details SET resolved = '[{}]' WHERE run = 5; UPDATE run_details SET report = NULL WHERE run = 4",
    )
    .await;
    let mut server = Program::start_in(directory.clone(), &[]).await;
    wait_for_fingerprints(&server.data()).await;
    let found = rows(&server.data()).await;
    for row in &found[3..] {
        assert_eq!((&row.1, &row.2, row.3), (&None, &None, 3), "#{}", row.0);
    }
    server.stop().await;

    let mut connection = open(&server.data()).await;
    let change = "UPDATE runs SET fingerprint_version = 0 WHERE number = 1; UPDATE runs SET job_fingerprint = 'kept' WHERE number = 5";
    raw_sql(change).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let server = Program::start_in(directory, &[]).await;
    wait_for_fingerprints(&server.data()).await;
    let after = rows(&server.data()).await;
    assert_eq!(after[0], found[0]);
    assert_eq!(after[4].1.as_deref(), Some("kept"));
}

#[tokio::test]
async fn all_batches_are_computed() {
    let copies = (6..=160).map(|number| {
        format!(
            "UPDATE copy SET number = {number}; INSERT INTO runs SELECT * FROM copy;
             UPDATE details SET run = {number}; INSERT INTO run_details SELECT * FROM details;"
        )
    });
    let tables = "CREATE TEMP TABLE copy AS SELECT * FROM runs WHERE number = 1;
        CREATE TEMP TABLE details AS SELECT * FROM run_details WHERE run = 1;";
    let directory = fixture(&(tables.to_owned() + &String::from_iter(copies))).await;
    let server = Program::start_in(directory, &[]).await;
    wait_for_fingerprints(&server.data()).await;
    let rows = rows(&server.data()).await;
    assert_eq!(rows.len(), 160);
    let is_copy = |row: &&Row| (&row.1, &row.2) == (&rows[0].1, &rows[0].2);
    assert_eq!(rows.iter().filter(is_copy).count(), 157);
}

#[tokio::test]
async fn run_with_a_result_has_current_fingerprints() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_for_status(run, &["done"]).await;
    let rows = rows(&server.data()).await;
    assert!(rows[0].1.is_some() && rows[0].2.is_some());
    assert_eq!(rows[0].3, 3);
}

#[tokio::test]
async fn fingerprints_are_indexed() {
    let server = Program::start().await;
    let mut connection = open(&server.data()).await;
    for (condition, index) in [
        ("host_fingerprint = 'x'", "runs_by_host_fingerprint"),
        (
            "host_fingerprint = 'x' AND job_fingerprint = 'y'",
            "runs_by_host_fingerprint",
        ),
        ("fingerprint_version < 1", "runs_by_fingerprint_version"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT number FROM runs WHERE {condition}");
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(AssertSqlSafe(sql))
            .fetch_all(&mut connection)
            .await
            .unwrap();
        assert!(plan[0].3.contains(index), "{condition}: {plan:?}");
    }
}
