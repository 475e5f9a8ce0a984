//! Schedules: validation, starts, and missed and skipped due times. The unit tests in
//! `server/src/schedules` use a fake clock.

use crate::{
    deletion::execute,
    program::{Program, TIMEOUT, job},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

/// Start of the current minute.
fn minute_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_secs() / 60 * 60_000
}

/// A schedule that is due in the current minute and again an hour later. `rewind` makes it due
/// again.
fn schedule(job: &Value) -> Value {
    let cron = format!("{} * * * *", minute_ms() / 60_000 % 60);
    json!({"name": "Nightly", "cron": cron, "document": {"jobs": [job], "sample_ms": 20}, "tags": ["nightly"]})
}

/// Quiet hours from one hour ago to two hours from now, and the reason reported for a start skipped
/// during them.
pub(crate) fn quiet_now() -> (Value, String) {
    let hour = minute_ms() / 3_600_000 % 24;
    let (from, to) = ((hour + 23) % 24, (hour + 3) % 24);
    let (from, to) = (format!("{from:02}:00"), format!("{to:02}:00"));
    let reason = format!("Quiet hours from {from} to {to}.");
    (json!([{"from": from, "to": to}]), reason)
}

async fn create(server: &Program, schedule: &Value) -> u64 {
    let (status, created) = server.post("/schedules", schedule).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    created["number"].as_u64().unwrap()
}

/// Makes the current due time due again, as if the server had just started.
async fn rewind(server: &Program) {
    execute(
        server,
        "UPDATE schedules SET handled_until_ms = created_at_ms / 3600000 * 3600000 + cron * 60000 - 1",
    )
    .await;
}

/// Waits for a due time with this result, and returns the first such due time.
async fn wait_for(server: &Program, number: u64, result: &str) -> Value {
    let began = Instant::now();
    loop {
        let schedule = server.get(&format!("/schedules/{number}")).await;
        let starts = schedule["starts"].as_array().unwrap();
        if let Some(start) = starts.iter().find(|start| start["result"] == result) {
            return start.clone();
        }
        assert!(began.elapsed() < TIMEOUT, "{schedule}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn wait_for_status(server: &Program, number: u64) -> Value {
    let began = Instant::now();
    loop {
        let schedule = server.get(&format!("/schedules/{number}")).await;
        let starts = schedule["starts"].as_array().unwrap();
        if let Some(start) = starts.iter().find(|start| !start["status"].is_null()) {
            return start.clone();
        }
        assert!(began.elapsed() < TIMEOUT, "{schedule}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn schedules_are_created_changed_and_deleted() {
    let server = Program::start().await;
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("30 2 * * MON-FRI");
    request["time_zone"] = json!("Europe/Berlin");
    request["quiet_hours"] = json!([{"from": "08:00", "to": "18:00"}]);
    let number = create(&server, &request).await;
    let server = server.kill_and_restart().await;
    let list = server.get("/schedules").await;
    let created = &list["schedules"][0];
    assert_eq!(created, &server.get("/schedules/1").await);
    assert_eq!(created["number"], number);
    assert_eq!(created["document"], request["document"]);
    assert_eq!(created["quiet_hours"], request["quiet_hours"]);
    assert!(created["next_start_ms"].as_u64().unwrap() > 0);
    let next = created["next"].as_array().unwrap();
    assert_eq!(next.len(), 3);
    for due in next {
        let local = due["local"].as_str().unwrap();
        assert!(local.contains(" 02:30 +0"), "{local}");
        assert_eq!(due["is_quiet"], false);
    }
    assert_eq!(next[0]["at_ms"], created["next_start_ms"]);

    request["enabled"] = json!(false);
    let put = server.request(Method::PUT, "/schedules/1").json(&request);
    let (status, changed) = server.send(put).await;
    assert_eq!(
        (status, &changed["next_start_ms"]),
        (StatusCode::OK, &Value::Null)
    );
    assert_eq!(changed["next"], json!([]));
    let delete = || server.send(server.request(Method::DELETE, "/schedules/1"));
    assert_eq!(delete().await.0, StatusCode::NO_CONTENT);
    assert_eq!(delete().await.0, StatusCode::NOT_FOUND);
    assert_eq!(server.get("/schedules").await["schedules"], json!([]));
}

#[tokio::test]
async fn plan_lists_the_next_five_due_times() {
    let server = Program::start().await;
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("0 */6 * * *");
    request["time_zone"] = json!("Asia/Kolkata");
    request["quiet_hours"] = json!([{"from": "23:00", "to": "01:00"}]);
    let (status, plan) = server.post("/schedules/plan", &request).await;
    assert_eq!(status, StatusCode::OK, "{plan}");
    let next = plan["next"].as_array().unwrap();
    assert_eq!(next.len(), 5);
    for due in next {
        let local = due["local"].as_str().unwrap();
        assert!(local.ends_with("+05:30"), "{local}");
        assert_eq!(due["is_quiet"], local.contains(" 00:00 "), "{local}");
    }
    assert_eq!(server.get("/schedules").await["schedules"], json!([]));
}

#[tokio::test]
async fn all_invalid_fields_of_a_schedule_are_reported() {
    let server = Program::start().await;
    let fields = async |request: Value| -> Vec<String> {
        let (status, problem) = server.post("/schedules", &request).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
        let errors = problem["errors"].as_array().unwrap().iter();
        errors
            .map(|error| error["field"].as_str().unwrap().into())
            .collect()
    };
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("0 0 0 * * *");
    request["time_zone"] = json!("Mars/Olympus");
    request["quiet_hours"] = json!([{"from": "8:00", "to": "18:00"}]);
    request["name"] = json!(" ");
    assert_eq!(
        fields(request).await,
        ["name", "time_zone", "cron", "quiet_hours[0].from"]
    );
    let mut request = schedule(&job("a", "20ms"));
    request["document"]["jobs"][0]["bs"] = json!("x");
    assert_eq!(fields(request).await, ["document.jobs[0].bs"]);
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("60 25 * * *");
    let (_, problem) = server.post("/schedules", &request).await;
    let detail = problem["errors"][1]["detail"].as_str().unwrap();
    assert_eq!(detail, "The hour \"25\" is invalid.");
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("0 0 30 2 *");
    assert_eq!(fields(request).await, ["cron"]);
    for (cron, from, to) in [
        ("* * * * *", "00:00", "00:00"),
        ("30 2 * * *", "22:00", "06:00"),
    ] {
        let mut request = schedule(&job("a", "20ms"));
        request["cron"] = json!(cron);
        request["quiet_hours"] = json!([{"from": from, "to": to}]);
        assert_eq!(fields(request).await, ["quiet_hours"]);
    }
    let mut request = schedule(&job("a", "20ms"));
    request["document"]["confirm"] = json!(["DISK@1-2"]);
    assert_eq!(fields(request).await, ["document"]);
    assert_eq!(fields(json!({"name": "a"})).await, ["cron", "document"]);
}

#[tokio::test]
async fn documents_that_require_a_confirmation_are_rejected() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let Some(server) = Program::start_real(directory.clone()).await else {
        return;
    };
    let target = server.data().join("targets/foreign");
    std::fs::write(&target, vec![7; 1 << 20]).unwrap();
    let write = json!({"name": "a", "filename": "foreign", "rw": "write", "bs": "4k", "size": "1m", "direct": 0, "ioengine": "psync"});
    let study = json!({"name": "Study", "steps": [{"name": "a", "jobs": [write]}]});
    for document in [json!({"jobs": [write]}), study] {
        let request = json!({"name": "a", "cron": "0 0 * * *", "document": document});
        let (status, problem) = server.post("/schedules", &request).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
        let error = &problem["errors"][0];
        assert_eq!(error["code"], "needs_confirmation", "{problem}");
        assert!(
            error["detail"].as_str().unwrap().contains("foreign"),
            "{problem}"
        );
    }
    // Writing to a new file requires no confirmation, but the start is rejected if another program
    // has created the file.
    let mut new = write.clone();
    new["filename"] = json!("new");
    let request = schedule(&new);
    let number = create(&server, &request).await;
    std::fs::write(server.data().join("targets/new"), vec![7; 1 << 20]).unwrap();
    rewind(&server).await;
    let start = wait_for(&server, number, "rejected").await;
    // The confirmation code must not leave the host.
    let reason = start["reason"].as_str().unwrap();
    let (overwritten, remedy) = reason.split_once(". Schedules").unwrap();
    assert!(overwritten.contains("/targets/new"), "{reason}");
    assert_eq!(
        remedy,
        " cannot confirm this. Run it manually once, or change the document."
    );
    assert!(!reason.contains('@'), "{reason}");
    assert_eq!(server.get("/runs").await["total"], 0);
    assert_eq!(std::fs::read(&target).unwrap(), vec![7; 1 << 20]);
}

#[tokio::test]
async fn due_times_start_once_even_if_the_server_is_killed() {
    let server = Program::start().await;
    let number = create(&server, &schedule(&job("a", "20ms"))).await;
    rewind(&server).await;
    let start = wait_for_status(&server, number).await;
    assert_eq!(
        (&start["status"], &start["run"]),
        (&json!("done"), &json!(1))
    );
    assert_eq!(server.get("/runs/1").await["tags"], json!(["nightly"]));

    // State after a kill between queuing the run and storing the start.
    execute(
        &server,
        "UPDATE schedules SET enabled = 0; UPDATE schedule_starts SET result = 'pending', run = NULL, status = NULL WHERE result = 'started'",
    )
    .await;
    let server = server.kill_and_restart().await;
    let again = wait_for_status(&server, number).await;
    assert_eq!(again, start);
    assert_eq!(server.get("/runs").await["total"], 1);
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn studies_start_and_a_failure_is_reported() {
    let server = Program::start().await;
    let mut request = schedule(&Value::Null);
    let step = |name: &str| json!({"name": name, "sample_ms": 20, "jobs": [job(name, "20ms")]});
    request["document"] =
        json!({"name": "Study", "tags": ["own"], "steps": [step("a"), step("fail")]});
    let number = create(&server, &request).await;
    rewind(&server).await;
    let start = wait_for_status(&server, number).await;
    assert_eq!(
        (&start["status"], &start["study"]),
        (&json!("failed"), &json!(1))
    );
    let reason = start["reason"].as_str().unwrap();
    assert!(reason.contains("The disk is full"), "{reason}");
    assert_eq!(
        server.get("/runs/1").await["tags"],
        json!(["own", "nightly"])
    );
}

#[tokio::test]
async fn damaged_schedule_does_not_stop_the_others() {
    let server = Program::start().await;
    create(&server, &schedule(&job("damaged", "20ms"))).await;
    let number = create(&server, &schedule(&job("a", "20ms"))).await;
    execute(&server, "UPDATE schedules SET cron = 'x' WHERE number = 1").await;
    rewind(&server).await;
    let start = wait_for_status(&server, number).await;
    assert_eq!(start["status"], "done");
}

#[tokio::test]
async fn no_second_start_while_one_is_active() {
    let server = Program::start().await;
    let number = create(&server, &schedule(&job("a", "20s"))).await;
    rewind(&server).await;
    wait_for(&server, number, "started").await;
    // State after another due time has passed.
    execute(
        &server,
        "UPDATE schedule_starts SET due_at_ms = due_at_ms - 3600000",
    )
    .await;
    rewind(&server).await;
    let missed = wait_for(&server, number, "missed").await;
    let reason = missed["reason"].as_str().unwrap();
    assert_eq!(reason, "The previous run is still active (run #1).");
    assert!(server.get("/schedules/1").await["missed"].as_u64().unwrap() >= 1);
    assert_eq!(server.get("/runs").await["total"], 1);
}

#[tokio::test]
async fn downtime_is_reported_and_causes_one_catch_up() {
    let mut server = Program::start().await;
    let mut request = schedule(&job("a", "20ms"));
    request["cron"] = json!("0 * * * *");
    let number = create(&server, &request).await;
    server.stop().await;
    let server = Program::start_in(server.directory.clone(), &[]).await;
    execute(
        &server,
        "UPDATE schedules SET handled_until_ms = handled_until_ms - 5 * 3600000",
    )
    .await;
    let start = wait_for_status(&server, number).await;
    let began_ms = start["due_at_ms"].as_u64().unwrap();
    assert_eq!(began_ms % 3_600_000, 0);
    let schedule = server.get("/schedules/1").await;
    assert_eq!(
        schedule["starts"].as_array().unwrap().len(),
        2,
        "{schedule}"
    );
    assert_eq!(schedule["starts"][1]["count"], 4);
    assert_eq!(schedule["missed"], 4);
    assert_eq!(server.get("/runs").await["total"], 1);
}

#[tokio::test]
async fn no_run_starts_in_quiet_hours() {
    let server = Program::start().await;
    let mut request = schedule(&job("a", "20ms"));
    let (quiet, reason) = quiet_now();
    request["quiet_hours"] = quiet.clone();
    let number = create(&server, &request).await;
    rewind(&server).await;
    let skipped = wait_for(&server, number, "skipped").await;
    assert_eq!(skipped["reason"], reason);
    let created = server.get("/schedules/1").await;
    assert_eq!(created["next"][0]["is_quiet"], true);
    assert!(created["next_start_ms"].as_u64() > created["next"][0]["at_ms"].as_u64());

    // A run that is queued first, so the scheduled run has to wait.
    let blocker = server.queue(job("blocker", "20s")).await;
    request["quiet_hours"] = json!([]);
    let put = || server.request(Method::PUT, "/schedules/1");
    server.send(put().json(&request)).await;
    execute(&server, "DELETE FROM schedule_starts").await;
    rewind(&server).await;
    wait_for(&server, number, "started").await;
    request["quiet_hours"] = quiet;
    server.send(put().json(&request)).await;
    server
        .post(&format!("/runs/{blocker}/cancel"), &json!(null))
        .await;
    let run = server.wait_until_ended(blocker + 1).await;
    assert_eq!(run["status"], "cancelled");
    assert_eq!(run["reason"], format!("Not started: {reason}"));
    assert_eq!(server.starts(), ["blocker"]);
    let schedule = server.get("/schedules/1").await;
    let results = schedule["starts"].as_array().unwrap().iter();
    assert!(
        !results.clone().any(|start| start["result"] == "started"),
        "{schedule}"
    );
}
