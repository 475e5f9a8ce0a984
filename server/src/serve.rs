//! Lifecycle of the server: lock the data directory, recover runs, listen, and on a signal stop
//! runs and connections within five seconds.

mod banner;
mod connections;
mod listen;
mod lock;

use crate::{
    api::{
        auth::{Auth, allowed_hosts::AllowedHosts},
        metrics, routes,
        state::AppState,
        streams::send_socket::{Heartbeat, SEND_TIMEOUT},
    },
    config::Config,
    runs::Runs,
    serve::{banner::Banner, connections::HEAD_TIMEOUT, lock::DataDirLock},
    store::Store,
    supervisor::{host_cache::HostCache, runner::Runner},
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sd_notify::NotifyState;
use std::time::Duration;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::oneshot,
};

/// Time for connections to close after the runs have stopped.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(800);

/// Serves until SIGINT or SIGTERM.
pub async fn serve(config: Config) -> anyhow::Result<()> {
    let config = config.resolve()?;
    raise_file_limit();
    let mut lock = DataDirLock::acquire(&config.data_dir).await?;
    let store = Store::open(&config.data_dir.join("leadline.db")).await?;
    let runner = Runner::new(&config);
    let runs = Runs::new(store.clone(), runner.clone(), config.max_running);
    let interrupted = runs.recover().await?;
    let (listener, other_port) = listen::listen(config.listen).await?;
    let address = listener.local_addr()?;
    let hosts = AllowedHosts::new(address.ip(), &config.allowed_hosts);
    let state = AppState {
        runs: runs.clone(),
        hosts: HostCache::new(runner.clone()),
        heartbeat: Heartbeat(config.heartbeat),
        auth: Auth::new(hosts, config.token.clone(), address.port()),
        metrics: metrics::install()?,
    };
    // Without the token: other users may read the file.
    lock.write_address(&banner::url(address, None))?;
    let banner = Banner {
        config: &config,
        address,
        other_port,
        interrupted,
    };
    banner.print()?;
    tokio::spawn(banner::print_host_problems(runner));
    // Fails without systemd.
    let _ = sd_notify::notify(&[NotifyState::Ready]);

    let (stop, stopped) = oneshot::channel::<()>();
    let router = routes::router(state);
    let stopped = async { drop(stopped.await) };
    tokio::select! {
        () = connections::serve(listener, router, HEAD_TIMEOUT, SEND_TIMEOUT, stopped) => {}
        () = stop_on_signal(&runs, stop) => {}
    }
    store.close().await;
    Ok(())
}

/// Raises the soft open-file limit: runs must be able to start while many connections are open.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::debug!(%error, "cannot raise the open file limit");
    }
}

/// Stops the runs on the first signal, and stops waiting for them on the second. Then closes the
/// connections.
async fn stop_on_signal(runs: &Runs, stop: oneshot::Sender<()>) {
    wait_for_signal().await;
    tracing::info!("stopping");
    let _ = sd_notify::notify(&[NotifyState::Stopping]);
    tokio::select! {
        () = runs.stop() => {}
        () = wait_for_signal() => {}
    }
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
