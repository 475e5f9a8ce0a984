//! `kill -9` at any moment: no run is started twice, none is lost, none is left in an illegal state, and everything that
//! was kept before is whole. `LEADLINE_KILLS` says how often.

use std::time::{Duration, Instant};

use rand::RngExt;
use rand::SeedableRng;
use rand::rngs::StdRng;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::program::{Program, job, job_on};

/// Kills when nothing else is said.
const KILLS: usize = 10;

#[tokio::test]
async fn a_broken_run_is_interrupted_with_the_samples_it_had() {
    let server = Program::start().await;
    let whole = server.queue(job("whole", "100ms")).await;
    let before = server.until_ended(whole).await;
    let events_before = server.events(whole).await;
    let broken = server.queue(job("broken", "30s")).await;
    let waiting = server.queue(job("waiting", "50ms")).await;
    server.until(broken, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(1500)).await;

    let server = server.kill_and_restart().await;
    assert_eq!(server.get(&format!("/runs/{whole}")).await, before);
    assert_eq!(server.events(whole).await, events_before);
    let run = server.get(&format!("/runs/{broken}")).await;
    assert_eq!(
        (&run["status"], run["report"].is_null()),
        (&json!("interrupted"), true)
    );
    // At most a second of the 75 samples is lost.
    assert!(
        run["samples"].as_u64().unwrap() >= 25,
        "{} samples",
        run["samples"]
    );
    check_list(&server.events(broken).await, "interrupted");
    assert_eq!(server.until_ended(waiting).await["status"], "done");
    assert_eq!(server.starts(), ["whole", "broken", "waiting"]);
}

/// The list is without gaps, its states follow each other, and it ends as it should.
pub fn check_list(events: &[Value], end: &str) {
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["seq"].as_u64().unwrap() as usize, place);
    }
    let times: Vec<f64> = events
        .iter()
        .map(|event| event["t_ms"].as_f64().unwrap())
        .collect();
    assert!(times.is_sorted(), "time runs backwards");
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
    let states: Vec<&str> = events
        .iter()
        .filter_map(|event| event["status"].as_str())
        .collect();
    let places: Vec<usize> = states
        .iter()
        .map(|state| order.iter().position(|known| known == state).unwrap())
        .collect();
    assert!(
        places.windows(2).all(|pair| pair[0] < pair[1]),
        "{states:?}"
    );
    assert_eq!(
        (states.first(), states.last()),
        (Some(&"queued"), Some(&end))
    );
    assert_eq!(events.last().unwrap()["type"], "status");
}

#[tokio::test]
async fn killed_at_random_moments() {
    let kills = std::env::var("LEADLINE_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(KILLS);
    let mut random = StdRng::seed_from_u64(20_261_120);
    let mut server = Program::start().await;
    let mut names: Vec<String> = Vec::new();
    for round in 0..kills {
        let asked = names.len();
        for device in ["vda", "vda", "vdb"] {
            let name = format!("run{}", names.len());
            let runtime = format!("{}ms", random.random_range(20..600));
            let body = json!({"jobs": [job_on(device, &name, &runtime)], "sample_ms": 20});
            // The answer may be cut off by the kill of the round before only: this one comes later.
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
        assert_eq!(total as usize, names.len(), "round {round}: {asked} before");
    }
    let mut interrupted = 0;
    for (place, name) in names.iter().enumerate() {
        let run = server.until_ended(place as u64 + 1).await;
        let status = run["status"].as_str().unwrap();
        assert!(
            matches!(status, "done" | "interrupted"),
            "{name} is {status}: {}",
            run["reason"]
        );
        assert_eq!(run["name"].as_str(), Some(name.as_str()));
        check_list(&server.events(place as u64 + 1).await, status);
        interrupted += usize::from(status == "interrupted");
    }
    let mut starts = server.starts();
    starts.sort();
    let begun = starts.len();
    starts.dedup();
    assert_eq!(starts.len(), begun, "a run was started twice");
    assert!(
        interrupted > 0 && begun > names.len() / 2,
        "{interrupted} of {} interrupted, {begun} started",
        names.len()
    );
}

#[tokio::test]
async fn runs_that_were_asked_for_while_it_died_are_there_once_or_not_at_all() {
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..3 {
        let server = Program::start().await;
        let body = json!({"jobs": [job("a", "20ms")]}).to_string();
        let asked: Vec<_> = (0..20)
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
        for (key, answer) in asked.into_iter().enumerate() {
            let promised = answer.await.unwrap();
            let request = server
                .request(reqwest::Method::POST, "/runs")
                .header("idempotency-key", format!("k{key}"))
                .body(body.clone());
            let (status, run) = server.send(request).await;
            assert_eq!(status, StatusCode::CREATED);
            assert!(
                promised.is_none_or(|number| run["number"] == number),
                "k{key}: {promised:?} became {}",
                run["number"]
            );
        }
        assert_eq!(server.get("/runs").await["total"], 20);
    }
}
