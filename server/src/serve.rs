//! The server's life: one data directory, one lock on it; recover, listen, say where; on a signal stop runs, then
//! sockets, within five seconds.

use crate::api::app::App;
use crate::api::auth::Auth;
use crate::api::auth::names::Names;
use crate::api::{metrics, routes};
use crate::config::{Config, Settled};
use crate::listen;
use crate::runs::Runs;
use crate::store::Store;
use crate::supervisor::process::Runner;
use anyhow::Context;
use axum::serve::ListenerExt;
use leadline_protocol::host::CheckStatus;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sd_notify::NotifyState;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// How long the lock of a server that was just killed may last: a runner that it was about to start holds it, too, until
/// it has become a program of its own.
const LOCK_WITHIN: Duration = Duration::from_secs(1);
/// How long sockets may take to close when the runs have stopped.
const CLOSE_WITHIN: Duration = Duration::from_millis(800);

/// Serves until a signal says stop.
///
/// # Errors
/// It cannot start, with what to do about it; or the socket broke.
pub async fn serve(config: Config) -> anyhow::Result<()> {
    let settled = config.settle()?;
    raise_file_limit();
    let mut lock = lock(&settled.data_dir).await?;
    let store = Store::open(&settled.data_dir.join("leadline.db")).await?;
    let runner = Runner::new(
        settled.runner.clone(),
        settled.target_roots.clone(),
        settled.data_dir.clone(),
    );
    let runs = Runs::new(store.clone(), runner.clone(), settled.max_running);
    let interrupted = runs.recover().await?;
    let (listener, moved) = listen::listen(settled.listen).await?;
    let address = listener.local_addr()?;
    let auth = Auth::new(
        Names::new(address.ip(), &settled.allowed_hosts),
        settled.token.clone(),
        address.port(),
    );
    let app = App {
        runs: runs.clone(),
        runner: runner.clone(),
        auth,
        metrics: metrics::install()?,
    };

    let link = link(address, settled.token.as_deref());
    lock.rewind()?;
    lock.set_len(0)?;
    // Without the token: others may read this file.
    writeln!(lock, "{}", crate::serve::link(address, None))?;
    greet(&settled, moved, address, &link, interrupted)?;
    tokio::spawn(tell_troubles(runner));
    // Nobody may have asked to be told.
    let _ = sd_notify::notify(&[NotifyState::Ready]);

    let (stopped, stopping) = oneshot::channel::<()>();
    let service = axum::serve(listener.tap_io(listen::prepare), routes::router(app))
        .with_graceful_shutdown(async {
            let _ = stopping.await;
        });
    tokio::select! {
        served = service => served?,
        () = stop_on_signal(&runs, stopped) => {}
    }
    store.close().await;
    Ok(())
}

/// As many descriptors as are allowed: without one more, callers that open many connections would keep runs from starting.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    ) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

/// One server a data directory: two would start the same runs.
async fn lock(data_dir: &Path) -> anyhow::Result<File> {
    let path = data_dir.join("lock");
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)?;
    let began = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK) if began.elapsed() < LOCK_WITHIN => {
                tokio::time::sleep(LOCK_WITHIN / 50).await
            }
            Err(Errno::WOULDBLOCK) => {
                let mut address = String::new();
                file.read_to_string(&mut address)?;
                anyhow::bail!(
                    "a server already works on {}: open {}, or use another --data-dir",
                    data_dir.display(),
                    address.trim()
                )
            }
            Err(error) => return Err(error).with_context(|| format!("locking {}", path.display())),
        }
    }
}

/// The address to open in a browser.
fn link(address: SocketAddr, token: Option<&str>) -> String {
    let mut address = address;
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            [127, 0, 0, 1].into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    match token {
        Some(token) => format!("http://{address}/login?token={token}"),
        None => format!("http://{address}/"),
    }
}

fn greet(
    settled: &Settled,
    moved: bool,
    address: SocketAddr,
    link: &str,
    interrupted: usize,
) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "Leadline {}", env!("CARGO_PKG_VERSION"))?;
    if moved {
        writeln!(
            out,
            "  Port {} is in use; this is port {}.",
            settled.listen.port(),
            address.port()
        )?;
    }
    writeln!(out, "  Open     {link}")?;
    writeln!(out, "  Data     {}", settled.data_dir.display())?;
    for root in &settled.target_roots {
        writeln!(out, "  Targets  {}", root.display())?;
    }
    if address.ip().is_unspecified() && settled.allowed_hosts.is_empty() {
        writeln!(
            out,
            "  From other machines it answers to names given with --allowed-host only."
        )?;
    }
    if interrupted > 0 {
        writeln!(
            out,
            "  {interrupted} run(s) were interrupted when the last server went away; what they measured is kept."
        )?;
    }
    out.flush()
}

/// Prints what the host cannot do, or does badly.
async fn tell_troubles(runner: Runner) {
    let lines: Vec<String> = match runner.doctor().await {
        Err(error) => vec![format!(
            "  Runner   does not answer, so runs will fail: {error}"
        )],
        Ok(doctor) => {
            let troubles = doctor
                .checks
                .into_iter()
                .filter(|check| check.status != CheckStatus::Ok);
            troubles
                .map(|check| {
                    format!(
                        "  Host     {}: {} {}",
                        check.name,
                        check.detail,
                        check.remedy.unwrap_or_default()
                    )
                })
                .collect()
        }
    };
    let mut out = std::io::stdout().lock();
    for line in lines {
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = out.flush();
}

/// Waits for SIGINT or SIGTERM, stops the runs, then the sockets. A second signal does not wait for the runs.
async fn stop_on_signal(runs: &Runs, stopped: oneshot::Sender<()>) {
    signalled().await;
    tracing::info!("stopping");
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    tokio::select! {
        () = runs.stop() => {}
        () = signalled() => {}
    }
    let _ = stopped.send(());
    tokio::time::sleep(CLOSE_WITHIN).await;
}

async fn signalled() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
