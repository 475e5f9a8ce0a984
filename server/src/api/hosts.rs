//! Handlers of hosts and job options. The runner is queried on every call, because the use of
//! devices changes.

use crate::{
    api::{
        extract::Path,
        problem::{ApiError, ProblemResponses},
    },
    runs::Runs,
    supervisor::runner::Runner,
};
use axum::{Json, extract::State};
use leadline_protocol::{
    device::DeviceList,
    host::{HostDetail, HostSummary, LOCAL_HOST},
    job::{OPTIONS, OptionDoc},
};

/// List hosts
#[utoipa::path(get, path = "/hosts", tag = "hosts",
    responses((status = 200, body = Vec<HostSummary>), ProblemResponses))]
pub(crate) async fn list_hosts(
    State(runs): State<Runs>,
    State(runner): State<Runner>,
) -> Json<Vec<HostSummary>> {
    Json(vec![summary(&runs, &runner).await])
}

/// Get a host with its checks
#[utoipa::path(get, path = "/hosts/{host}", tag = "hosts",
    responses((status = 200, body = HostDetail), ProblemResponses))]
pub(crate) async fn get_host(
    State(runs): State<Runs>,
    State(runner): State<Runner>,
    Path(host): Path<String>,
) -> Result<Json<HostDetail>, ApiError> {
    require_local(&host)?;
    let (summary, doctor) = tokio::join!(summary(&runs, &runner), runner.doctor());
    Ok(Json(HostDetail {
        summary,
        doctor: doctor.ok(),
    }))
}

/// List the block devices of a host, their users, and whether runs may read or write them
#[utoipa::path(get, path = "/hosts/{host}/devices", tag = "hosts",
    responses((status = 200, body = DeviceList), ProblemResponses))]
pub(crate) async fn list_devices(
    State(runner): State<Runner>,
    Path(host): Path<String>,
) -> Result<Json<DeviceList>, ApiError> {
    require_local(&host)?;
    Ok(Json(runner.devices().await?))
}

/// List all job options
#[utoipa::path(get, path = "/options", tag = "runs",
    responses((status = 200, body = Vec<OptionDoc>), ProblemResponses))]
pub(crate) async fn list_options() -> Json<&'static [OptionDoc]> {
    Json(OPTIONS)
}

async fn summary(runs: &Runs, runner: &Runner) -> HostSummary {
    let facts = runner.facts().await;
    let (running, queued) = runs.counts();
    HostSummary {
        id: LOCAL_HOST.into(),
        online: facts.is_ok(),
        running,
        queued,
        reason: facts.as_ref().err().map(ToString::to_string),
        facts: facts.ok(),
    }
}

fn require_local(host: &str) -> Result<(), ApiError> {
    if host == LOCAL_HOST {
        return Ok(());
    }
    Err(ApiError::not_found(format!("host `{host}`")))
}
