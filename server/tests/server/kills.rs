//! SIGKILL at random times: no run is started twice, lost or left with an invalid status, and
//! stored data stays intact.

use crate::{
    program::{Program, job, job_on},
    store_faults::lock_database,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::Connection;
use std::time::{Duration, Instant};

/// Default for `LEADLINE_KILLS`.
const KILLS: usize = 10;

#[tokio::test]
async fn killed_run_becomes_interrupted_and_keeps_its_samples() {
    let server = Program::start().await;
    let complete = server.queue(job("complete", "100ms")).await;
    let before = server.wait_until_ended(complete).await;
    let events_before = server.events(complete).await;
    let killed = server.queue(job("killed", "30s")).await;
    let waiting = server.queue(job("waiting", "50ms")).await;
    server.wait_for_status(killed, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;

    let server = server.kill_and_restart().await;
    assert_eq!(server.get(&format!("/runs/{complete}")).await, before);
    assert_eq!(server.events(complete).await, events_before);
    let run = server.get(&format!("/runs/{killed}")).await;
    assert_eq!(run["status"], "interrupted");
    assert!(run["report"].is_null());
    // Of the 75 samples, at most 50 (one second) may be lost.
    assert!(
        run["samples"].as_u64().unwrap() >= 25,
        "{} samples",
        run["samples"]
    );
    check_events(&server.events(killed).await, "interrupted");
    assert_eq!(server.wait_until_ended(waiting).await["status"], "done");
    assert_eq!(server.starts(), ["complete", "killed", "waiting"]);
}

#[tokio::test]
async fn list_contains_metrics_from_the_samples_of_a_killed_run() {
    let server = Program::start().await;
    let killed = server.queue(job("killed", "30s")).await;
    server.wait_for_status(killed, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let server = server.kill_and_restart().await;
    let deadline = Instant::now() + Duration::from_secs(20);
    let run = loop {
        let run = server.get(&format!("/runs/{killed}")).await;
        if !run["iops"].is_null() || Instant::now() > deadline {
            break run;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let mut ms = 0.0;
    let mut ios = 0;
    for event in server.events(killed).await {
        if event["type"] == "sample" && event["phase"] == "measure" {
            ms += event["window_ms"].as_f64().unwrap();
            ios += event["read"]["ios"].as_u64().unwrap() + event["write"]["ios"].as_u64().unwrap();
        }
    }
    let expected = ios as f64 * 1e3 / ms;
    let iops = run["iops"].as_f64().unwrap();
    assert!(
        ios > 0 && (iops / expected - 1.0).abs() < 1e-9,
        "{iops} {expected}"
    );
    assert!(run["lat_p99_ns"].as_u64() >= run["lat_p50_ns"].as_u64());
    assert!(run["lat_p50_ns"].as_u64() > Some(0) && run["report"].is_null());
    assert!(run["verdict_class"].is_null());
    let list = server.get("/runs").await;
    assert_eq!(list["runs"][0]["iops"], run["iops"]);
}

/// Reads all events from a stream that ends.
async fn resume(server: &Program, run: u64, query: &str) -> Vec<Value> {
    let request = server.request(Method::GET, &format!("/runs/{run}/stream?{query}"));
    let text = request.send().await.unwrap().text().await.unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn resuming_client_is_notified_of_lost_events() {
    let server = Program::start().await;
    let run = server.queue(job("killed", "30s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let request = server.request(Method::GET, &format!("/runs/{run}/stream"));
    let mut live = request.send().await.unwrap();
    // The last live events are not yet stored and, within a second, not yet spooled either.
    let lock = lock_database(&server).await;
    let locked = Instant::now();
    let mut received = String::new();
    while locked.elapsed() < Duration::from_millis(500) {
        let chunk = live.chunk().await.unwrap().unwrap();
        received += std::str::from_utf8(&chunk).unwrap();
    }
    let directory = server.kill().await;
    lock.close().await.unwrap();
    let server = Program::start_in(directory, &[]).await;

    let next = received.lines().count() as u64;
    assert!(!received.contains("epoch"));
    let events = resume(&server, run, &format!("since={next}&epoch=0")).await;
    assert_eq!(events.len(), 1, "{events:?}");
    let first = &events[0];
    assert_eq!(
        (&first["epoch"], &first["status"]),
        (&json!(1), &json!("interrupted"))
    );
    let seq = first["seq"].as_u64().unwrap();
    assert!(seq < next, "no event was lost: {seq} of {next}");
    // After the lost events have been replaced, the list is complete.
    let lines = received.lines().take(seq as usize);
    let mut list: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    list.extend(events);
    assert_eq!(list, server.events(run).await);
    check_events(&list, "interrupted");
    // A client receives no duplicates if it already uses the new epoch or did not miss any events.
    let since = format!("since={}&epoch=1", seq + 1);
    assert_eq!(resume(&server, run, &since).await, Vec::<Value>::new());
    let events = resume(&server, run, &format!("since={seq}&epoch=0")).await;
    assert_eq!(events.len(), 1);
}

/// Checks sequence numbers, times, the order of status changes, and the final status.
pub(crate) fn check_events(events: &[Value], end: &str) {
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"].as_u64().unwrap() as usize, index);
    }
    let times: Vec<f64> = events
        .iter()
        .map(|event| event["t_ms"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "times decrease");
    let order = [
        "queued",
        "preparing",
        "measuring",
        "finishing",
        "done",
        "failed",
        "cancelled",
        "interrupted",
    ];
    let statuses: Vec<&str> = events
        .iter()
        .filter_map(|event| event["status"].as_str())
        .collect();
    let ranks: Vec<usize> = statuses
        .iter()
        .map(|status| order.iter().position(|known| known == status).unwrap())
        .collect();
    assert!(
        ranks.windows(2).all(|pair| pair[0] < pair[1]),
        "{statuses:?}"
    );
    assert_eq!(statuses.first(), Some(&"queued"));
    assert_eq!(statuses.last(), Some(&end));
    assert_eq!(events.last().unwrap()["type"], "status");
}

#[tokio::test]
async fn runs_survive_random_kills() {
    let kills = std::env::var("LEADLINE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS);
    let mut random = StdRng::seed_from_u64(20_261_120);
    let mut server = Program::start().await;
    let mut names: Vec<String> = Vec::new();
    for round in 0..kills {
        let before = names.len();
        for device in ["vda", "vda", "vdb"] {
            let name = format!("run{}", names.len());
            let runtime = format!("{}ms", random.random_range(20..600));
            let body = json!({"jobs": [job_on(device, &name, &runtime)], "sample_ms": 20});
            assert_eq!(server.post("/runs", &body).await.0, StatusCode::CREATED);
            names.push(name);
        }
        tokio::time::sleep(Duration::from_millis(random.random_range(0..900))).await;
        let began = Instant::now();
        server = server.kill_and_restart().await;
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "round {round}: a restart takes {:?}",
            began.elapsed()
        );
        let total = server.get("/runs").await["total"].as_u64().unwrap();
        assert_eq!(
            total as usize,
            names.len(),
            "round {round}: {before} before"
        );
    }
    let mut interrupted = 0;
    for (number, name) in (1..).zip(&names) {
        let run = server.wait_until_ended(number).await;
        let status = run["status"].as_str().unwrap();
        assert!(
            matches!(status, "done" | "interrupted"),
            "{name} is {status}: {}",
            run["reason"]
        );
        assert_eq!(run["name"].as_str(), Some(name.as_str()));
        check_events(&server.events(number).await, status);
        interrupted += usize::from(status == "interrupted");
    }
    let mut starts = server.starts();
    starts.sort();
    let started = starts.len();
    starts.dedup();
    assert_eq!(starts.len(), started, "a run was started twice");
    assert!(
        interrupted > 0 && started > names.len() / 2,
        "{interrupted} of {} interrupted, {started} started",
        names.len()
    );
}

#[tokio::test]
async fn runs_created_during_a_kill_exist_once_or_not_at_all() {
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..3 {
        let server = Program::start().await;
        let body = json!({"jobs": [job("a", "20ms")]}).to_string();
        let requests: Vec<_> = (0..20)
            .map(|key| {
                let request = server
                    .request(reqwest::Method::POST, "/runs")
                    .header("idempotency-key", format!("k{key}"))
                    .body(body.clone());
                tokio::spawn(async move {
                    request.send().await.ok()?.json::<Value>().await.ok()?["number"].as_u64()
                })
            })
            .collect();
        tokio::time::sleep(Duration::from_millis(random.random_range(5..120))).await;
        let server = server.kill_and_restart().await;
        for (key, response) in requests.into_iter().enumerate() {
            let confirmed = response.await.unwrap();
            let request = server
                .request(reqwest::Method::POST, "/runs")
                .header("idempotency-key", format!("k{key}"))
                .body(body.clone());
            let (status, run) = server.send(request).await;
            assert_eq!(status, StatusCode::CREATED);
            assert!(
                confirmed.is_none_or(|number| run["number"] == number),
                "k{key}: {confirmed:?} became {}",
                run["number"]
            );
        }
        assert_eq!(server.get("/runs").await["total"], 20);
    }
}
