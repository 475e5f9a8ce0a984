//! A send-only WebSocket. It is closed if the client stops reading.

use crate::runs::state::ServerPhase;
use axum::{
    body::Bytes,
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code},
};
use leadline_protocol::runs_event::RunsEvent;
use std::time::Duration;
use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval, timeout},
};

/// Timeout for one send.
pub(crate) const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the close handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum frame size in bytes. Clients send only control frames.
const MAX_FRAME: usize = 1024;
/// Size of a socket's read buffer. With the default of 128 KiB, a thousand viewers would use most
/// of the memory.
const READ_BUFFER: usize = 4 * 1024;
/// With kernel buffers, sends can succeed long after a client has stopped reading. Such a client
/// does not respond to pings, so it is disconnected after at most 10 s.
const PING_PERIOD: Duration = Duration::from_millis(2500);
const MAX_UNANSWERED: u32 = 3;

/// Heartbeat interval. Heartbeats are messages instead of ping frames, because browsers respond to
/// pings without exposing them to pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heartbeat(pub Duration);

pub(crate) struct Socket {
    socket: WebSocket,
    phase: watch::Receiver<ServerPhase>,
    interval: Interval,
    heartbeat: Utf8Bytes,
    pings: Interval,
    /// Pings since the last pong.
    unanswered: u32,
}

/// Limits the size of client frames, and therefore the memory that they use.
pub(crate) fn limit_frame_size(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_frame_size(MAX_FRAME)
        .max_message_size(MAX_FRAME)
        .read_buffer_size(READ_BUFFER)
}

/// Completes when the server closes all streams.
pub(crate) async fn wait_until_closed(phase: &mut watch::Receiver<ServerPhase>) {
    // `wait_for` fails only if the sender is dropped, but the sender lives as long as the server.
    let _ = phase.wait_for(|phase| *phase == ServerPhase::Closed).await;
}

/// An interval whose first tick is after one period.
fn interval_from_now(period: Duration) -> Interval {
    let mut interval = interval(period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval.reset();
    interval
}

impl Socket {
    pub(crate) fn new(
        socket: WebSocket,
        phase: watch::Receiver<ServerPhase>,
        Heartbeat(period): Heartbeat,
    ) -> Self {
        let heartbeat = RunsEvent::Heartbeat {
            interval_ms: period.as_millis() as u64,
        };
        Self {
            socket,
            phase,
            interval: interval_from_now(period),
            heartbeat: serde_json::to_string(&heartbeat).unwrap_or_default().into(),
            pings: interval_from_now(PING_PERIOD),
            unanswered: 0,
        }
    }

    /// Returns false if the client has disconnected or is too slow.
    pub(crate) async fn send(&mut self, text: &str) -> bool {
        self.send_message(Message::text(text)).await
    }

    /// Sends a heartbeat, which is also the first message of a stream. Same return value as `send`.
    pub(crate) async fn send_heartbeat(&mut self) -> bool {
        self.send_message(Message::Text(self.heartbeat.clone()))
            .await
    }

    async fn ping(&mut self) -> bool {
        self.unanswered += 1;
        self.send_message(Message::Ping(Bytes::new())).await
    }

    async fn send_message(&mut self, message: Message) -> bool {
        let sent = timeout(SEND_TIMEOUT, self.socket.send(message)).await;
        matches!(sent, Ok(Ok(())))
    }

    /// Handles control frames, and sends heartbeats and pings. Returns when the socket is closed.
    pub(crate) async fn keep_alive(&mut self) {
        loop {
            tokio::select! {
                // Read pending pongs before counting the next ping.
                biased;
                received = self.socket.recv() => match received {
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => self.unanswered = 0,
                },
                _ = self.pings.tick() => {
                    if self.unanswered == MAX_UNANSWERED || !self.ping().await {
                        return;
                    }
                }
                _ = self.interval.tick() => {
                    if !self.send_heartbeat().await {
                        return;
                    }
                }
                () = wait_until_closed(&mut self.phase) => {
                    return self.close(close_code::AWAY, "the server is stopping").await;
                }
            }
        }
    }

    /// Sends a close frame and waits for the client's close frame.
    pub(crate) async fn close(&mut self, code: u16, reason: &'static str) {
        let frame = CloseFrame {
            code,
            reason: reason.into(),
        };
        self.send_message(Message::Close(Some(frame))).await;
        let drained = async { while let Some(Ok(_)) = self.socket.recv().await {} };
        let _ = timeout(CLOSE_TIMEOUT, drained).await;
    }
}
