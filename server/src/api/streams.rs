//! Event streams: a run's events over WebSocket or as NDJSON, and status changes of all runs over
//! WebSocket.

pub(crate) mod send_socket;

use crate::{
    api::{
        extract::Path,
        problem::{ApiError, NoWebSocket, ProblemResponses},
        query_string::Query,
        streams::send_socket::{Heartbeat, Socket, limit_frame_size, wait_until_closed},
    },
    events::subscription::Subscription,
    runs::Runs,
};
use axum::{
    body::Body,
    extract::{
        State,
        ws::{WebSocketUpgrade, close_code, rejection::WebSocketUpgradeRejection},
    },
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt, stream};
use leadline_protocol::{event::Event, query::StreamQuery};
use std::{sync::Arc, time::Duration};
use tokio::sync::broadcast::{self, error::RecvError};

/// How long streams may take to deliver their last events when the server stops.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);

type Upgrade = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

/// Stream the events of a run until it ends
///
/// Sends stored events starting at `since`, then live events. A WebSocket is closed with code 1000
/// after the last event. Without an upgrade request, the events are sent as NDJSON.
#[utoipa::path(get, path = "/runs/{n}/stream", tag = "runs",
    params(StreamQuery),
    responses(
        (
            status = 101,
            description = "WebSocket with one `Event` per frame, and heartbeats (see `RunsEvent`)"
        ),
        (
            status = 200,
            body = Event,
            content_type = "application/x-ndjson",
            description = "One `Event` per line"
        ),
        NoWebSocket,
        ProblemResponses
    ))]
pub(crate) async fn stream_run(
    State(runs): State<Runs>,
    State(heartbeat): State<Heartbeat>,
    Path(n): Path<u64>,
    Query(query): Query<StreamQuery>,
    upgrade: Upgrade,
) -> Result<Response, ApiError> {
    use WebSocketUpgradeRejection::{InvalidConnectionHeader, InvalidUpgradeHeader};
    let upgrade = match upgrade {
        Ok(upgrade) => Some(upgrade),
        Err(InvalidConnectionHeader(_) | InvalidUpgradeHeader(_)) => None,
        Err(rejection) => return Err(upgrade_failed(&rejection)),
    };
    let permit = runs.stream_permit()?;
    let events = runs
        .events_since(n, query.since.unwrap_or_default(), query.epoch)
        .await?;
    let mut phase = runs.phase();
    if let Some(upgrade) = upgrade {
        return Ok(
            limit_frame_size(upgrade).on_upgrade(move |socket| async move {
                let _permit = permit;
                send_events(Socket::new(socket, phase, heartbeat), events).await;
            }),
        );
    }
    let closed = async move {
        let _permit = permit;
        wait_until_closed(&mut phase).await;
        // Allow time to deliver the last events of runs that have just ended.
        tokio::time::sleep(DRAIN_TIMEOUT).await;
    };
    let lines = ndjson(events).take_until(Box::pin(closed));
    let headers = [(header::CONTENT_TYPE, "application/x-ndjson")];
    Ok((headers, Body::from_stream(lines)).into_response())
}

/// Stream status changes of all runs
///
/// Connect before listing runs. Close code 1013 means that messages were dropped: reconnect and
/// list the runs again.
#[utoipa::path(get, path = "/events", tag = "runs",
    responses(
        (status = 101, description = "WebSocket with one `RunsEvent` per frame"),
        NoWebSocket,
        ProblemResponses
    ))]
pub(crate) async fn stream_runs(
    State(runs): State<Runs>,
    State(heartbeat): State<Heartbeat>,
    upgrade: Upgrade,
) -> Result<Response, ApiError> {
    let upgrade = upgrade.map_err(|rejection| upgrade_failed(&rejection))?;
    let permit = runs.stream_permit()?;
    let changes = runs.subscribe();
    let state = runs.current_state();
    let first = state.iter().map(serde_json::to_string);
    let first = first.collect::<Result<Vec<String>, _>>();
    let first = first.map_err(anyhow::Error::from)?;
    let phase = runs.phase();
    Ok(
        limit_frame_size(upgrade).on_upgrade(move |socket| async move {
            let _permit = permit;
            send_changes(Socket::new(socket, phase, heartbeat), first, changes).await;
        }),
    )
}

fn upgrade_failed(rejection: &WebSocketUpgradeRejection) -> ApiError {
    ApiError::Request {
        status: StatusCode::UPGRADE_REQUIRED,
        code: "no_websocket",
        detail: format!("WebSocket upgrade failed: {}.", rejection.body_text()),
    }
}

/// One event per line.
pub(crate) fn ndjson(events: Subscription) -> impl Stream<Item = anyhow::Result<String>> {
    stream::try_unfold(events, |mut events| async move {
        let Some(lines) = events.next().await? else {
            return Ok(None);
        };
        let mut text = lines.join("\n");
        text.push('\n');
        Ok(Some((text, events)))
    })
}

async fn send_events(mut socket: Socket, mut events: Subscription) {
    if !socket.send_heartbeat().await {
        return;
    }
    loop {
        let batch = tokio::select! {
            batch = events.next() => batch,
            () = socket.keep_alive() => return,
        };
        let lines = match batch {
            Ok(Some(lines)) => lines,
            Ok(None) => return socket.close(close_code::NORMAL, "the run has ended").await,
            Err(error) => {
                tracing::error!(error = format!("{error:#}"), "event stream failed");
                return socket.close(close_code::ERROR, "cannot read events").await;
            }
        };
        for line in lines {
            if !socket.send(&line).await {
                return;
            }
        }
    }
}

async fn send_changes(
    mut socket: Socket,
    first: Vec<String>,
    mut changes: broadcast::Receiver<Arc<str>>,
) {
    if !socket.send_heartbeat().await {
        return;
    }
    for message in first {
        if !socket.send(&message).await {
            return;
        }
    }
    loop {
        let next = tokio::select! {
            next = changes.recv() => next,
            () = socket.keep_alive() => return,
        };
        let (code, reason) = match next {
            Ok(next) if socket.send(&next).await => continue,
            Ok(_) => return,
            Err(RecvError::Lagged(_)) => {
                (close_code::AGAIN, "messages dropped: list the runs again")
            }
            Err(RecvError::Closed) => (close_code::AWAY, "the server is stopping"),
        };
        return socket.close(code, reason).await;
    }
}
