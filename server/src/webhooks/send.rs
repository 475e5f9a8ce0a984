//! Sends one message. No redirect is followed, and the body of the response is not read.

use crate::webhooks::target::{REFUSED, Target, is_permitted};
use anyhow::{Context, bail};
use hyper::{Request, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};

/// Of one attempt, from the name lookup to the head of the response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of the head of a response, in bytes.
const MAX_HEAD: usize = 16 * 1024;

/// A message with its headers.
pub(super) struct Message {
    pub id: String,
    /// In seconds since the Unix epoch.
    pub timestamp: u64,
    pub signature: String,
    pub body: String,
}

/// Whether the message was delivered, and what the receiver responded.
pub(super) async fn send(target: &Target, message: Message) -> (bool, String) {
    match timeout(TIMEOUT, try_send(target, message)).await {
        Ok(Ok(status)) if status.is_redirection() => {
            (false, format!("HTTP {status}: redirects are not followed"))
        }
        Ok(Ok(status)) => (status.is_success(), format!("HTTP {status}")),
        Ok(Err(error)) => (false, format!("{error:#}")),
        Err(_) => (false, format!("timed out after {} s", TIMEOUT.as_secs())),
    }
}

async fn try_send(target: &Target, message: Message) -> anyhow::Result<hyper::StatusCode> {
    let stream = connect(target).await?;
    let mut builder = http1::Builder::new();
    builder.max_buf_size(MAX_HEAD);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    // Ends with the sender.
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
    Ok(response.context("no HTTP response")?.status())
}

/// Connects to one of the addresses that were checked, so that a name cannot have another one later.
async fn connect(target: &Target) -> anyhow::Result<TcpStream> {
    let found = lookup_host((target.host.as_str(), target.port)).await;
    let addresses: Vec<_> = found.context("unknown host")?.collect();
    if addresses.iter().any(|address| !is_permitted(address.ip())) {
        bail!("the host has a {REFUSED} address");
    }
    let connected = TcpStream::connect(addresses.as_slice()).await;
    connected.context("cannot connect")
}
