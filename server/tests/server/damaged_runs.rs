//! A run is damaged if its position in a study, its request or its status was changed in the
//! database. Its results are not shown or used, and it is not started.

use crate::{
    deletion::connect,
    foreign_results::{MIXED, export, fio, import, imported, temporary_directory},
    program::{Program, job},
    repeats::wait_for_end_of_study,
    trends,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use std::time::Duration;

async fn execute(database: &mut SqliteConnection, sql: &str) {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(database).await;
    assert!(done.unwrap().rows_affected() > 0, "{sql}");
}

fn study(runtimes: [&str; 2]) -> Value {
    let step =
        |(name, runtime)| json!({"name": name, "sample_ms": 20, "jobs": [job(name, runtime)]});
    json!({"name": "two", "steps": [step(("a", runtimes[0])), step(("b", runtimes[1]))]})
}

async fn create(server: &Program, study: &Value) {
    let (status, created) = server.post("/studies", study).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
}

/// Returns the IOPS medians of all steps with this name.
fn medians(study: &Value, name: &str) -> Vec<Value> {
    let results = study["results"].as_array().unwrap().iter();
    let named = results.filter(|result| result["name"] == name);
    named
        .map(|result| result["iops"]["median"].clone())
        .filter(|median| !median.is_null())
        .collect()
}

#[tokio::test]
async fn studies_exclude_damaged_runs_and_mark_them() {
    let server = Program::start().await;
    create(&server, &study(["10ms", "10ms"])).await;
    let intact = wait_for_end_of_study(&server, 1).await;
    assert_eq!(medians(&intact, "a").len(), 1, "{intact}");
    let mut database = connect(&server).await;
    let changes = [
        ("runs", "iops = iops * 10"),
        ("runs", "verdict = 'page_cache'"),
        ("runs", "status = 'failed'"),
        ("runs", "repeat = 2"),
        ("runs", "step = 9"),
        ("runs", "retry_of = 2"),
        ("runs", "study = NULL"),
        ("run_details", "requested = replace(requested, '4k', '8k')"),
        (
            "run_details",
            "resolved = replace(resolved, '4096', '8192')",
        ),
        ("run_details", "sample_ms = sample_ms + 1"),
        ("run_details", "locks = '[]'"),
        ("run_details", "confirm = '[]'"),
        ("run_details", "report = replace(report, '1', '2')"),
        ("run_details", "run_sha256 = x'00'"),
    ];
    for (table, change) in changes {
        let key = if table == "runs" {
            "number = 1"
        } else {
            "run = 1"
        };
        let (column, _) = change.split_once(" = ").unwrap();
        let copy = format!(
            "CREATE TEMPORARY TABLE saved AS SELECT {column} AS value FROM {table} WHERE {key}"
        );
        sqlx::raw_sql(AssertSqlSafe(copy))
            .execute(&mut database)
            .await
            .unwrap();
        execute(
            &mut database,
            &format!("UPDATE {table} SET {change} WHERE {key}"),
        )
        .await;
        let run = server.get("/runs/1").await;
        assert_eq!(run["damaged"], true, "{change}");
        assert!(run["report"].is_null() && run["iops"].is_null(), "{change}");
        let changed = server.get("/studies/1").await;
        assert!(medians(&changed, "a").is_empty(), "{change}: {changed}");
        assert_eq!(medians(&changed, "b").len(), 1, "{change}");
        let steps = changed["steps"].as_array().unwrap().iter();
        for step in steps.filter(|step| step["run"]["number"] == 1) {
            assert!(step["run"]["iops"].is_null(), "{change}: {step}");
            let sentence = step["sentence"].as_str().unwrap_or_default();
            assert!(sentence.contains("does not match its checksum"), "{change}");
        }
        let compare = server.request(Method::GET, "/compare?runs=1,2");
        assert_eq!(
            server.send(compare).await.0,
            StatusCode::CONFLICT,
            "{change}"
        );
        let back = format!("UPDATE {table} SET {column} = (SELECT value FROM saved) WHERE {key}");
        execute(&mut database, &back).await;
        sqlx::raw_sql("DROP TABLE saved")
            .execute(&mut database)
            .await
            .unwrap();
    }
    assert_eq!(server.get("/studies/1").await, intact);
    assert_eq!(server.get("/runs/1").await["damaged"], false);
}

/// A run that was moved to another study does not replace a run in that study.
#[tokio::test]
async fn a_run_moved_from_another_study_does_not_replace_a_run() {
    let server = Program::start().await;
    for number in [1, 2] {
        create(&server, &study(["10ms", "10ms"])).await;
        wait_for_end_of_study(&server, number).await;
    }
    let intact = server.get("/studies/1").await;
    // A retry and the run that it retries have the same position.
    let change = "UPDATE runs SET study = 1, retry_of = 1 WHERE number = 3";
    execute(&mut connect(&server).await, change).await;
    let changed = server.get("/studies/1").await;
    assert_eq!(changed["steps"], intact["steps"]);
    assert_eq!(changed["results"], intact["results"]);
}

#[tokio::test]
async fn a_queued_run_that_was_changed_does_not_start() {
    let changes = [
        "UPDATE run_details SET requested = replace(requested, '4k', '8k') WHERE run = 2",
        "UPDATE run_details SET resolved = '[]' WHERE run = 2",
        "UPDATE run_details SET confirm = '[\"t@1-2\"]' WHERE run = 2",
        "UPDATE runs SET step = 3 WHERE number = 2",
    ];
    for change in changes {
        let server = Program::start().await;
        create(&server, &study(["600ms", "10ms"])).await;
        server.wait_for_status(1, &["measuring"]).await;
        execute(&mut connect(&server).await, change).await;
        let run = server.wait_until_ended(2).await;
        assert_eq!(run["status"], "cancelled", "{change}");
        let reason = run["reason"].as_str().unwrap();
        let expected = "Not started: The stored data of run #2 does not match its checksum.";
        assert!(reason.starts_with(expected), "{change}: {reason}");
        assert_eq!(run["damaged"], true, "{change}");
        assert_eq!(server.starts().len(), 1, "{change}");
    }
}

/// The damaged result does not matter here, because the run is measured again.
#[tokio::test]
async fn a_run_with_a_changed_request_cannot_be_rerun() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    let mut database = connect(&server).await;
    execute(&mut database, "UPDATE runs SET iops = iops * 2").await;
    let (status, again) = server.post("/runs/1/rerun", &json!({})).await;
    assert_eq!(status, StatusCode::CREATED, "{again}");
    let change = "UPDATE run_details SET requested = replace(requested, '4k', '8k') WHERE run = 1";
    execute(&mut database, change).await;
    let (status, problem) = server.post("/runs/1/rerun", &json!({})).await;
    assert_eq!(
        (status, &problem["code"]),
        (StatusCode::CONFLICT, &json!("damaged"))
    );
}

/// Runs from earlier versions have no checksum.
#[tokio::test]
async fn a_run_without_a_checksum_is_shown_and_starts() {
    let server = Program::start().await;
    create(&server, &study(["600ms", "10ms"])).await;
    server.wait_for_status(1, &["measuring"]).await;
    let mut database = connect(&server).await;
    execute(
        &mut database,
        "UPDATE run_details SET run_sha256 = NULL, checksums = 0",
    )
    .await;
    let ended = wait_for_end_of_study(&server, 1).await;
    assert_eq!(ended["status"], "done");
    assert_eq!(medians(&ended, "b").len(), 1, "{ended}");
    let count = "SELECT count(*) FROM run_details WHERE run_sha256 IS NOT NULL";
    let count: i64 = sqlx::query_scalar(count)
        .fetch_one(&mut database)
        .await
        .unwrap();
    assert_eq!(count, 0, "a checksum would make damaged data look intact");
}

/// Returns the numbers of the damaged runs, and those of the runs with results.
fn damaged_runs_and_runs_with_results(list: &Value) -> (Vec<u64>, Vec<u64>) {
    let runs = list["runs"].as_array().unwrap();
    let numbers = |filter: &dyn Fn(&Value) -> bool| {
        let runs = runs.iter().filter(|run| filter(run));
        runs.map(|run| run["number"].as_u64().unwrap()).collect()
    };
    let shown = |run: &Value| {
        let results = ["iops", "bytes_per_second", "lat_p99_ns", "verdict_class"];
        results.iter().any(|name| !run[*name].is_null())
    };
    (numbers(&|run| run["damaged"] == true), numbers(&shown))
}

#[tokio::test]
async fn lists_mark_damaged_runs_and_trends_exclude_them() {
    let server = Program::start().await;
    for _ in 0..3 {
        let run = server.queue(job("a", "100ms")).await;
        server.wait_until_ended(run).await;
    }
    let path = trends::path(&server).await;
    let excluded = |trend: &Value| {
        let points = trend["points"].as_array().unwrap();
        let runs = points
            .iter()
            .flat_map(|point| point["excluded"].as_array().unwrap());
        Vec::from_iter(runs.map(|run| run["run"].as_u64().unwrap()))
    };
    let trend = server.get(&path).await;
    assert!(excluded(&trend).is_empty(), "{trend}");
    assert_eq!(
        damaged_runs_and_runs_with_results(&server.get("/runs").await),
        (vec![], vec![3, 2, 1])
    );
    let mut database = connect(&server).await;
    // Change the report, a value in the list, and the request.
    let changes = [
        ("run_details", "report", "replace(report, 'e', 'f')"),
        ("runs", "iops", "iops + 1"),
        ("run_details", "requested", "replace(requested, '4k', '5k')"),
    ];
    for (table, column, value) in changes {
        let key = if table == "runs" { "number" } else { "run" };
        let saved = format!(
            "CREATE TEMPORARY TABLE saved AS SELECT {column} AS value FROM {table} WHERE {key} = 3"
        );
        sqlx::raw_sql(AssertSqlSafe(saved))
            .execute(&mut database)
            .await
            .unwrap();
        execute(
            &mut database,
            &format!("UPDATE {table} SET {column} = {value} WHERE {key} = 3"),
        )
        .await;
        for query in ["", "?sort=iops", "?sort=iops&order=asc", "?q=a"] {
            let list = server.get(&format!("/runs{query}")).await;
            let (damaged, mut shown) = damaged_runs_and_runs_with_results(&list);
            shown.sort_unstable();
            assert_eq!((damaged, shown), (vec![3], vec![1, 2]), "{column}: {query}");
        }
        assert_eq!(excluded(&server.get(&path).await), [3], "{column}");
        let newest = &server.get("/trends").await["series"][0]["newest_run"];
        assert_eq!(
            (&newest["damaged"], &newest["iops"]),
            (&json!(true), &Value::Null)
        );
        let (status, problem) = trends::pin(&server, &path, json!({"runs": [2, 3]})).await;
        assert_eq!(
            status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{column}: {problem}"
        );
        for filter in ["runs=2,3", "a=1,2&b=3", "a=1,2&b=name:a"] {
            let compare = server.request(Method::GET, &format!("/compare?{filter}"));
            let (status, problem) = server.send(compare).await;
            assert_eq!(status, StatusCode::CONFLICT, "{filter}: {problem}");
        }
        execute(
            &mut database,
            &format!("UPDATE {table} SET {column} = (SELECT value FROM saved) WHERE {key} = 3"),
        )
        .await;
        sqlx::raw_sql("DROP TABLE saved")
            .execute(&mut database)
            .await
            .unwrap();
    }
    assert_eq!(
        damaged_runs_and_runs_with_results(&server.get("/runs").await),
        (vec![], vec![3, 2, 1])
    );
    assert!(excluded(&server.get(&path).await).is_empty());
}

#[tokio::test]
async fn a_changed_document_is_not_exported() {
    let directory = temporary_directory();
    let Some(text) = fio(directory.path(), &MIXED) else {
        return;
    };
    let server = Program::start().await;
    let run = imported(&server, &text).await;
    assert_eq!(export(&server, &run, "fio-json").await.0, StatusCode::OK);
    let other = imported(&server, &fio(directory.path(), &MIXED).unwrap()).await;
    let mut database = connect(&server).await;
    // A document with a different result, and a truncated document.
    for document in [
        format!(
            "(SELECT document FROM foreign_results WHERE run = {})",
            other["number"]
        ),
        "substr(document, 1, length(document) - 20)".into(),
    ] {
        let sql = format!(
            "UPDATE foreign_results SET document = {document} WHERE run = {}",
            run["number"]
        );
        execute(&mut database, &sql).await;
        let (status, problem) = export(&server, &run, "fio-json").await;
        assert_eq!(status, StatusCode::CONFLICT, "{problem}");
        assert!(problem.contains("does not match its checksum"), "{problem}");
        // Importing the same result again restores the document.
        let (status, again) = import(&server, "", &text).await;
        assert_eq!((status, &again["number"]), (StatusCode::OK, &run["number"]));
        let (status, exported) = export(&server, &run, "fio-json").await;
        assert_eq!((status, exported.trim()), (StatusCode::OK, text.trim()));
    }
}

/// Tests every stored value of an ended run that affects lists, pages or comparisons.
#[tokio::test]
async fn each_changed_value_of_an_ended_run_is_detected() {
    let server = Program::start().await;
    let other = server.queue(job("b", "10ms")).await;
    let run = server.queue(job("a", "10ms")).await;
    for run in [other, run] {
        server.wait_until_ended(run).await;
    }
    let intact = server.get("/runs/2").await;
    assert_eq!(
        (&intact["damaged"], &intact["has_checksum"]),
        (&json!(false), &json!(true))
    );
    let mut database = connect(&server).await;
    let changes = [
        ("runs", "source = 'fio'"),
        ("runs", "host = 'mars'"),
        ("runs", "reason = 'none'"),
        ("runs", "created_at_ms = created_at_ms - 1"),
        ("runs", "started_at_ms = started_at_ms + 1"),
        ("runs", "finished_at_ms = finished_at_ms + 1"),
        ("runs", "finished_at_ms = NULL"),
        ("runs", "mode = 'buffered'"),
        ("runs", "rw = 'randwrite'"),
        ("runs", "bs = '8k'"),
        ("runs", "iodepth = 99"),
        ("runs", "numjobs = 99"),
        ("runs", "direct = 1 - direct"),
        ("runs", "device = 'sdz'"),
        ("runs", "target = '/other'"),
        ("runs", "job_fingerprint = NULL"),
        ("runs", "host_fingerprint = 'x'"),
        ("runs", "machine_fingerprint = 'x'"),
        (
            "run_details",
            "host_facts = json_set(host_facts, '$.kernel', '5')",
        ),
        ("run_details", "host_facts = '?'"),
        ("run_details", "host_facts = NULL"),
        ("run_details", "measure_ms = 7"),
        ("run_details", "failure = '{}'"),
        ("run_details", "run_sha256 = NULL"),
        ("run_details", "result_sha256 = NULL"),
        ("run_details", "summary_sha256 = NULL"),
        ("run_details", "final_sha256 = NULL"),
        ("run_details", "checksums = 0"),
        ("run_details", "resolved = '?'"),
        ("run_details", "requested = '?'"),
    ];
    for (table, change) in changes {
        let key = if table == "runs" { "number" } else { "run" };
        let (column, _) = change.split_once(" = ").unwrap();
        let copy = format!(
            "CREATE TEMPORARY TABLE saved AS SELECT {column} AS value FROM {table} WHERE {key} = 2"
        );
        sqlx::raw_sql(AssertSqlSafe(copy))
            .execute(&mut database)
            .await
            .unwrap();
        let sql = format!("UPDATE {table} SET {change} WHERE {key} = 2");
        execute(&mut database, &sql).await;
        let run = server.get("/runs/2").await;
        assert_eq!(run["damaged"], true, "{change}");
        let hidden = [
            "report",
            "verdict",
            "host_facts",
            "iops",
            "host_fingerprint",
        ];
        for field in hidden {
            assert!(run[field].is_null(), "{change}: {field}");
        }
        for path in ["/compare?runs=1,2", "/runs/2/stream", "/runs/2/series"] {
            assert_conflict(&server, path, change).await;
        }
        let back =
            format!("UPDATE {table} SET {column} = (SELECT value FROM saved) WHERE {key} = 2");
        execute(&mut database, &back).await;
        sqlx::raw_sql("DROP TABLE saved")
            .execute(&mut database)
            .await
            .unwrap();
    }
    assert_eq!(server.get("/runs/2").await, intact);
}

async fn assert_conflict(server: &Program, path: &str, change: &str) {
    let (status, problem) = server.send(server.request(Method::GET, path)).await;
    let code = problem["code"].as_str();
    assert_eq!(
        (status, code),
        (StatusCode::CONFLICT, Some("damaged")),
        "{path}: {change}"
    );
}

#[tokio::test]
async fn a_damaged_run_is_not_exported() {
    let server = Program::start().await;
    let run = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(run).await;
    let formats = [
        "csv",
        "ndjson",
        "html",
        "fio-job",
        "fio-json",
        "fio-json%2B",
        "fio-terse",
        "fio-bw-log",
        "fio-iops-log",
        "fio-lat-log",
        "fio-clat-hist-log",
    ];
    let mut database = connect(&server).await;
    execute(
        &mut database,
        "UPDATE run_details SET requested = replace(requested, '4k', '8k')",
    )
    .await;
    for format in formats {
        let path = format!("/runs/1/export?format={format}");
        assert_conflict(&server, &path, "requested").await;
    }
    for path in ["/runs/1/stream", "/runs/1/series", "/runs/1/flame.svg"] {
        assert_conflict(&server, path, "requested").await;
    }
}

/// Users and the server may change an ended run without damaging it.
#[tokio::test]
async fn changes_by_users_and_the_server_do_not_damage_runs() {
    let mut server = Program::start().await;
    create(&server, &study(["10ms", "10ms"])).await;
    wait_for_end_of_study(&server, 1).await;
    let queued = server.queue(job("c", "500ms")).await;
    let waiting = server.queue(job("d", "10ms")).await;
    let (status, _) = server
        .post(&format!("/runs/{waiting}/cancel"), &json!({}))
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    server.wait_for_status(queued, &["measuring"]).await;
    let change = json!({"name": "new", "tags": ["t"], "notes": "n"});
    let patch = server.request(Method::PATCH, "/runs/1").json(&change);
    assert_eq!(server.send(patch).await.0, StatusCode::OK);
    let renamed = server
        .request(Method::PATCH, "/studies/1")
        .json(&json!({"name": "three"}));
    assert_eq!(server.send(renamed).await.0, StatusCode::OK);
    let note = json!({"t_ms": 1, "text": "here"});
    let (status, _) = server.post("/runs/2/annotations", &note).await;
    assert_eq!(status, StatusCode::CREATED);
    server.wait_until_ended(queued).await;
    // Make the server recompute the fingerprints of all runs, as after an update.
    server.stop().await;
    let mut database = connect(&server).await;
    execute(&mut database, "UPDATE runs SET fingerprint_version = 0").await;
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let pending = "SELECT count(*) FROM runs WHERE fingerprint_version = 0";
    while sqlx::query_scalar::<_, i64>(pending)
        .fetch_one(&mut database)
        .await
        .unwrap()
        > 0
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let list = server.get("/runs").await;
    assert_eq!(list["runs"].as_array().unwrap().len(), 4);
    assert_eq!(
        damaged_runs_and_runs_with_results(&list),
        (vec![], vec![3, 2, 1]),
        "{list}"
    );
    for number in 1..=4 {
        let run = server.get(&format!("/runs/{number}")).await;
        assert_eq!(run["has_checksum"], true, "{run}");
    }
}

/// Tags are not covered by a checksum, because users change them.
#[tokio::test]
async fn unreadable_tags_do_not_hide_other_runs() {
    let server = Program::start().await;
    for name in ["a", "b"] {
        let number = server.queue(job(name, "10ms")).await;
        server.wait_until_ended(number).await;
    }
    let mut database = connect(&server).await;
    execute(&mut database, "UPDATE runs SET tags = 'x' WHERE number = 1").await;
    database.close().await.unwrap();
    assert_eq!(server.get("/runs").await["total"], 2);
    assert_eq!(server.get("/runs/1").await["tags"], json!([]));
    for path in ["/trends", "/studies", "/compare?runs=1,2"] {
        let response = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
    }
    let delete = server.request(Method::DELETE, "/runs/1");
    assert_eq!(server.send(delete).await.0, StatusCode::NO_CONTENT);
}
