//! Values in the database that cannot be decoded affect only their own row.

use crate::{
    deletion::execute,
    program::{Program, job},
    webhooks::secret,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

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
async fn damaged_schedules_are_not_listed_and_can_be_deleted() {
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
    for number in [1, 2] {
        let delete = server.request(Method::DELETE, &format!("/schedules/{number}"));
        assert!(server.send(delete).await.0.is_success(), "{number}");
    }
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
    let run = server.get(&format!("/runs/{run}")).await;
    assert_eq!(values(&run["annotations"], "text"), ["b"]);
}

/// The values of a field in a list of objects.
fn values<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    let list = list.as_array().unwrap().iter();
    list.map(|object| &object[field]).collect()
}
