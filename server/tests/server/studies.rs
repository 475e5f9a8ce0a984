//! Studies: their runs keep their order, one that fails ends the rest, and a `kill -9` makes none run twice.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::program::{PATIENCE, Program, job, job_on};
use crate::streams::open;

fn study(names: &[(&str, &str)]) -> Value {
    let step = |(name, runtime): &(&str, &str)| json!({"name": name, "note": format!("about {name}"), "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "Study", "steps": names.iter().map(step).collect::<Vec<_>>()})
}

async fn create(server: &Program, study: &Value) -> Value {
    let (status, made) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    made
}

async fn until_ended(server: &Program, number: u64) -> Value {
    let began = Instant::now();
    loop {
        let study = server.get(&format!("/studies/{number}")).await;
        if !["queued", "running"].contains(&study["status"].as_str().unwrap()) {
            return study;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "study #{number} stays at {}: {study}",
            study["status"]
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The statuses of a study's runs.
fn statuses(study: &Value) -> Vec<&str> {
    study["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["run"]["status"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn steps_become_runs_and_keep_their_order() {
    let server = Program::start().await;
    let mut asked = study(&[("a", "150ms"), ("b", "20ms"), ("c", "20ms")]);
    (asked["tags"], asked["about"]) = (json!(["nightly"]), json!("Why."));
    // Another device: without their study the steps would run side by side.
    asked["steps"][1]["jobs"] = json!([job_on("vdb", "b", "20ms")]);
    let response = server
        .request(Method::POST, "/studies")
        .json(&asked)
        .send()
        .await
        .unwrap();
    assert_eq!(
        (response.status(), &response.headers()["location"]),
        (StatusCode::CREATED, &"/api/v1/studies/1".parse().unwrap())
    );
    let made: Value = response.json().await.unwrap();
    assert_eq!(
        (&made["status"], &made["runs"], &made["about"]),
        (&json!("queued"), &json!([1, 2, 3]), &json!("Why."))
    );
    let second = &made["steps"][1]["run"];
    assert_eq!(
        (
            &second["name"],
            &second["notes"],
            &second["tags"],
            &second["study"],
            &second["step"]
        ),
        (
            &json!("Study: b"),
            &json!("about b"),
            &json!(["nightly"]),
            &json!(1),
            &json!(2)
        )
    );
    assert_eq!(second["queue"]["reason"], "runs after #1 in study #1");
    let later = server.queue(job("later", "20ms")).await;
    let done = until_ended(&server, 1).await;
    assert_eq!(
        (statuses(&done), &done["steps_ended"], &done["reason"]),
        (vec!["done"; 3], &json!(3), &json!(null))
    );
    assert!(done["finished_at_ms"].as_u64() > done["started_at_ms"].as_u64());
    assert_eq!(
        (
            &done["steps"][0]["iops_change_percent"],
            &done["steps"][0]["sentence"]
        ),
        (&json!(0.0), &json!("The device answered."))
    );
    assert!(done["steps"][1]["iops_change_percent"].as_f64().unwrap() < 0.0);
    server.until_ended(later).await;
    assert_eq!(server.starts(), ["a", "b", "c", "later"]);
    let run = server.get("/runs/2").await;
    assert_eq!(
        (
            &run["study"],
            &run["step"],
            &run["requested"]["jobs"][0]["name"]
        ),
        (&json!(1), &json!(2), &json!("b"))
    );
    assert_eq!(server.get("/runs?q=study:1").await["total"], 3);
}

#[tokio::test]
async fn a_step_that_fails_ends_the_study_unless_told_otherwise() {
    let server = Program::start().await;
    let mut asked = study(&[
        ("a", "20ms"),
        ("fail", "20ms"),
        ("c", "20ms"),
        ("d", "20ms"),
    ]);
    create(&server, &asked).await;
    let ended = until_ended(&server, 1).await;
    assert_eq!(
        (statuses(&ended), &ended["status"]),
        (
            vec!["done", "failed", "cancelled", "cancelled"],
            &json!("failed")
        )
    );
    assert_eq!(ended["reason"], "Step 2: The disk is full.");
    assert_eq!(
        ended["steps"][3]["run"]["reason"],
        "Not begun: step 2 failed: The disk is full."
    );
    asked["continue_on_failure"] = json!(true);
    create(&server, &asked).await;
    let ended = until_ended(&server, 2).await;
    assert_eq!(
        (statuses(&ended), &ended["status"]),
        (vec!["done", "failed", "done", "done"], &json!("failed"))
    );
    assert_eq!(server.starts(), ["a", "fail", "a", "fail", "c", "d"]);
}

#[tokio::test]
async fn every_bad_field_of_every_step_is_named_and_nothing_is_created() {
    let server = Program::start().await;
    let mut asked = study(&[("a", "20ms"), ("b", "20ms"), ("c", "20ms")]);
    asked["tags"] = json!([""]);
    asked["steps"][1]["jobs"][0]["bs"] = json!("x");
    asked["steps"][2]["nmae"] = json!("c");
    let fields = |problem: &Value| -> Vec<String> {
        problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["field"].as_str().unwrap().into())
            .collect()
    };
    let (status, problem) = server.post("/studies", &asked).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        fields(&problem),
        ["steps[1].jobs[0].bs", "steps[2].nmae", "tags[0]"]
    );
    let mut guarded = study(&[("a", "20ms"), ("b", "20ms")]);
    guarded["steps"][1]["jobs"][0]["filename"] = json!("/dev/mounted");
    let (status, problem) = server.post("/studies", &guarded).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::CONFLICT, &json!("refused_by_guard"))
    );
    assert_eq!(fields(&problem), ["steps[1].jobs[0].filename"]);
    assert_eq!(
        (
            &server.get("/studies").await["total"],
            &server.get("/runs").await["total"]
        ),
        (&json!(0), &json!(0))
    );
    let (status, plan) = server.post("/studies/plan", &guarded).await;
    assert_eq!(
        (status, plan["steps"].as_array().unwrap().len()),
        (StatusCode::OK, 2)
    );
    assert_eq!(
        server
            .send(server.request(Method::GET, "/studies/1"))
            .await
            .0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn the_same_key_gives_the_same_study() {
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
        assert_eq!(
            (
                response.status(),
                response.headers().contains_key("idempotency-replayed")
            ),
            (StatusCode::CREATED, replayed)
        );
        assert_eq!(response.json::<Value>().await.unwrap()["number"], 1);
    }
    assert_eq!(
        send(body.replace("10ms", "11ms")).await.unwrap().status(),
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert_eq!(server.get("/runs").await["total"], 2);
    // Without its first run it is the same study; without all of them it is not made again.
    for (run, status) in [(1, StatusCode::CREATED), (2, StatusCode::CONFLICT)] {
        server.until_ended(run).await;
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
async fn cancelled_with_all_its_steps() {
    let server = Program::start().await;
    create(&server, &study(&[("a", "20s"), ("b", "20s"), ("c", "20s")])).await;
    server.until(1, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let (status, study) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(
        (status, &study["number"]),
        (StatusCode::ACCEPTED, &json!(1))
    );
    let ended = until_ended(&server, 1).await;
    assert_eq!(
        (statuses(&ended), &ended["status"]),
        (vec!["cancelled"; 3], &json!("cancelled"))
    );
    assert_eq!(server.starts(), ["a"]);
    let (status, problem) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::CONFLICT, &json!("already_ended"))
    );
}

#[tokio::test]
async fn one_step_cancelled_by_hand_ends_the_study_too() {
    let server = Program::start().await;
    create(
        &server,
        &study(&[("a", "300ms"), ("b", "20ms"), ("c", "20ms")]),
    )
    .await;
    server.until(1, &["measuring"]).await;
    assert_eq!(
        server.post("/runs/2/cancel", &json!(null)).await.0,
        StatusCode::ACCEPTED
    );
    let ended = until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["done", "cancelled", "cancelled"]);
    assert_eq!(
        ended["steps"][2]["run"]["reason"],
        "Not begun: step 2 was cancelled."
    );
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn a_study_goes_on_after_a_kill_and_no_step_runs_twice() {
    let mut server = Program::start().await;
    let names: Vec<String> = (0..8).map(|step| format!("s{step}")).collect();
    let steps: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "250ms")).collect();
    create(&server, &study(&steps)).await;
    for run in [2, 4] {
        server.until(run, &["measuring"]).await;
        server = server.kill_and_restart().await;
    }
    let ended = until_ended(&server, 1).await;
    assert_eq!(ended["status"], "interrupted");
    let statuses = statuses(&ended);
    assert!(
        statuses
            .iter()
            .all(|status| ["done", "interrupted"].contains(status)),
        "{statuses:?}"
    );
    assert_eq!((statuses[1], statuses[3]), ("interrupted", "interrupted"));
    assert_eq!(server.starts(), names, "each step once, in order");
}

#[tokio::test]
async fn steps_behind_one_that_failed_say_so_at_once() {
    let server = Program::start().await;
    // What is behind the failing step waits for vdb, which is busy for long.
    let blocker = server.queue(job_on("vdb", "blocker", "20s")).await;
    let mut asked = study(&[("fail", "10ms"), ("b", "10ms"), ("c", "10ms")]);
    (1..3).for_each(|step| asked["steps"][step]["jobs"] = json!([job_on("vdb", "b", "10ms")]));
    create(&server, &asked).await;
    let ended = until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["failed", "cancelled", "cancelled"]);
    assert_eq!(
        ended["steps"][2]["run"]["reason"],
        "Not begun: step 1 failed: The disk is full."
    );
    assert_eq!(
        server.get(&format!("/runs/{blocker}")).await["status"],
        "measuring"
    );
}

#[tokio::test]
async fn an_ended_study_stays_ended_after_a_kill() {
    let server = Program::start().await;
    // The failing step holds vda, and what is behind it waits for vdb.
    let blocker = server.queue(job_on("vdb", "blocker", "1s")).await;
    let mut asked = study(&[("fail", "10ms"), ("b", "10ms")]);
    asked["steps"][1]["jobs"] = json!([job_on("vdb", "b", "10ms")]);
    create(&server, &asked).await;
    server.until_ended(2).await;
    let server = server.kill_and_restart().await;
    let ended = until_ended(&server, 1).await;
    assert_eq!(statuses(&ended), ["failed", "cancelled"]);
    assert_eq!(
        server.get(&format!("/runs/{blocker}")).await["status"],
        "interrupted"
    );
    assert_eq!(server.starts(), ["blocker", "fail"]);
}

#[tokio::test]
async fn lists_are_told_of_studies_and_page_through_them() {
    let server = Program::start().await;
    let mut socket = open(&server, "/events").await;
    for _ in 0..3 {
        create(&server, &study(&[("a", "10ms")])).await;
    }
    until_ended(&server, 3).await;
    let mut told = Vec::new();
    while told.last() != Some(&(json!(3), json!("done"))) {
        let frame = tokio::time::timeout(PATIENCE, socket.next())
            .await
            .expect("its end is told")
            .unwrap()
            .unwrap();
        let frame: Value = serde_json::from_str(frame.to_text().unwrap()).unwrap();
        if frame["type"] == "study" {
            told.push((
                frame["study"]["number"].clone(),
                frame["study"]["status"].clone(),
            ));
        }
    }
    assert!(
        [1, 2, 3]
            .iter()
            .all(|number| told.contains(&(json!(number), json!("queued")))),
        "{told:?}"
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
    assert_eq!((numbers(&first), &first["total"]), (vec![3, 2], &json!(3)));
    let rest = server
        .get(&format!(
            "/studies?limit=2&cursor={}",
            first["next_cursor"].as_str().unwrap()
        ))
        .await;
    assert_eq!(
        (numbers(&rest), &rest["next_cursor"]),
        (vec![1], &json!(null))
    );
    assert_eq!(
        server
            .send(server.request(Method::GET, "/studies?limit=0"))
            .await
            .0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    // A study goes with the last of its runs.
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
async fn experiments_are_offered_as_they_can_be_asked_for() {
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
