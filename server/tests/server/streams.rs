//! Event streams over WebSocket and NDJSON. All subscribers receive the same events, regardless of
//! when they connect.

use crate::program::{Program, TIMEOUT, job};
use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Connection;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest, protocol::frame::coding::CloseCode},
};

pub(crate) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Opens a WebSocket and receives the first message, which is a heartbeat.
pub(crate) async fn open(server: &Program, path: &str) -> Socket {
    let mut request = format!("ws://{}/api/v1{path}", server.address)
        .into_client_request()
        .unwrap();
    request.headers_mut().insert(
        "authorization",
        format!("Bearer {}", server.token).parse().unwrap(),
    );
    let mut socket = connect_async(request).await.unwrap().0;
    let first = socket.next().await.unwrap().unwrap();
    let first: Value = serde_json::from_str(first.to_text().unwrap()).unwrap();
    assert_eq!(first["type"], "heartbeat");
    socket
}

/// Receives all events until the socket is closed. Returns the events and the close code.
async fn receive_all(mut socket: Socket) -> (Vec<Value>, Option<CloseCode>) {
    let mut events = Vec::new();
    loop {
        match tokio::time::timeout(TIMEOUT, socket.next())
            .await
            .expect("a message is received")
        {
            Some(Ok(Message::Text(text))) => events.push(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Close(frame))) => return (events, frame.map(|frame| frame.code)),
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return (events, None),
        }
    }
}

fn numbers(events: &[Value]) -> Vec<u64> {
    events
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect()
}

#[tokio::test]
async fn early_late_and_resuming_subscribers_receive_the_same_events() {
    let server = Program::start().await;
    let blocker = server.queue(job("block", "200ms")).await;
    let number = server.queue(job("a", "800ms")).await;
    // An early subscriber: connects while the run is queued.
    let early = tokio::spawn(receive_all(
        open(&server, &format!("/runs/{number}/stream")).await,
    ));
    let lines = server
        .request(Method::GET, &format!("/runs/{number}/stream"))
        .send()
        .await
        .unwrap();
    let early_lines = tokio::spawn(lines.text());
    server.wait_until_ended(blocker).await;
    server.wait_for_status(number, &["measuring"]).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let late = tokio::spawn(receive_all(
        open(&server, &format!("/runs/{number}/stream")).await,
    ));
    let resuming = tokio::spawn(receive_all(
        open(&server, &format!("/runs/{number}/stream?since=7")).await,
    ));
    let future = tokio::spawn(receive_all(
        open(&server, &format!("/runs/{number}/stream?since=30")).await,
    ));
    server.wait_until_ended(number).await;
    let stored = server.events(number).await;
    assert_eq!(
        numbers(&stored),
        (0..stored.len() as u64).collect::<Vec<_>>()
    );
    assert!(stored.len() > 40, "{} events", stored.len());
    let (early, code) = early.await.unwrap();
    assert_eq!((early, code), (stored.clone(), Some(CloseCode::Normal)));
    assert_eq!(late.await.unwrap().0, stored);
    assert_eq!(resuming.await.unwrap().0, stored[7..]);
    assert_eq!(future.await.unwrap().0, stored[30..]);
    let lines: Vec<Value> = early_lines
        .await
        .unwrap()
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines, stored);
    assert_eq!(
        receive_all(open(&server, &format!("/runs/{number}/stream?since=5")).await)
            .await
            .0,
        stored[5..]
    );
    assert_eq!(
        receive_all(open(&server, &format!("/runs/{number}/stream?since=100000")).await)
            .await
            .0,
        Vec::<Value>::new()
    );
}

#[tokio::test]
async fn subscribers_receive_all_events_whenever_they_connect() {
    let server = Program::start().await;
    let number = server.queue(job("a", "1s")).await;
    let mut subscribers = Vec::new();
    for step in 0..40u64 {
        tokio::time::sleep(Duration::from_millis(25)).await;
        subscribers.push((
            step,
            tokio::spawn(receive_all(
                open(&server, &format!("/runs/{number}/stream?since={step}")).await,
            )),
        ));
    }
    server.wait_until_ended(number).await;
    let stored = server.events(number).await;
    for (since, subscriber) in subscribers {
        assert_eq!(
            subscriber.await.unwrap().0,
            stored[since as usize..],
            "since {since}"
        );
    }
}

/// Samples are not delayed until the next flush: half of them arrive almost as early after their
/// window as the earliest one. The start of the runner, which depends on the load, does not count.
#[tokio::test]
async fn samples_are_sent_immediately() {
    let server = Program::start().await;
    let began = std::time::Instant::now();
    let number = server.queue(job("a", "1s")).await;
    let mut socket = open(&server, &format!("/runs/{number}/stream")).await;
    let mut delays_ms = Vec::new();
    while let Some(Ok(message)) = socket.next().await {
        let Message::Text(text) = message else { break };
        let event: Value = serde_json::from_str(&text).unwrap();
        if event["type"] == "sample" {
            let arrived_ms = began.elapsed().as_secs_f64() * 1e3;
            delays_ms.push(arrived_ms - event["t_ms"].as_f64().unwrap());
        }
    }
    assert!(delays_ms.len() >= 40, "{} samples of 50", delays_ms.len());
    delays_ms.sort_by(f64::total_cmp);
    let median_ms = delays_ms[delays_ms.len() / 2] - delays_ms[0];
    assert!(
        median_ms < 200.0,
        "half of the samples are {median_ms} ms late"
    );
}

#[tokio::test]
async fn status_changes_are_published() {
    let server = Program::start().await;
    let mut socket = open(&server, "/events").await;
    let number = server.queue(job("a", "100ms")).await;
    let mut received = Vec::new();
    while received.last() != Some(&"done".to_owned()) {
        let message = tokio::time::timeout(TIMEOUT, socket.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let event: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        match event["type"].as_str().unwrap() {
            "run" => received.push(event["run"]["status"].as_str().unwrap().to_owned()),
            other => received.push(other.to_owned()),
        }
    }
    assert_eq!(received[..2], ["queue", "store"]);
    let statuses: Vec<&str> = received
        .iter()
        .map(String::as_str)
        .filter(|name| !["queue", "store"].contains(name))
        .collect();
    // Multiple changes in quick succession may be published as one.
    let mut order = ["queued", "preparing", "measuring", "finishing", "done"].iter();
    assert!(
        statuses
            .chunk_by(|one, next| one == next)
            .all(|same| order.any(|status| *status == same[0])),
        "{statuses:?}"
    );
    assert_eq!(statuses.first(), Some(&"queued"));
    server
        .send(server.request(Method::DELETE, &format!("/runs/{number}")))
        .await;
    loop {
        let message = tokio::time::timeout(TIMEOUT, socket.next())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let event: Value = serde_json::from_str(message.to_text().unwrap()).unwrap();
        if event["type"] == "deleted" {
            assert_eq!(event, json!({"type": "deleted", "number": number}));
            break;
        }
    }
}

#[tokio::test]
async fn client_that_sends_large_frames_is_disconnected() {
    use futures_util::SinkExt;
    let server = Program::start().await;
    let number = server.queue(job("a", "5s")).await;
    server.wait_for_status(number, &["measuring"]).await;
    let mut socket = open(&server, &format!("/runs/{number}/stream")).await;
    socket
        .send(Message::text("x".repeat(64 * 1024)))
        .await
        .unwrap();
    let (_, code) = receive_all(socket).await;
    assert_ne!(code, Some(CloseCode::Normal));
    assert_eq!(
        server.get(&format!("/runs/{number}")).await["status"],
        "measuring"
    );
}

/// Makes the events of a finished run larger than the socket buffers.
async fn add_events(server: &Program, run: u64, events: u32) {
    let options =
        sqlx::sqlite::SqliteConnectOptions::new().filename(server.data().join("leadline.db"));
    let mut connection = sqlx::SqliteConnection::connect_with(&options)
        .await
        .unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT (SELECT max(seq) FROM events) + 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        INSERT INTO events (run, seq, t_ms, type, line) SELECT ?, i, 1e6 + i, 'phase', '{\"seq\":' || i || ',\"note\":\"' || printf('%.*c', 4000, 'x') || '\"}' FROM n";
    sqlx::query(sql)
        .bind(events)
        .bind(run.cast_signed())
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn stalled_streams_are_closed_and_slow_ones_are_complete() {
    const EVENTS: u32 = 10_000;
    let mut server = Program::start().await;
    let number = server.queue(job("a", "10ms")).await;
    server.wait_until_ended(number).await;
    server.stop().await;
    add_events(&server, number, EVENTS).await;
    let server = Program::start_in(server.directory.clone(), &[]).await;
    let open_streams = async || {
        let metrics = server.get("/metrics").await;
        let line = metrics
            .as_str()
            .unwrap()
            .lines()
            .find(|line| line.starts_with("leadline_open_streams "))
            .unwrap();
        line.split(' ').nth(1).unwrap().parse::<u32>().unwrap()
    };
    // Both clients stop reading, and 40 MB exceed the socket buffers.
    let stalled_lines = server
        .request(Method::GET, &format!("/runs/{number}/stream"))
        .send()
        .await
        .unwrap();
    let stalled_socket = open(&server, &format!("/runs/{number}/stream")).await;
    assert_eq!(open_streams().await, 2);
    let mut slow = open(&server, &format!("/runs/{number}/stream")).await;
    for expect in 0..=u64::from(EVENTS) {
        let Some(Ok(Message::Text(text))) = slow.next().await else {
            panic!("the stream ends before {expect}")
        };
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["seq"], expect);
        if expect % 1000 == 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    drop(slow);
    let began = std::time::Instant::now();
    while open_streams().await > 0 {
        assert!(
            began.elapsed() < Duration::from_secs(20),
            "{} streams are still open",
            open_streams().await
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    drop((stalled_lines, stalled_socket));
}

/// Resident memory of a process, in bytes.
pub(crate) fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}

#[tokio::test]
async fn many_viewers_use_little_memory() {
    const VIEWERS: u64 = 1000;
    const LIMIT: u64 = 64 << 20;
    let server = Program::start().await;
    let run = server.queue(job("a", "60s")).await;
    server.wait_for_status(run, &["measuring"]).await;
    let before = memory(server.pid());
    let path = format!("/runs/{run}/stream");
    let mut sockets = Vec::new();
    for _ in 0..VIEWERS {
        sockets.push(open(&server, &path).await);
    }
    for socket in &mut sockets {
        assert!(socket.next().await.unwrap().is_ok());
    }
    let more = memory(server.pid()).saturating_sub(before);
    assert!(more < LIMIT, "{more} bytes");
    let events = open(&server, "/events").await;
    drop((sockets, events));
}

/// Idle streams send too little to fill the kernel's buffers.
#[tokio::test]
async fn idle_stream_of_a_client_that_does_not_read_is_closed() {
    let server = Program::start().await;
    let mut socket = open(&server, "/events").await;
    tokio::time::sleep(Duration::from_secs(11)).await;
    // Reads the data that has been sent so far. By now, it is too late to respond to the server's
    // pings.
    let ended = tokio::time::timeout(Duration::from_secs(1), async {
        while let Some(Ok(_)) = socket.next().await {}
    });
    ended.await.expect("the stream is closed");
}
