//! Serves HTTP/1.1 connections.
//!
//! `axum::serve` has no timeouts, so clients that connect but send nothing or only part of a
//! request would hold file descriptors forever.

use crate::api::streams::send_socket::SEND_TIMEOUT;
use axum::{
    Router,
    serve::{Listener, ListenerExt},
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use rustix::net::sockopt::set_tcp_user_timeout;
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, watch},
};

/// Timeout for request headers, and for idle connections between requests: hyper uses one timer for
/// both.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Accepts connections until `stop` completes, then waits for active requests. While `max_open`
/// connections are open, new ones wait in the kernel. Upgraded connections are limited by their
/// handlers.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    max_open: usize,
    stop: impl Future<Output = ()>,
) {
    let timeouts = (HEAD_TIMEOUT, SEND_TIMEOUT);
    serve_with(listener, router, timeouts, max_open, stop).await;
}

/// `timeouts` apply to reading request headers and to sending data.
async fn serve_with(
    listener: TcpListener,
    router: Router,
    (head_timeout, send_timeout): (Duration, Duration),
    max_open: usize,
    stop: impl Future<Output = ()>,
) {
    let open = Arc::new(Semaphore::new(max_open));
    let mut listener = listener.tap_io(move |stream| configure(stream, send_timeout));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(head_timeout);
    let (stopping, _) = watch::channel(());
    let mut stop = pin!(stop);
    loop {
        let accept = async {
            let permit = open.clone().acquire_owned().await;
            (permit, listener.accept().await.0)
        };
        let (permit, stream) = tokio::select! {
            accepted = accept => accepted,
            () = &mut stop => break,
        };
        let service = TowerToHyperService::new(router.clone());
        let connection = http.serve_connection(TokioIo::new(stream), service);
        let connection = connection.with_upgrades();
        let mut stopping = stopping.subscribe();
        tokio::spawn(async move {
            let _permit = permit;
            let mut connection = pin!(connection);
            let served = tokio::select! {
                served = &mut connection => served,
                _ = stopping.changed() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(error) = served {
                tracing::debug!(%error, "connection failed");
            }
        });
    }
    drop(listener);
    stopping.send_replace(());
    stopping.closed().await;
}

/// Disables Nagle's algorithm. If the peer does not acknowledge data within the timeout, the kernel
/// closes the connection (`TCP_USER_TIMEOUT`, tcp(7)), even if the peer's receive window is closed.
fn configure(stream: &mut TcpStream, send_timeout: Duration) {
    let configured = stream.set_nodelay(true).and_then(|()| {
        let milliseconds = send_timeout.as_millis() as u32;
        Ok(set_tcp_user_timeout(&*stream, milliseconds)?)
    });
    if let Err(error) = configured {
        tracing::debug!(%error, "cannot configure connection");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::time::Instant;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    const TIMEOUT: Duration = Duration::from_millis(200);

    /// Starts a server with short timeouts and connects to it.
    async fn connect() -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", get(|| async { "hello" }));
        let never = std::future::pending();
        tokio::spawn(serve_with(listener, router, (TIMEOUT, TIMEOUT), 1, never));
        TcpStream::connect(address).await.unwrap()
    }

    /// Sends `request`. Expects a response that starts with `expected`, and a connection that stays
    /// open until the timeout.
    async fn check(request: &str, expected: &str) {
        let mut stream = connect().await;
        let started = Instant::now();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        let closed = stream.read_to_string(&mut response);
        let closed = tokio::time::timeout(TIMEOUT * 20, closed).await;
        closed.expect("the connection is closed").unwrap();
        assert!(started.elapsed() >= TIMEOUT, "{:?}", started.elapsed());
        assert!(response.starts_with(expected), "{response}");
    }

    #[tokio::test]
    async fn partial_request_head_times_out() {
        check("GET / HTTP/1.1\r\nhost: localhost\r\n", "").await;
    }

    #[tokio::test]
    async fn connection_without_a_request_times_out() {
        check("", "").await;
    }

    #[tokio::test]
    async fn idle_connection_times_out_after_its_response() {
        let request = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        check(request, "HTTP/1.1 200 OK").await;
    }

    #[tokio::test]
    async fn shutdown_waits_for_active_requests() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let slow = || async {
            tokio::time::sleep(TIMEOUT).await;
            "done"
        };
        let router = Router::new().route("/", get(slow));
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n";
        stream.write_all(request).await.unwrap();
        let stop = tokio::time::sleep(TIMEOUT / 4);
        serve_with(listener, router, (TIMEOUT * 20, TIMEOUT), 1, stop).await;
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.ends_with("done"), "{response}");
    }
}
