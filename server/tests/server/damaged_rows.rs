//! Values in the database that cannot be decoded affect only their own row.

use crate::{
    deletion::connect,
    program::{Program, job},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, raw_sql};

async fn execute(server: &Program, sql: String) {
    let mut database = connect(server).await;
    raw_sql(AssertSqlSafe(sql))
        .execute(&mut database)
        .await
        .unwrap();
}

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
            format!("UPDATE runs SET {change} WHERE number = 1"),
        )
        .await;
        let list = server.get("/runs").await;
        let runs = list["runs"].as_array().unwrap();
        let damaged: Vec<&Value> = runs.iter().map(|run| &run["damaged"]).collect();
        assert_eq!(damaged, [&json!(false), &json!(true)], "{change}");
        let run = server.get("/runs/1").await;
        assert_eq!(run["damaged"], true, "{change}");
        assert!(run["iops"].is_null(), "{change}");
        server.get("/trends").await;
    }
    execute(
        &server,
        "UPDATE run_details SET measure_ms = -5 WHERE run = 2".into(),
    )
    .await;
    assert_eq!(server.get("/runs/2").await["damaged"], true);
    let delete = server.request(Method::DELETE, "/runs/1");
    assert!(server.send(delete).await.0.is_success());
}

#[tokio::test]
async fn a_damaged_queued_run_does_not_stop_the_queue() {
    let server = Program::start().await;
    let first = server.queue(job("a", "1s")).await;
    let second = server.queue(job("b", "10ms")).await;
    let third = server.queue(job("c", "10ms")).await;
    execute(
        &server,
        format!("UPDATE runs SET iodepth = -1 WHERE number = {second}"),
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
async fn damaged_schedules_and_webhooks_do_not_affect_the_others() {
    let server = Program::start().await;
    let schedule = |name: &str| json!({"name": name, "cron": "0 0 1 1 *", "document": {"jobs": [job("a", "10ms")]}});
    for name in ["a", "b", "c"] {
        let (status, created) = server.post("/schedules", &schedule(name)).await;
        assert_eq!(status, StatusCode::CREATED, "{created}");
    }
    execute(
        &server,
        "UPDATE schedules SET cron = 'x' WHERE name = 'a'".into(),
    )
    .await;
    execute(
        &server,
        "UPDATE schedules SET handled_until_ms = -1 WHERE name = 'b'".into(),
    )
    .await;
    let list = server.get("/schedules").await;
    let names: Vec<&Value> = list["schedules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|schedule| &schedule["name"])
        .collect();
    assert_eq!(names, ["c"]);
    for number in [1, 2] {
        let delete = server.request(Method::DELETE, &format!("/schedules/{number}"));
        assert!(server.send(delete).await.0.is_success(), "{number}");
    }
}
