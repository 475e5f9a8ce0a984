//! Open pages cause no load while nothing changes: the server sends only heartbeats, and pages
//! share the results of host queries.
//!
//! `LEADLINE_IDLE_SECONDS=70 cargo test -p leadline idle -- --nocapture` runs the test for longer,
//! with the default interval.

use crate::{
    program::{Program, job},
    streams::{Socket, open},
};
use futures_util::{StreamExt, future::join_all};
use reqwest::Method;
use serde_json::Value;
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::Message;

const SOCKETS: usize = 20;
/// Heartbeat interval, in milliseconds.
const SHORT_INTERVAL: u64 = 200;
const SHORT_TIME: Duration = Duration::from_secs(3);

/// Expects only heartbeats. Returns their number and the longest time between two of them.
async fn watch(mut socket: Socket, end: Instant) -> (u32, Duration) {
    let (mut count, mut longest, mut last) = (0, Duration::ZERO, Instant::now());
    while let Ok(message) = timeout_at(end, socket.next()).await {
        let Message::Text(message) = message.unwrap().unwrap() else {
            // Skip pings: the library responds to them.
            continue;
        };
        let message: Value = serde_json::from_str(&message).unwrap();
        if message["type"] == "heartbeat" {
            count += 1;
            longest = longest.max(last.elapsed());
            last = Instant::now();
        } else {
            let kind = message["type"].as_str().unwrap();
            assert!(matches!(kind, "queue" | "store") && count == 0, "{kind}");
        }
    }
    (count, longest)
}

/// Total number of HTTP requests, excluding requests for metrics.
async fn requests(server: &Program) -> f64 {
    let metrics = server.get("/metrics").await;
    let lines = metrics.as_str().unwrap().lines();
    lines
        .filter(|line| line.starts_with("leadline_http_requests_total{"))
        .filter(|line| !line.contains("/metrics"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap())
        .sum()
}

#[tokio::test]
async fn idle_sockets_receive_only_heartbeats() {
    let seconds = std::env::var("LEADLINE_IDLE_SECONDS").ok();
    let time = seconds.map_or(SHORT_TIME, |text| {
        Duration::from_secs(text.parse().unwrap())
    });
    let interval = if time == SHORT_TIME {
        SHORT_INTERVAL
    } else {
        10_000
    };
    let argument = interval.to_string();
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Program::start_in(directory, &["--heartbeat-ms", &argument]).await;
    let sockets = join_all((0..SOCKETS).map(|_| open(&server, "/events"))).await;
    // The server checks the host when it starts.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = (requests(&server).await, server.commands());
    let end = Instant::now() + time;
    let watched = join_all(sockets.into_iter().map(|socket| watch(socket, end))).await;
    assert_eq!((requests(&server).await, server.commands()), before);
    let longest = watched.iter().map(|(_, longest)| *longest).max().unwrap();
    let fewest = watched.iter().map(|(count, _)| *count).min().unwrap();
    eprintln!(
        "{SOCKETS} sockets, {time:?}: at least {fewest} heartbeats each, at most {longest:?} apart"
    );
    let expected = time.as_millis() as u64 / interval;
    assert!(u64::from(fewest) >= expected * 3 / 4, "{fewest}");
    assert!(
        longest < Duration::from_millis(interval * 5 / 2),
        "{longest:?}"
    );
}

#[tokio::test]
async fn clients_share_the_results_of_host_queries() {
    let server = Program::start().await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let before = server.commands().len();
    let queries = ["/hosts", "/hosts/local", "/hosts/local/devices"];
    let get_all = |suffix: &'static str| {
        let server = &server;
        let requests = queries.iter().cycle().take(60).map(move |path| async move {
            let request = server.request(Method::GET, &format!("{path}{suffix}"));
            assert_eq!(server.send(request).await.0, 200, "{path}");
        });
        join_all(requests)
    };
    get_all("").await;
    let mut commands = server.commands().split_off(before);
    commands.sort();
    assert_eq!(commands, ["devices", "doctor", "host"]);
    // Pages also share results while a run is active.
    let run = server.queue(job("a", "300ms")).await;
    let before = server.commands().len();
    get_all("").await;
    assert_eq!(server.commands().len(), before);
    server.wait_until_ended(run).await;
    let refresh = server.request(Method::GET, "/hosts/local/devices?refresh=true");
    assert_eq!(server.send(refresh).await.0, 200);
    assert_eq!(server.commands().split_off(before), ["devices"]);
}
