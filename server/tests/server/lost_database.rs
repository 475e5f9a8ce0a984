//! Deletes or replaces the database. The server acknowledges only what it has stored, and never
//! silently starts with an empty database.

use crate::{
    kills::check_events,
    program::{Program, TIMEOUT, job},
    start::start_error,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, raw_sql, sqlite::SqliteConnectOptions};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

fn body() -> Value {
    json!({"jobs": [job("late", "20ms")], "sample_ms": 20})
}

fn remove_database(data: &Path) {
    for name in ["leadline.db", "leadline.db-wal", "leadline.db-shm"] {
        let _ = std::fs::remove_file(data.join(name));
    }
}

/// Checks that the server rejects a new run.
async fn check_rejected(server: &Program) {
    let (status, problem) = server.post("/runs", &body()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{problem}");
    assert_eq!(problem["code"], "store_replaced");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("restore a backup"), "{detail}");
}

async fn wait_until_ready(server: &Program) {
    let began = Instant::now();
    loop {
        let ready = server.send(server.request(Method::GET, "/readyz")).await;
        if ready.0 == StatusCode::OK {
            return;
        }
        assert!(began.elapsed() < TIMEOUT, "{}", ready.1);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn deleted_database_is_not_written_to() {
    let server = Program::start().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    wait_until_ready(&server).await;
    remove_database(&server.data());
    check_rejected(&server).await;
    let patch = server.request(Method::PATCH, &format!("/runs/{run}"));
    let (status, problem) = server.send(patch.json(&json!({"notes": "x"}))).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{problem}");
    let ready = server.send(server.request(Method::GET, "/readyz")).await;
    assert_eq!(ready.0, StatusCode::SERVICE_UNAVAILABLE);
    assert!(ready.1["reasons"][0].as_str().unwrap().contains("deleted"));
    // The open file can still be read.
    assert_eq!(server.get("/runs").await["total"], 1);
    assert!(!server.data().join("leadline.db").exists());
}

/// Waits for the copy that the server makes after the file of its open database was deleted, and
/// returns its path.
async fn wait_for_rescued_copy(data: &Path) -> PathBuf {
    let began = Instant::now();
    loop {
        let files = std::fs::read_dir(data).unwrap();
        let mut paths = files.map(|file| file.unwrap().path());
        let is_copy = |path: &PathBuf| {
            let name = path.to_string_lossy();
            name.contains(".rescued-") && !name.ends_with("partial")
        };
        if let Some(path) = paths.find(is_copy) {
            return path;
        }
        assert!(began.elapsed() < TIMEOUT, "there is no copy");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn database_deleted_during_a_run_is_rescued() {
    let server = Program::start().await;
    let first = server.queue(job("a", "20ms")).await;
    let before = server.wait_until_ended(first).await;
    let run = server.queue(job("b", "2s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let data = server.data();
    remove_database(&data);
    check_rejected(&server).await;
    let copy = wait_for_rescued_copy(&data).await;
    let spool = data.join("spool/run-2.ndjson");
    let began = Instant::now();
    while !std::fs::read_to_string(&spool)
        .is_ok_and(|text| text.contains(r#"\"done\""#) && text.ends_with('\n'))
    {
        assert!(began.elapsed() < TIMEOUT, "the end is not spooled");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let directory = server.kill().await;
    let error = start_error(directory.path(), &[]).await;
    let name = copy.file_name().unwrap().to_string_lossy();
    assert!(error.contains(&*name) && error.contains("spool"), "{error}");
    std::fs::rename(&copy, data.join("leadline.db")).unwrap();
    let server = Program::start_in(directory, &[]).await;
    assert_eq!(server.get(&format!("/runs/{first}")).await, before);
    let ended = server.get(&format!("/runs/{run}")).await;
    assert_eq!(ended["status"], "done");
    assert_eq!(ended["damaged"], false);
    check_events(&server.events(run).await, "done");
}

#[tokio::test]
async fn database_without_its_log_is_rescued() {
    let server = Program::start().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    let data = server.data();
    std::fs::remove_file(data.join("leadline.db-wal")).unwrap();
    let copy = wait_for_rescued_copy(&data).await;
    // The log of the old file is not needed, and would corrupt the copy.
    let directory = server.kill().await;
    remove_database(&data);
    std::fs::rename(&copy, data.join("leadline.db")).unwrap();
    let server = Program::start_in(directory, &[]).await;
    let stored = server.get(&format!("/runs/{run}")).await;
    assert_eq!(
        (&stored["status"], &stored["damaged"]),
        (&json!("done"), &json!(false))
    );
}

#[tokio::test]
async fn replaced_database_is_neither_read_nor_written() {
    let server = Program::start().await;
    let mut other = Program::start().await;
    other.queue(job("other", "20ms")).await;
    other.stop().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    let file = server.data().join("leadline.db");
    let aside = server.data().join("aside.db");
    std::fs::rename(&file, &aside).unwrap();
    std::fs::copy(other.data().join("leadline.db"), &file).unwrap();
    check_rejected(&server).await;
    let listed = server.get("/runs").await;
    assert_eq!(listed["runs"][0]["name"], "a", "{listed}");
    // Move the original file back.
    std::fs::rename(&aside, &file).unwrap();
    wait_until_ready(&server).await;
    let again = server.queue(job("b", "20ms")).await;
    assert_eq!(server.wait_until_ended(again).await["status"], "done");
}

#[tokio::test]
async fn start_without_the_database_is_rejected() {
    let mut server = Program::start().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    server.stop().await;
    let data = server.data();
    let saved = std::fs::read(data.join("leadline.db")).unwrap();
    for content in [None, Some(&b""[..])] {
        remove_database(&data);
        if let Some(content) = content {
            std::fs::write(data.join("leadline.db"), content).unwrap();
        }
        let error = start_error(server.directory.path(), &[]).await;
        assert!(
            error.contains("No empty database was created") && error.contains("initialized"),
            "{error}"
        );
        let length = std::fs::metadata(data.join("leadline.db")).map(|file| file.len());
        assert_eq!(length.ok(), content.map(|_| 0));
    }
    // If the marker file is missing, the lock file left by an earlier version shows that there was
    // a database.
    std::fs::remove_file(data.join("initialized")).unwrap();
    let error = start_error(server.directory.path(), &[]).await;
    assert!(error.contains("data/lock"), "{error}");
    std::fs::write(data.join("leadline.db"), saved).unwrap();
    let server = Program::start_in(server.directory.clone(), &[]).await;
    assert_eq!(server.get("/runs").await["total"], 1);
    assert!(data.join("initialized").exists());
}

/// Overwrites the first page of a table.
async fn damage(file: &Path, table: &str) {
    let options = SqliteConnectOptions::new().filename(file);
    let mut open = SqliteConnection::connect_with(&options).await.unwrap();
    raw_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut open)
        .await
        .unwrap();
    let query = "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = ?";
    let (page, page_bytes): (i64, i64) = sqlx::query_as(query)
        .bind(table)
        .fetch_one(&mut open)
        .await
        .unwrap();
    open.close().await.unwrap();
    let mut bytes = std::fs::read(file).unwrap();
    let start = ((page - 1) * page_bytes) as usize;
    bytes[start..start + page_bytes as usize].fill(0xa5);
    std::fs::write(file, bytes).unwrap();
}

#[tokio::test]
async fn a_database_with_a_damaged_page_is_rejected_unchanged() {
    for table in ["database", "_sqlx_migrations"] {
        let mut server = Program::start().await;
        let run = server.queue(job("a", "20ms")).await;
        server.wait_until_ended(run).await;
        server.stop().await;
        let file = server.data().join("leadline.db");
        damage(&file, table).await;
        // Compares all data except the transaction counters, which even an empty transaction
        // advances.
        let content = || {
            let mut bytes = std::fs::read(&file).unwrap();
            bytes[24..28].fill(0);
            bytes[92..96].fill(0);
            bytes
        };
        let before = content();
        let error = start_error(server.directory.path(), &[]).await;
        assert!(error.contains("malformed"), "{table}: {error}");
        assert!(content() == before, "{table}");
        assert!(error.contains("restore a backup"), "{table}: {error}");
    }
}

#[tokio::test]
async fn a_damaged_page_is_detected_when_it_is_read() {
    let mut server = Program::start().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    server.stop().await;
    damage(&server.data().join("leadline.db"), "runs").await;
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let get = server.request(Method::GET, &format!("/runs/{run}"));
    let response = get.send().await.unwrap();
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers().get("retry-after"), None);
    let problem: Value = response.json().await.unwrap();
    assert_eq!(problem["code"], "store_damaged");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("malformed"), "{detail}");
}

#[tokio::test]
async fn start_with_another_database_is_rejected() {
    let mut server = Program::start().await;
    let mut other = Program::start().await;
    wait_until_ready(&server).await;
    wait_until_ready(&other).await;
    server.stop().await;
    other.stop().await;
    let file = server.data().join("leadline.db");
    let foreign = std::fs::read(other.data().join("leadline.db")).unwrap();
    std::fs::write(&file, &foreign).unwrap();
    let error = start_error(server.directory.path(), &[]).await;
    assert!(error.contains("it belongs to another directory"), "{error}");
    assert!(std::fs::read(&file).unwrap() == foreign);
    std::fs::remove_file(server.data().join("initialized")).unwrap();
    Program::start_in(server.directory.clone(), &[]).await;
}
