//! Events over the wire: a run's as WebSocket or NDJSON, all runs' as WebSocket. A socket that takes nothing for ten
//! seconds is closed; nothing that a client sends is more than a word.

use crate::error::ApiError;
use crate::events::subscription::Listener;
use crate::runs::{MAX_LISTENERS, Runs};
use crate::scheduler::state::Phase;
use axum::body::{Body, Bytes};
use axum::extract::ws::{CloseFrame, Message, WebSocket, WebSocketUpgrade, close_code};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use leadline_protocol::run::RunsEvent;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};

/// How long a socket may take nothing before it is closed.
pub const STALLED: Duration = Duration::from_secs(10);
/// How often a quiet socket is asked whether it is still there; below the idle limits of common proxies.
const PING: Duration = Duration::from_secs(20);
/// The most that a client may send in one frame: it has nothing to say but ping, pong and close.
const MAX_FRAME: usize = 1024;

impl Runs {
    /// A run's events from `since` on, as WebSocket.
    ///
    /// # Errors
    /// There is no such run, or too many listen.
    pub async fn socket(
        &self,
        upgrade: WebSocketUpgrade,
        number: u64,
        since: u64,
    ) -> Result<Response, ApiError> {
        let seat = self.seat()?;
        let listener = self.listen(number, since).await?;
        let closed = self.0.phase.subscribe();
        Ok(small(upgrade).on_upgrade(move |socket| async move {
            let _seat = seat;
            tell_events(Socket::new(socket, closed), listener).await;
        }))
    }

    /// A run's events from `since` on, one a line.
    ///
    /// # Errors
    /// There is no such run, or too many listen.
    pub async fn lines(&self, number: u64, since: u64) -> Result<Response, ApiError> {
        let seat = self.seat()?;
        let listener = self.listen(number, since).await?;
        let closed = self.0.phase.subscribe();
        let lines = stream::try_unfold(
            (listener, closed, seat),
            |(mut listener, mut closed, seat)| async move {
                let batch = tokio::select! {
                    batch = listener.next() => batch?,
                    () = until_closed(&mut closed) => None,
                };
                Ok::<_, anyhow::Error>(
                    batch.map(|lines| (joined(&lines), (listener, closed, seat))),
                )
            },
        );
        Ok((
            [(header::CONTENT_TYPE, "application/x-ndjson")],
            Body::from_stream(lines),
        )
            .into_response())
    }

    /// The moves of all runs, as WebSocket.
    ///
    /// # Errors
    /// Too many listen.
    pub fn runs_socket(&self, upgrade: WebSocketUpgrade) -> Result<Response, ApiError> {
        let seat = self.seat()?;
        let frames = self.0.announce.subscribe();
        let (running, queued) = self.counts();
        let first = serde_json::to_string(&RunsEvent::Queue { running, queued })
            .map_err(anyhow::Error::from)?;
        let closed = self.0.phase.subscribe();
        Ok(small(upgrade).on_upgrade(move |socket| async move {
            let _seat = seat;
            tell_moves(Socket::new(socket, closed), first, frames).await;
        }))
    }

    fn seat(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        self.0
            .listeners
            .clone()
            .try_acquire_owned()
            .map_err(|_| ApiError::TooManyListeners(MAX_LISTENERS))
    }
}

/// Lines with their ends, as one piece.
pub(crate) fn joined(lines: &[Arc<str>]) -> Bytes {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text.into()
}

fn small(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_frame_size(MAX_FRAME)
        .max_message_size(MAX_FRAME)
}

async fn until_closed(phase: &mut watch::Receiver<Phase>) {
    // The other end lives as long as the server.
    let _ = phase.wait_for(|phase| *phase == Phase::Closed).await;
}

async fn tell_events(mut socket: Socket, mut listener: Listener) {
    loop {
        let batch = tokio::select! {
            batch = listener.next() => batch,
            () = socket.quiet() => return,
        };
        match batch {
            Ok(Some(lines)) => {
                for line in lines {
                    if !socket.send(&line).await {
                        return;
                    }
                }
            }
            Ok(None) => return socket.close(close_code::NORMAL, "the run ended").await,
            Err(error) => {
                tracing::error!(
                    error = format!("{error:#}"),
                    "a listener had to be sent away"
                );
                return socket
                    .close(close_code::ERROR, "the events cannot be read")
                    .await;
            }
        }
    }
}

async fn tell_moves(mut socket: Socket, first: String, mut frames: broadcast::Receiver<Arc<str>>) {
    let mut frame: Arc<str> = first.into();
    while socket.send(&frame).await {
        let next = tokio::select! {
            next = frames.recv() => next,
            () = socket.quiet() => return,
        };
        frame = match next {
            Ok(next) => next,
            Err(RecvError::Lagged(_)) => {
                return socket
                    .close(
                        close_code::AGAIN,
                        "frames were lost: connect and list again",
                    )
                    .await;
            }
            Err(RecvError::Closed) => {
                return socket.close(close_code::AWAY, "the server stops").await;
            }
        };
    }
}

/// A WebSocket that is only written to.
struct Socket {
    socket: WebSocket,
    closed: watch::Receiver<Phase>,
    ping: Interval,
}

impl Socket {
    fn new(socket: WebSocket, closed: watch::Receiver<Phase>) -> Self {
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        Self {
            socket,
            closed,
            ping,
        }
    }

    /// Sends a text; `false` when the other side is gone or takes nothing.
    async fn send(&mut self, text: &str) -> bool {
        matches!(
            timeout(STALLED, self.socket.send(Message::text(text))).await,
            Ok(Ok(()))
        )
    }

    /// Keeps the socket alive while there is nothing to tell; returns when there is nobody to tell any more.
    async fn quiet(&mut self) {
        loop {
            tokio::select! {
                said = self.socket.recv() => match said {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => {}
                },
                _ = self.ping.tick() => {
                    if !matches!(timeout(STALLED, self.socket.send(Message::Ping(Bytes::new()))).await, Ok(Ok(()))) {
                        return;
                    }
                }
                () = until_closed(&mut self.closed) => return self.close(close_code::AWAY, "the server stops").await,
            }
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        // Whether the other side still hears it makes no difference.
        let _ = timeout(STALLED, self.socket.send(Message::Close(Some(frame)))).await;
        // Its answer ends the connection in order; without one it is dropped.
        let _ = timeout(Duration::from_secs(1), async {
            while let Some(Ok(_)) = self.socket.recv().await {}
        })
        .await;
    }
}
