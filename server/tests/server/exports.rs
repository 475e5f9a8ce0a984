//! Runs in fio's formats.

use crate::{
    program::{Program, job},
    real_runner::read,
};
use reqwest::Method;
use std::sync::Arc;

#[tokio::test]
async fn runs_are_exported_in_fios_formats() {
    let Some(server) = Program::start_real(Arc::new(tempfile::tempdir().unwrap())).await else {
        return;
    };
    let number = server.queue(read("1200ms")).await;
    server.wait_until_ended(number).await;
    let run = server.get(&format!("/runs/{number}")).await;
    for format in ["fio-json", "fio-json%2B", "fio-json+"] {
        let path = format!("/runs/{number}/export?format={format}");
        let document = server.get(&path).await;
        let exported = &document["jobs"][0];
        assert_eq!(exported["jobname"], "real");
        assert_eq!(exported["read"]["total_ios"], run["report"]["read"]["ios"]);
        assert_eq!(exported["read"]["iops_samples"], 2);
        let bins = exported["read"]["clat_ns"]["bins"].as_object();
        assert_eq!(bins.is_some(), format != "fio-json", "{format}");
    }
    let starts = [
        ("fio-terse", "3;fio-3.33-leadline"),
        ("fio-job", "[real]\n"),
    ];
    for (format, start) in starts {
        let text = export(&server, number, format).await;
        assert!(text.starts_with(start), "{text}");
    }
    for format in [
        "fio-bw-log",
        "fio-iops-log",
        "fio-lat-log",
        "fio-clat-hist-log",
    ] {
        let text = export(&server, number, format).await;
        let samples = run["samples"].as_u64().unwrap() as usize;
        assert_eq!(text.lines().count(), samples, "{format}");
    }
}

async fn export(server: &Program, number: u64, format: &str) -> String {
    let path = format!("/runs/{number}/export?format={format}");
    let response = server.request(Method::GET, &path).send().await.unwrap();
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_run_without_a_result_cannot_be_exported_as_fio_json() {
    let server = Program::start().await;
    let number = server.queue(job("active", "30s")).await;
    let path = format!("/runs/{number}/export?format=fio-json");
    let (status, problem) = server.send(server.request(Method::GET, &path)).await;
    assert_eq!(
        (status.as_u16(), problem["code"].as_str()),
        (409, Some("no_result"))
    );
}

/// Reports of old servers may have no results for individual jobs.
#[tokio::test]
async fn a_report_without_jobs_is_exported() {
    let server = Program::start().await;
    let number = server.queue(job("old", "10ms")).await;
    server.wait_until_ended(number).await;
    let document = server
        .get(&format!("/runs/{number}/export?format=fio-json"))
        .await;
    assert_eq!(document["jobs"].as_array().map(Vec::len), Some(0));
}
