//! Sends one message. Does not follow redirects, and does not read the response body.

use crate::{
    clock::now_ms,
    webhooks::target::{REJECTED, Target, is_permitted},
};
use anyhow::{Context, bail};
use hyper::{Request, Response, StatusCode, body::Incoming, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use jiff::fmt::rfc2822;
use std::time::Duration;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

/// Timeout for one attempt, from the name lookup to the response headers.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response's status line and headers, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// A message and its headers.
pub(super) struct Message {
    pub id: String,
    /// In seconds since the Unix epoch.
    pub timestamp: u64,
    pub signature: String,
    pub body: String,
}

/// Result of an attempt.
pub(super) struct Outcome {
    pub is_delivered: bool,
    /// Whether the receiver rejects any further attempts.
    pub is_final: bool,
    /// Value of the `Retry-After` header, in seconds.
    pub retry_after: Option<u64>,
    /// The receiver's response, or why there is none.
    pub text: String,
}

impl Outcome {
    pub(super) fn failed(text: String) -> Self {
        Self {
            is_delivered: false,
            is_final: false,
            retry_after: None,
            text,
        }
    }
}

pub(super) async fn send(target: &Target, message: Message) -> Outcome {
    match timeout(TIMEOUT, try_send(target, message)).await {
        Ok(Ok(response)) => outcome(&response),
        Ok(Err(error)) => Outcome::failed(format!("{error:#}")),
        Err(_) => Outcome::failed(format!("timed out after {} s", TIMEOUT.as_secs())),
    }
}

fn outcome<B>(response: &Response<B>) -> Outcome {
    let status = response.status();
    let explanation = match status {
        StatusCode::GONE => ": the receiver does not accept more attempts",
        _ if status.is_redirection() => ": redirects are not followed",
        _ => "",
    };
    let retry_after = response.headers().get(header::RETRY_AFTER);
    Outcome {
        is_delivered: status.is_success(),
        is_final: status == StatusCode::GONE,
        retry_after: retry_after
            .and_then(|value| retry_after_seconds(value.to_str().ok()?, now_ms())),
        text: format!("HTTP {status}{explanation}"),
    }
}

/// `value` is a number of seconds or a date (RFC 9110, section 10.2.3).
fn retry_after_seconds(value: &str, now_ms: u64) -> Option<u64> {
    if let Ok(seconds) = value.parse() {
        return Some(seconds);
    }
    let date = rfc2822::parse(value).ok()?.timestamp().as_second();
    Some(u64::try_from(date).ok()?.saturating_sub(now_ms / 1000))
}

async fn try_send(target: &Target, message: Message) -> anyhow::Result<Response<Incoming>> {
    let stream = connect(target).await?;
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    // This task ends when the sender is dropped.
    let connection = tokio::spawn(connection);
    let request = Request::post(&target.path_and_query)
        .header(header::HOST, &target.authority)
        .header(header::CONTENT_TYPE, "application/json")
        .header(
            header::USER_AGENT,
            concat!("leadline/", env!("CARGO_PKG_VERSION")),
        )
        .header("webhook-id", &message.id)
        .header("webhook-timestamp", message.timestamp)
        .header("webhook-signature", &message.signature)
        .body(message.body)?;
    let response = sender.send_request(request).await;
    connection.abort();
    response.context("no HTTP response")
}

/// Connects to one of the checked addresses, so a later DNS lookup cannot change the target.
async fn connect(target: &Target) -> anyhow::Result<TcpStream> {
    let found = lookup_host((target.host.as_str(), target.port)).await;
    let addresses: Vec<_> = found.context("unknown host")?.collect();
    if addresses.iter().any(|address| !is_permitted(address.ip())) {
        bail!("the host has a {REJECTED} address");
    }
    let connected = TcpStream::connect(addresses.as_slice()).await;
    connected.context("cannot connect")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now_ms = 1_445_412_000_000; // 2015-10-21 07:20:00
        for (value, expected) in [
            ("120", Some(120)),
            ("0", Some(0)),
            ("Wed, 21 Oct 2015 07:28:00 GMT", Some(480)),
            ("Wed, 21 Oct 2015 07:08:00 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after_seconds(value, now_ms), expected, "{value}");
        }
    }
}
