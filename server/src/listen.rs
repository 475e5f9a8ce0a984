//! The listening socket: handed over by systemd, or bound to the address asked for or the next free port.

use crate::api::stream::STALLED;
use anyhow::Context;
use listenfd::ListenFd;
use rustix::net::sockopt::set_tcp_user_timeout;
use std::net::SocketAddr;
use tokio::net::{TcpListener, TcpStream};

/// Ports that are tried behind the one asked for.
const FURTHER_PORTS: u16 = 20;

/// Listens; the socket's own address says where. And whether that is another port than asked for, because it was in use.
///
/// # Errors
/// The address cannot be had, nor any of the next ports.
pub async fn listen(wanted: SocketAddr) -> anyhow::Result<(TcpListener, bool)> {
    if let Some(inherited) = ListenFd::from_env()
        .take_tcp_listener(0)
        .context("taking the socket handed over by systemd")?
    {
        inherited.set_nonblocking(true)?;
        return Ok((TcpListener::from_std(inherited)?, false));
    }
    let mut address = wanted;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok((listener, address != wanted)),
            Err(error)
                if error.kind() == std::io::ErrorKind::AddrInUse
                    && address.port() < wanted.port().saturating_add(FURTHER_PORTS) =>
            {
                address.set_port(address.port() + 1);
            }
            Err(error) => return Err(error).with_context(|| format!("listening on {wanted}")),
        }
    }
}

/// Prepares an accepted connection: live events go out at once, and a peer that takes nothing is cut off by the kernel
/// (tcp(7), TCP_USER_TIMEOUT; also while its window is closed), whatever waits to be sent to it.
pub fn prepare(stream: &mut TcpStream) {
    let timeout_ms = STALLED.as_millis() as u32;
    if let Err(error) = stream
        .set_nodelay(true)
        .and_then(|()| Ok(set_tcp_user_timeout(&*stream, timeout_ms)?))
    {
        tracing::debug!(%error, "a connection could not be prepared");
    }
}
