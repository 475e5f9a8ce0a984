//! Values in the database that cannot be decoded affect only their own row.

use crate::{
    deletion::execute,
    program::{Program, job},
    webhooks::secret,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, query_scalar, sqlite::SqliteConnectOptions};
use std::process::Command;

#[tokio::test]
async fn unreadable_values_damage_only_their_run() {
    let server = Program::start().await;
    for name in ["a", "b"] {
        let run = server.queue(job(name, "10ms")).await;
        server.wait_until_ended(run).await;
    }
    for change in [
        "iodepth = -1",
        "jobs = -7",
        "created_at_ms = -1",
        "started_at_ms = -5",
        "lat_p99_ns = -1",
        "mode = 'foo'",
        "verdict = 'foo'",
        "name = CAST(x'ff' AS TEXT)",
        "notes = CAST(x'fffe' AS TEXT)",
    ] {
        execute(
            &server,
            &format!("UPDATE runs SET {change} WHERE number = 1"),
        )
        .await;
        let list = server.get("/runs").await;
        assert_eq!(values(&list["runs"], "damaged"), [false, true], "{change}");
        let run = server.get("/runs/1").await;
        assert_eq!(run["damaged"], true, "{change}");
        assert!(run["iops"].is_null(), "{change}");
        server.get("/trends").await;
    }
    execute(
        &server,
        "UPDATE run_details SET measure_ms = -5 WHERE run = 2",
    )
    .await;
    assert_eq!(server.get("/runs/2").await["damaged"], true);
    let patch = server.request(Method::PATCH, "/runs/1");
    let (status, run) = server.send(patch.json(&json!({"tags": ["a"]}))).await;
    assert!(status.is_success(), "{run}");
    let database = server.data().join("leadline.db");
    let options = SqliteConnectOptions::new()
        .filename(database)
        .read_only(true);
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let name = "SELECT hex(name) FROM runs WHERE number = 1";
    let name: String = query_scalar(name).fetch_one(&mut database).await.unwrap();
    assert_eq!(name, "FF", "values that are not changed stay as they are");
    let delete = server.request(Method::DELETE, "/runs/1");
    assert!(server.send(delete).await.0.is_success());
    execute(
        &server,
        "PRAGMA foreign_keys = OFF; UPDATE runs SET number = -5 WHERE number = 2",
    )
    .await;
    assert_eq!(server.get("/runs").await["runs"], json!([]));
}

#[tokio::test]
async fn a_skipped_run_does_not_end_the_list() {
    let server = Program::start().await;
    for name in ["a", "b", "c"] {
        let run = server.queue(job(name, "10ms")).await;
        server.wait_until_ended(run).await;
    }
    execute(
        &server,
        "PRAGMA foreign_keys = OFF; UPDATE runs SET number = -5 WHERE number = 2",
    )
    .await;
    execute(
        &server,
        "UPDATE runs SET created_at_ms = CASE number WHEN 3 THEN 3 WHEN -5 THEN 2 ELSE 1 END",
    )
    .await;
    let first = server
        .get("/runs?limit=2&sort=created_at_ms&order=desc")
        .await;
    let second = server
        .get(&format!(
            "/runs?limit=2&sort=created_at_ms&order=desc&cursor={}",
            first["next_cursor"].as_str().unwrap()
        ))
        .await;
    assert_eq!(values(&first["runs"], "number"), [3]);
    assert_eq!(values(&second["runs"], "number"), [1]);
}

#[tokio::test]
async fn thresholds_out_of_range_are_ignored() {
    let server = Program::start().await;
    execute(
        &server,
        "INSERT INTO metric_thresholds VALUES ('read.iops', 5), ('write.iops', -5), ('trim.iops', 1e9)",
    )
    .await;
    let settings = server.get("/settings").await;
    assert_eq!(settings["thresholds"], json!({"read.iops": 5.0}));
}

#[tokio::test]
async fn a_server_does_not_start_without_a_table() {
    let mut server = Program::start().await;
    execute(&server, "DROP TABLE annotations").await;
    let data = server.data();
    server.stop().await;
    let output = Command::new(env!("CARGO_BIN_EXE_leadline"))
        .args(["serve", "--listen", "127.0.0.1:0", "--data-dir"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("annotations.number"), "{message}");
    assert!(message.contains("Restore a backup"), "{message}");
}

#[tokio::test]
async fn a_damaged_queued_run_does_not_stop_the_queue() {
    let server = Program::start().await;
    let first = server.queue(job("a", "1s")).await;
    let second = server.queue(job("b", "10ms")).await;
    let third = server.queue(job("c", "10ms")).await;
    execute(
        &server,
        &format!("UPDATE runs SET iodepth = -1 WHERE number = {second}"),
    )
    .await;
    for run in [first, second, third] {
        server.wait_until_ended(run).await;
    }
    assert_eq!(
        server.get(&format!("/runs/{third}")).await["status"],
        "done"
    );
}

#[tokio::test]
async fn damaged_schedules_are_marked_and_can_be_deleted() {
    let server = Program::start().await;
    for name in ["a", "b", "c"] {
        let schedule =
            json!({"name": name, "cron": "0 0 1 1 *", "document": {"jobs": [job("a", "10ms")]}});
        let (status, created) = server.post("/schedules", &schedule).await;
        assert_eq!(status, StatusCode::CREATED, "{created}");
    }
    execute(&server, "UPDATE schedules SET cron = 'x' WHERE name = 'a'").await;
    execute(
        &server,
        "UPDATE schedules SET handled_until_ms = -1 WHERE name = 'b'",
    )
    .await;
    let list = server.get("/schedules").await;
    assert_eq!(values(&list["schedules"], "name"), ["c"]);
    assert_eq!(list["damaged"], json!([1, 2]));
    for number in [1, 2] {
        let delete = server.request(Method::DELETE, &format!("/schedules/{number}"));
        assert!(server.send(delete).await.0.is_success(), "{number}");
    }
    assert_eq!(server.get("/schedules").await["damaged"], json!([]));
}

#[tokio::test]
async fn damaged_webhooks_and_annotations_do_not_hide_the_others() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    for name in ["a", "b"] {
        let webhook = json!({"name": name, "url": "http://127.0.0.1:9/", "secret": secret()});
        let annotation = json!({"t_ms": 1, "text": name});
        for (path, body) in [
            ("/webhooks".to_owned(), webhook),
            (format!("/runs/{run}/annotations"), annotation),
        ] {
            let (status, created) = server.post(&path, &body).await;
            assert_eq!(status, StatusCode::CREATED, "{created}");
        }
    }
    execute(&server, "UPDATE webhooks SET events = 'x' WHERE name = 'a'").await;
    execute(
        &server,
        "UPDATE annotations SET created_at_ms = -5 WHERE text = 'a'",
    )
    .await;
    let list = server.get("/webhooks").await;
    assert_eq!(values(&list["webhooks"], "name"), ["b"]);
    assert_eq!(list["damaged"], json!([1]));
    let run = server.get(&format!("/runs/{run}")).await;
    assert_eq!(values(&run["annotations"], "text"), ["b"]);
    assert_eq!(run["damaged_annotations"], json!([1]));
    let path = format!("/runs/{}/annotations/1", run["number"]);
    let (status, _) = server.send(server.request(Method::DELETE, &path)).await;
    assert!(status.is_success());
    let path = format!("/runs/{}", run["number"]);
    assert_eq!(server.get(&path).await["damaged_annotations"], json!([]));
}

/// The values of a field in a list of objects.
fn values<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    let list = list.as_array().unwrap().iter();
    list.map(|object| &object[field]).collect()
}
