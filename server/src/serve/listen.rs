//! Opens the listening socket.

use anyhow::Context;
use listenfd::ListenFd;
use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
};
use tokio::net::{TcpListener, TcpSocket};

/// Number of ports to try after the requested one.
const MORE_PORTS: u16 = 20;

/// Connections that may wait to be accepted. If a thousand pages reconnect at once after a restart,
/// the kernel resets some of the connections that exceed the standard library's 128.
const BACKLOG: u32 = 4096;

/// Takes the socket passed by systemd, or binds to `requested` or, if that port is in use, to the
/// next free port. The returned flag is true if another port was chosen.
pub(crate) fn listen(requested: SocketAddr) -> anyhow::Result<(TcpListener, bool)> {
    let inherited = ListenFd::from_env().take_tcp_listener(0);
    if let Some(socket) = inherited.context("using the socket passed by systemd")? {
        socket.set_nonblocking(true)?;
        return Ok((TcpListener::from_std(socket)?, false));
    }
    let last_port = requested.port().saturating_add(MORE_PORTS);
    let mut address = requested;
    loop {
        match bind(address) {
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

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpStream;

    #[tokio::test]
    async fn connections_wait_to_be_accepted() {
        let (listener, _) = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.local_addr().unwrap();
        let limit = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
        let count = limit.trim().parse::<usize>().unwrap().min(500);
        let connections = (0..count).map(|_| TcpStream::connect(address));
        let connected = futures_util::future::try_join_all(connections);
        let connected = tokio::time::timeout(std::time::Duration::from_secs(10), connected);
        let connected = connected.await.expect("no connection is dropped").unwrap();
        assert_eq!(connected.len(), count);
    }
}
