//! Opens the listening socket.

use anyhow::Context;
use listenfd::ListenFd;
use std::{io::ErrorKind, net::SocketAddr};
use tokio::net::TcpListener;

/// Number of ports to try after the requested one.
const MORE_PORTS: u16 = 20;

/// Takes the socket passed by systemd, or binds to `requested` or, if that port is in use, to the
/// next free port. The returned flag is true if another port was chosen.
pub(crate) async fn listen(requested: SocketAddr) -> anyhow::Result<(TcpListener, bool)> {
    let inherited = ListenFd::from_env().take_tcp_listener(0);
    if let Some(socket) = inherited.context("using the socket passed by systemd")? {
        socket.set_nonblocking(true)?;
        return Ok((TcpListener::from_std(socket)?, false));
    }
    let last_port = requested.port().saturating_add(MORE_PORTS);
    let mut address = requested;
    loop {
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok((listener, address != requested)),
            Err(error) if error.kind() == ErrorKind::AddrInUse && address.port() < last_port => {
                address.set_port(address.port() + 1);
            }
            Err(error) => {
                return Err(error).with_context(|| format!("listening on {requested}"));
            }
        }
    }
}
