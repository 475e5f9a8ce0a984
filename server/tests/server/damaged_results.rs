//! Results that were changed in the database are marked as damaged.

use crate::{
    deletion::execute,
    foreign_results::{MIXED, export, fio, imported, temporary_directory},
    program::{Program, job},
};
use reqwest::{Method, StatusCode};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, sqlite::SqliteConnectOptions};

/// A stored value, as column, table and condition.
type Cell = (&'static str, &'static str, &'static str);

/// Replaces one byte of a stored value and returns the old byte.
async fn replace_byte(database: &mut SqliteConnection, cell: Cell, at: usize, new: u8) -> u8 {
    let (column, table, condition) = cell;
    let read = format!("SELECT {column} FROM {table} WHERE {condition}");
    let text: String = sqlx::query_scalar(AssertSqlSafe(read))
        .fetch_one(&mut *database)
        .await
        .unwrap();
    let mut bytes = text.into_bytes();
    let at = at % bytes.len();
    let old = std::mem::replace(&mut bytes[at], new);
    let write = format!("UPDATE {table} SET {column} = ? WHERE {condition}");
    sqlx::query(AssertSqlSafe(write))
        .bind(String::from_utf8(bytes).unwrap())
        .execute(database)
        .await
        .unwrap();
    old
}

#[tokio::test]
async fn changed_result_byte_is_detected() {
    const CHANGES: usize = 200;
    const CELLS: [Cell; 4] = [
        ("report", "run_details", "run = 1"),
        ("verdict", "run_details", "run = 1"),
        ("findings", "run_details", "run = 1"),
        ("line", "events", "run = 1 AND type = 'report'"),
    ];
    let server = Program::start().await;
    for name in ["a", "b"] {
        let run = server.queue(job(name, "10ms")).await;
        server.wait_until_ended(run).await;
    }
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    for change in 0..CHANGES {
        let (cell, at) = (CELLS[change % 4], change * 7919);
        let old = replace_byte(&mut database, cell, at, b'7').await;
        let run = server.get("/runs/1").await;
        assert_eq!(run["damaged"], old != b'7', "{cell:?} at {at}");
        assert_eq!(run["report"].is_null(), old != b'7');
        replace_byte(&mut database, cell, at, old).await;
    }
    assert_eq!(server.get("/runs/1").await["damaged"], false);
    let compare = || server.send(server.request(Method::GET, "/compare?runs=1,2"));
    assert_eq!(compare().await.0, 200);
    replace_byte(&mut database, CELLS[0], 20, b'?').await;
    let (status, problem) = compare().await;
    assert_eq!(
        (status.as_u16(), problem["code"].as_str()),
        (409, Some("damaged"))
    );
    sqlx::raw_sql("UPDATE run_details SET report = NULL")
        .execute(&mut database)
        .await
        .unwrap();
    assert_eq!(
        server.get("/runs/1").await["damaged"],
        true,
        "a missing report"
    );
}

#[tokio::test]
async fn changed_result_summary_is_detected() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    for (change, undo) in [
        ("iops = iops + 1", "iops = iops - 1"),
        ("lat_max_ns = lat_max_ns + 1", "lat_max_ns = lat_max_ns - 1"),
        ("verdict = 'page_cache'", "verdict = 'device'"),
    ] {
        for (assignment, damaged) in [(change, true), (undo, false)] {
            let sql = format!("UPDATE runs SET {assignment}");
            let changed = sqlx::raw_sql(AssertSqlSafe(sql))
                .execute(&mut database)
                .await;
            assert_eq!(changed.unwrap().rows_affected(), 1);
            let shown = server.get(&format!("/runs/{run}")).await;
            assert_eq!(shown["damaged"], damaged, "{assignment}");
            assert_eq!(shown["iops"].is_null(), damaged, "{assignment}");
        }
    }
}

#[tokio::test]
async fn results_from_earlier_versions_are_not_checked() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    let options = SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(
        "UPDATE run_details SET result_sha256 = NULL, summary_sha256 = NULL, final_sha256 = NULL, checksums = 0; UPDATE runs SET iops = 1",
    )
    .execute(&mut database)
    .await
    .unwrap();
    let shown = server.get(&format!("/runs/{run}")).await;
    assert_eq!(
        (&shown["damaged"], &shown["iops"]),
        (&json!(false), &json!(1.0))
    );
}

#[tokio::test]
async fn documents_of_exchanged_runs_are_damaged() {
    let directory = temporary_directory();
    let Some(text) = fio(directory.path(), &MIXED) else {
        return;
    };
    let server = Program::start().await;
    let first = imported(&server, &text).await;
    let other = fio(directory.path(), &MIXED).unwrap();
    let second = imported(&server, &other).await;
    assert_eq!(export(&server, &first, "fio-json").await.0, StatusCode::OK);
    let exchange = "CREATE TEMP TABLE copy AS SELECT * FROM foreign_results;
        DELETE FROM foreign_results;
        INSERT INTO foreign_results (run, sha256, document, run_sha256)
            SELECT 3 - run, sha256, document, run_sha256 FROM copy;";
    execute(&server, exchange).await;
    for run in [first, second] {
        let (status, problem) = export(&server, &run, "fio-json").await;
        assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    }
}
