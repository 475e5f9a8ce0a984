//! fio results that are imported as runs. The tests rely on these facts from `stat.c` of fio 3.33
//! and its man page:
//!
//! - `clat_ns`, `slat_ns` and `lat_ns` are in ns, `runtime` and `job_runtime` in ms, `bw` in KiB/s
//!   and `bw_bytes` in bytes/s. `iops` and `mean` have six decimals.
//! - Percentiles are named `"99.900000"` and belong to `clat_ns` and, with `lat_percentiles=1`,
//!   also to `lat_ns`. `sync` has separate latencies. The bins in `json+` are counts keyed by
//!   latency in ns.
//! - Options that are set for all jobs are in `global options`, and `job options` may be missing.
//! - A failed job has a nonzero `error`, but keeps its counts.
//! - Jobs after `stonewall` are in another group. With `group_reporting`, clones share one entry.

use crate::{
    program::{Program, job},
    real_runner::read,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::{path::Path, process::Command, sync::Arc};
use tempfile::TempDir;

/// Runs fio in a directory and returns its output, or `None` if fio is not installed.
pub(crate) fn fio(directory: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("fio")
        .current_dir(directory)
        .args(arguments)
        .output();
    let Ok(output) = output else {
        eprintln!("SKIP: fio is not installed (apt-get install fio)");
        return None;
    };
    Some(String::from_utf8(output.stdout).unwrap())
}

pub(crate) const MIXED: [&str; 9] = [
    "--name=mixed",
    "--rw=randrw",
    "--bs=4k",
    "--size=1m",
    "--fsync=16",
    "--ioengine=psync",
    "--filename=f",
    "--randseed=7",
    "--output-format=json+",
];

/// Returns fio's output for `MIXED`, and a server, or `None` if fio is not installed.
pub(crate) async fn mixed() -> Option<(String, Program)> {
    let text = fio(temporary_directory().path(), &MIXED)?;
    Some((text, Program::start().await))
}

/// Returns the document with one value replaced.
pub(crate) fn replace_value(document: &Value, pointer: &str, value: Value) -> String {
    let mut changed = document.clone();
    let target = changed.pointer_mut(pointer);
    *target.unwrap_or_else(|| panic!("{pointer} is not in fio's document")) = value;
    changed.to_string()
}

/// Imports a document that must be rejected, and returns the field of the only error.
pub(crate) async fn rejected_field(server: &Program, text: &str) -> String {
    let (status, problem) = import(server, "", text).await;
    let start: String = text.chars().take(200).collect();
    assert_eq!(
        status,
        StatusCode::UNPROCESSABLE_ENTITY,
        "{problem} {start}"
    );
    let errors = problem["errors"].as_array().unwrap();
    assert_eq!(errors.len(), 1, "{problem}");
    assert_ne!(errors[0]["remedy"].as_str(), Some(""), "{problem}");
    errors[0]["field"].as_str().unwrap().to_owned()
}

pub(crate) async fn import(server: &Program, query: &str, text: &str) -> (StatusCode, Value) {
    let request = server.request(Method::POST, &format!("/runs/import{query}"));
    let request = request.header("content-type", "application/json");
    server.send(request.body(text.to_owned())).await
}

pub(crate) async fn imported(server: &Program, text: &str) -> Value {
    let (status, run) = import(server, "", text).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    run
}

pub(crate) async fn export(server: &Program, run: &Value, format: &str) -> (StatusCode, String) {
    let path = format!("/runs/{}/export?format={format}", run["number"]);
    let response = server.request(Method::GET, &path).send().await.unwrap();
    (response.status(), response.text().await.unwrap())
}

pub(crate) fn temporary_directory() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn check_latency(ours: &Value, fio: &Value, name: &str) {
    assert_eq!(ours["count"], fio["N"], "{name}");
    for field in ["min", "max", "mean", "stddev"] {
        assert_eq!(ours[field], fio[field], "{name}.{field}");
    }
}

fn check_percentiles(ours: &Value, fio: &Value) {
    let ours = ours["percentiles"].as_object().unwrap();
    let fio = fio["percentile"].as_object().unwrap();
    assert_eq!(ours.len(), fio.len());
    for (name, ns) in fio {
        let name = name.parse::<f64>().unwrap().to_string();
        assert_eq!(&ours[&name], ns, "{name}");
    }
}

#[tokio::test]
async fn numbers_match_fio() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let run = imported(&server, &text).await;
    let document: Value = serde_json::from_str(&text).unwrap();
    let fio = &document["jobs"][0];
    let report = &run["report"];
    for name in ["read", "write"] {
        let (ours, fio) = (&report[name], &fio[name]);
        assert_eq!(ours["ios"], fio["total_ios"]);
        assert_eq!(ours["bytes"], fio["io_bytes"]);
        assert_eq!(ours["iops"], fio["iops"]);
        assert_eq!(ours["bytes_per_second"].as_f64(), fio["bw_bytes"].as_f64());
        check_latency(&ours["clat_ns"], &fio["clat_ns"], name);
        check_latency(&ours["lat_ns"], &fio["lat_ns"], name);
        check_percentiles(&ours["clat_ns"], &fio["clat_ns"]);
        check_percentiles(&ours["lat_ns"], &fio["clat_ns"]);
        let buckets = ours["clat_ns"]["buckets"].as_array().unwrap();
        let bins = fio["clat_ns"]["bins"].as_object().unwrap();
        assert_eq!(buckets.len(), bins.len(), "{name}");
    }
    assert_eq!(report["trim"]["ios"], 0);
    check_latency(&report["sync"]["lat_ns"], &fio["sync"]["lat_ns"], "sync");
    check_percentiles(&report["sync"]["lat_ns"], &fio["sync"]["lat_ns"]);
    // With group_reporting, fio adds up the `job_runtime` of all jobs, so it is not the duration.
    let runtimes = ["read", "write"].map(|name| fio[name]["runtime"].as_u64().unwrap());
    let runtime_ms = runtimes[0].max(runtimes[1]);
    assert_eq!(report["duration_ms"].as_f64(), Some(runtime_ms as f64));
    let end = report["started_at_ms"].as_u64().unwrap() + runtime_ms;
    assert_eq!(document["timestamp_ms"], end);
    assert_eq!(report["foreign"]["version"], document["fio version"]);
    assert_eq!(report["foreign"]["percentiles_of"], "clat");
}

#[tokio::test]
async fn unknown_values_are_null_with_a_reason() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let run = imported(&server, &text).await;
    for field in [
        "host",
        "mode",
        "device",
        "verdict_class",
        "resolved",
        "host_facts",
    ] {
        assert_eq!(run[field], Value::Null, "{field}");
    }
    assert_eq!(run["verdict"], json!({"read": null, "write": null}));
    assert_eq!(
        (&run["samples"], &run["status"]),
        (&json!(0), &json!("done"))
    );
    assert_eq!(run["source"], "fio");
    for field in [
        "device",
        "cpu",
        "memory",
        "pressure",
        "storage",
        "gauge",
        "cgroup",
        "ended_by",
        "start_skew_ns",
    ] {
        assert_eq!(run["report"][field], Value::Null, "{field}");
    }
    for field in ["device", "cpu", "gauge", "verdict", "ended_by"] {
        let reason = run["report"]["absent"][field].as_str().unwrap();
        assert!(
            reason.starts_with("Leadline did not observe this run"),
            "{reason}"
        );
    }
    assert_eq!(run["findings"][0]["code"], "result_of_fio");
    let expected = json!({"name": "mixed", "rw": "randrw", "bs": "4k", "size": "1m", "fsync": "16",
        "ioengine": "psync", "filename": "f", "randseed": "7"});
    assert_eq!(run["requested"]["jobs"], json!([expected]));
    let summary = ["rw", "bs", "iodepth", "numjobs", "direct", "target", "name"];
    let summary = summary.map(|field| run[field].clone());
    let expected = json!(["randrw", "4k", 1, 1, false, "f", "mixed"]);
    assert_eq!(json!(summary), expected);
}

#[tokio::test]
async fn runs_survive_a_restart_and_can_be_edited_exported_and_deleted() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let (status, run) = import(&server, "?name=from%20lab&tags=a,b", &text).await;
    assert_eq!(status, StatusCode::CREATED, "{run}");
    let number = run["number"].as_u64().unwrap();
    let server = server.kill_and_restart().await;
    let again = server.get(&format!("/runs/{number}")).await;
    assert_eq!(again["report"], run["report"]);
    assert_eq!(
        (&again["name"], &again["tags"]),
        (&json!("from lab"), &json!(["a", "b"]))
    );
    let listed = |q: &str| format!("/runs?q={q}");
    for (q, total) in [
        ("source:fio", 1),
        ("source:leadline", 0),
        ("-source:fio", 0),
        ("tag:b", 1),
    ] {
        assert_eq!(server.get(&listed(q)).await["total"], total, "{q}");
    }

    let path = format!("/runs/{number}");
    let patch = server
        .request(Method::PATCH, &path)
        .json(&json!({"tags": ["c"]}));
    assert_eq!(server.send(patch).await.1["tags"], json!(["c"]));
    for format in ["fio-json", "fio-json%2B"] {
        let (status, exported) = export(&server, &run, format).await;
        assert_eq!(
            (status, exported.trim()),
            (StatusCode::OK, text.trim()),
            "{format}"
        );
    }
    let (status, job_file) = export(&server, &run, "fio-job").await;
    assert_eq!(status, StatusCode::OK, "{job_file}");
    for line in [
        "[mixed]",
        "rw=randrw",
        "fsync=16",
        "filename=f",
        "ioengine=psync",
    ] {
        assert!(
            job_file.lines().any(|found| found == line),
            "{line}: {job_file}"
        );
    }
    let series = server
        .get(&format!("{path}/series?from_ms=0&to_ms=1000"))
        .await;
    assert_eq!(
        series["columns"][0]["values"]
            .as_array()
            .map_or(0, Vec::len),
        0,
        "{series}"
    );
    let (status, page) = export(&server, &run, "html").await;
    let is_built = status == StatusCode::OK && page.contains("id=\"saved\"");
    assert!(is_built || page.contains("not_built"), "{status}");
    for format in ["csv", "fio-terse", "fio-bw-log", "fio-clat-hist-log"] {
        let (status, problem) = export(&server, &run, format).await;
        assert_eq!(status, StatusCode::CONFLICT, "{format}");
        assert!(problem.contains("\"not_recorded\""), "{problem}");
    }
    let (status, problem) = server.post(&format!("{path}/rerun"), &json!({})).await;
    assert_eq!(
        (status.as_u16(), &problem["code"]),
        (409, &json!("foreign_result"))
    );
    assert_eq!(server.get("/runs").await["total"], 1);

    let deleted = server.send(server.request(Method::DELETE, &path)).await;
    assert_eq!(deleted.0, StatusCode::NO_CONTENT);
    let run = imported(&server, &text).await;
    assert!(
        run["number"].as_u64().unwrap() > number,
        "numbers are never reused"
    );
}

#[tokio::test]
async fn the_same_result_is_stored_once() {
    let directory = temporary_directory();
    let Some(text) = fio(directory.path(), &MIXED) else {
        return;
    };
    let server = Program::start().await;
    let first = imported(&server, &text).await;
    let document: Value = serde_json::from_str(&text).unwrap();
    let same = [
        text.clone(),
        document.to_string(),
        format!("\u{feff}{text}"),
        format!("fio: a warning {{ of fio\n{text}\nRun status group 0 (all jobs):\n"),
    ];
    for text in same {
        let (status, run) = import(&server, "?name=other", &text).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(
            (&run["number"], &run["name"]),
            (&first["number"], &first["name"])
        );
    }
    let (status, run) = import(&server, "?group=1", &text).await;
    assert_eq!((status, &run["number"]), (StatusCode::OK, &first["number"]));
    let other = fio(directory.path(), &MIXED).unwrap();
    assert_ne!(imported(&server, &other).await["number"], first["number"]);
    assert_eq!(server.get("/runs").await["total"], 2);
}

#[tokio::test]
async fn fio_jobs_groups_states_and_errors_are_imported() {
    let directory = temporary_directory();
    let common = [
        "--size=256k",
        "--bs=4k",
        "--ioengine=psync",
        "--filename=f",
        "--output-format=json",
    ];
    let with = |options: &[&'static str]| {
        let all: Vec<&str> = common.iter().chain(options).copied().collect();
        fio(directory.path(), &all)
    };
    let Some(two_clones) = with(&["--name=a", "--rw=write", "--numjobs=2"]) else {
        return;
    };
    let server = Program::start().await;
    let run = imported(&server, &two_clones).await;
    let document: Value = serde_json::from_str(&two_clones).unwrap();
    // Computed as in fio with group_reporting.
    let clones = document["jobs"].as_array().unwrap().iter();
    let runtimes = clones.map(|job| job["write"]["runtime"].as_u64().unwrap());
    let iops = 128.0 * 1000.0 / runtimes.max().unwrap() as f64;
    assert_eq!(run["report"]["write"]["iops"], iops);
    assert_eq!(run["report"]["write"]["ios"], 128);
    assert_eq!(
        run["report"]["write"]["lat_ns"]["percentiles"],
        json!({}),
        "without bins"
    );
    assert_eq!((&run["jobs"], &run["numjobs"]), (&json!(1), &json!(2)));

    let grouped = with(&[
        "--name=a",
        "--rw=write",
        "--numjobs=2",
        "--group_reporting",
        "--lat_percentiles=1",
    ])
    .unwrap();
    let run = imported(&server, &grouped).await;
    assert_eq!(run["report"]["foreign"]["percentiles_of"], "lat");
    let document: Value = serde_json::from_str(&grouped).unwrap();
    check_percentiles(
        &run["report"]["write"]["lat_ns"],
        &document["jobs"][0]["write"]["lat_ns"],
    );

    let sequential = with(&[
        "--name=a",
        "--rw=write",
        "--name=b",
        "--stonewall",
        "--rw=read",
    ])
    .unwrap();
    let (status, problem) = import(&server, "", &sequential).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    assert_eq!(problem["errors"][0]["code"], "several_groups");
    for (group, ios) in [(1, [0, 64]), (2, [64, 0])] {
        let (status, run) = import(&server, &format!("?group={group}"), &sequential).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        assert_eq!(
            json!([run["report"]["read"]["ios"], run["report"]["write"]["ios"]]),
            json!(ios)
        );
    }

    for group in [0, 3] {
        let (status, problem) = import(&server, &format!("?group={group}"), &sequential).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
        assert_eq!(
            problem["errors"][0]["remedy"],
            "Select a group from 1 to 2."
        );
    }

    let states = with(&[
        "--name=s",
        "--rw=read",
        "--time_based",
        "--runtime=2",
        "--rate_iops=50",
        "--status-interval=1",
    ])
    .unwrap();
    let count = states.matches("\"fio version\"").count();
    assert!(count > 1, "{count}");
    let run = imported(&server, &states).await;
    let last = states.rsplit_once("\n{").unwrap().1;
    let last: Value = serde_json::from_str(&format!("{{{last}")).unwrap();
    assert_eq!(
        run["report"]["read"]["ios"],
        last["jobs"][0]["read"]["total_ios"]
    );
    let (status, problem) = import(&server, "", &format!("{two_clones}{sequential}")).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("multiple runs"),
        "{problem}"
    );

    std::fs::create_dir(directory.path().join("d")).unwrap();
    let missing = fio(
        directory.path(),
        &[
            "--name=e",
            "--rw=read",
            "--size=4k",
            "--filename=d",
            "--ioengine=psync",
            "--output-format=json",
        ],
    )
    .unwrap();
    let run = imported(&server, &missing).await;
    assert_eq!(run["status"], "failed", "{run}");
    assert!(
        run["reason"]
            .as_str()
            .unwrap()
            .starts_with("fio ended job e with error"),
        "{run}"
    );
}

#[tokio::test]
async fn damaged_documents_change_nothing() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut cases: Vec<(String, &str)> = vec![
        (String::new(), "body"),
        ("   \n".into(), "body"),
        ("null".into(), "fio version"),
        ("[]".into(), "fio version"),
        ("{}".into(), "fio version"),
        ("3;fio-3.33;a;0;0;0".into(), "body"),
        ("a: (g=0): rw=read, bs=4096\nRun status".into(), "body"),
        (text[..text.len() / 2].into(), "body"),
        (
            text.replacen("\"iops\" : ", "\"iops\" : -nan, \"x\" : ", 1),
            "body",
        ),
        ("[".repeat(10_000), "body"),
        ("{\"a\":".repeat(10_000), "body"),
    ];
    let job = |pointer: &str| format!("/jobs/0/{pointer}");
    let mutations: Vec<(String, Value, &str)> = vec![
        ("/fio version".into(), json!(3), "fio version"),
        ("/fio version".into(), json!("fio-2.21"), "body"),
        ("/timestamp_ms".into(), json!("now"), "timestamp_ms"),
        ("/timestamp_ms".into(), json!(1e300), "timestamp_ms"),
        ("/timestamp_ms".into(), json!(-5), "timestamp_ms"),
        ("/jobs".into(), json!({}), "body"),
        ("/jobs".into(), json!([]), "body"),
        ("/jobs".into(), json!([null]), "jobs[0]"),
        (job("jobname"), json!(["a"]), "jobs[0].jobname"),
        (job("groupid"), json!("x"), "jobs[0].groupid"),
        (job("error"), json!("none"), "jobs[0].error"),
        (job("job_runtime"), json!(-1), "jobs[0].job_runtime"),
        (job("job options"), json!([]), "jobs[0].job options"),
        (job("job options/rw"), json!(7), "jobs[0].job options.rw"),
        (
            job("job options/fsync"),
            json!({}),
            "jobs[0].job options.fsync",
        ),
        (job("read"), json!([]), "jobs[0].read"),
        (job("read/iops"), Value::Null, "jobs[0].read.iops"),
        (job("read/iops"), json!(1e13), "read.iops"),
        (job("read/total_ios"), json!(1.5), "jobs[0].read.total_ios"),
        (
            job("read/total_ios"),
            json!(u64::MAX),
            "jobs[0].read.total_ios",
        ),
        (
            job("write/io_bytes"),
            json!(-4096),
            "jobs[0].write.io_bytes",
        ),
        (
            job("write/bw_bytes"),
            json!("1 MB"),
            "jobs[0].write.bw_bytes",
        ),
        (job("read/clat_ns"), json!(1), "jobs[0].read.clat_ns"),
        (job("read/clat_ns/N"), json!(-1), "jobs[0].read.clat_ns.N"),
        (
            job("read/clat_ns/min"),
            json!(1_u64 << 40),
            "jobs[0].read.clat_ns.min",
        ),
        (
            job("read/clat_ns/mean"),
            json!("fast"),
            "jobs[0].read.clat_ns.mean",
        ),
        (
            job("read/clat_ns/stddev"),
            json!(-1.0),
            "jobs[0].read.clat_ns.stddev",
        ),
        (
            job("read/lat_ns/max"),
            Value::Null,
            "jobs[0].read.lat_ns.max",
        ),
        (
            job("read/clat_ns/percentile"),
            json!([1]),
            "jobs[0].read.clat_ns.percentile",
        ),
        (
            job("read/clat_ns/percentile"),
            json!({"p99": 1}),
            "jobs[0].read.clat_ns.percentile.p99",
        ),
        (
            job("read/clat_ns/percentile"),
            json!({"99.000000": -1}),
            "jobs[0].read.clat_ns.percentile.99.000000",
        ),
        (
            job("read/clat_ns/bins"),
            json!({"5": 1}),
            "jobs[0].read.clat_ns.bins",
        ),
        (
            job("read/clat_ns/bins"),
            json!({"5": "x"}),
            "jobs[0].read.clat_ns.bins.5",
        ),
        (
            job("sync/lat_ns/mean"),
            json!(null),
            "jobs[0].sync.lat_ns.mean",
        ),
    ];
    for (pointer, value, field) in mutations {
        cases.push((replace_value(&document, &pointer, value), field));
    }
    assert!(cases.len() > 40);
    for (body, field) in cases {
        assert_eq!(rejected_field(&server, &body).await, field);
    }
    let not_text = server
        .request(Method::POST, "/runs/import")
        .body(vec![0xff_u8; 9]);
    assert_eq!(
        server.send(not_text).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    let large = " ".repeat((16 << 20) + 1);
    assert_eq!(
        import(&server, "", &large).await.0,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let (status, problem) = import(&server, "?tags=%22", &text).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    assert_eq!(server.get("/runs").await["total"], 0);
}

#[tokio::test]
async fn client_results_have_a_host() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let mut document: Value = serde_json::from_str(&text).unwrap();
    let fields = document.as_object_mut().unwrap();
    let mut client = fields.remove("jobs").unwrap()[0].take();
    fields.remove("timestamp_ms");
    client["hostname"] = json!("db\u{1b}1");
    let mut sum = client.clone();
    sum["jobname"] = json!("All clients");
    document["client_stats"] = json!([client, sum]);
    let run = imported(&server, &document.to_string()).await;
    assert_eq!(run["host"], "db\u{fffd}1");
    assert_eq!(run["report"]["read"]["ios"], client["read"]["total_ios"]);
    assert_eq!(
        run["finished_at_ms"].as_u64().unwrap() / 1000,
        document["timestamp"].as_u64().unwrap()
    );
    assert_eq!(
        server.get("/runs?q=source:fio").await["runs"][0]["host"],
        run["host"]
    );
}

#[tokio::test]
async fn a_fio_result_can_be_compared_with_a_run() {
    let directory = Arc::new(temporary_directory());
    let arguments = [
        "--name=real",
        "--rw=randread",
        "--bs=4k",
        "--size=8m",
        "--direct=0",
        "--runtime=1",
        "--time_based",
        "--ioengine=psync",
        "--filename=f",
        "--output-format=json+",
    ];
    let Some(text) = fio(directory.path(), &arguments) else {
        return;
    };
    let Some(server) = Program::start_real(directory).await else {
        return;
    };
    let fio_run = imported(&server, &text).await;
    let number = server.queue(read("1s")).await;
    let ours = server.wait_until_ended(number).await;
    assert_eq!(ours["source"], "leadline");
    let path = format!(
        "/compare?runs={number},{}&baseline={number}",
        fio_run["number"]
    );
    let comparison = server.get(&path).await;
    let comparability = &comparison["comparability"];
    assert_eq!(
        comparability["level"], "with_differences",
        "{comparability}"
    );
    assert!(
        comparability["sentence"]
            .as_str()
            .unwrap()
            .contains("Leadline / fio"),
        "{comparability}"
    );
    let differences = comparison["setting_differences"].as_array().unwrap();
    assert_eq!(differences[0]["name"], "program");
    let names: Vec<&Value> = differences
        .iter()
        .map(|difference| &difference["name"])
        .collect();
    assert_eq!(names, [&json!("program")], "the jobs are equal");
    let metrics = comparison["metrics"].as_array().unwrap();
    let iops = metrics
        .iter()
        .find(|metric| metric["name"] == "read_iops")
        .unwrap();
    assert_eq!(
        iops["values"],
        json!([
            ours["report"]["read"]["iops"],
            fio_run["report"]["read"]["iops"]
        ])
    );
    let text = comparison.to_string();
    assert!(
        text.contains("Not recorded in all runs"),
        "the host is unknown: {text}"
    );
}

#[tokio::test]
async fn imports_require_the_token_and_do_not_wait_for_the_queue() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let active = server.queue(job("active", "30s")).await;
    server.wait_for_status(active, &["measuring"]).await;
    let run = imported(&server, &text).await;
    assert_eq!(run["status"], "done");
    let anonymous = reqwest::Client::new().post(server.url("/api/v1/runs/import"));
    let response = anonymous.body(text).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(server.get("/runs").await["total"], 2);
}
