//! Invalid input: the response lists all invalid fields, and nothing is stored.

use crate::program::{Program, job};
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

/// Sends `body` and expects problems with these fields.
async fn check(server: &Program, body: &str, status: u16, code: &str, fields: &[&str]) {
    let response = server
        .request(Method::POST, "/runs")
        .body(body.to_owned())
        .send()
        .await
        .unwrap();
    assert_eq!(
        response.headers()[header::CONTENT_TYPE],
        "application/problem+json",
        "{body}"
    );
    let returned = response.status().as_u16();
    let problem: Value = response.json().await.unwrap();
    assert_eq!(
        (returned, problem["code"].as_str().unwrap()),
        (status, code),
        "{body}: {problem}"
    );
    assert_eq!(problem["status"], status);
    assert!(
        problem["detail"]
            .as_str()
            .is_some_and(|detail| !detail.is_empty())
    );
    let named: Vec<&str> = problem["errors"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| error["field"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(named, fields, "{body}: {problem}");
}

#[tokio::test]
async fn all_invalid_fields_are_reported_and_nothing_is_stored() {
    let server = Program::start().await;
    check(&server, "", 422, "bad_json", &[]).await;
    check(&server, "{\"jobs\":[", 422, "bad_json", &[]).await;
    let repeated = r#"{"jobs":[{"rw":"read","rw":"write"}],"name":"a","name":"b"}"#;
    let fields = ["jobs[0].rw", "name"];
    check(&server, repeated, 422, "repeated_field", &fields).await;
    check(&server, "[1]", 422, "not_an_object", &[""]).await;
    check(&server, "{}", 422, "missing", &["jobs"]).await;
    check(
        &server,
        r#"{"jobs":{},"nmae":"x"}"#,
        422,
        "wrong_type",
        &["jobs", "nmae"],
    )
    .await;
    check(
        &server,
        r#"{"jobs":[{}],"host":"mars","sample_ms":"fast"}"#,
        422,
        "wrong_type",
        &["sample_ms", "host"],
    )
    .await;
    check(
        &server,
        r#"{"job_text":"fio --rw=read","jobs":[{}],"variables":1}"#,
        422,
        "conflicting_fields",
        &["jobs", "variables"],
    )
    .await;
    check(&server, r#"{"jobs":[]}"#, 422, "job_count", &["jobs"]).await;
    check(
        &server,
        r#"{"jobs":[{"size":"1.5g","runtime":"10sec","block_size":"4k"}]}"#,
        422,
        "bad_value",
        &["jobs[0].size", "jobs[0].runtime", "jobs[0].block_size"],
    )
    .await;
    check(
        &server,
        r#"{"jobs":[{"trim_percentage":10}],"sample_ms":1}"#,
        422,
        "unsupported_option",
        &["jobs[0].trim_percentage", "sample_ms"],
    )
    .await;
    check(
        &server,
        r#"{"jobs":[{"filename":"/dev/mounted"}]}"#,
        409,
        "rejected_by_guard",
        &["jobs[0].filename"],
    )
    .await;
    assert_eq!(server.get("/runs").await["total"], 0);
    assert!(server.starts().is_empty());
}

#[tokio::test]
async fn body_over_one_mebibyte_returns_413() {
    let server = Program::start().await;
    for (length, status) in [(1024 * 1024 + 1, 413), (1024 * 1024, 422)] {
        let body = format!("{{\"jobs\":[],\"notes\":\"{}\"}}", "x".repeat(length - 22));
        assert_eq!(body.len(), length);
        let (returned, _) = server
            .send(server.request(Method::POST, "/runs").body(body))
            .await;
        assert_eq!(returned.as_u16(), status, "{length}");
    }
}

#[tokio::test]
async fn plan_contains_its_problems() {
    let server = Program::start().await;
    let (status, plan) = server
        .post("/plan", &json!({"jobs": [{"filename": "/dev/mounted"}]}))
        .await;
    assert_eq!(
        (status, plan["problems"][0]["code"].as_str()),
        (StatusCode::OK, Some("mounted"))
    );
    let (status, plan) = server.post("/plan", &json!({"jobs": [{"bs": "4x"}]})).await;
    assert_eq!(
        (status, plan["problems"][0]["field"].as_str()),
        (StatusCode::OK, Some("jobs[0].bs"))
    );
    let (status, plan) = server
        .post("/plan", &json!({"jobs": [job("a", "1s")]}))
        .await;
    assert_eq!(
        (
            status,
            plan["jobs"][0]["rw"].as_str(),
            plan["problems"].as_array().unwrap().len()
        ),
        (StatusCode::OK, Some("randread"), 0)
    );
    assert_eq!(
        server.post("/plan", &json!({"jobs": 1})).await.0,
        StatusCode::UNPROCESSABLE_ENTITY
    );
    assert!(server.starts().is_empty());
}

#[tokio::test]
async fn unknown_resources_and_methods_return_problems() {
    let server = Program::start().await;
    let many_tags = format!("/runs?q=tag:{}", vec!["a"; 2000].join(","));
    let long_tag = format!("/runs?tag={}", "a".repeat(50_001));
    for (method, path, status, code) in [
        (Method::GET, many_tags.as_str(), 422, "too_long"),
        (Method::GET, long_tag.as_str(), 422, "too_long"),
        (Method::GET, "/runs/99", 404, "not_found"),
        (Method::GET, "/runs/abc", 404, "not_found"),
        (Method::GET, "/runs/-1", 404, "not_found"),
        (Method::DELETE, "/runs/99", 404, "not_found"),
        (Method::POST, "/runs/99/cancel", 404, "not_found"),
        (Method::POST, "/runs/99/rerun", 404, "not_found"),
        (Method::GET, "/runs/99/series", 404, "not_found"),
        (Method::GET, "/runs/99/stream", 404, "not_found"),
        (Method::GET, "/runs/99/export?format=csv", 404, "not_found"),
        (Method::GET, "/hosts/mars", 404, "not_found"),
        (Method::GET, "/hosts/mars/devices", 404, "not_found"),
        (Method::GET, "/nothing", 404, "not_found"),
        (Method::PUT, "/runs", 405, "wrong_method"),
        (Method::GET, "/runs?limit=many", 422, "bad_query"),
        (Method::GET, "/runs?limit=0", 422, "bad_value"),
        (Method::GET, "/runs?status=dead", 422, "bad_value"),
        (Method::GET, "/runs?cursor=x", 422, "bad_value"),
        (Method::GET, "/runs?nope=1", 422, "bad_query"),
        (Method::GET, "/runs/99/series?points=0", 422, "bad_value"),
        (Method::GET, "/runs/99/series?from_ms=NaN", 422, "bad_value"),
        (Method::GET, "/runs/99/series?to_ms=-inf", 422, "bad_value"),
        (Method::GET, "/runs/99/export?format=xls", 422, "bad_query"),
        (Method::GET, "/compare?runs=1", 422, "bad_value"),
        (Method::GET, "/compare?runs=1,x", 422, "bad_value"),
        (Method::GET, "/compare", 422, "bad_value"),
        (Method::GET, "/compare?a=1", 422, "bad_value"),
        (Method::GET, "/compare?a=1&runs=1,2", 422, "bad_value"),
        (
            Method::GET,
            "/compare?runs=1,2&threshold=0",
            422,
            "bad_value",
        ),
        (Method::GET, "/compare/flame.svg?runs=1", 422, "bad_value"),
        (
            Method::GET,
            "/compare/flame.svg?runs=98,99",
            404,
            "not_found",
        ),
        (Method::GET, "/runs/99/flame.svg", 404, "not_found"),
        (
            Method::GET,
            "/runs/99/flame.svg?theme=pink",
            422,
            "bad_query",
        ),
        (Method::GET, "/compare?runs=98,99", 404, "not_found"),
    ] {
        let (returned, problem) = server.send(server.request(method.clone(), path)).await;
        assert_eq!(
            (returned.as_u16(), problem["code"].as_str()),
            (status, Some(code)),
            "{method} {path}: {problem}"
        );
    }
}

#[tokio::test]
async fn all_invalid_parameters_of_a_query_are_reported() {
    let server = Program::start().await;
    for (path, expected) in [
        (
            "/runs?limit=many&nope=1&tag=a&sort=size",
            vec!["limit", "nope", "sort"],
        ),
        ("/runs?limit=1&limit=2", vec!["limit"]),
        (
            "/runs?limit=1&nope=1&nope=2&limit=2",
            vec!["nope", "nope", "limit"],
        ),
        ("/runs?q=%ff&tag=%&sort=size", vec!["q", "tag", "sort"]),
        ("/runs?a:%20b=1", vec!["a: b"]),
        ("/runs/1/export?nope=1", vec!["nope"]),
        ("/runs/1/export", vec![""]),
        (
            &format!("/runs?{}", ["limit=x"; 1000].join("&")),
            vec!["limit"; 2],
        ),
    ] {
        let (status, problem) = server.send(server.request(Method::GET, path)).await;
        assert_eq!(status, 422, "{problem}");
        let problems = problem["errors"].as_array().unwrap();
        let fields: Vec<_> = problems
            .iter()
            .map(|problem| problem["field"].as_str().unwrap_or_default())
            .collect();
        assert_eq!(fields, expected, "{problem}");
    }
}

#[tokio::test]
async fn requests_without_parameters_reject_all_parameters() {
    let server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(number).await;
    let run = format!("/runs/{number}");
    for (method, path, body) in [
        (Method::POST, "/runs".to_owned(), job("b", "10ms")),
        (Method::POST, format!("{run}/rerun"), json!({})),
        (Method::PATCH, run.clone(), json!({"name": "changed"})),
        (Method::DELETE, run.clone(), Value::Null),
        (Method::GET, run.clone(), Value::Null),
        (Method::PUT, "/settings".to_owned(), json!({})),
    ] {
        let request = server.request(method.clone(), &format!("{path}?dry_run=true&%ff"));
        let (status, problem) = server.send(request.json(&body)).await;
        assert_eq!(status, 422, "{method} {path}: {problem}");
        let fields: Vec<_> = problem["errors"].as_array().unwrap().iter().collect();
        let fields: Vec<_> = fields.iter().map(|problem| &problem["field"]).collect();
        assert_eq!(fields, ["dry_run", "%ff"], "{method} {path}");
    }
    let (_, runs) = server.send(server.request(Method::GET, "/runs")).await;
    assert_eq!(
        (&runs["total"], &runs["runs"][0]["name"]),
        (&json!(1), &json!("a"))
    );
}

#[tokio::test]
async fn unknown_export_formats_and_paths_are_rejected() {
    let server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(number).await;
    for format in ["fio-xml", "json", "FIO-JSON"] {
        let path = format!("/runs/{number}/export?format={format}");
        let (status, problem) = server.send(server.request(Method::GET, &path)).await;
        assert_eq!(
            (status.as_u16(), problem["code"].as_str()),
            (422, Some("bad_query")),
            "{format}"
        );
    }
    let body = json!({"text": "fio --rw=read"});
    let (status, problem) = server.post("/imports", &body).await;
    assert_eq!(
        (status.as_u16(), problem["code"].as_str()),
        (404, Some("not_found"))
    );
}

/// SQLite has no integers above 2⁶³ − 1.
#[tokio::test]
async fn numbers_too_large_for_the_database_are_not_found() {
    let server = Program::start().await;
    for number in [1_u64 << 63, u64::MAX] {
        for path in ["", "/procedure", "/study.html"] {
            let path = format!("/studies/{number}{path}");
            let request = server.request(Method::GET, &path);
            assert_eq!(
                server.send(request).await.0,
                StatusCode::NOT_FOUND,
                "{path}"
            );
        }
        let path = format!("/studies/{number}/cancel");
        let (status, body) = server.post(&path, &json!({})).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{body}");
        for path in ["", "/report", "/series"] {
            let path = format!("/runs/{number}{path}");
            let request = server.request(Method::GET, &path);
            assert_eq!(
                server.send(request).await.0,
                StatusCode::NOT_FOUND,
                "{path}"
            );
        }
    }
}
