//! Imports documents that fio cannot have printed, and Leadline's own exports.

use crate::{
    foreign_results::{
        MIXED, export, fio, imported, mixed, rejected_field, replace_value, temporary_directory,
    },
    program::Program,
};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn contradictory_and_repeated_fields_are_rejected() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let iops = document["jobs"][0]["read"]["iops"].as_f64().unwrap();
    for (path, value, field) in [
        ("/jobs/0/read/total_ios", json!(0), "jobs[0].read.total_ios"),
        (
            "/jobs/0/read/iops",
            json!(iops * 100.0),
            "jobs[0].read.iops",
        ),
        ("/jobs/0/write/iops", json!(0), "jobs[0].write.iops"),
        (
            "/jobs/0/read/clat_ns/percentile/99.000000",
            json!(1),
            "jobs[0].read.clat_ns.percentile.99.000000",
        ),
    ] {
        let text = replace_value(&document, path, value);
        assert_eq!(rejected_field(&server, &text).await, field);
    }
    let twice = text.replacen("\"total_ios\"", "\"iops\" : 1.0, \"total_ios\"", 1);
    assert_eq!(rejected_field(&server, &twice).await, "jobs[0].read.iops");
    assert_eq!(server.get("/runs").await["total"], 0);
    imported(&server, &text).await;
}

/// `max_latency` ends a job with an error, but it is not an I/O error.
#[tokio::test]
async fn only_failed_ios_are_counted() {
    let directory = temporary_directory();
    let mut arguments = MIXED.to_vec();
    arguments.push("--max_latency=1us");
    let Some(text) = fio(directory.path(), &arguments) else {
        return;
    };
    let server = Program::start().await;
    let run = imported(&server, &text).await;
    assert_eq!(
        (&run["status"], &run["report"]["errors"]["total"]),
        (&json!("failed"), &json!(0)),
        "{run}"
    );
    assert_eq!(run["report"]["ended_by"], "error");
}

#[tokio::test]
async fn leadline_exports_are_not_fio_results() {
    let Some((text, server)) = mixed().await else {
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let version = document["fio version"].as_str().unwrap();
    let text = text.replace(version, &format!("{version}-leadline-0.1.0"));
    let run = imported(&server, &text).await;
    assert_eq!(run["source"], "leadline_export");
    assert_eq!(run["report"]["foreign"]["source"], "leadline_export");
    let reason = run["report"]["absent"]["device"].as_str().unwrap();
    assert!(reason.starts_with("Leadline measured this run"), "{reason}");
    let sentence = run["findings"][0]["sentence"].as_str().unwrap();
    assert!(
        sentence.starts_with("This Leadline result was exported in fio's format"),
        "{sentence}"
    );
    let (status, exported) = export(&server, &run, "fio-json").await;
    assert_eq!((status, exported.trim()), (StatusCode::OK, text.trim()));
    let (status, problem) = server.post("/runs/1/rerun", &json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    for (filter, expected) in [("leadline_export", 1), ("fio", 0)] {
        let listed = server.get(&format!("/runs?q=source:{filter}")).await;
        assert_eq!(listed["total"], expected, "{filter}");
    }
}
