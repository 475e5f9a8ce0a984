//! Creates, executes and cancels studies.

use crate::{
    program::{Program, TIMEOUT, job, job_on},
    streams::open,
};
use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn study(names: &[(&str, &str)]) -> Value {
    let step = |(name, runtime): &(&str, &str)| json!({"name": name, "note": format!("about {name}"), "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "Study", "steps": names.iter().map(step).collect::<Vec<_>>()})
}

async fn create(server: &Program, study: &Value) {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

async fn wait_until_ended(server: &Program, number: u64) -> Value {
    let began = Instant::now();
    loop {
        let study = server.get(&format!("/studies/{number}")).await;
        if !["queued", "running"].contains(&study["status"].as_str().unwrap()) {
            return study;
        }
        assert!(
            began.elapsed() < TIMEOUT,
            "study #{number} is still {}: {study}",
            study["status"]
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Statuses of a study's runs.
fn statuses(study: &Value) -> Vec<&str> {
    study["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["run"]["status"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn steps_run_in_order() {
    let server = Program::start().await;
    let mut request = study(&[("a", "150ms"), ("b", "20ms"), ("c", "20ms")]);
    request["tags"] = json!(["nightly"]);
    request["about"] = json!("Why.");
    // This run uses another device, so outside of a study it would start immediately.
    request["steps"][1]["jobs"] = json!([job_on("vdb", "b", "20ms")]);
    let response = server
        .request(Method::POST, "/studies")
        .json(&request)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], "/api/v1/studies/1");
    let created: Value = response.json().await.unwrap();
    assert_eq!(created["status"], "queued");
    assert_eq!(created["runs"], json!([1, 2, 3]));
    assert_eq!(created["about"], "Why.");
    let second = &created["steps"][1]["run"];
    assert_eq!(second["name"], "Study: b");
    assert_eq!(second["notes"], "about b");
    assert_eq!(second["tags"], json!(["nightly"]));
    assert_eq!(second["study"], 1);
    assert_eq!(second["step"], 2);
    assert_eq!(second["queue"]["reason"], "waiting for #1 in study #1");
    let later = server.queue(job("later", "20ms")).await;
    let done = wait_until_ended(&server, 1).await;
    assert_eq!(statuses(&done), vec!["done"; 3]);
    assert_eq!(done["steps_ended"], 3);
    assert_eq!(done["reason"], json!(null));
    assert!(done["finished_at_ms"].as_u64() > done["started_at_ms"].as_u64());
    assert_eq!(done["steps"][0]["iops_change_percent"], json!(0.0));
    assert_eq!(
        done["steps"][0]["sentence"],
        "All reads reached the device."
    );
    assert!(done["steps"][1]["iops_change_percent"].as_f64().unwrap() < 0.0);
    server.wait_until_ended(later).await;
    assert_eq!(server.starts(), ["a", "b", "c", "later"]);
    let run = server.get("/runs/2").await;
    assert_eq!(run["study"], 1);
    assert_eq!(run["step"], 2);
    assert_eq!(run["requested"]["jobs"][0]["name"], "b");
    assert_eq!(server.get("/runs?q=study:1").await["total"], 3);
}

#[tokio::test]
async fn failed_step_ends_the_study_by_default() {
    let server = Program::start().await;
    let mut request = study(&[
        ("a", "20ms"),
        ("fail", "20ms"),
        ("c", "20ms"),
        ("d", "20ms"),
    ]);
    create(&server, &request).await;
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(
        statuses(&ended),
        vec!["done", "failed", "cancelled", "cancelled"]
    );
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["reason"], "Step 2: The disk is full.");
    assert_eq!(
        ended["steps"][3]["run"]["reason"],
        "Not started: step 2 failed: The disk is full."
    );
    request["continue_on_failure"] = json!(true);
    create(&server, &request).await;
    let ended = wait_until_ended(&server, 2).await;
    assert_eq!(statuses(&ended), vec!["done", "failed", "done", "done"]);
    assert_eq!(ended["status"], "failed");
    assert_eq!(server.starts(), ["a", "fail", "a", "fail", "c", "d"]);
}

#[tokio::test]
async fn problems_in_all_steps_are_reported() {
    let server = Program::start().await;
    let mut request = study(&[("a", "20ms"), ("b", "20ms"), ("c", "20ms")]);
    request["tags"] = json!([""]);
    request["steps"][1]["jobs"][0]["bs"] = json!("x");
    request["steps"][2]["nmae"] = json!("c");
    let fields = |problem: &Value| -> Vec<String> {
        problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["field"].as_str().unwrap().into())
            .collect()
    };
    let (status, problem) = server.post("/studies", &request).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        fields(&problem),
        ["steps[1].jobs[0].bs", "steps[2].nmae", "tags[0]"]
    );
    let mut guarded = study(&[("a", "20ms"), ("b", "20ms")]);
    guarded["steps"][1]["jobs"][0]["filename"] = json!("/dev/mounted");
    let (status, problem) = server.post("/studies", &guarded).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "rejected_by_guard");
    assert_eq!(fields(&problem), ["steps[1].jobs[0].filename"]);
    assert_eq!(server.get("/studies").await["total"], 0);
    assert_eq!(server.get("/runs").await["total"], 0);
    let (status, plan) = server.post("/studies/plan", &guarded).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(plan["steps"].as_array().unwrap().len(), 2);
    assert_eq!(
        server
            .send(server.request(Method::GET, "/studies/1"))
            .await
            .0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn idempotency_key_returns_the_same_study() {
    let server = Program::start().await;
    let body = study(&[("a", "10ms"), ("b", "10ms")]).to_string();
    let send = |body: String| {
        server
            .request(Method::POST, "/studies")
            .header("idempotency-key", "k")
            .body(body)
            .send()
    };
    for replayed in [false, true] {
        let response = send(body.clone()).await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(
            response.headers().contains_key("idempotency-replayed"),
            replayed
        );
        assert_eq!(response.json::<Value>().await.unwrap()["number"], 1);
    }
    assert_eq!(
        send(body.replace("10ms", "11ms")).await.unwrap().status(),
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(server.get("/runs").await["total"], 2);
    // The key remains valid after one run has been deleted. A study that was deleted with its last
    // run is not created again.
    for (run, status) in [(1, StatusCode::CREATED), (2, StatusCode::CONFLICT)] {
        server.wait_until_ended(run).await;
        assert_eq!(
            server
                .send(server.request(Method::DELETE, &format!("/runs/{run}")))
                .await
                .0,
            StatusCode::NO_CONTENT
        );
        assert_eq!(send(body.clone()).await.unwrap().status(), status);
    }
    assert_eq!(server.get("/runs").await["total"], 0);
}

#[tokio::test]
async fn cancel_study() {
    let server = Program::start().await;
    create(&server, &study(&[("a", "20s"), ("b", "20s"), ("c", "20s")])).await;
    server.wait_for_status(1, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (status, study) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(study["number"], 1);
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), vec!["cancelled"; 3]);
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(server.starts(), ["a"]);
    let (status, problem) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "already_ended");
}

#[tokio::test]
async fn cancelled_step_ends_the_study() {
    let server = Program::start().await;
    create(
        &server,
        &study(&[("a", "300ms"), ("b", "20ms"), ("c", "20ms")]),
    )
    .await;
    server.wait_for_status(1, &["measuring"]).await;
    assert_eq!(
        server.post("/runs/2/cancel", &json!(null)).await.0,
        StatusCode::ACCEPTED
    );
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["done", "cancelled", "cancelled"]);
    assert_eq!(
        ended["steps"][2]["run"]["reason"],
        "Not started: step 2 was cancelled."
    );
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn study_continues_after_kill_and_no_step_runs_twice() {
    let mut server = Program::start().await;
    let names: Vec<String> = (0..8).map(|step| format!("s{step}")).collect();
    let steps: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "250ms")).collect();
    create(&server, &study(&steps)).await;
    for run in [2, 4] {
        server.wait_for_status(run, &["measuring"]).await;
        server = server.kill_and_restart().await;
    }
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(ended["status"], "interrupted");
    let statuses = statuses(&ended);
    assert!(
        statuses
            .iter()
            .all(|status| ["done", "interrupted"].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(statuses[1], "interrupted");
    assert_eq!(statuses[3], "interrupted");
    assert_eq!(server.starts(), names, "each step once, in order");
}

#[tokio::test]
async fn steps_after_a_failed_step_are_cancelled_immediately() {
    let server = Program::start().await;
    // The steps after the failing one wait for vdb, which is in use.
    let blocker = server.queue(job_on("vdb", "blocker", "20s")).await;
    let mut request = study(&[("fail", "10ms"), ("b", "10ms"), ("c", "10ms")]);
    (1..3).for_each(|step| request["steps"][step]["jobs"] = json!([job_on("vdb", "b", "10ms")]));
    create(&server, &request).await;
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["failed", "cancelled", "cancelled"]);
    assert_eq!(
        ended["steps"][2]["run"]["reason"],
        "Not started: step 1 failed: The disk is full."
    );
    assert_eq!(
        server.get(&format!("/runs/{blocker}")).await["status"],
        "measuring"
    );
}

#[tokio::test]
async fn ended_study_stays_ended_after_kill() {
    let server = Program::start().await;
    // The failing step locks vda, and the next step waits for vdb.
    let blocker = server.queue(job_on("vdb", "blocker", "1s")).await;
    let mut request = study(&[("fail", "10ms"), ("b", "10ms")]);
    request["steps"][1]["jobs"] = json!([job_on("vdb", "b", "10ms")]);
    create(&server, &request).await;
    server.wait_until_ended(2).await;
    let server = server.kill_and_restart().await;
    let ended = wait_until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["failed", "cancelled"]);
    assert_eq!(
        server.get(&format!("/runs/{blocker}")).await["status"],
        "interrupted"
    );
    assert_eq!(server.starts(), ["blocker", "fail"]);
}

#[tokio::test]
async fn studies_are_published_and_listed_in_pages() {
    let server = Program::start().await;
    let mut socket = open(&server, "/events").await;
    for _ in 0..3 {
        create(&server, &study(&[("a", "10ms")])).await;
    }
    wait_until_ended(&server, 3).await;
    let mut published = Vec::new();
    while published.last() != Some(&(json!(3), json!("done"))) {
        let frame = tokio::time::timeout(TIMEOUT, socket.next())
            .await
            .expect("the end is published")
            .unwrap()
            .unwrap();
        // Skip pings, which have no text.
        let frame: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap_or_default();
        if frame["type"] == "study" {
            published.push((
                frame["study"]["number"].clone(),
                frame["study"]["status"].clone(),
            ));
        }
    }
    assert!(
        [1, 2, 3]
            .iter()
            .all(|number| published.contains(&(json!(number), json!("queued")))),
        "{published:?}"
    );
    let numbers = |list: &Value| -> Vec<u64> {
        list["studies"]
            .as_array()
            .unwrap()
            .iter()
            .map(|study| study["number"].as_u64().unwrap())
            .collect()
    };
    let first = server.get("/studies?limit=2").await;
    assert_eq!(numbers(&first), vec![3, 2]);
    assert_eq!(first["total"], 3);
    let rest = server
        .get(&format!(
            "/studies?limit=2&cursor={}",
            first["next_cursor"].as_str().unwrap()
        ))
        .await;
    assert_eq!(numbers(&rest), vec![1]);
    assert_eq!(rest["next_cursor"], json!(null));
    assert_eq!(
        server
            .send(server.request(Method::GET, "/studies?limit=0"))
            .await
            .0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    // A study is deleted together with its last run.
    assert_eq!(
        server
            .send(server.request(Method::DELETE, "/runs/2"))
            .await
            .0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(numbers(&server.get("/studies").await), [3, 1]);
}

#[tokio::test]
async fn experiments_can_be_planned_unchanged() {
    let server = Program::start().await;
    let experiments = server.get("/experiments").await;
    assert_eq!(experiments.as_array().unwrap().len(), 5);
    for experiment in experiments.as_array().unwrap() {
        let (status, plan) = server.post("/studies/plan", &experiment["study"]).await;
        assert_eq!(status, StatusCode::OK, "{}: {plan}", experiment["id"]);
        assert_eq!(
            plan["steps"].as_array().unwrap().len(),
            experiment["study"]["steps"].as_array().unwrap().len()
        );
    }
}
