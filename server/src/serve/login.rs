//! `leadline login`: requests a sign-in link from the running server.

use crate::config::DataDir;
use anyhow::{Context, bail, ensure};
use axum::body::{Body, to_bytes};
use clap::Args;
use hyper::{Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use std::{fs, io::Write};
use tokio::net::TcpStream;

const MAX_RESPONSE: usize = 64 * 1024;

#[derive(Args, Clone, Debug)]
pub struct LoginArgs {
    #[command(flatten)]
    data: DataDir,
    /// The server's token [default: the token in DATA_DIR/token]
    #[arg(long, env = "LEADLINE_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

#[derive(Deserialize)]
struct LoginLink {
    path: String,
}

/// Prints a link that signs in one browser.
///
/// # Errors
/// No server is using the data directory, or it rejects the token.
pub async fn login(args: LoginArgs) -> anyhow::Result<()> {
    let directory = args.data.dir.display();
    let address = fs::read_to_string(args.data.dir.join("lock"))
        .with_context(|| format!("no server has used {directory}. Pass the server's --data-dir"))?;
    let origin = address.trim().trim_end_matches('/').to_owned();
    let token = match args.token {
        Some(token) => token,
        None => fs::read_to_string(args.data.dir.join("token")).with_context(|| {
            format!("cannot read the token in {directory}. Pass --token, or run this as the file's owner")
        })?,
    };
    let link = new_link(&origin, token.trim())
        .await
        .with_context(|| format!("cannot get a sign-in link from {origin}"))?;
    writeln!(std::io::stdout(), "{origin}{}", link.path)?;
    Ok(())
}

async fn new_link(origin: &str, token: &str) -> anyhow::Result<LoginLink> {
    let host = origin.trim_start_matches("http://");
    ensure!(!host.is_empty(), "the server has not started yet");
    let stream = TcpStream::connect(host)
        .await
        .context("the server is not running")?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::post("/api/v1/login-links")
        .header(header::HOST, host)
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
        .body(Body::empty())?;
    let response = sender.send_request(request).await?;
    let status = response.status();
    let body = to_bytes(Body::new(response.into_body()), MAX_RESPONSE).await?;
    match status {
        StatusCode::CREATED => Ok(serde_json::from_slice(&body)?),
        StatusCode::UNAUTHORIZED => bail!("the server uses a different token"),
        StatusCode::NOT_FOUND => bail!("the server does not require sign-in: open {origin}/"),
        _ => bail!(
            "the server responded with {status}: {}",
            String::from_utf8_lossy(&body)
        ),
    }
}
