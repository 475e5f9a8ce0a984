//! Kills the server with SIGKILL before and after each state change that must survive, and causes a
//! panic in the task that stores events. The points are defined in the server (`fail_point`).

use crate::program::{Program, TIMEOUT, command, job};
use reqwest::Method;
use serde_json::json;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

async fn server_with(point: &str) -> Program {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let mut command = command(directory.path());
    command.env("LEADLINE_FAIL_POINT", point);
    Program::start_command(command, directory).await
}

/// Submits a run to a server that kills itself at `point`, then restarts the server.
async fn restart_after_kill_at(point: &str) -> Program {
    let server = server_with(&format!("kill:{point}")).await;
    let body = json!({"jobs": [job("a", "100ms")], "sample_ms": 20});
    let request = server.request(Method::POST, "/runs").json(&body);
    let _ = request.send().await;
    let began = Instant::now();
    while server.request(Method::GET, "/livez").send().await.is_ok() {
        assert!(began.elapsed() < TIMEOUT, "{point} was not reached");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.kill_and_restart().await
}

#[tokio::test]
async fn runs_start_at_most_once_if_killed_at_a_state_change() {
    for (point, statuses, starts) in [
        ("before_insert", &[][..], 0),
        ("after_insert", &["done"], 1),
        ("before_start", &["done"], 1),
        // The change is on disk, and a run that may have written data is never repeated.
        ("after_start", &["interrupted"], 0),
        ("before_result", &["interrupted"], 1),
        ("after_result", &["done"], 1),
    ] {
        let server = restart_after_kill_at(point).await;
        let total = server.get("/runs").await["total"].as_u64().unwrap();
        assert_eq!(total, statuses.len() as u64, "{point}");
        if let Some(status) = statuses.first() {
            let run = server.wait_until_ended(1).await;
            assert_eq!(run["status"], *status, "{point}");
            let is_complete = run["report"].is_object();
            assert!(is_complete || *status != "done", "{point}");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(server.starts().len(), starts, "{point}");
    }
}

#[tokio::test]
async fn a_panic_while_storing_events_fails_only_its_run() {
    let server = server_with("panic:store_events").await;
    let broken = server.queue(job("broken", "100ms")).await;
    let run = server.wait_until_ended(broken).await;
    assert_eq!(run["status"], "failed", "{run}");
    assert!(
        run["reason"]
            .as_str()
            .is_some_and(|reason| !reason.is_empty())
    );
    let next = server.queue(job("next", "20ms")).await;
    assert_eq!(server.wait_until_ended(next).await["status"], "done");
    let server = server.kill_and_restart().await;
    let run = server.get(&format!("/runs/{broken}")).await;
    assert_eq!(run["status"], "failed");
    // The events of a run are stored before its process starts.
    assert_eq!(server.starts(), ["next"]);
}
