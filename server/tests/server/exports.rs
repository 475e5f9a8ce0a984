//! Exports runs in fio's formats.

use crate::{
    program::{Program, job},
    real_runner::read,
};
use reqwest::Method;
use serde_json::Value;
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
    check_logs(&server, number).await;
}

async fn check_logs(server: &Program, number: u64) {
    let mut events = server.events(number).await;
    events.retain(|event| event["type"] == "sample");
    let reads: Vec<u64> = events
        .iter()
        .map(|sample| sample["read"]["ios"].as_u64().unwrap())
        .collect();
    let is_used = |windows: &[u64]| windows.iter().any(|ios| *ios > 0);
    let windows = reads.chunks(1).filter(|window| is_used(window)).count();
    let groups = reads.chunks(20).filter(|group| is_used(group)).count();
    for (format, lines) in [
        ("fio-bw-log", windows),
        ("fio-iops-log", windows),
        ("fio-lat-log", groups),
        ("fio-clat-hist-log", groups),
    ] {
        let text = export(server, number, format).await;
        assert_eq!(text.lines().count(), lines, "{format}");
    }
    let histogram = export(server, number, "fio-clat-hist-log").await;
    let counts = histogram.lines().flat_map(|line| line.split(", ").skip(3));
    let counts = counts.map(|count| count.parse::<u64>().unwrap());
    assert_eq!(counts.sum::<u64>(), reads.iter().sum::<u64>());
}

async fn export(server: &Program, number: u64, format: &str) -> String {
    let path = format!("/runs/{number}/export?format={format}");
    let response = server.request(Method::GET, &path).send().await.unwrap();
    response.text().await.unwrap()
}

#[tokio::test]
async fn a_saved_page_contains_its_data() {
    let server = Program::start().await;
    let hostile = "</script><script>alert(1)</script>";
    let number = server.queue(job(hostile, "10ms")).await;
    server.wait_until_ended(number).await;
    let page = export(&server, number, "html").await;
    assert!(!page.contains(hostile));
    let (_, data) = page
        .split_once("<script id=\"saved\" type=\"application/json\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let saved: Value = serde_json::from_str(data).unwrap();
    assert_eq!(saved["run"]["name"], hostile);
    assert_eq!(saved["series"]["columns"][0]["name"], "read_iops");
    for reference in ["src=\"/", "href=\"/", "url(/", "http-equiv=\"refresh"] {
        assert!(!page.contains(reference), "{reference}");
    }
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

/// Reports from old servers may lack results for individual jobs.
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
