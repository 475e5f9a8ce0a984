//! A study is damaged if another program deleted some of its rows. Lists report it as damaged, it
//! does not continue, and the rows are not recreated. Deletions by the server do not damage a
//! study.

use crate::{
    damaged_studies::{create, damage_detail, study_with_looks, two_runs},
    deletion::connect,
    program::{Program, job},
    repeats::wait_for_end_of_study,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqliteConnection, raw_sql};

fn damage(cause: &str) -> String {
    format!(
        "The stored data of study #1 is damaged: {cause}. Restore the database from a backup, or delete the study."
    )
}

/// Connects like the sqlite3 program, which does not enforce foreign keys by default.
async fn connect_without_foreign_keys(server: &Program) -> SqliteConnection {
    let mut database = connect(server).await;
    let off = raw_sql("PRAGMA foreign_keys = OFF");
    off.execute(&mut database).await.unwrap();
    database
}

async fn execute(server: &Program, sql: &str) {
    let mut database = connect_without_foreign_keys(server).await;
    let done = raw_sql(AssertSqlSafe(sql)).execute(&mut database).await;
    assert!(done.unwrap().rows_affected() > 0, "{sql}");
}

async fn count(server: &Program, rows: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {rows}");
    let count = sqlx::query_scalar(AssertSqlSafe(sql));
    count.fetch_one(&mut connect(server).await).await.unwrap()
}

/// Checks that study 1 is damaged and study 2 is not.
async fn check_damaged(server: &Program, cause: &str) {
    let detail = damage(cause);
    let list = server.get("/studies").await;
    let damaged = json!([{"number": 1, "detail": detail}]);
    assert_eq!(list["damaged"], damaged, "{list}");
    assert_eq!(
        (&list["studies"][0]["number"], &list["total"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        damage_detail(server, Method::GET, "/studies/1").await,
        detail
    );
    assert_eq!(server.get("/studies/2").await["status"], "done");
}

/// Runs two studies to completion: one with two looks and one without.
async fn ended_studies() -> Program {
    let server = Program::start().await;
    create(&server, &study_with_looks("10ms")).await;
    wait_for_end_of_study(&server, 1).await;
    create(&server, &two_runs("other")).await;
    wait_for_end_of_study(&server, 2).await;
    server
}

const TABLES: [&str; 4] = ["studies", "runs", "study_looks", "study_contents"];
const MISSING_LOOK: &str = "an interim look is missing";
const MISSING_CHECKSUM: &str = "a checksum is missing";
const MISSING_ROW: &str = "its row is missing";

/// No runs or looks follow the last look, so nothing but its absence shows that it was deleted.
#[tokio::test]
async fn deleted_rows_are_reported_as_damage() {
    let cases = [
        ("DELETE FROM study_looks WHERE pairs = 10", MISSING_LOOK),
        ("DELETE FROM study_looks", MISSING_LOOK),
        ("DELETE FROM runs WHERE number = 20", "run #20 is missing"),
        ("DELETE FROM runs WHERE study = 1", "run #1 is missing"),
        (
            "DELETE FROM runs WHERE study = 1; DELETE FROM study_looks",
            MISSING_LOOK,
        ),
        (
            "UPDATE study_looks SET sha256 = NULL, look = replace(look, 'undecided', 'better')",
            MISSING_CHECKSUM,
        ),
        (
            "UPDATE studies SET sha256 = NULL, until_decided = NULL WHERE number = 1",
            MISSING_CHECKSUM,
        ),
        ("DELETE FROM studies WHERE number = 1", MISSING_ROW),
        (
            "DELETE FROM studies WHERE number = 1; DELETE FROM runs WHERE study = 1; DELETE FROM study_looks",
            MISSING_ROW,
        ),
        (
            "DELETE FROM study_contents WHERE study = 1",
            "its number of interim looks is missing",
        ),
        (
            "UPDATE study_contents SET looks = looks - 1 WHERE study = 1",
            "it has an interim look that was not stored by Leadline",
        ),
    ];
    let mut server = ended_studies().await;
    for table in TABLES {
        let copy = format!("CREATE TABLE copy_of_{table} AS SELECT * FROM {table}");
        let mut database = connect(&server).await;
        raw_sql(AssertSqlSafe(copy))
            .execute(&mut database)
            .await
            .unwrap();
    }
    for (sql, cause) in cases {
        execute(&server, sql).await;
        check_damaged(&server, cause).await;
        let left = count(&server, "study_looks").await;
        server = server.kill_and_restart().await;
        check_damaged(&server, cause).await;
        assert_eq!(count(&server, "study_looks").await, left, "{sql}");
        for table in TABLES {
            let restore =
                format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM copy_of_{table}");
            execute(&server, &restore).await;
        }
        let list = server.get("/studies").await;
        assert_eq!((&list["damaged"], &list["total"]), (&json!([]), &json!(2)));
    }
}

async fn delete(server: &Program, path: &str) -> StatusCode {
    server.send(server.request(Method::DELETE, path)).await.0
}

/// When runs are deleted, the server removes studies without runs. But it keeps a study whose runs
/// were deleted by another program.
#[tokio::test]
async fn deletions_by_the_server_do_not_hide_a_deleted_row() {
    let server = ended_studies().await;
    execute(&server, "DELETE FROM runs WHERE study = 1").await;
    let run = server.queue(job("other", "10ms")).await;
    server.wait_until_ended(run).await;
    assert_eq!(
        delete(&server, &format!("/runs/{run}")).await,
        StatusCode::NO_CONTENT
    );
    check_damaged(&server, "run #1 is missing").await;
    let rename = server
        .request(Method::PATCH, "/studies/1")
        .json(&json!({"name": "renamed"}));
    assert_eq!(server.send(rename).await.0, StatusCode::CONFLICT);
    check_damaged(&server, "run #1 is missing").await;

    let server = ended_studies().await;
    execute(&server, "DELETE FROM study_looks WHERE pairs = 10").await;
    assert_eq!(delete(&server, "/runs/20").await, StatusCode::NO_CONTENT);
    check_damaged(&server, MISSING_LOOK).await;
}

/// Tests the remedy in the error message, which is to delete the study.
#[tokio::test]
async fn a_study_with_deleted_rows_can_be_deleted() {
    for sql in [
        "DELETE FROM study_looks WHERE pairs = 10",
        "DELETE FROM runs WHERE number = 20",
        "DELETE FROM runs WHERE study = 1",
        "DELETE FROM studies WHERE number = 1",
        "DELETE FROM studies WHERE number = 1; DELETE FROM runs WHERE study = 1; DELETE FROM study_looks",
        "DELETE FROM study_contents WHERE study = 1",
    ] {
        let server = ended_studies().await;
        execute(&server, sql).await;
        assert_eq!(delete(&server, "/studies/1").await, StatusCode::NO_CONTENT);
        let list = server.get("/studies").await;
        let expect = (&json!([]), &json!(1));
        assert_eq!((&list["damaged"], &list["total"]), expect, "{sql}");
        assert_eq!(server.get("/runs").await["total"], 2, "{sql}");
        for table in ["runs", "study_looks", "study_contents", "study_runs"] {
            let rows = format!("{table} WHERE study = 1");
            assert_eq!(count(&server, &rows).await, 0, "{sql}: {table}");
        }
        assert_eq!(delete(&server, "/studies/1").await, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn runs_deleted_by_the_server_are_not_missing() {
    let server = ended_studies().await;
    for run in [1, 20] {
        let path = format!("/runs/{run}");
        assert_eq!(delete(&server, &path).await, StatusCode::NO_CONTENT);
        assert_eq!(server.get("/studies").await["damaged"], json!([]));
        server.get("/studies/1").await;
    }
    for run in 2..20 {
        delete(&server, &format!("/runs/{run}")).await;
    }
    let list = server.get("/studies").await;
    assert_eq!((&list["damaged"], &list["total"]), (&json!([]), &json!(1)));
    assert_eq!(count(&server, "study_contents").await, 1);
    assert_eq!(count(&server, "study_runs").await, 2);
}

/// A study does not continue if its row, its looks or its earlier runs are missing.
#[tokio::test]
async fn the_remaining_runs_of_a_study_with_deleted_rows_do_not_start() {
    for (sql, cause) in [
        ("DELETE FROM studies", MISSING_ROW),
        ("DELETE FROM study_looks", MISSING_LOOK),
        ("DELETE FROM runs WHERE number = 3", "run #3 is missing"),
        ("DELETE FROM runs WHERE number = 19", "run #19 is missing"),
    ] {
        let server = Program::start().await;
        create(&server, &study_with_looks("200ms")).await;
        // The first look follows run 14.
        server.wait_for_status(15, &["measuring"]).await;
        execute(&server, sql).await;
        for run in [16, 17, 18, 20] {
            let run = server.wait_until_ended(run).await;
            assert_eq!(run["status"], "cancelled", "{sql}");
            let reason = format!("Not started: {}", damage(cause));
            assert_eq!(run["reason"], reason, "{sql}");
        }
        assert_eq!(server.starts().len(), 15, "{sql}");
    }
}

/// `run_details` is a run's second table, which contains its request, report and checksums.
#[tokio::test]
async fn a_run_without_its_details_is_damaged() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    execute(&server, "DELETE FROM run_details").await;
    let shown = server.get("/runs/1").await;
    assert_eq!(
        (&shown["damaged"], &shown["iops"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(server.get("/runs").await["runs"][0]["damaged"], true);
    let repeat = server.send(server.request(Method::POST, "/runs/1/rerun"));
    assert_eq!(repeat.await.0, StatusCode::CONFLICT);
    damage_detail(&server, Method::GET, "/runs/1/series").await;
    let server = server.kill_and_restart().await;
    assert_eq!(server.get("/runs/1").await["damaged"], true);
    assert_eq!(delete(&server, "/runs/1").await, StatusCode::NO_CONTENT);
}
