//! Studies with `until_decided`, which can end early.

use crate::{
    deletion::connect,
    program::{Program, TIMEOUT, job},
    repeats::wait_for_end_of_study,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Interim looks after 8, 12 and 20 pairs.
const REPEATS: u32 = 20;

/// A study that compares two steps, each with the name and runtime of its job.
fn study(repeats: u32, [a, b]: [(&str, &str); 2]) -> Value {
    let step = |(name, runtime): (&str, &str)| json!({"name": name, "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "A/B", "repeats": repeats, "until_decided": {}, "steps": [step(a), step(b)]})
}

fn study_with_different_steps(repeats: u32) -> Value {
    study(repeats, [("a", "30ms"), ("b", "230ms")])
}

fn study_with_alternating_steps(repeats: u32) -> Value {
    study(
        repeats,
        [("alternating-a", "30ms"), ("alternating-b", "30ms")],
    )
}

async fn create(server: &Program, study: &Value) {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

fn looks(study: &Value) -> Vec<(u64, &str)> {
    let looks = study["looks"].as_array().unwrap().iter();
    looks
        .map(|look| {
            (
                look["pairs"].as_u64().unwrap(),
                look["outcome"].as_str().unwrap(),
            )
        })
        .collect()
}

fn statuses(study: &Value) -> Vec<&str> {
    let steps = study["steps"].as_array().unwrap().iter();
    steps
        .map(|step| step["run"]["status"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_decided_study_ends_and_skips_the_remaining_runs() {
    let server = Program::start().await;
    create(&server, &study_with_different_steps(REPEATS)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(looks(&ended), [(8, "decided")], "{ended}");
    assert_eq!(ended["status"], "done");
    assert_eq!(ended["reason"], json!(null));
    assert_eq!(server.starts().len(), 16);
    assert_eq!(ended["steps_ended"], 16);
    let statuses = statuses(&ended);
    assert!(statuses[..16].iter().all(|status| *status == "done"));
    assert!(statuses[16..].iter().all(|status| *status == "cancelled"));
    assert_eq!(
        ended["steps"][16]["run"]["reason"],
        "Not started: decided after 8 pairs."
    );
    let look = &ended["looks"][0];
    assert_eq!(look["changes"][0]["metric"], "read_iops");
    assert_eq!(look["changes"][0]["verdict"], "better");
    assert_eq!(look["changes"][0]["pairs"], 8);
    assert!(look["changes"][0]["interval_percent"].is_object(), "{look}");

    let path = "/compare?a=study:1/step:1&b=study:1/step:2";
    let comparison = server.get(path).await;
    assert_eq!(comparison["confidence_percent"], look["confidence_percent"]);
    let answer = comparison["answers"][0].as_str().unwrap();
    assert!(answer.contains("99.2 % interval"), "{answer}");
    let other = server.queue(job("other", "20ms")).await;
    server.wait_until_ended(other).await;
    let other = server
        .get(&format!("/compare?a=study:1/step:1&b={other}"))
        .await;
    assert_eq!(other["confidence_percent"], 95.0);
}

#[tokio::test]
async fn an_undecided_study_runs_all_repeats() {
    let server = Program::start().await;
    create(&server, &study_with_alternating_steps(10)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(looks(&ended), [(7, "undecided"), (10, "undecided")]);
    assert_eq!(ended["status"], "done");
    assert_eq!(server.starts().len(), 20);
    // Deleting a run does not change a look that was already taken.
    let delete = server.request(reqwest::Method::DELETE, "/runs/3");
    assert_eq!(server.send(delete).await.0, StatusCode::NO_CONTENT);
    assert_eq!(server.get("/studies/1").await["looks"], ended["looks"]);
}

#[tokio::test]
async fn comparisons_before_the_first_look_have_no_verdict() {
    let server = Program::start().await;
    create(&server, &study_with_different_steps(REPEATS)).await;
    // Six of eight pairs have ended, which is enough for a verdict in other studies. The request
    // must arrive within the four runs before the look.
    server.wait_for_status(13, &["measuring"]).await;
    server.post("/studies/1/cancel", &json!(null)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(looks(&ended), []);
    let comparison = server
        .get("/compare?a=study:1/step:1&b=study:1/step:2")
        .await;
    let metrics = comparison["metrics"].as_array().unwrap().iter();
    for change in metrics.map(|metric| &metric["changes"][1]) {
        assert_eq!(change["interval_percent"], json!(null), "{change}");
        assert!([json!(null), json!("undecided")].contains(&change["verdict"]));
    }
    let answer = comparison["answers"][0].as_str().unwrap();
    let part = "Its first interim look is after 8 pairs";
    assert!(answer.contains(part), "{answer}");
}

#[tokio::test]
async fn a_cancelled_study_has_no_look() {
    let server = Program::start().await;
    let mut request = study(7, [("a", "30ms"), ("b", "230ms")]);
    request["continue_on_failure"] = json!(true);
    create(&server, &request).await;
    // The only look follows the seventh pair, whose second run is number 14.
    server.wait_for_status(14, &["measuring"]).await;
    let (status, _) = server.post("/studies/1/cancel", &json!(null)).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "cancelled");
    assert_eq!(looks(&ended), []);
    let server = server.kill_and_restart().await;
    assert_eq!(looks(&server.get("/studies/1").await), []);
}

#[tokio::test]
async fn not_comparable_is_not_a_decision() {
    let server = Program::start().await;
    let mut request = study(10, [("a", "30ms"), ("fail", "30ms")]);
    request["continue_on_failure"] = json!(true);
    create(&server, &request).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(
        looks(&ended),
        [(7, "not_comparable"), (10, "not_comparable")]
    );
    assert_eq!(ended["status"], "failed");
}

/// If a server is killed between the end of a run and the look, it takes the look when it restarts.
#[tokio::test]
async fn a_missing_look_is_taken_at_the_next_start() {
    let server = Program::start().await;
    create(&server, &study_with_alternating_steps(10)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["looks"].as_array().unwrap().len(), 2);
    // A look and the number of looks are updated in one transaction.
    sqlx::raw_sql("DELETE FROM study_looks WHERE pairs = 10; UPDATE study_contents SET looks = 1, checksums = 2")
        .execute(&mut connect(&server).await)
        .await
        .unwrap();
    assert_eq!(looks(&server.get("/studies/1").await), [(7, "undecided")]);
    let server = server.kill_and_restart().await;
    assert_eq!(server.get("/studies/1").await["looks"], ended["looks"]);
}

/// When the server starts again, queued runs that overwrite data are interrupted.
#[tokio::test]
async fn a_server_stopped_after_the_decision_does_not_interrupt_the_study() {
    let server = Program::start().await;
    create(&server, &study_with_different_steps(REPEATS)).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "done");
    // State between the look and the cancellation of the remaining runs.
    sqlx::raw_sql(
        r#"UPDATE run_details SET confirm = '["x"]', run_sha256 = NULL, summary_sha256 = NULL, final_sha256 = NULL, checksums = 0
            WHERE run IN (SELECT number FROM runs WHERE status = 'cancelled');
        UPDATE runs SET status = 'queued', reason = NULL, finished_at_ms = NULL WHERE status = 'cancelled';"#,
    )
    .execute(&mut connect(&server).await)
    .await
    .unwrap();
    let server = server.kill_and_restart().await;
    let study = wait_for_end_of_study(&server, 1).await;
    assert!(statuses(&study).contains(&"interrupted"), "{study}");
    assert_eq!(study["status"], "done", "{study}");
    assert_eq!(study["looks"], ended["looks"]);
}

/// The third run of B and its retry fail. Both are then stored as interrupted, as if the server had
/// been killed twice.
#[tokio::test]
async fn a_run_that_is_interrupted_twice_does_not_interrupt_a_decided_study() {
    let server = Program::start().await;
    let request = study(REPEATS, [("a", "30ms"), ("flaky-3-4", "230ms")]);
    create(&server, &request).await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "failed", "{ended}");
    let looks = ended["looks"].as_array().unwrap();
    let last = looks.last().unwrap();
    assert_eq!(last["outcome"], "decided", "{ended}");
    // The pair without a result is neither replaced nor compared.
    let compared = last["changes"][0]["pairs"].as_u64().unwrap();
    assert_eq!(compared + 1, last["pairs"].as_u64().unwrap(), "{last}");
    sqlx::raw_sql(
        "UPDATE run_details SET run_sha256 = NULL, summary_sha256 = NULL WHERE run IN (SELECT number FROM runs WHERE status = 'failed');
        UPDATE runs SET status = 'interrupted', reason = 'The server stopped.' WHERE status = 'failed';",
    )
    .execute(&mut connect(&server).await)
    .await
    .unwrap();
    let server = server.kill_and_restart().await;
    let study = server.get("/studies/1").await;
    assert!(statuses(&study).contains(&"interrupted"), "{study}");
    assert_eq!(study["status"], "done", "{study}");
    assert_eq!(study["reason"], json!(null));
    assert_eq!(study["looks"], ended["looks"]);
}

#[tokio::test]
async fn kills_neither_skip_nor_repeat_a_look() {
    let mut random = StdRng::seed_from_u64(26);
    let mut server = Program::start().await;
    create(&server, &study_with_different_steps(REPEATS)).await;
    let began = Instant::now();
    let mut kills = 0;
    loop {
        let study = server.get("/studies/1").await;
        if !["queued", "running"].contains(&study["status"].as_str().unwrap()) {
            break;
        }
        assert!(began.elapsed() < TIMEOUT, "{study}");
        tokio::time::sleep(Duration::from_millis(random.random_range(100..700))).await;
        server = server.kill_and_restart().await;
        kills += 1;
    }
    let ended = server.get("/studies/1").await;
    let looks = looks(&ended);
    assert!(kills > 2 && !looks.is_empty(), "{kills} kills: {looks:?}");
    let planned = [8, 12, 20];
    for (look, planned) in looks.iter().zip(planned) {
        assert_eq!(look.0, planned, "{looks:?}");
    }
    let (decided, others) = looks.split_last().unwrap();
    assert!(others.iter().all(|look| look.1 == "undecided"), "{looks:?}");
    let blocks = ended["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|step| step["run"]["started_at_ms"].is_u64());
    let last = blocks.map(|step| step["repeat"].as_u64().unwrap()).max();
    assert_eq!(last, Some(decided.0), "the study ends at its last look");
}

#[tokio::test]
async fn invalid_until_decided_settings_are_rejected() {
    let server = Program::start().await;
    let mut request = study_with_different_steps(REPEATS);
    request["until_decided"] = json!({"metrics": ["nonsense"]});
    let (status, problem) = server.post("/studies", &request).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(problem["errors"][0]["field"], "until_decided.metrics");
    let (status, plan) = server
        .post("/studies/plan", &study_with_different_steps(REPEATS))
        .await;
    assert_eq!(status, StatusCode::OK);
    let looks = plan["until_decided"]["looks"].as_array().unwrap();
    let pairs: Vec<u64> = looks
        .iter()
        .map(|look| look["pairs"].as_u64().unwrap())
        .collect();
    assert_eq!(pairs, [8, 12, 20]);
}
