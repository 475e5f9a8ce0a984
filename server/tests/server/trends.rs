//! Trends of copied runs, and their baselines.

use crate::program::{Program, TIMEOUT, job};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, raw_sql, sqlite::SqliteConnectOptions};
use std::{path::Path, time::Instant};

const DAY_MS: u64 = 86_400_000;

async fn execute(data: &Path, sql: &str) {
    let options = SqliteConnectOptions::new().filename(data.join("leadline.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let sql = AssertSqlSafe(format!("BEGIN; {sql}; COMMIT"));
    raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// A copy of run 1 with different values.
pub(crate) struct Copy {
    number: u64,
    day: u64,
    iops: f64,
    kernel: &'static str,
    status: &'static str,
    findings: &'static str,
}

fn copy(number: u64, day: u64, iops: f64) -> Copy {
    Copy {
        number,
        day,
        iops,
        kernel: "6.1.0",
        status: "done",
        findings: "[]",
    }
}

impl Copy {
    fn sql(&self) -> String {
        let Self {
            number,
            day,
            iops,
            kernel,
            status,
            findings,
        } = self;
        let started = day * DAY_MS + number;
        format!(
            "CREATE TEMP TABLE r AS SELECT * FROM runs WHERE number = 1;
             UPDATE r SET number = {number}, started_at_ms = {started}, created_at_ms = {started}, status = '{status}', fingerprint_version = 0;
             INSERT INTO runs SELECT * FROM r; DROP TABLE r;
             CREATE TEMP TABLE d AS SELECT * FROM run_details WHERE run = 1;
             UPDATE d SET run = {number}, result_sha256 = NULL, summary_sha256 = NULL, run_sha256 = NULL, final_sha256 = NULL, checksums = 0, findings = '{findings}',
                 report = json_set(report, '$.read.iops', {iops}), host_facts = json_set(host_facts, '$.kernel', '{kernel}');
             INSERT INTO run_details SELECT * FROM d; DROP TABLE d;"
        )
    }
}

/// A server with copies of run 1, whose fingerprints it has computed.
pub(crate) async fn server_with(copies: &[Copy]) -> Program {
    let mut server = Program::start().await;
    let run = server.queue(job("a", "20ms")).await;
    server.wait_until_ended(run).await;
    server.stop().await;
    // In chunks: one string with all 10,000 copies would be 10 MB.
    for copies in copies.chunks(100) {
        let sql: Vec<String> = copies.iter().map(Copy::sql).collect();
        execute(&server.data(), &sql.join("\n")).await;
    }
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let began = Instant::now();
    while server.get("/trends").await["pending_runs"] != 0 {
        assert!(began.elapsed() < TIMEOUT, "runs have no fingerprints");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    server
}

pub(crate) async fn path(server: &Program) -> String {
    let list = server.get("/trends").await;
    let series = &list["series"][0];
    let part = |name: &str| series[name].as_str().unwrap().to_owned();
    format!(
        "/trends/{}/{}",
        part("job_fingerprint"),
        part("machine_fingerprint")
    )
}

pub(crate) async fn pin(server: &Program, path: &str, body: Value) -> (StatusCode, Value) {
    let request = server.request(Method::PUT, &format!("{path}/baseline"));
    server.send(request.json(&body)).await
}

/// Returns ten copies for one day, with approximately this IOPS level.
pub(crate) fn day(first: u64, day: u64, iops: f64) -> Vec<Copy> {
    let runs = first..first + 10;
    runs.map(|number| copy(number, day, iops + (number % 5) as f64))
        .collect()
}

const FOREIGN: &str =
    r#"[{"code":"foreign_io","severity":"serious","sentence":"s","evidence":{},"remedy":"r"}]"#;

#[tokio::test]
async fn kernel_update_is_shown_with_reasons() {
    let mut copies = Vec::from_iter((100..120).map(|n| copy(n, n, 100.0 + (n % 3) as f64)));
    copies.extend((120..140).map(|n| Copy {
        kernel: "6.8.0",
        ..copy(n, n, 80.0 + (n % 3) as f64)
    }));
    copies.push(Copy {
        status: "failed",
        kernel: "6.8.0",
        ..copy(140, 139, 1.0)
    });
    copies.push(Copy {
        findings: FOREIGN,
        kernel: "6.8.0",
        ..copy(141, 139, 5.0)
    });
    let server = server_with(&copies).await;
    let list = server.get("/trends").await;
    assert_eq!(
        list["total"], 1,
        "one series despite the kernel update: {list}"
    );
    assert_eq!(list["series"][0]["hostname"], "fake");
    assert_eq!(list["series"][0]["baseline"], Value::Null);
    assert_eq!(list["series"][0]["state"], Value::Null);

    let path = path(&server).await;
    let trend = server.get(&format!("{path}?metric=read_iops")).await;
    let points = trend["points"].as_array().unwrap();
    assert_eq!(points.len(), 41, "run 1 is from today");
    assert_eq!(trend["older_runs"], 0);
    let mark = points
        .iter()
        .position(|point| point["started_at_ms"] == 120 * DAY_MS + 120)
        .unwrap();
    let change = json!([{"name": "kernel", "before": "6.1.0", "after": "6.8.0"}]);
    assert_eq!(points[mark]["host_changes"], change);
    assert_eq!(trend["changes"][0]["point"], mark);
    assert_eq!(trend["changes"][0]["is_better"], false);
    let percent = trend["changes"][0]["percent"].as_f64().unwrap();
    assert!((percent + 19.8).abs() < 0.5, "{percent}");

    let excluded = trend["excluded"].as_array().unwrap();
    let reasons: Vec<&str> = excluded
        .iter()
        .map(|count| count["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["failed", "foreign I/O"]);
    let last = &points[points.len() - 1];
    assert_eq!(last["runs"], json!([139]));
    assert_eq!(
        last["excluded"][1],
        json!({"run": 141, "kind": "disturbed", "reason": "foreign I/O", "value": 5.0})
    );

    // The runs before and after the change can be compared.
    let runs = |name: &str| {
        let runs = trend["changes"][0][name].as_array().unwrap().iter();
        runs.map(Value::to_string).collect::<Vec<_>>().join(",")
    };
    let query = format!(
        "/compare?a={}&b={}",
        runs("runs_before"),
        runs("runs_after")
    );
    let compared = server.get(&query).await;
    assert_eq!(compared["groups"][0]["complete"], 21);
    let other = server.get(&format!("{path}?metric=read_lat_p99_ns")).await;
    assert_eq!(other["changes"], json!([]));
}

#[tokio::test]
async fn unknown_series_and_metrics_are_rejected() {
    let server = server_with(&[]).await;
    let get = |path: String| server.send(server.request(Method::GET, &path));
    assert_eq!(get("/trends/aa/bb".into()).await.0, 404);
    let path = path(&server).await;
    for query in ["metric=none", "metric=iops", "threshold=0", "threshold=NaN"] {
        let (status, problem) = server
            .send(server.request(Method::GET, &format!("{path}?{query}")))
            .await;
        assert_eq!(status, 422, "{query}: {problem}");
    }
    assert_eq!(get("/trends?limit=0".into()).await.0, 422);
    for body in [
        json!({"runs": []}),
        json!({"runs": [99]}),
        json!({"runs": "1"}),
        json!({"runs": [1], "threshold_percent": -1}),
        json!({"runs": [1], "x": 1}),
    ] {
        let (status, problem) = pin(&server, &path, body.clone()).await;
        assert_eq!(status, 422, "{body}: {problem}");
    }
    let other = server.queue(json!({"name": "b", "rw": "read", "bs": "4k", "direct": 0, "runtime": "20ms", "filename": "/fake/vda/t"})).await;
    server.wait_until_ended(other).await;
    let (status, problem) = pin(&server, &path, json!({"runs": [other]})).await;
    assert_eq!(status, 422, "{problem}");
    assert_eq!(server.get("/trends").await["total"], 2);
}

async fn state(server: &Program, path: &str) -> Value {
    server.get(path).await["state"].clone()
}

#[tokio::test]
async fn state_is_derived_from_the_runs_and_survives_a_restart() {
    let mut copies = day(10, 1, 1000.0);
    copies.extend(day(20, 2, 800.0));
    let server = server_with(&copies).await;
    // Delete run 1, which has today's date and would be the newest run.
    server.send(server.request(Method::DELETE, "/runs/1")).await;
    let path = path(&server).await;
    let runs = Vec::from_iter(10..20);
    let (status, pinned) = pin(&server, &path, json!({"runs": runs})).await;
    assert_eq!(status, 200, "{pinned}");
    assert_eq!(pinned["state"]["state"], "regressed", "{pinned}");
    assert_eq!(pinned["baseline"]["threshold_percent"], Value::Null);
    assert_eq!(server.get(&path).await["threshold_percent"], 2.0);
    let text = pinned["state"]["reason"].as_str().unwrap();
    let expected = "The newest group has 20 % lower read IOPS than the baseline (95 % interval";
    assert!(text.starts_with(expected), "{text}");

    let server = server.kill_and_restart().await;
    assert_eq!(state(&server, &path).await, pinned["state"]);
    let metrics = server.get("/metrics").await;
    let gauge = metrics.as_str().unwrap().lines().find(|line| {
        line.starts_with("leadline_trend_state{") && line.contains(r#"state="regressed""#)
    });
    assert!(gauge.unwrap().ends_with(" 1"), "{metrics}");

    // The newest group directly follows the baseline.
    pin(&server, &path, json!({"runs": Vec::from_iter(20..30)})).await;
    assert_eq!(state(&server, &path).await["state"], "undecided");
    pin(
        &server,
        &path,
        json!({"runs": runs, "threshold_percent": 50}),
    )
    .await;
    assert_eq!(state(&server, &path).await["state"], "ok");
    let pinned = server.get("/trends?pinned=true").await;
    assert_eq!(
        (&pinned["total"], &pinned["series"][0]["state"]["state"]),
        (&json!(1), &json!("ok"))
    );

    let unpin = || server.send(server.request(Method::DELETE, &format!("{path}/baseline")));
    assert_eq!(unpin().await.0, 204);
    assert_eq!(state(&server, &path).await, Value::Null);
    assert_eq!(unpin().await.0, 404);
    assert_eq!(server.get("/trends?pinned=true").await["total"], 0);
    let metrics = server.get("/metrics").await;
    assert!(
        !metrics.as_str().unwrap().contains("leadline_trend_state{"),
        "{metrics}"
    );
}

#[tokio::test]
async fn deleted_baseline_is_not_replaced() {
    let mut copies = day(10, 1, 1000.0);
    copies.extend(day(20, 2, 1000.0));
    let server = server_with(&copies).await;
    let path = path(&server).await;
    pin(&server, &path, json!({"runs": [10, 11, 12, 13, 14, 15]})).await;
    let before = state(&server, &path).await;
    let delete = |run: u64| server.send(server.request(Method::DELETE, &format!("/runs/{run}")));
    delete(10).await;
    let trend = server.get(&path).await;
    assert_eq!(trend["baseline"]["deleted_runs"], json!([10]));
    let reason = trend["state"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("1 of 6 runs in the baseline have been deleted"),
        "{reason} {before}"
    );
    for run in 11..=15 {
        delete(run).await;
    }
    let state_now = state(&server, &path).await;
    assert_eq!(state_now["state"], "not_comparable");
    assert_eq!(
        state_now["reason"],
        "All runs in the baseline have been deleted. Pin another group."
    );
    for run in [1].into_iter().chain(16..30) {
        delete(run).await;
    }
    assert_eq!(server.get("/trends?pinned=true").await["total"], 0);
}

#[tokio::test]
async fn damaged_values_are_excluded() {
    let server = server_with(&day(10, 1, 1000.0)).await;
    let path = path(&server).await;
    execute(
        &server.data(),
        "UPDATE run_values SET content = replace(content, '1000', '1001') WHERE run = 10",
    )
    .await;
    let trend = server.get(&format!("{path}?metric=read_iops")).await;
    let point = &trend["points"]
        .as_array()
        .unwrap()
        .iter()
        .find(|point| point["statistics"]["n"] == 9);
    assert_eq!(point.unwrap()["excluded"][0]["kind"], "damaged");
}

/// Checksums of values include the run number.
#[tokio::test]
async fn swapped_values_are_excluded() {
    let server = server_with(&day(10, 1, 1000.0)).await;
    let path = path(&server).await;
    let swap = "CREATE TEMP TABLE v AS SELECT * FROM run_values WHERE run IN (10, 11);
        UPDATE run_values SET (content, sha256) = (SELECT content, sha256 FROM v WHERE v.run = 21 - run_values.run)
            WHERE run IN (10, 11)";
    execute(&server.data(), swap).await;
    assert_eq!(excluded(&server.get(&path).await), [10, 11]);
    execute(&server.data(), swap).await;
    assert!(excluded(&server.get(&path).await).is_empty());
}

/// Returns the numbers of the runs whose results are damaged.
fn excluded(trend: &Value) -> Vec<u64> {
    let points = trend["points"].as_array().unwrap().iter();
    let runs = points.flat_map(|point| point["excluded"].as_array().unwrap());
    let damaged = runs.filter(|run| run["kind"] == "damaged");
    damaged.map(|run| run["run"].as_u64().unwrap()).collect()
}

/// In version 28, the checksums of values did not include the run number. Such values are used
/// until they are recomputed.
#[tokio::test]
async fn values_from_an_earlier_version_get_a_new_checksum() {
    let mut server = server_with(&day(10, 1, 1000.0)).await;
    let path = path(&server).await;
    let trend = server.get(&path).await;
    let data = server.data();
    let current = checksums(&data).await;
    server.stop().await;
    for (run, content, _) in &current {
        let digest = Sha256::digest(content);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let sql = format!(
            "UPDATE run_values SET sha256 = x'{digest}' WHERE run = {run};
             UPDATE runs SET fingerprint_version = 0 WHERE number = {run}"
        );
        execute(&data, &sql).await;
    }
    assert_ne!(checksums(&data).await, current);
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let is_same = |now: &Value| now["points"] == trend["points"];
    assert!(is_same(&server.get(&path).await));
    let began = Instant::now();
    while server.get("/trends").await["pending_runs"] != 0 {
        assert!(began.elapsed() < TIMEOUT, "values have no checksums");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(checksums(&data).await, current);
    assert!(is_same(&server.get(&path).await));
}

/// Returns the runs with their values and checksums.
async fn checksums(data: &Path) -> Vec<(u64, String, Vec<u8>)> {
    let options = SqliteConnectOptions::new().filename(data.join("leadline.db"));
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    let sql = "SELECT run, content, sha256 FROM run_values ORDER BY run";
    let rows = sqlx::query_as(sql).fetch_all(&mut connection).await;
    connection.close().await.unwrap();
    rows.unwrap()
}

const DAMAGED_BASELINE: &str = "The stored baseline does not match its checksum. Pin it again, or restore the database from a backup.";

#[tokio::test]
async fn changed_baselines_are_damaged() {
    let mut copies = day(10, 1, 1000.0);
    copies.extend(day(20, 2, 800.0));
    let server = server_with(&copies).await;
    server.send(server.request(Method::DELETE, "/runs/1")).await;
    let path = path(&server).await;
    let request = json!({"runs": Vec::from_iter(10..20), "threshold_percent": 2});
    pin(&server, &path, request.clone()).await;
    let intact = server.get(&path).await;
    assert_eq!(intact["state"]["state"], "regressed");
    let save = "CREATE TABLE saved AS SELECT * FROM baselines";
    execute(&server.data(), save).await;
    for change in [
        "threshold_percent = 50",
        "threshold_percent = NULL",
        "runs = '[10]'",
        "runs = '[20,21,22,23,24,25]'",
        "runs = 'none'",
        "pinned_at_ms = pinned_at_ms + 1",
        "sha256 = NULL",
        "sha256 = x'00'",
        "threshold_percent = 50, sha256 = NULL",
    ] {
        execute(&server.data(), &format!("UPDATE baselines SET {change}")).await;
        let trend = server.get(&path).await;
        let state = &trend["state"];
        assert_eq!(
            (&state["state"], &state["reason"]),
            (&json!("not_comparable"), &json!(DAMAGED_BASELINE)),
            "{change}"
        );
        let baseline = &trend["baseline"];
        assert_eq!(
            (&baseline["runs"], &baseline["threshold_percent"]),
            (&json!([]), &Value::Null),
            "{change}"
        );
        let listed = &server.get("/trends?pinned=true").await["series"][0];
        assert_eq!(listed["state"], *state, "{change}");
        let restore = "DELETE FROM baselines; INSERT INTO baselines SELECT * FROM saved";
        execute(&server.data(), restore).await;
        assert_eq!(server.get(&path).await, intact, "{change}");
    }
    // The remedy in the message works.
    execute(&server.data(), "UPDATE baselines SET runs = '[20]'").await;
    let server = server.kill_and_restart().await;
    assert_eq!(state(&server, &path).await["reason"], DAMAGED_BASELINE);
    pin(&server, &path, request).await;
    assert_eq!(state(&server, &path).await, intact["state"]);
    // A baseline from an earlier version has no checksum.
    let earlier = "UPDATE baselines SET sha256 = NULL, has_checksum = 0";
    execute(&server.data(), earlier).await;
    assert_eq!(state(&server, &path).await, intact["state"]);
}

/// Prints how long 1,000 groups of ten runs take.
///
/// `cargo test --release -p leadline --test server trends::thousand -- --ignored --nocapture`
#[tokio::test]
#[ignore = "benchmark"]
async fn thousand_groups_are_fast() {
    let copies = (0..10_000).map(|index| Copy {
        kernel: if index < 5000 { "6.1.0" } else { "6.8.0" },
        ..copy(
            10 + index,
            100 + index / 10,
            1000.0 + (index * 7919 % 101) as f64,
        )
    });
    let server = server_with(&Vec::from_iter(copies)).await;
    let path = path(&server).await;
    for _ in 0..5 {
        let began = Instant::now();
        let trend = server.get(&path).await;
        let points = trend["points"].as_array().unwrap().len();
        eprintln!(
            "{points} groups, {} runs: {:?}",
            trend["runs"],
            began.elapsed()
        );
    }
}
