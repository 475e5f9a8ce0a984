//! The server lifecycle: locks the data directory, recovers runs and listens. On a signal, it stops
//! runs and closes connections within five seconds.

pub mod backup;
mod banner;
mod connections;
mod listen;
mod lock;
pub mod login;

use crate::{
    api::{
        auth::{Auth, allowed_hosts::AllowedHosts, sessions::Sessions},
        metrics, routes,
        state::AppState,
        streams::send_socket::Heartbeat,
    },
    config::Config,
    events::replay,
    runs::Runs,
    serve::{banner::Banner, lock::DataDirLock},
    store::Store,
    supervisor::{host_cache::HostCache, runner::Runner},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sd_notify::NotifyState;
use std::{
    io::{self, IsTerminal},
    time::Duration,
};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

/// How long connections may take to close after the runs have stopped.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(800);

/// Serves until SIGINT or SIGTERM.
pub async fn serve(config: Config) -> anyhow::Result<()> {
    let config = config.resolve()?;
    let limits = Limits::for_open_file_limit(raise_file_limit());
    let mut lock = DataDirLock::acquire(&config.data_dir).await?;
    let store = Store::open(&config.data_dir.join("leadline.db")).await?;
    tokio::spawn(store.clone().watch());
    replay::replay(&store).await?;
    let runner = Runner::new(&config);
    let runs = Runs::new(
        store.clone(),
        runner.clone(),
        config.max_running,
        limits.streams,
    );
    tokio::spawn(runs.clone().publish_faults());
    let interrupted = runs.recover().await?;
    let (listener, other_port) = listen::listen(config.listen)?;
    let address = listener.local_addr()?;
    let hosts = AllowedHosts::new(address.ip(), &config.allowed_hosts);
    let access = match &config.tokens {
        Some(tokens) => Some((tokens.clone(), Sessions::load(store.clone(), tokens).await?)),
        None => None,
    };
    let auth = Auth::new(hosts, access, address.port());
    let state = AppState {
        runs: runs.clone(),
        hosts: HostCache::new(runner.clone()),
        heartbeat: Heartbeat(config.heartbeat),
        auth: auth.clone(),
        metrics: metrics::install()?,
    };
    lock.write_address(&banner::url(address))?;
    let banner = Banner {
        config: &config,
        address,
        // Print the link only on a terminal: a service's output ends up in logs.
        login_path: io::stdout()
            .is_terminal()
            .then(|| auth.login_path().ok())
            .flatten(),
        other_port,
        interrupted,
    };
    banner.print()?;
    tokio::spawn(banner::print_host_problems(runner));
    tokio::spawn(runs.clone().run_schedules());
    tokio::spawn(runs.clone().watch_trends());
    tokio::spawn(runs.clone().deliver_webhooks());
    // Fails if the process was not started by systemd.
    let _ = sd_notify::notify(&[NotifyState::Ready]);

    let (stop, stopped) = oneshot::channel::<()>();
    let router = routes::router(state);
    let stopped = async { drop(stopped.await) };
    tokio::select! {
        () = connections::serve(listener, router, limits.connections, stopped) => {}
        () = stop_on_signal(&runs, stop) => {}
    }
    store.close().await;
    Ok(())
}

/// Limits on open client sockets.
struct Limits {
    connections: usize,
    streams: usize,
}

impl Limits {
    /// More than a team's browsers and scripts need.
    const MAX: Self = Self {
        connections: 1024,
        streams: 2048,
    };

    /// Reserves file descriptors for the database and for starting runs. `files` is the open-file
    /// limit.
    fn for_open_file_limit(files: u64) -> Self {
        let free = usize::try_from(files).unwrap_or(usize::MAX) / 2;
        Self {
            connections: (free / 3).clamp(1, Self::MAX.connections),
            streams: (free / 3 * 2).clamp(1, Self::MAX.streams),
        }
    }
}

/// Raises the soft open-file limit to the hard limit and returns it.
fn raise_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "cannot raise the open file limit");
        return limit.current.unwrap_or(u64::MAX);
    }
    raised.current.unwrap_or(u64::MAX)
}

/// Stops the runs on the first signal, and closes the connections afterward. A second signal is
/// ignored: exiting before the runs have stopped would lose results, and the wait is bounded.
async fn stop_on_signal(runs: &Runs, stop: oneshot::Sender<()>) {
    wait_for_signal().await;
    tracing::info!("stopping");
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    runs.stop().await;
    let _ = stop.send(());
    tokio::time::sleep(CLOSE_TIMEOUT).await;
}

async fn wait_for_signal() {
    let interrupt = signal(SignalKind::interrupt());
    let terminate = signal(SignalKind::terminate());
    let (Ok(mut interrupt), Ok(mut terminate)) = (interrupt, terminate) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
