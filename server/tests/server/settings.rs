//! Thresholds per metric in comparisons, exports and trends.

use crate::{
    program::Program,
    trends::{day, path, pin, server_with},
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

async fn set(server: &Program, thresholds: Value) -> (StatusCode, Value) {
    let request = server.request(Method::PUT, "/settings");
    server
        .send(request.json(&json!({"thresholds": thresholds})))
        .await
}

/// Returns the threshold and the verdict of IOPS.
async fn iops(server: &Program, query: &str) -> (Value, Value) {
    let comparison = server.get(&format!("/compare?{query}")).await;
    let metrics = comparison["metrics"].as_array().unwrap();
    let iops = metrics.iter().find(|metric| metric["name"] == "read_iops");
    let iops = iops.unwrap();
    let p99 = metrics
        .iter()
        .find(|metric| metric["name"] == "read_lat_p99_ns");
    let is_general = query.contains("threshold");
    assert_eq!(p99.unwrap()["threshold_percent"] == 2.0, !is_general);
    (
        iops["threshold_percent"].clone(),
        iops["changes"][1]["verdict"].clone(),
    )
}

#[tokio::test]
async fn thresholds_are_used_by_comparisons_and_trends() {
    let mut copies = day(10, 1, 1000.0);
    copies.extend(day(20, 2, 900.0));
    let server = server_with(&copies).await;
    server.send(server.request(Method::DELETE, "/runs/1")).await;
    let path = path(&server).await;
    let list = |from: u64| {
        (from..from + 10)
            .map(|run| run.to_string())
            .collect::<Vec<_>>()
            .join(",")
    };
    let query = format!("a={}&b={}", list(10), list(20));
    pin(&server, &path, json!({"runs": Vec::from_iter(10..20)})).await;
    assert_eq!(server.get("/settings").await, json!({"thresholds": {}}));
    assert_eq!(iops(&server, &query).await, (json!(2.0), json!("worse")));
    assert_eq!(server.get(&path).await["state"]["state"], "regressed");

    // Rules on the command line spell the name this way.
    let (status, settings) = set(&server, json!({"read.iops": 20})).await;
    assert_eq!(settings, json!({"thresholds": {"read_iops": 20.0}}));
    assert_eq!(status, StatusCode::OK, "{settings}");
    let server = server.kill_and_restart().await;
    assert_eq!(
        server.get("/settings").await,
        json!({"thresholds": {"read_iops": 20.0}})
    );
    assert_eq!(
        iops(&server, &query).await,
        (json!(20.0), json!("equivalent"))
    );
    let trend = server.get(&format!("{path}?metric=read_iops")).await;
    assert_eq!(trend["state"]["state"], "ok", "{}", trend["state"]);
    assert_eq!(trend["threshold_percent"], 20.0);
    let other = server.get(&format!("{path}?metric=read_lat_p99_ns")).await;
    assert_eq!(other["threshold_percent"], 2.0);

    // Thresholds in the query or the baseline take precedence over the settings.
    let with_threshold = format!("{query}&threshold=5");
    assert_eq!(
        iops(&server, &with_threshold).await,
        (json!(5.0), json!("worse"))
    );
    let body = json!({"runs": Vec::from_iter(10..20), "threshold_percent": 3});
    let (_, pinned) = pin(&server, &path, body).await;
    assert_eq!(pinned["state"]["state"], "regressed");
    assert_eq!(server.get(&path).await["threshold_percent"], 3.0);

    let request = server.request(Method::GET, &format!("/compare/comparison.html?{query}"));
    let html = request.send().await.unwrap().text().await.unwrap();
    assert!(html.contains("higher is better, 20 % matters"), "{html}");
    assert!(html.contains("lower is better, 2 % matters"), "{html}");
    let request = server.request(
        Method::GET,
        &format!("/compare/comparison.html?{with_threshold}"),
    );
    let html = request.send().await.unwrap().text().await.unwrap();
    assert!(
        html.contains("gray: ±5 %") && !html.contains("matters)"),
        "{html}"
    );
}

#[tokio::test]
async fn invalid_thresholds_are_rejected() {
    let server = Program::start().await;
    for (thresholds, field) in [
        (json!({"none": 2}), "thresholds.none"),
        (json!({"read.iops": 0}), "thresholds.read.iops"),
        (
            json!({"read.iops": 2, "read_iops": 2}),
            "thresholds.read_iops",
        ),
        (json!({"read_iops": 0}), "thresholds.read_iops"),
        (json!({"read_iops": 2000}), "thresholds.read_iops"),
        (json!({"read_lat_max_ns": 2}), "thresholds.read_lat_max_ns"),
        (json!({"read_iops": "2"}), "thresholds.read_iops"),
        (json!([]), "thresholds"),
    ] {
        let (status, problem) = set(&server, thresholds.clone()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{thresholds}");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let invalid = json!({"none": 2, "read_iops": "2", "write_iops": 0});
    let (_, problem) = set(&server, invalid).await;
    let errors = problem["errors"].as_array().unwrap().iter();
    let fields: Vec<&str> = errors
        .map(|error| error["field"].as_str().unwrap())
        .collect();
    let all = ["none", "read_iops", "write_iops"].map(|name| format!("thresholds.{name}"));
    assert_eq!(fields, all);
    let put = server.request(Method::PUT, "/settings").json(&json!({}));
    let (status, problem) = server.send(put).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{problem}");
    assert_eq!(problem["errors"][0]["field"], "thresholds");
    assert_eq!(server.get("/settings").await, json!({"thresholds": {}}));
}
