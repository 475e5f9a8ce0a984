//! A study is damaged if its row, or the row of an interim look, was changed in the database. Lists
//! report it as damaged, and it does not continue.

use crate::{
    deletion::connect,
    program::{Program, job},
    repeats::wait_for_end_of_study,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, SqliteConnection};

const DAMAGED_ROW: &str = "The stored data of study #1 is damaged: its row does not match its checksum. Restore the database from a backup, or delete the study.";
const DAMAGED_LOOK: &str = "The stored data of study #1 is damaged: an interim look does not match its checksum. Restore the database from a backup, or delete the study.";
const MISSING_LOOK: &str = "The stored data of study #1 is damaged: an interim look is missing. Restore the database from a backup, or delete the study.";

async fn execute(database: &mut SqliteConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(database).await;
    assert_eq!(done.unwrap().rows_affected(), 1, "{sql}");
}

/// SQL expressions that each replace one character in a string.
fn changes(column: &str) -> impl Iterator<Item = String> {
    (1..100).step_by(13).map(move |at| {
        format!(
            "{column} = substr({column}, 1, {at} % length({column})) || '~' || substr({column}, {at} % length({column}) + 2)"
        )
    })
}

pub(crate) async fn create(server: &Program, study: &Value) {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

pub(crate) fn two_runs(name: &str) -> Value {
    let step = |name| json!({"name": name, "sample_ms": 20, "jobs": [job(name, "10ms")]});
    json!({"name": name, "about": "Two runs of one job.", "steps": [step("a"), step("b")]})
}

/// A study with interim looks after 7 and 10 pairs, both of which are undecided.
pub(crate) fn study_with_looks(runtime: &str) -> Value {
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "A/B", "repeats": 10, "until_decided": {}, "steps": [step("alternating-a"), step("alternating-b")]})
}

pub(crate) async fn damage_detail(server: &Program, method: Method, path: &str) -> Value {
    let (status, problem) = server.send(server.request(method, path)).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::CONFLICT, &json!("damaged")),
        "{problem}"
    );
    problem["detail"].clone()
}

/// Checks that study 1 is damaged and study 2 is not.
async fn check_damaged(server: &Program, detail: &str) {
    let list = server.get("/studies").await;
    let damaged = json!([{"number": 1, "detail": detail}]);
    assert_eq!(list["damaged"], damaged, "{list}");
    assert_eq!(list["studies"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&list["studies"][0]["number"], &list["total"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(
        damage_detail(server, Method::GET, "/studies/1").await,
        detail
    );
    server.get("/studies/2").await;
}

async fn check_intact(server: &Program) {
    let list = server.get("/studies").await;
    assert_eq!(list["damaged"], json!([]));
    assert_eq!(list["studies"].as_array().unwrap().len(), 2);
    server.get("/studies/1").await;
}

/// Changes a table, checks that the change is detected, and reverts it.
async fn check_change(
    server: &Program,
    database: &mut SqliteConnection,
    table: &str,
    assignment: &str,
    detail: &str,
) {
    let key = if table == "studies" {
        "number = 1"
    } else {
        "study = 1 AND pairs = 7"
    };
    let (column, _) = assignment.split_once(" = ").unwrap();
    execute(
        database,
        &format!("UPDATE saved SET value = (SELECT {column} FROM {table} WHERE {key})"),
    )
    .await;
    execute(
        database,
        &format!("UPDATE {table} SET {assignment} WHERE {key}"),
    )
    .await;
    check_damaged(server, detail).await;
    execute(
        database,
        &format!("UPDATE {table} SET {column} = (SELECT value FROM saved) WHERE {key}"),
    )
    .await;
}

async fn connect_with_saved_table(server: &Program) -> SqliteConnection {
    let mut database = connect(server).await;
    sqlx::raw_sql("CREATE TEMPORARY TABLE saved (value); INSERT INTO saved VALUES (NULL)")
        .execute(&mut database)
        .await
        .unwrap();
    database
}

#[tokio::test]
async fn changed_study_is_detected_and_other_studies_are_listed() {
    let server = Program::start().await;
    for (study, name) in (1..).zip(["first", "second"]) {
        create(&server, &two_runs(name)).await;
        wait_for_end_of_study(&server, study).await;
    }
    let mut database = connect_with_saved_table(&server).await;
    let texts = ["name", "file_id", "description", "scaled", "steps"];
    let mut assignments: Vec<String> = texts.into_iter().flat_map(changes).collect();
    assignments.extend(
        [
            "owned_files = '['",
            "created_at_ms = created_at_ms + 1",
            "continue_on_failure = 1 - continue_on_failure",
            "retries = 1 - retries",
            "idle_wait_seconds = idle_wait_seconds + 1",
            "order_seed = order_seed + 1",
            "until_decided = '{\"'",
            "procedure = '{}'",
            "ended = ''",
            "sha256 = x'00'",
        ]
        .map(String::from),
    );
    for assignment in &assignments {
        check_change(&server, &mut database, "studies", assignment, DAMAGED_ROW).await;
    }
    check_intact(&server).await;
}

#[tokio::test]
async fn changed_look_is_detected_and_other_studies_are_listed() {
    let server = Program::start().await;
    create(&server, &study_with_looks("10ms")).await;
    wait_for_end_of_study(&server, 1).await;
    create(&server, &two_runs("other")).await;
    wait_for_end_of_study(&server, 2).await;
    let mut database = connect_with_saved_table(&server).await;
    let mut assignments = Vec::from_iter(changes("look"));
    assignments.extend(["decided = 1", "at_ms = at_ms + 1"].map(String::from));
    for assignment in &assignments {
        check_change(
            &server,
            &mut database,
            "study_looks",
            assignment,
            DAMAGED_LOOK,
        )
        .await;
    }
    check_intact(&server).await;
}

#[tokio::test]
async fn a_server_with_a_damaged_study_starts() {
    let server = Program::start().await;
    for (study, name) in (1..).zip(["first", "second"]) {
        create(&server, &two_runs(name)).await;
        wait_for_end_of_study(&server, study).await;
    }
    let change = "UPDATE studies SET until_decided = '{\"' WHERE number = 1";
    execute(&mut connect(&server).await, change).await;
    let server = server.kill_and_restart().await;
    check_damaged(&server, DAMAGED_ROW).await;
    create(&server, &two_runs("third")).await;
    assert_eq!(wait_for_end_of_study(&server, 3).await["status"], "done");
}

/// A study with a damaged look is neither decided nor continued.
#[tokio::test]
async fn a_study_with_a_damaged_look_ends_and_reports_the_reason() {
    for change in ["decided = 1", "look = '{'"] {
        let server = Program::start().await;
        create(&server, &study_with_looks("200ms")).await;
        // The first look follows run 14.
        server.wait_for_status(15, &["measuring"]).await;
        let change = format!("UPDATE study_looks SET {change}");
        execute(&mut connect(&server).await, &change).await;
        for run in 16..=20 {
            let run = server.wait_until_ended(run).await;
            assert_eq!(run["status"], "cancelled");
            assert_eq!(run["reason"], format!("Not started: {DAMAGED_LOOK}"));
        }
        assert_eq!(server.starts().len(), 15);
        let server = server.kill_and_restart().await;
        assert_eq!(
            damage_detail(&server, Method::GET, "/studies/1").await,
            DAMAGED_LOOK
        );
        let run = server.queue(job("next", "10ms")).await;
        assert_eq!(server.wait_until_ended(run).await["status"], "done");
    }
}

#[tokio::test]
async fn changes_to_a_damaged_study_do_not_hide_the_damage() {
    let server = Program::start().await;
    create(&server, &two_runs("first")).await;
    wait_for_end_of_study(&server, 1).await;
    create(&server, &two_runs("second")).await;
    wait_for_end_of_study(&server, 2).await;
    let change = "UPDATE studies SET order_seed = order_seed + 1 WHERE number = 1";
    execute(&mut connect(&server).await, change).await;
    let rename = server
        .request(Method::PATCH, "/studies/1")
        .json(&json!({"name": "renamed"}));
    let (status, problem) = server.send(rename).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::CONFLICT, &json!("damaged"))
    );
    assert_eq!(
        damage_detail(&server, Method::POST, "/studies/1/cancel").await,
        DAMAGED_ROW
    );
    check_damaged(&server, DAMAGED_ROW).await;
    let delete = server.request(Method::DELETE, "/studies/1");
    assert_eq!(server.send(delete).await.0, StatusCode::NO_CONTENT);
    let list = server.get("/studies").await;
    assert_eq!((&list["damaged"], &list["total"]), (&json!([]), &json!(1)));
    let rename = server
        .request(Method::PATCH, "/studies/2")
        .json(&json!({"name": "renamed"}));
    let (status, renamed) = server.send(rename).await;
    assert_eq!(
        (status, &renamed["name"]),
        (StatusCode::OK, &json!("renamed"))
    );
}

#[tokio::test]
async fn studies_from_earlier_versions_are_not_checked() {
    let server = Program::start().await;
    create(&server, &study_with_looks("10ms")).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    let mut database = connect(&server).await;
    execute(&mut database, "UPDATE studies SET sha256 = NULL, name = 'a', order_seed = 1, description = json_set(description, '$.name', 'a')").await;
    execute(
        &mut database,
        "UPDATE study_looks SET sha256 = NULL, at_ms = 1 WHERE pairs = 7",
    )
    .await;
    // As after a migration from an earlier version: only one of the looks has a checksum.
    execute(&mut database, "UPDATE study_contents SET checksums = 1").await;
    let shown = server.get("/studies/1").await;
    assert_eq!(
        (&shown["name"], &shown["order_seed"]),
        (&json!("a"), &json!(1))
    );
    assert_eq!(shown["looks"], ended["looks"]);
    // An unreadable row is reported even if it has no checksum.
    execute(&mut database, "UPDATE studies SET steps = '['").await;
    let list = server.get("/studies").await;
    assert_eq!(list["damaged"][0]["number"], 1);
}

/// A look whose row is missing is not repeated: the data may have changed since, which could change
/// the decision.
#[tokio::test]
async fn a_look_with_a_missing_row_is_not_repeated() {
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, "10ms")]});
    let steps = [
        [step("alternating-a"), step("alternating-b")],
        [
            json!({"name": "a", "sample_ms": 20, "jobs": [job("a", "30ms")]}),
            json!({"name": "b", "sample_ms": 20, "jobs": [job("b", "230ms")]}),
        ],
    ];
    for steps in steps {
        let server = Program::start().await;
        let study = json!({"name": "A/B", "repeats": 10, "until_decided": {}, "steps": steps});
        create(&server, &study).await;
        wait_for_end_of_study(&server, 1).await;
        let mut database = connect(&server).await;
        let delete = "DELETE FROM study_looks WHERE pairs = 7";
        execute(&mut database, delete).await;
        let looks = "SELECT count(*) FROM study_looks";
        let before: i64 = sqlx::query_scalar(looks)
            .fetch_one(&mut database)
            .await
            .unwrap();
        let server = server.kill_and_restart().await;
        let (status, problem) = server.send(server.request(Method::GET, "/studies/1")).await;
        assert_eq!(status, StatusCode::CONFLICT, "{problem}");
        assert_eq!(problem["detail"], MISSING_LOOK);
        assert_eq!(
            server.get("/studies").await["damaged"][0]["detail"],
            MISSING_LOOK
        );
        let mut database = connect(&server).await;
        let after: i64 = sqlx::query_scalar(looks)
            .fetch_one(&mut database)
            .await
            .unwrap();
        assert_eq!(after, before);
    }
}
