//! Retries of failed runs. In a repeated study, each failed run is retried once.

use crate::{
    deletion::connect,
    program::{Program, TIMEOUT, job, job_on},
    repeats::wait_for_end_of_study,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

fn study(repeats: u32, names: [&str; 2], runtime: &str) -> Value {
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "A/B", "repeats": repeats, "steps": names.map(step)})
}

async fn create(server: &Program, study: &Value) {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

async fn execute(server: &Program, sql: &'static str) {
    let mut database = connect(server).await;
    sqlx::raw_sql(sql).execute(&mut database).await.unwrap();
}

/// Returns the statuses of the attempts at each step and repeat, in order.
async fn attempts(server: &Program) -> BTreeMap<(u64, u64), Vec<String>> {
    let runs = server
        .get("/runs?q=study:1&sort=number&order=asc&limit=200")
        .await;
    let mut attempts: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for run in runs["runs"].as_array().unwrap() {
        let number = |name: &str| run[name].as_u64().unwrap();
        let statuses = attempts
            .entry((number("step"), number("repeat")))
            .or_default();
        statuses.push(run["status"].as_str().unwrap().to_owned());
    }
    attempts
}

#[tokio::test]
async fn a_failed_run_is_retried_at_its_queue_position() {
    let server = Program::start().await;
    create(&server, &study(4, ["a", "flaky-3"], "30ms")).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "done", "{ended}");
    assert_eq!(ended["reason"], json!(null));
    assert_eq!(
        (&ended["steps_total"], &ended["steps_ended"]),
        (&json!(8), &json!(8))
    );
    let again = "flaky-3";
    assert_eq!(
        server.starts(),
        ["a", again, "a", again, "a", again, again, "a", again]
    );
    let step = &ended["steps"][5];
    let (run, failed) = (&step["run"], &step["failed_run"]);
    assert_eq!(
        (&failed["number"], &failed["status"]),
        (&json!(6), &json!("failed"))
    );
    assert_eq!(failed["reason"], "The disk is full.");
    assert_eq!((&run["number"], &run["retry_of"]), (&json!(9), &json!(6)));
    assert_eq!(ended["steps"][4]["failed_run"], json!(null));
    let requested =
        async |number: u64| server.get(&format!("/runs/{number}")).await["requested"].clone();
    assert_eq!(requested(9).await, requested(6).await);
    let comparison = server
        .get("/compare?a=study:1/step:1&b=study:1/step:2")
        .await;
    assert_eq!(comparison["groups"][1]["complete"], 4);
    let reasons = comparison["comparability"]["reasons"].to_string();
    assert!(
        reasons.contains("#6 has no report (status: failed)"),
        "{reasons}"
    );
}

#[tokio::test]
async fn a_study_continues_after_two_failed_runs() {
    let server = Program::start().await;
    create(&server, &study(4, ["a", "flaky-3-4"], "30ms")).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(ended["reason"], "Step 2: The disk is full.");
    assert_eq!(server.starts().len(), 9, "{:?}", server.starts());
    assert_eq!(ended["steps"][5]["run"]["status"], "failed");
    assert_eq!(ended["steps"][7]["run"]["status"], "done");
}

/// If the first run of a step and its retry fail, the step cannot work, so the study ends.
#[tokio::test]
async fn a_step_that_never_completes_ends_the_study() {
    let server = Program::start().await;
    create(&server, &study(4, ["a", "fail"], "30ms")).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(server.starts(), ["a", "fail", "fail"]);
    let reason = "Not started: step 2 failed: The disk is full.";
    assert_eq!(ended["steps"][2]["run"]["reason"], reason);
}

#[tokio::test]
async fn cancelled_runs_are_not_retried() {
    let server = Program::start().await;
    let mut request = study(2, ["a", "b"], "300ms");
    request["continue_on_failure"] = json!(true);
    create(&server, &request).await;
    server.wait_for_status(2, &["measuring"]).await;
    server.post("/runs/2/cancel", &json!(null)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(server.starts(), ["a", "b", "a", "b"]);
    assert_eq!(server.get("/runs").await["total"], 4);
}

#[tokio::test]
async fn cancelled_studies_do_not_retry_runs() {
    let server = Program::start().await;
    create(&server, &study(2, ["a", "crash"], "10s")).await;
    server.wait_for_status(1, &["measuring"]).await;
    server.post("/studies/1/cancel", &json!(null)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "cancelled");
    let server = server.kill_and_restart().await;
    assert_eq!(server.get("/runs").await["total"], 4);
}

#[tokio::test]
async fn runs_in_studies_without_repeats_are_not_retried() {
    let server = Program::start().await;
    create(&server, &study(1, ["a", "fail"], "30ms")).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "failed");
    assert_eq!(server.starts(), ["a", "fail"]);
}

/// State after a kill between the end of the run and the insertion of the retry.
#[tokio::test]
async fn a_missing_retry_is_queued_at_the_next_start() {
    let mut server = Program::start().await;
    create(&server, &study(2, ["a", "flaky-2"], "30ms")).await;
    wait_for_end_of_study(&server, 1).await;
    assert_eq!(server.starts().len(), 5);
    execute(
        &server,
        "DELETE FROM study_runs WHERE run = (SELECT number FROM runs WHERE retry_of = 4); DELETE FROM runs WHERE retry_of = 4",
    )
    .await;
    for _ in 0..2 {
        server = server.kill_and_restart().await;
        let ended = wait_for_end_of_study(&server, 1).await;
        assert_eq!(ended["status"], "done");
        assert_eq!(ended["steps"][3]["run"]["retry_of"], 4);
    }
    assert_eq!(server.starts().len(), 6, "one further run in total");
}

#[tokio::test]
async fn confirmed_runs_are_not_retried() {
    let server = Program::start().await;
    let blocker = server.queue(job_on("vda", "blocker", "20s")).await;
    create(&server, &study(2, ["a", "b"], "30ms")).await;
    execute(
        &server,
        r#"UPDATE run_details SET confirm = '["DISK@1-2"]', run_sha256 = NULL WHERE run > 1"#,
    )
    .await;
    let server = server.kill_and_restart().await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "interrupted");
    server.wait_until_ended(blocker).await;
    assert_eq!(server.get("/runs").await["total"], 5);
    assert_eq!(server.starts(), ["blocker"]);
}

#[tokio::test]
async fn kills_retry_each_run_at_most_once() {
    let mut random = StdRng::seed_from_u64(58);
    let mut server = Program::start().await;
    create(&server, &study(8, ["a", "b"], "120ms")).await;
    let began = Instant::now();
    let mut kills = 0;
    while ["queued", "running"]
        .contains(&server.get("/studies/1").await["status"].as_str().unwrap())
    {
        assert!(began.elapsed() < TIMEOUT);
        tokio::time::sleep(Duration::from_millis(random.random_range(50..400))).await;
        server = server.kill_and_restart().await;
        kills += 1;
    }
    let attempts = attempts(&server).await;
    assert_eq!(attempts.len(), 16, "no run is lost");
    let mut repeated = 0;
    for (position, statuses) in &attempts {
        let (last, first) = statuses.split_last().unwrap();
        assert!(
            first.is_empty() || first == ["interrupted"],
            "{position:?}: {statuses:?}"
        );
        assert!(
            ["done", "interrupted"].contains(&last.as_str()),
            "{position:?}: {statuses:?}"
        );
        assert!(
            last == "done" || statuses.len() == 2,
            "{position:?}: {statuses:?}"
        );
        repeated += first.len();
    }
    assert!(repeated > 0 && kills > 2, "{kills} kills: {attempts:?}");
    assert!(server.starts().len() <= 16 + repeated);
}
