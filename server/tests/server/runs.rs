//! Creates, executes, cancels, repeats and deletes runs.

use crate::program::{Program, job, job_on};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection};
use std::time::{Duration, Instant};

#[tokio::test]
async fn run_from_request_to_report() {
    let server = Program::start().await;
    let began = Instant::now();
    let body = json!({"jobs": [job("a", "300ms")], "sample_ms": 20, "name": "First", "tags": ["x", "y"], "notes": "note"});
    let response = server
        .request(Method::POST, "/runs")
        .json(&body)
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.headers()["location"], "/api/v1/runs/1");
    let run: Value = response.json().await.unwrap();
    assert_eq!(run["number"], 1);
    assert_eq!(run["name"], "First");
    assert_eq!(run["tags"], json!(["x", "y"]));
    assert_eq!(&run["requested"]["jobs"][0], &body["jobs"][0]);
    let done = server.wait_until_ended(1).await;
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(done["status"], "done");
    assert_eq!(done["reason"], json!(null));
    assert_eq!(done["verdict"]["read"]["class"], "device");
    assert_eq!(done["rw"], "randread");
    assert_eq!(done["bs"], "4k");
    assert_eq!(done["mode"], "direct");
    assert_eq!(done["device"], "vda");
    assert_eq!(
        done["report"]["read"]["ios"].as_u64().unwrap(),
        done["samples"].as_u64().unwrap() * 100
    );
    assert_eq!(done["host_facts"]["hostname"], "fake");
    assert_eq!(done["lat_p99_ns"], 7456);
    assert_eq!(done["lat_max_ns"], 20000);
    let names: Vec<String> = server.events(1).await.iter().map(event_name).collect();
    let order: Vec<&str> = names
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "sample")
        .collect();
    assert_eq!(
        order,
        [
            "queued",
            "preparing",
            "accepted",
            "measure begin",
            "measuring",
            "measure end",
            "finishing",
            "report",
            "done"
        ]
    );
    assert_eq!(server.starts(), ["a"]);
}

/// Returns a short name for an event.
fn event_name(event: &Value) -> String {
    match event["type"].as_str().unwrap() {
        "status" => event["status"].as_str().unwrap().into(),
        "phase" => format!(
            "{} {}",
            event["phase"].as_str().unwrap(),
            event["state"].as_str().unwrap()
        ),
        other => other.into(),
    }
}

#[tokio::test]
async fn runs_on_the_same_device_are_sequential() {
    let server = Program::start().await;
    let first = server.queue(job("a", "400ms")).await;
    let second = server.queue(job_on("vda1", "b", "50ms")).await;
    let third = server.queue(job("c", "50ms")).await;
    let other = server.queue(job_on("vdb", "d", "50ms")).await;
    server.wait_for_status(first, &["measuring"]).await;
    let position = |run: &Value| {
        (
            run["queue"]["position"].as_u64(),
            run["queue"]["reason"].as_str().map(str::to_owned),
        )
    };
    let waiting = server.get(&format!("/runs/{second}")).await;
    assert_eq!(
        position(&waiting),
        (Some(1), Some(format!("waiting for #{first} on vda")))
    );
    let last = server.get(&format!("/runs/{third}")).await;
    assert_eq!(
        position(&last),
        (Some(2), Some(format!("waiting for #{second} on vda")))
    );
    // A run on another disk does not wait.
    server.wait_until_ended(other).await;
    assert_eq!(
        server.get(&format!("/runs/{first}")).await["status"],
        "measuring"
    );
    let mut end_before = 0;
    for run in [first, second, third] {
        let ended = server.wait_until_ended(run).await;
        assert!(
            ended["started_at_ms"].as_u64().unwrap() >= end_before,
            "#{run} started before the previous one ended"
        );
        end_before = ended["finished_at_ms"].as_u64().unwrap();
    }
    assert_eq!(server.starts(), ["a", "d", "b", "c"]);
}

#[tokio::test]
async fn concurrency_limit() {
    let directory = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--max-running", "1"]).await;
    let first = server.queue(job("a", "300ms")).await;
    let second = server.queue(job_on("vdb", "b", "10ms")).await;
    server.wait_for_status(first, &["measuring"]).await;
    assert_eq!(
        server.get(&format!("/runs/{second}")).await["status"],
        "queued"
    );
    server.wait_until_ended(second).await;
}

#[tokio::test]
async fn cancel_queued_and_running_runs() {
    let server = Program::start().await;
    let running = server.queue(job("a", "10s")).await;
    let waiting = server.queue(job("b", "10s")).await;
    server.wait_for_status(running, &["measuring"]).await;
    let (status, cancelled) = server
        .post(&format!("/runs/{waiting}/cancel"), &json!(null))
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(cancelled["status"], "cancelled");
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    assert_eq!(
        server
            .post(&format!("/runs/{running}/cancel"), &json!(null))
            .await
            .0,
        StatusCode::ACCEPTED
    );
    let ended = server.wait_until_ended(running).await;
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "a cancel takes {:?}",
        began.elapsed()
    );
    assert_eq!(ended["status"], "cancelled");
    // The report covers the time before the cancellation.
    assert_eq!(ended["report"]["ended_by"], "signal");
    assert!(ended["samples"].as_u64().unwrap() > 0 && ended["iops"].as_f64().unwrap() > 0.0);
    let (status, problem) = server
        .post(&format!("/runs/{running}/cancel"), &json!(null))
        .await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "already_ended");
    assert_eq!(server.starts(), ["a"]);
}

#[tokio::test]
async fn runner_that_ignores_sigterm_is_killed() {
    let server = Program::start().await;
    let number = server.queue(job("ignore-sigterm", "60s")).await;
    server.wait_for_status(number, &["measuring"]).await;
    let began = Instant::now();
    server
        .post(&format!("/runs/{number}/cancel"), &json!(null))
        .await;
    let ended = server.wait_until_ended(number).await;
    assert!(
        (4..8).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(ended["status"], "cancelled");
    assert!(
        ended["reason"].as_str().unwrap().contains("was killed"),
        "{}",
        ended["reason"]
    );
}

#[tokio::test]
async fn stalled_run_fails_with_its_report() {
    let server = Program::start().await;
    let number = server.queue(job("stall", "1s")).await;
    let ended = server.wait_until_ended(number).await;
    check_stalled(&ended, "stall");
    let other = server.queue(job("hours-0.01", "1s")).await;
    server.wait_until_ended(other).await;
    let comparison = server.get(&format!("/compare?runs={other},{number}")).await;
    let metrics = comparison["metrics"].as_array().unwrap();
    let p99 = metrics
        .iter()
        .find(|metric| metric["name"] == "read_lat_p99_ns");
    assert_eq!(p99.unwrap()["at_least"], json!([false, true]));
}

/// Checks a one-second run in which no I/O completed after the first samples.
fn check_stalled(run: &Value, job: &str) {
    assert_eq!(run["status"], "failed");
    let reason = run["reason"].as_str().unwrap();
    let start = format!("Job {job} completed no I/O for ");
    assert!(reason.starts_with(&start), "{reason}");
    let unfinished = &run["report"]["read"]["unfinished"];
    assert_eq!(unfinished["ios"], 32);
    assert_eq!(run["lat_max_ns"], unfinished["oldest_ns"]);
    assert_eq!(run["lat_p99_ns"], unfinished["oldest_ns"]);
}

#[tokio::test]
async fn stalled_runner_that_does_not_exit_is_killed() {
    let server = Program::start().await;
    let began = Instant::now();
    let number = server.queue(job("hang", "1s")).await;
    let cancelled = server.queue(job_on("vdb", "hang", "60s")).await;
    server.wait_for_status(number, &["finishing"]).await;
    server
        .post(&format!("/runs/{cancelled}/cancel"), &json!(null))
        .await;
    let cancelled = server.wait_until_ended(cancelled).await;
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(cancelled["report"]["read"]["unfinished"]["ios"], 32);
    assert!(began.elapsed() < Duration::from_secs(10));
    let ended = server.wait_until_ended(number).await;
    check_stalled(&ended, "hang");
    // The runner has ten seconds to exit after its report.
    let seconds = began.elapsed().as_secs();
    assert!((11..15).contains(&seconds), "{seconds} s");
}

#[tokio::test]
async fn runner_failures_fail_the_run() {
    let server = Program::start().await;
    for (name, part, samples) in [
        (
            "crash",
            "sent no report: killed by signal 9 (SIGKILL); last stderr line: about to crash",
            true,
        ),
        ("invalid-event", "stopped: invalid event", true),
        ("fail", "The disk is full.", false),
        (
            "error",
            "Job error: read of 4096 bytes at offset 4096: Input/output error.",
            true,
        ),
    ] {
        let number = server.queue(job(name, "200ms")).await;
        let ended = server.wait_until_ended(number).await;
        assert_eq!(ended["status"], "failed", "{name}");
        assert!(
            ended["reason"].as_str().unwrap().contains(part),
            "{name}: {}",
            ended["reason"]
        );
        assert_eq!(ended["samples"].as_u64().unwrap() > 0, samples, "{name}");
    }
    let failed = server.get("/runs/3").await;
    assert_eq!(failed["failure"]["problems"][0]["code"], "no_space");
    // The server still works.
    let number = server.queue(job("a", "10ms")).await;
    assert_eq!(server.wait_until_ended(number).await["status"], "done");
}

#[tokio::test]
async fn idempotency_key_returns_the_same_run() {
    let server = Program::start().await;
    let body = json!({"jobs": [job("a", "10ms")]}).to_string();
    let send = |path: &str, key: &str, body: String| {
        server
            .request(Method::POST, path)
            .header("idempotency-key", key)
            .body(body)
            .send()
    };
    let mut numbers = Vec::new();
    for replayed in [false, true, true] {
        let response = send("/runs", "k1", body.clone()).await.unwrap();
        assert_eq!(response.status(), StatusCode::CREATED);
        assert_eq!(
            response.headers().contains_key("idempotency-replayed"),
            replayed
        );
        numbers.push(
            response.json::<Value>().await.unwrap()["number"]
                .as_u64()
                .unwrap(),
        );
    }
    assert_eq!(numbers, [1, 1, 1]);
    for (path, body) in [
        ("/runs", body.replace("10ms", "20ms")),
        ("/runs/1/rerun", String::new()),
    ] {
        let problem = send(path, "k1", body).await.unwrap();
        assert_eq!(problem.status(), StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(
            problem.json::<Value>().await.unwrap()["code"],
            "idempotency_key_reused"
        );
    }
    let many = (0..8).map(|_| send("/runs", "k2", body.clone()));
    let together = futures_util::future::join_all(many).await;
    for response in together {
        assert_eq!(
            response.unwrap().json::<Value>().await.unwrap()["number"],
            2
        );
    }
    assert_eq!(server.get("/runs").await["total"], 2);
    // A deleted run is not created again by a repeated request.
    server.wait_until_ended(1).await;
    assert_eq!(
        server
            .send(server.request(Method::DELETE, "/runs/1"))
            .await
            .0,
        StatusCode::NO_CONTENT
    );
    let deleted = send("/runs", "k1", body.clone()).await.unwrap();
    assert_eq!(deleted.status(), StatusCode::CONFLICT);
    assert_eq!(deleted.json::<Value>().await.unwrap()["code"], "deleted");
    assert_eq!(server.get("/runs").await["total"], 1);
    assert_eq!(
        send("/runs", "", body).await.unwrap().status(),
        StatusCode::UNPROCESSABLE_ENTITY
    );
}

#[tokio::test]
async fn cancel_completes_after_disconnect() {
    let server = Program::start().await;
    let running = server.queue(job("a", "20s")).await;
    server.wait_for_status(running, &["measuring"]).await;
    let waiting = server.queue(job("b", "10ms")).await;
    // Locks the database to prevent the server from writing.
    let database = format!("sqlite:{}", server.data().join("leadline.db").display());
    let mut other = SqliteConnection::connect(&database).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE")
        .execute(&mut other)
        .await
        .unwrap();
    let path = format!("/runs/{waiting}/cancel");
    let sent = server
        .request(Method::POST, &path)
        .timeout(Duration::from_millis(300))
        .send()
        .await;
    assert!(sent.unwrap_err().is_timeout());
    tokio::time::sleep(Duration::from_millis(200)).await;
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    server.wait_for_status(waiting, &["cancelled"]).await;
}

#[tokio::test]
async fn rerun_with_changes() {
    let server = Program::start().await;
    let (_, first) = server
        .post("/runs", &json!({"jobs": [job("a", "10ms"), job("b", "10ms")], "name": "n", "tags": ["t"], "sample_ms": 20}))
        .await;
    let (status, again) = server
        .send(server.request(Method::POST, "/runs/1/rerun"))
        .await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(&again["requested"], &first["requested"]);
    assert_eq!(again["name"], "n");
    assert_eq!(again["tags"], json!(["t"]));
    let change = json!({"name": "buffered", "patch": {"direct": 0, "runtime": null}});
    let (_, changed) = server.post("/runs/1/rerun", &change).await;
    for job in changed["requested"]["jobs"].as_array().unwrap() {
        assert_eq!(job["direct"], 0);
        assert_eq!(job.get("runtime"), None);
    }
    assert_eq!(changed["name"], "buffered");
    assert_eq!(changed["direct"], false);
    assert_eq!(changed["number"], 3);
    let (status, problem) = server
        .post("/runs/1/rerun", &json!({"patch": {"bs": "x"}, "bogus": 1}))
        .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(problem["errors"][0]["field"], "bogus");
}

#[tokio::test]
async fn rename_tag_and_delete() {
    let server = Program::start().await;
    let number = server.queue(job("a", "500ms")).await;
    let path = format!("/runs/{number}");
    let (status, patched) = server
        .send(
            server
                .request(Method::PATCH, &path)
                .json(&json!({"name": "new", "tags": ["t"], "notes": "n"})),
        )
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(patched["name"], "new");
    assert_eq!(patched["tags"], json!(["t"]));
    assert_eq!(patched["notes"], "n");
    assert_eq!(server.get("/runs?tag=t").await["total"], 1);
    let (status, problem) = server.send(server.request(Method::DELETE, &path)).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(problem["code"], "not_ended");
    server.wait_until_ended(number).await;
    assert_eq!(
        server.send(server.request(Method::DELETE, &path)).await.0,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        server.send(server.request(Method::GET, &path)).await.0,
        StatusCode::NOT_FOUND
    );
    assert_eq!(server.get("/runs").await["total"], 0);
    // Run numbers are never reused.
    assert_eq!(server.queue(job("b", "10ms")).await, number + 1);
}

#[tokio::test]
async fn concurrent_changes_are_all_stored() {
    let server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(number).await;
    let path = format!("/runs/{number}");
    let patch = |change: Value| server.send(server.request(Method::PATCH, &path).json(&change));
    for round in 0..50 {
        let (name, tag, note) = (
            format!("name {round}"),
            format!("tag{round}"),
            format!("note {round}"),
        );
        tokio::join!(
            patch(json!({"name": name})),
            patch(json!({"tags": [tag]})),
            patch(json!({"notes": note}))
        );
        let run = server.get(&path).await;
        assert_eq!(run["name"], json!(name));
        assert_eq!(run["tags"], json!([tag]));
        assert_eq!(run["notes"], json!(note));
    }
}

#[tokio::test]
async fn series_and_exports_contain_all_samples() {
    let server = Program::start().await;
    let number = server.queue(job("a", "500ms")).await;
    let run = server.wait_until_ended(number).await;
    let series = server.get(&format!("/runs/{number}/series?points=4")).await;
    let column = |name: &str| {
        series["columns"]
            .as_array()
            .unwrap()
            .iter()
            .find(|column| column["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        series["t_ms"].as_array().unwrap().len(),
        column("read_iops")["mean"].as_array().unwrap().len()
    );
    assert!(series["t_ms"].as_array().unwrap().len() <= 4);
    // 100 reads in 20 ms.
    assert_eq!(column("read_iops")["mean"][1], json!(5000.0));
    assert_eq!(column("lat_p50_ns")["mean"][1], json!(7456.0));
    assert_eq!(column("dirty")["mean"][1], json!(null));
    let part = server
        .get(&format!("/runs/{number}/series?from_ms=100&to_ms=200"))
        .await;
    assert_eq!(part["from_ms"], json!(100.0));
    assert_eq!(part["bucket_ms"], json!(20.0));
    assert!((4..=6).contains(&part["t_ms"].as_array().unwrap().len()));
    let csv = server
        .request(Method::GET, &format!("/runs/{number}/export?format=csv"))
        .send()
        .await
        .unwrap();
    assert!(
        csv.headers()["content-disposition"]
            .to_str()
            .unwrap()
            .contains("leadline-1.csv")
    );
    let csv = csv.text().await.unwrap();
    assert_eq!(
        csv.lines().count() as u64,
        run["samples"].as_u64().unwrap() + 1
    );
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    assert!(rows.clone().all(|row| row.len() == columns.len()));
    // The histograms of 20 samples are merged into the row of the last one.
    let row = rows.next_back().unwrap();
    let latency = |name: &str| -> f64 {
        let column = columns.iter().position(|column| *column == name);
        row[column.unwrap()].parse().unwrap()
    };
    assert!(latency("lat_p50_ns") > 0.0);
    assert!(latency("lat_p50_ns") <= latency("lat_p99_ns"));
    assert!(latency("lat_p99_ns") <= latency("lat_p999_ns"));
    assert!(latency("lat_p999_ns") <= latency("lat_max_ns"));
    let lines = server
        .request(Method::GET, &format!("/runs/{number}/export?format=ndjson"))
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    let events: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(events, server.events(number).await);
}

#[tokio::test]
async fn compare_two_runs() {
    let server = Program::start().await;
    let (first, second) = (
        server.queue(job("a", "100ms")).await,
        server.queue(job("b", "200ms")).await,
    );
    server.wait_until_ended(second).await;
    let comparison = server
        .get(&format!("/compare?runs={first},{second}&baseline={second}"))
        .await;
    assert_eq!(comparison["baseline"], json!(1));
    assert_eq!(comparison["runs"].as_array().unwrap().len(), 2);
    assert_eq!(
        comparison["comparability"]["level"], "comparable",
        "{}",
        comparison["comparability"]
    );
    let iops = comparison["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .find(|metric| metric["name"] == "read_iops")
        .unwrap();
    let change = &iops["changes"][0];
    assert!(change["percent"].as_f64().unwrap() < 0.0 && iops["changes"][1].is_null());
    assert_eq!(change["verdict"], "undecided");
    assert_eq!(comparison["setting_differences"][0]["name"], "name");
}

#[tokio::test]
async fn hosts_devices_and_options() {
    let server = Program::start().await;
    let hosts = server.get("/hosts").await;
    assert_eq!(hosts[0]["id"], "local");
    assert_eq!(hosts[0]["online"], true);
    assert_eq!(hosts[0]["facts"]["hostname"], "fake");
    assert_eq!(
        server.get("/hosts/local").await["doctor"]["checks"][0]["name"],
        "io_uring"
    );
    assert_eq!(
        server.get("/hosts/local/devices").await["devices"][1]["parents"][0],
        "vda"
    );
    assert!(
        server
            .get("/options")
            .await
            .as_array()
            .unwrap()
            .iter()
            .any(|option| option["name"] == "iodepth")
    );
    let metrics = server.get("/metrics").await;
    let metrics = metrics.as_str().unwrap();
    for part in [
        "leadline_build_info{version=",
        "leadline_runs{status=\"done\"} 0",
        "leadline_runs_queued 0",
        "leadline_http_requests_total{method=\"GET\",route=\"/api/v1/hosts\",status=\"200\"} 1",
    ] {
        assert!(metrics.contains(part), "{part} is missing in\n{metrics}");
    }
}

#[tokio::test]
async fn missing_runner_is_reported() {
    let directory = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--runner", "/nonexistent/runner"]).await;
    let host = server.get("/hosts/local").await;
    assert_eq!(host["online"], false);
    assert_eq!(host["facts"], json!(null));
    assert_eq!(host["doctor"], json!(null));
    assert!(
        host["reason"]
            .as_str()
            .unwrap()
            .contains("/nonexistent/runner")
    );
    let (status, problem) = server
        .post("/runs", &json!({"jobs": [job("a", "1s")]}))
        .await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert_eq!(problem["code"], "runner_failed");
}

#[tokio::test]
async fn concurrent_change_is_not_overwritten() {
    let server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    let path = format!("/runs/{number}");
    let patch = |etag: Option<String>, body: Value| {
        let request = server.request(Method::PATCH, &path).json(&body);
        let request = etag.into_iter().fold(request, |request, etag| {
            request.header("If-Match", format!("\"{etag}\""))
        });
        server.send(request)
    };
    let seen = server.get(&path).await["etag"].as_str().unwrap().to_owned();
    let (status, first) = patch(Some(seen.clone()), json!({"tags": ["first"]})).await;
    assert_eq!((status.as_u16(), &first["tags"]), (200, &json!(["first"])));
    let (status, problem) = patch(Some(seen), json!({"tags": ["second"]})).await;
    assert_eq!(
        (status.as_u16(), problem["code"].as_str()),
        (412, Some("changed_meanwhile"))
    );
    assert_eq!(server.get(&path).await["tags"], json!(["first"]));
    let seen = first["etag"].as_str().unwrap().to_owned();
    let (status, second) = patch(Some(seen), json!({"tags": ["first", "second"]})).await;
    assert_eq!(
        (status.as_u16(), &second["tags"]),
        (200, &json!(["first", "second"]))
    );
    // Scripts may omit the header. The etag does not depend on the run's status.
    assert_eq!(patch(None, json!({"notes": "x"})).await.0, 200);
    server.wait_until_ended(number).await;
    let list = server.get("/runs").await;
    assert_eq!(list["runs"][0]["etag"], server.get(&path).await["etag"]);
}
